//! Differences that one change makes, told once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Change, Comparison, Decided, Difference, Unknown, Why, Witness};

/// Differences with the same rules on both sides. It holds for each of the actions, in each of the scopes, for
/// each of the roles.
#[derive(Clone, Debug)]
pub struct Group<'c> {
    /// The direction.
    pub change: Change,
    /// The kind of the resource; `None` for kinds that no policy names.
    pub kind: Option<&'c str>,
    /// The version of the policies.
    pub version: &'c str,
    /// The principal whose own policies count, if it is about these.
    pub principal: Option<&'c str>,
    /// The roles, as in [`Access::roles`].
    pub roles: &'c [Option<String>],
    /// The actions, in the same way.
    pub actions: Vec<Option<&'c str>>,
    /// The scopes.
    pub scopes: Vec<&'c str>,
    /// The request that shows the first of the differences.
    pub witness: &'c Witness,
}

/// What is unknown for the same reason.
#[derive(Clone, Debug)]
pub struct UnknownGroup<'c> {
    /// The reason.
    pub why: Why,
    /// The change that may be, if only one is open.
    pub may: Option<Change>,
    /// The first of the places.
    pub place: &'c Access,
    /// The actions.
    pub actions: Vec<Option<&'c str>>,
    /// The scopes.
    pub scopes: Vec<&'c str>,
}

type DifferenceKey<'c> = (
    Change,
    (bool, &'c Option<String>),
    &'c str,
    &'c Option<String>,
    &'c [Option<String>],
    [&'c Decided; 2],
);
type UnknownKey<'c> = (
    (bool, &'c Option<String>),
    &'c str,
    &'c Option<String>,
    &'c [Option<String>],
    Why,
    Option<Change>,
);
type Actions<'c> = BTreeSet<Option<&'c str>>;

impl Comparison {
    /// Returns the differences with those together that the same rules make.
    #[must_use]
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups = Vec::new();
        for ((key, actions), (scopes, first)) in
            joined(&self.differences, of_difference, |one| &one.place)
        {
            let (change, (_, kind), version, principal, roles, _) = key;
            groups.push(Group {
                change,
                kind: kind.as_deref(),
                version,
                principal: principal.as_deref(),
                roles,
                actions: actions.into_iter().collect(),
                scopes,
                witness: &first.witness,
            });
        }
        groups
    }

    /// Returns what is unknown with that together that is so for the same reason.
    #[must_use]
    pub fn unknown_groups(&self) -> Vec<UnknownGroup<'_>> {
        let mut groups = Vec::new();
        for ((_, actions), (scopes, first)) in joined(&self.unknown, of_unknown, |one| &one.place) {
            let Unknown { place, why, may } = first;
            let actions = actions.into_iter().collect();
            groups.push(UnknownGroup { why: *why, may: *may, place, actions, scopes });
        }
        groups
    }

    /// Returns true if a change in this direction is shown, or cannot be excluded.
    #[must_use]
    pub fn may(&self, change: Change) -> bool {
        let shown = self.differences.iter().any(|difference| difference.change == change);
        shown || self.unknown.iter().any(|unknown| unknown.may.is_none_or(|may| may == change))
    }
}

fn of_difference(difference: &Difference) -> DifferenceKey<'_> {
    let Difference { change, place, witness } = difference;
    let decided = [&witness.old, &witness.new];
    (*change, place.kind_last(), &place.version, &place.principal, &place.roles, decided)
}

fn of_unknown(unknown: &Unknown) -> UnknownKey<'_> {
    let Unknown { place, why, may } = unknown;
    (place.kind_last(), &place.version, &place.principal, &place.roles, *why, *may)
}

impl Access {
    /// Returns the kind so that kinds which no policy names come last.
    const fn kind_last(&self) -> (bool, &Option<String>) {
        (self.kind.is_none(), &self.kind)
    }
}

type Joined<'c, K, T> = Vec<((K, Actions<'c>), (Vec<&'c str>, &'c T))>;

/// Joins the actions of things that are equal but for these, and then the scopes of those with equal actions.
fn joined<'c, T, K: Ord + Copy>(
    all: &'c [T],
    key: impl Fn(&'c T) -> K,
    place: impl Fn(&'c T) -> &'c Access,
) -> Joined<'c, K, T> {
    let mut by_scope: BTreeMap<(K, &str), (Actions<'c>, &'c T)> = BTreeMap::new();
    for one in all {
        let place = place(one);
        let known = by_scope.entry((key(one), &place.scope));
        known.or_insert_with(|| (Actions::new(), one)).0.insert(place.action.as_deref());
    }
    let mut joined: BTreeMap<(K, Actions<'c>), (Vec<&'c str>, &'c T)> = BTreeMap::new();
    for ((key, scope), (actions, first)) in by_scope {
        joined.entry((key, actions)).or_insert_with(|| (Vec::new(), first)).0.push(scope);
    }
    joined.into_iter().collect()
}

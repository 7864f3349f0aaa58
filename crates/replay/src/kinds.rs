//! The attributes that entries of each kind have.
//!
//! An attribute that new policies read, and that no entry of the kind has, was masked or never sent: what depends on
//! it is not answerable. That is known at the end of the log, so decisions that read an attribute which was not yet
//! seen wait until then.

use std::collections::{BTreeMap, HashMap};

use wardgate_engine::decide::{Attribute, Owner};
use wardgate_native::Names;
use wardgate_native::protocol::cerbos::logged::LoggedQuestion;

use crate::limits::{MAX_ATTRIBUTES, MAX_KINDS, MAX_TARGETS};
use crate::sides::Sides;

/// The attributes that are watched: those that new policies read, and old ones do not.
pub(crate) struct Watched {
    names: Vec<(Owner, String)>,
    /// The bit of each name, by owner.
    bits: [Names<u32>; OWNERS.len()],
    /// The number of attributes beyond the bound.
    pub(crate) unwatched: usize,
}

/// A set of watched attributes: a bit for each.
pub(crate) type Mask = u128;

impl Watched {
    pub(crate) fn of(sides: &Sides<'_>) -> Self {
        let known = sides.old.map(|old| old.table().attributes_named()).unwrap_or_default();
        let mut named = sides.new.table().attributes_named();
        named.retain(|attribute| known.binary_search(attribute).is_err());
        let unwatched = named.len().saturating_sub(MAX_ATTRIBUTES);
        named.truncate(MAX_ATTRIBUTES);
        let of = |owner: Owner| {
            let named = (0_u32..).zip(&named).filter(|(_, attribute)| attribute.owner == owner);
            named.map(|(bit, attribute)| (attribute.name, bit)).collect()
        };
        let bits = OWNERS.map(of);
        let names = named.iter().map(|one| (one.owner, one.name.to_owned())).collect();
        Self { names, bits, unwatched }
    }

    /// Returns the bit of an attribute, as a set; empty if it is not watched.
    pub(crate) fn bit(&self, attribute: Attribute<'_>) -> Mask {
        let Attribute { owner, name } = attribute;
        let names = OWNERS.iter().zip(&self.bits).find(|(other, _)| **other == owner);
        names.and_then(|(_, names)| names.get(name)).map_or(0, |bit| 1 << bit)
    }

    pub(crate) fn mask<'a>(&self, attributes: impl IntoIterator<Item = Attribute<'a>>) -> Mask {
        attributes.into_iter().fold(0, |mask, attribute| mask | self.bit(attribute))
    }

    /// Returns all attributes that are watched.
    pub(crate) fn all(&self) -> Mask {
        (0..self.names.len()).fold(0, |mask, bit| mask | 1 << bit)
    }

    /// Returns the names of a set, such as `resource.attr.risk`.
    pub(crate) fn words(&self, mask: Mask) -> impl Iterator<Item = String> {
        let chosen = (0..).zip(&self.names).filter(move |(bit, _)| mask >> *bit & 1 == 1);
        chosen.map(|(_, (owner, name)): (u32, _)| {
            let owner = match owner {
                Owner::Principal => "principal.attr",
                Owner::Resource => "resource.attr",
                Owner::Claims => "auxData.jwt",
                Owner::Tokens => "auxData.jwts",
            };
            format!("{owner}.{name}")
        })
    }
}

/// The kinds that one thread has met.
#[derive(Default)]
pub(crate) struct Kinds {
    ids: HashMap<Box<str>, usize>,
    states: Vec<Kind>,
    /// The inputs of kinds beyond the bound.
    pub(crate) unwatched: u64,
}

#[derive(Default)]
struct Kind {
    /// The attributes that no entry had so far.
    unseen: Mask,
    /// What each action may read, by action, and by version and scope.
    targets: HashMap<Box<str>, Vec<Target>>,
}

/// A version and a scope, and what an action may read there.
type Target = ([Box<str>; 2], Mask);

impl Kinds {
    /// Returns the number of a kind; `None` beyond the bound.
    pub(crate) fn id(&mut self, watched: &Watched, kind: &str) -> Option<usize> {
        if let Some(id) = self.ids.get(kind) {
            return Some(*id);
        }
        if self.states.len() >= MAX_KINDS {
            self.unwatched += 1;
            return None;
        }
        let id = self.states.len();
        self.states.push(Kind { unseen: watched.all(), ..Kind::default() });
        self.ids.insert(kind.into(), id);
        Some(id)
    }

    /// Returns the attributes that no entry of a kind had so far.
    #[inline]
    pub(crate) fn unseen(&self, kind: usize) -> Mask {
        self.states.get(kind).map_or(0, |state| state.unseen)
    }

    pub(crate) fn see(&mut self, kind: usize, seen: Mask) {
        if let Some(state) = self.states.get_mut(kind) {
            state.unseen &= !seen;
        }
    }

    /// Returns the attributes that a question may read, and that no entry of its kind had so far.
    pub(crate) fn may_miss(
        &mut self,
        (watched, sides): (&Watched, &Sides<'_>),
        kind: usize,
        asked: &LoggedQuestion<'_>,
    ) -> Mask {
        let Some(state) = self.states.get_mut(kind) else { return 0 };
        let place = asked.version_and_scope();
        let known = state.targets.get(asked.action()).into_iter().flatten();
        let known =
            known.into_iter().find(|(known, _)| known.each_ref().map(|text| &**text) == place);
        let mask = known.map(|(_, mask)| *mask).unwrap_or_else(|| {
            let attributes = asked.attributes_of_fast_path(sides.new);
            let mask = attributes.map_or_else(|| watched.all(), |found| watched.mask(found));
            state.remember(asked.action(), place, mask);
            mask
        });
        mask & state.unseen
    }

    /// Returns each kind with the attributes that no entry had.
    pub(crate) fn into_unseen(self) -> BTreeMap<Box<str>, (usize, Mask)> {
        let states = &self.states;
        let unseen = |id: usize| states.get(id).map_or(0, |state| state.unseen);
        let with_mask = |(kind, id)| (kind, (id, unseen(id)));
        self.ids.into_iter().map(with_mask).collect()
    }
}

impl Kind {
    fn remember(&mut self, action: &str, place: [&str; 2], mask: Mask) {
        if self.targets.values().map(Vec::len).sum::<usize>() < MAX_TARGETS {
            self.targets.entry(action.into()).or_default().push((place.map(Box::from), mask));
        }
    }
}

const OWNERS: [Owner; 4] = [Owner::Principal, Owner::Resource, Owner::Claims, Owner::Tokens];

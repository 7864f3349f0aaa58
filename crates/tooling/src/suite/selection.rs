//! From names and groups of fixtures to the names that they stand for.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Fixtures, Selection};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::nearest::suggestion;
use wardgate_compiler::policy::model::Named;

/// Fixtures of a suite: its own, then those of its directory.
#[derive(Clone, Copy)]
pub(super) struct AvailableFixtures<'f> {
    pub(super) own: &'f Fixtures,
    pub(super) shared: Option<&'f Fixtures>,
}

/// The kind of a fixture, for messages.
#[derive(Clone, Copy)]
pub(super) enum FixtureKind {
    Principal,
    Resource,
}

impl<'f> AvailableFixtures<'f> {
    /// Returns the fixture `name` of one of the maps, with its name.
    pub(super) fn find<T>(
        self,
        map: impl Fn(&'f Fixtures) -> &'f BTreeMap<String, T>,
        name: &str,
    ) -> Option<(&'f String, &'f T)> {
        let shared = || map(self.shared?).get_key_value(name);
        map(self.own).get_key_value(name).or_else(shared)
    }

    /// Returns the names in one of the maps, of the suite and then of its directory.
    pub(super) fn all<T: 'f>(
        self,
        map: impl Fn(&'f Fixtures) -> &'f BTreeMap<String, T>,
    ) -> Vec<&'f str> {
        let shelves = [Some(self.own), self.shared].into_iter().flatten();
        shelves.flat_map(|fixtures| map(fixtures).keys().map(String::as_str)).collect()
    }

    pub(super) fn has(self, kind: FixtureKind, name: &str) -> bool {
        match kind {
            FixtureKind::Principal => self.find(|fixtures| &fixtures.principals, name).is_some(),
            FixtureKind::Resource => self.find(|fixtures| &fixtures.resources, name).is_some(),
        }
    }

    /// Returns the names of all fixtures of a sort.
    pub(super) fn names(self, kind: FixtureKind) -> Vec<&'f str> {
        match kind {
            FixtureKind::Principal => self.all(|fixtures| &fixtures.principals),
            FixtureKind::Resource => self.all(|fixtures| &fixtures.resources),
        }
    }

    /// Returns the names of a selection, its groups resolved, each once, in their order.
    pub(super) fn select(
        self,
        kind: FixtureKind,
        selection: &Selection,
        errors: &mut Vec<Diagnostic>,
    ) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        let mut take = |name: &str| {
            if seen.insert(name.to_owned()) {
                names.push(name.to_owned());
            }
        };
        selection.names.iter().for_each(|named| take(&named.name));
        for group in &selection.groups {
            match self.find(|fixtures| kind.groups(fixtures), &group.name) {
                Some((_, members)) => members.iter().for_each(|named| take(&named.name)),
                None => {
                    let message = format!("no {} group is named `{}`", kind.name(), group.name);
                    let error = Diagnostic::error(Code::UnknownFixture, &group.location, message);
                    let known = self.all(|fixtures| kind.groups(fixtures));
                    errors.push(error.with(None, suggestion(&group.name, known)));
                }
            }
        }
        names
    }

    /// Reports groups of `fixtures` with undefined members; `missing` is the end of the message.
    pub(super) fn check_groups(
        self,
        fixtures: &Fixtures,
        missing: &str,
        errors: &mut Vec<Diagnostic>,
    ) {
        for kind in [FixtureKind::Principal, FixtureKind::Resource] {
            for (group, members) in kind.groups(fixtures) {
                for member in members.iter().filter(|member| !self.has(kind, &member.name)) {
                    let message = format!(
                        "group `{group}` names the {} `{}`, {missing}",
                        kind.name(),
                        member.name
                    );
                    let error = Diagnostic::error(Code::UnknownFixture, &member.location, message);
                    errors.push(error.with(None, suggestion(&member.name, self.names(kind))));
                }
            }
        }
    }
}

impl FixtureKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Resource => "resource",
        }
    }

    /// Returns the groups of fixtures of this kind.
    const fn groups(self, fixtures: &Fixtures) -> &BTreeMap<String, Vec<Named>> {
        match self {
            Self::Principal => &fixtures.principal_groups,
            Self::Resource => &fixtures.resource_groups,
        }
    }
}

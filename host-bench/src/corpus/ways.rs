//! The way of a decision: on a fast path, or beside it and why.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::cel::pool::Root;
use wardgate_engine::decision::Decision;
use wardgate_engine::fastpath::{Answer, Coverage};
use wardgate_engine::names::{sanitized, trimmed_scope};
use wardgate_engine::request::{Request, Resource};
use wardgate_engine::table::PolicyTable;
use wardgate_engine::table::layout::Key;
use wardgate_fastpath::FastPath;
use wardgate_fastpath::layout::{NOW, PROGRAMS};
use wardgate_partial::{Absence, absences};
use wardgate_tests::fill;

use super::folder::{Inquiry, now};

/// The way of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A fast path that only looks at words.
    Words,
    /// A fast path that may run programs.
    Programs,
    /// No policy is about the kind, so the host denies at once.
    NoPolicy,
    /// The general path, for this reason.
    General(&'static str),
}

impl Way {
    pub(crate) const fn is_fast(self) -> bool {
        !matches!(self, Self::General(_))
    }

    /// Returns a few words for a table.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Words => WORDS,
            Self::Programs => PROGRAMS_TOO,
            Self::NoPolicy => NO_POLICY,
            Self::General(reason) => reason,
        }
    }
}

/// The fast paths of a table, and the reasons where it has none.
pub(crate) struct Ways<'a> {
    table: &'a PolicyTable,
    kinds: BTreeSet<&'a str>,
    /// Kind, version and scope of each resource policy.
    policies: BTreeSet<[&'a str; 3]>,
    principals: BTreeSet<&'a str>,
    absences: Vec<Absence<'a>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(table: &'a PolicyTable) -> Self {
        let resources = table.entries().iter().filter(|[key, ..]| *key == Key::Resource.code());
        let policies: BTreeSet<[&str; 3]> = resources
            .map(|[_, kind, version, scope, _]| [kind, version, scope].map(|id| table.string(*id)))
            .collect();
        Self {
            table,
            kinds: policies.iter().map(|[kind, ..]| *kind).collect(),
            policies,
            principals: table.principals().collect(),
            absences: absences(table),
        }
    }

    /// Counts kinds, versions, scopes and actions (those that no rule names are one) by what keeps
    /// them from having a fast path.
    pub(crate) fn actions(&self) -> Counts {
        let absent: Counts = self.absences.iter().map(|absence| absence.reason.words()).collect();
        let all = self
            .policies
            .iter()
            .map(|[kind, ..]| 1 + self.table.actions(kind).len())
            .sum::<usize>();
        let present = all.saturating_sub(self.absences.len());
        absent.into_iter().chain([(FAST_PATH, present)]).collect()
    }

    /// Returns the native ways of the decisions about some sets of requests.
    pub(crate) fn native(&self, sets: [&[Inquiry]; 2]) -> [Vec<Way>; 2] {
        let way = |(request, action, _): (&Request, &str, bool)| self.of(request, action);
        sets.map(|inquiries| inquiries.iter().flat_map(Inquiry::decisions).map(way).collect())
    }

    fn of(&self, request: &Request, action: &str) -> Way {
        if fill::decide(self.table, request, action, now()) == Answer::Unsure {
            return match self.reason(request, action) {
                UNKNOWN_KIND if self.is_without_policy(request) => Way::NoPolicy,
                reason => Way::General(reason),
            };
        }
        match self.fast_path(request, action) {
            Some(fast_path) if fast_path.flags() & PROGRAMS != 0 => Way::Programs,
            _ => Way::Words,
        }
    }

    /// Returns true if the fast path of a decision reads the time.
    pub(crate) fn reads_time(&self, request: &Request, action: &str) -> bool {
        self.fast_path(request, action).is_some_and(|fast_path| fast_path.flags() & NOW != 0)
    }

    /// Returns the way in Node, where the fast path answered or not.
    pub(crate) fn in_node(
        &self,
        request: &Request,
        action: &str,
        natively: Way,
        is_fast: bool,
    ) -> Way {
        match (natively, is_fast) {
            (Way::General(_), true) => Way::Words,
            (Way::NoPolicy, false) => Way::General(UNKNOWN_KIND),
            (Way::Words | Way::Programs, false) => Way::General(self.left_in_node(request, action)),
            _ => natively,
        }
    }

    /// Returns why Node leaves a fast path that answers natively.
    fn left_in_node(&self, request: &Request, action: &str) -> &'static str {
        // JavaScript has the ids of such principals, whatever the version of the policy.
        if self.principals.contains(request.principal.id.as_str()) {
            return OWN_POLICY;
        }
        let Some(fast_path) = self.fast_path(request, action) else { return OTHERWISE };
        let roots =
            || fast_path.slots().filter_map(|slot| Some(self.table.slot_path(slot.slot)?.0));
        let lacks = |root: Root, attributes: &wardgate_engine::attr::AttrMap| {
            attributes.entries().is_empty() && roots().any(|one| one == root)
        };
        if lacks(Root::PrincipalAttr, &request.principal.attr)
            || lacks(Root::ResourceAttr, &request.resource.attr)
        {
            return "no `attr`";
        }
        OTHERWISE
    }

    /// Returns why a `check` leaves the fast paths with verdicts.
    pub(crate) fn check_left(&self, request: &Request) -> &'static str {
        let Resource { kind, policy_version, scope, .. } = &request.resource;
        let kind = sanitized(kind);
        let version = match policy_version.as_str() {
            "" => self.table.default_version(),
            version => version,
        };
        let names = self.table.string_id(&kind).zip(self.table.string_id(version));
        let has_schema = names.is_some_and(|(kind, version)| {
            self.table.find(Key::Schema, [kind, version, 0]).is_some()
        });
        if has_schema {
            return "the kind has a schema";
        }
        let Some(list) = self.table.fast_path_list(&kind, version, scope) else {
            return "the kind has no fast paths";
        };
        let mut actions = request.actions.iter();
        let missing =
            actions.find(|action| self.table.verdicts_of_action(list, action.as_str()).is_none());
        match missing {
            Some(action) if self.fast_path(request, action).is_none() => {
                self.reason(request, action)
            }
            Some(_) => "no verdicts: too many steps, scopes or derived roles",
            None => match self.table.check(request, now()) {
                Decision { outputs, .. } if !outputs.is_empty() => "an output is emitted",
                Decision { evaluation_errors, .. } if !evaluation_errors.is_empty() => {
                    "an error is reported"
                }
                _ if self.principals.contains(request.principal.id.as_str()) => OWN_POLICY,
                _ => "unsure",
            },
        }
    }

    fn fast_path(&self, request: &Request, action: &str) -> Option<FastPath<'a>> {
        let resource = &request.resource;
        let (version, scope) = (&resource.policy_version, &resource.scope);
        let list = self.table.fast_path_list(&resource.kind, version, scope)?;
        self.table.fast_path(self.table.fast_path_of_action(list, action)?)
    }

    /// Returns why there is no answer of a fast path.
    fn reason(&self, request: &Request, action: &str) -> &'static str {
        let resource = &request.resource;
        let kind = sanitized(&resource.kind);
        let version = match resource.policy_version.as_str() {
            "" => self.table.default_version(),
            version => version,
        };
        if self.principals.contains(request.principal.id.as_str()) {
            return OWN_POLICY;
        }
        if !self.kinds.contains(&*kind) {
            return UNKNOWN_KIND;
        }
        let Some(scope) = self.scope(&kind, version, trimmed_scope(&resource.scope)) else {
            return "unknown version or scope";
        };
        if let Some(fast_path) = self.fast_path(request, action) {
            return self.unsure(&fast_path, request);
        }
        let here = |absence: &&Absence<'_>| {
            [absence.kind, absence.version, absence.scope] == [&*kind, version, scope]
                && absence.action.is_none_or(|named| named == action)
        };
        // The reason of a named action comes behind that of the other actions.
        let found = self.absences.iter().filter(here).max_by_key(|absence| absence.action);
        found.map_or(OTHERWISE, |absence| absence.reason.words())
    }

    /// Returns the nearest scope upwards that has a policy.
    fn scope<'s>(&self, kind: &str, version: &str, mut scope: &'s str) -> Option<&'s str> {
        while !self.policies.contains(&[kind, version, scope]) {
            if scope.is_empty() {
                return None;
            }
            scope = scope.rsplit_once('.').map_or("", |(parent, _)| parent);
        }
        Some(scope)
    }

    /// Returns true if no policy can allow anything.
    fn is_without_policy(&self, request: &Request) -> bool {
        let Resource { kind, policy_version, scope, .. } = &request.resource;
        let has_role_policies = || self.table.has_role_policies();
        self.table.coverage([kind, policy_version, scope], has_role_policies) == Coverage::NoPolicy
    }

    fn unsure(&self, fast_path: &FastPath<'_>, request: &Request) -> &'static str {
        if fill::fill(self.table, fast_path, request, now()).is_none() {
            return "a value that no frame holds";
        }
        match (fast_path.flags() & PROGRAMS != 0, request.principal.roles.len()) {
            (true, _) => "a program fails",
            (false, 0 | 1) => "one role, and a rule fails beside an allow",
            (false, _) => "several roles, and one fails beside an allow",
        }
    }
}

/// Numbers by name.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<&'static str, usize>);

impl Counts {
    pub(crate) fn sum(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns the number of decisions on fast paths.
    pub(crate) fn fast(&self) -> usize {
        [WORDS, PROGRAMS_TOO, NO_POLICY, FAST_PATH].iter().filter_map(|name| self.0.get(name)).sum()
    }

    /// Returns the names with their numbers, the largest first.
    pub(crate) fn sorted(&self) -> Vec<(&'static str, usize)> {
        let mut all: Vec<_> = self.0.iter().map(|(name, count)| (*name, *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

impl FromIterator<(&'static str, usize)> for Counts {
    fn from_iter<I: IntoIterator<Item = (&'static str, usize)>>(all: I) -> Self {
        let mut counts = Self::default();
        for (name, count) in all {
            *counts.0.entry(name).or_default() += count;
        }
        counts
    }
}

impl FromIterator<&'static str> for Counts {
    fn from_iter<I: IntoIterator<Item = &'static str>>(names: I) -> Self {
        names.into_iter().map(|name| (name, 1)).collect()
    }
}

impl IntoIterator for Counts {
    type Item = (&'static str, usize);
    type IntoIter = std::collections::btree_map::IntoIter<&'static str, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The names of decisions on fast paths.
const WORDS: &str = "fast path, words only";
const NO_POLICY: &str = "no policy, denied at once";
pub(crate) const FAST_PATH: &str = "fast path";
const PROGRAMS_TOO: &str = "fast path, with programs";
const OTHERWISE: &str = "other";
const UNKNOWN_KIND: &str = "unknown kind";
const OWN_POLICY: &str = "the principal has a policy";

//! One of the two tables: its rules and routes, read once, in names that both tables share.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use wardgate_engine::decide::scopes::Search;
use wardgate_engine::table::layout::{FLAG_SCHEMA_REJECT, Key};
use wardgate_engine::table::{Evaluation, Name, PolicyTable, Section, list};

use super::rows::{self, Rows, Says};
use super::schemas;
use crate::logic::conditions::{ConditionId, Conditions};
use crate::logic::reader::{Reader, View, no_derived_roles};
use crate::logic::terms::{Head, TermId, Terms, TextId, number};

/// What both tables share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) terms: Terms,
    pub(super) conditions: Conditions,
}

/// One table.
pub(super) struct Side<'a> {
    pub(super) table: &'a PolicyTable,
    reader: Reader<'a>,
    rows: HashMap<(u32, bool), Rc<Rows>>,
    digests: HashMap<(u32, TermId), Rc<[u64]>>,
    roles: HashMap<(u32, TextId), TermId>,
    families: BTreeMap<TextId, Rc<Family>>,
    /// The entries of roles that inherit, by scope: role, and list of its parents.
    inheriting: BTreeMap<u32, Vec<(u32, u32)>>,
}

/// The roles that each role inherits from in a scope, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) parents: BTreeMap<TextId, Vec<TextId>>,
}

/// The policies of one visited scope.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) needs_consent: bool,
    /// The resource policy, or the policy of a principal, and the derived roles that conditions see.
    pub(super) rules: Option<(Rc<Rows>, TermId, u32)>,
    /// The role policies.
    pub(super) roles: Option<(Rc<Rows>, TermId, u32)>,
}

impl<'a> Side<'a> {
    pub(super) fn new(table: &'a PolicyTable, number: u8) -> Self {
        Self {
            table,
            reader: Reader::new(table, number),
            rows: HashMap::new(),
            digests: HashMap::new(),
            roles: HashMap::new(),
            families: BTreeMap::new(),
            inheriting: inheriting(table),
        }
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.table.evaluation() == Evaluation::Lenient
    }

    /// Returns true if requests that do not fit their schema are denied.
    fn rejects(&self) -> bool {
        self.table.header().flags & FLAG_SCHEMA_REJECT != 0
    }

    /// Returns the entries of the index with this key, as texts.
    pub(super) fn entries(&self, shared: &mut Shared, key: Key) -> Vec<[TextId; 3]> {
        let found = self.table.entries().iter().filter(|[found, ..]| *found == key.code());
        found
            .map(|[_, a, b, c, _]| [*a, *b, *c].map(|id| shared.terms.text(self.table.string(id))))
            .collect()
    }

    /// Returns true if the schema of the kind counts: if the first scope that is visited has a policy for it.
    fn validates(&self, shared: &Shared, [kind, version, scope]: [TextId; 3]) -> bool {
        let names = self.id(shared, kind).zip(self.version(shared, version));
        let first = self.visited(shared, Key::ResourceScope, scope).first().copied();
        let policy = names.zip(first).and_then(|((kind, version), scope)| {
            self.table.find(Key::Resource, [kind, version, scope])
        });
        self.rejects() && policy.is_some()
    }

    /// Returns the id of a version; the empty one is the default of the table.
    fn version(&self, shared: &Shared, version: TextId) -> Option<u32> {
        match shared.terms.name(version) {
            "" => Some(self.table.header().default_version),
            name => self.table.string_id(name),
        }
    }

    fn id(&self, shared: &Shared, text: TextId) -> Option<u32> {
        self.table.string_id(shared.terms.name(text))
    }

    /// Returns the scopes that a search from this one visits.
    fn visited(&self, shared: &Shared, key: Key, scope: TextId) -> Vec<u32> {
        let text = shared.terms.name(scope);
        Search::new(self.table, key, Name { text, id: self.table.string_id(text) })
            .visited()
            .collect()
    }

    /// Returns all that the schemas of a kind and version say, if requests that do not fit are denied.
    pub(super) fn schemas(
        &self,
        shared: &mut Shared,
        [kind, version, scope]: [TextId; 3],
    ) -> Option<Vec<u64>> {
        if !self.validates(shared, [kind, version, scope]) {
            return None;
        }
        let (kind, version) = (self.id(shared, kind)?, self.version(shared, version)?);
        schemas::describe(self.table, shared, [kind, version])
    }

    /// Returns the policies that a request for this kind, version and scope meets. Scopes without any
    /// are left out.
    pub(super) fn route(
        &mut self,
        shared: &mut Shared,
        [kind, version, scope]: [Option<TextId>; 3],
    ) -> Vec<Stop> {
        let (Some(version), Some(scope)) = (version, scope) else { return Vec::new() };
        let (table, family) = (self.table, self.family(shared, scope));
        let ids = (kind.and_then(|kind| self.id(shared, kind)), self.version(shared, version));
        let (kind, Some(version)) = ids else { return Vec::new() };
        let mut stops = Vec::new();
        for visited in self.visited(shared, Key::ResourceScope, scope) {
            let rules = kind.and_then(|kind| table.find(Key::Resource, [kind, version, visited]));
            let roles = table.find(Key::Roles, [version, visited, 0]);
            if rules.is_none() && roles.is_none() {
                continue;
            }
            let seen = match rules {
                Some(offset) => self.derived_roles(shared, offset, (scope, &family)),
                None => no_derived_roles(&mut shared.terms),
            };
            let mut read = |offset, is_policy| (self.rows(shared, offset, is_policy), seen, offset);
            stops.push(Stop {
                needs_consent: table.find(Key::ScopePermissions, [visited, 0, 0]) == Some(1),
                rules: rules.map(|offset| read(offset, true)),
                roles: roles.map(|offset| read(offset, false)),
            });
        }
        stops
    }

    /// Returns the policies of a principal itself that such a request meets.
    pub(super) fn own_route(
        &mut self,
        shared: &mut Shared,
        [principal, version, scope]: [TextId; 3],
    ) -> Vec<Stop> {
        let table = self.table;
        let ids = (self.id(shared, principal), self.version(shared, version));
        let (Some(principal), Some(version)) = ids else { return Vec::new() };
        let mut stops = Vec::new();
        for visited in self.visited(shared, Key::PrincipalScope, scope) {
            let Some(offset) = table.find(Key::Principal, [principal, version, visited]) else {
                continue;
            };
            let seen = no_derived_roles(&mut shared.terms);
            stops.push(Stop {
                needs_consent: table.find(Key::ScopePermissions, [visited, 0, 0]) == Some(1),
                rules: Some((self.rows(shared, offset, true), seen, offset)),
                roles: None,
            });
        }
        stops
    }

    fn rows(&mut self, shared: &mut Shared, offset: u32, is_policy: bool) -> Rc<Rows> {
        let (table, terms) = (self.table, &mut shared.terms);
        let key = (rows::shared(table, offset), is_policy);
        let read = || {
            let rows = Rows::read(table, terms, offset);
            Rc::new(if is_policy { rows.with_derived_roles(table, terms, offset) } else { rows })
        };
        Rc::clone(self.rows.entry(key).or_insert_with(read))
    }

    /// Returns the roles that roles inherit from in a scope.
    pub(super) fn family(&mut self, shared: &mut Shared, scope: TextId) -> Rc<Family> {
        if let Some(known) = self.families.get(&scope) {
            return Rc::clone(known);
        }
        let mut family = Family::default();
        if let Some(id) = self.id(shared, scope) {
            let table = self.table;
            for (role, roles) in self.inheriting.get(&id).into_iter().flatten() {
                let mut text = |id: u32| shared.terms.text(table.string(id));
                let parents = list(table.section(Section::Blocks), *roles);
                family.parents.insert(text(*role), parents.iter().map(|id| text(*id)).collect());
            }
        }
        let family = Rc::new(family);
        self.families.insert(scope, Rc::clone(&family));
        family
    }

    /// Returns what the derived roles of a policy depend on, as one term.
    fn derived_roles(
        &mut self,
        shared: &mut Shared,
        offset: u32,
        (scope, family): (TextId, &Rc<Family>),
    ) -> TermId {
        let rows = self.rows(shared, offset, true);
        if rows.derived_roles.is_empty() {
            return no_derived_roles(&mut shared.terms);
        }
        let key = (rows::shared(self.table, offset), scope);
        if let Some(known) = self.roles.get(&key) {
            return *known;
        }
        let mut words = vec![u64::from(self.is_lenient())];
        for derived in &rows.derived_roles {
            let condition =
                derived.condition.map(|at| self.condition(shared, at, View::DerivedRole));
            words.extend([u64::from(derived.name), plus_one(condition)]);
            words.push(length(derived.parents.len()));
            words.extend(derived.parents.iter().copied().map(u64::from));
        }
        family.describe(&mut words);
        let term = shared.terms.add(Head::DerivedRoles(words.into()), &[]);
        self.roles.insert(key, term);
        term
    }

    pub(super) fn condition(
        &mut self,
        shared: &mut Shared,
        offset: u32,
        view: View,
    ) -> ConditionId {
        let Shared { terms, conditions } = shared;
        conditions.read(self.table, (&mut self.reader, terms), offset, view)
    }

    /// Returns all that a stop can decide by, in words: equal words decide the same.
    pub(super) fn digest(&mut self, shared: &mut Shared, stop: &Stop) -> Vec<u64> {
        let mut words = vec![u64::from(stop.needs_consent)];
        for part in [&stop.rules, &stop.roles] {
            match part {
                None => words.push(0),
                Some(part) => words.extend(self.rows_digest(shared, part).iter()),
            }
        }
        words
    }

    fn rows_digest(
        &mut self,
        shared: &mut Shared,
        (rows, seen, offset): &(Rc<Rows>, TermId, u32),
    ) -> Rc<[u64]> {
        let key = (rows::shared(self.table, *offset), *seen);
        if let Some(known) = self.digests.get(&key) {
            return Rc::clone(known);
        }
        let mut words = vec![1 + length(rows.rules.len()), length(rows.role_policies.len())];
        words.extend(rows.role_policies.iter().copied().map(u64::from));
        for row in &rows.rules {
            words.push(match row.says {
                Says::Allow => 0,
                Says::Deny => 1,
                Says::Nothing => 2,
            });
            for condition in row.conditions {
                let condition = condition.map(|at| self.condition(shared, at, View::Rule(*seen)));
                words.push(plus_one(condition));
            }
            for named in [&row.actions, &row.roles, &row.kinds] {
                named.describe(&mut words);
            }
        }
        let words: Rc<[u64]> = words.into();
        self.digests.insert(key, Rc::clone(&words));
        words
    }
}

impl Family {
    /// Appends the roles and their parents.
    pub(super) fn describe(&self, words: &mut Vec<u64>) {
        words.push(length(self.parents.len()));
        for (role, parents) in &self.parents {
            words.extend([u64::from(*role), length(parents.len())]);
            words.extend(parents.iter().copied().map(u64::from));
        }
    }
}

fn inheriting(table: &PolicyTable) -> BTreeMap<u32, Vec<(u32, u32)>> {
    let mut found: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for [key, scope, role, _, roles] in table.entries() {
        if *key == Key::ParentRoles.code() {
            found.entry(*scope).or_default().push((*role, *roles));
        }
    }
    found
}

fn plus_one(id: Option<u32>) -> u64 {
    id.map_or(0, |id| u64::from(id) + 1)
}

fn length(length: usize) -> u64 {
    u64::from(number(length))
}

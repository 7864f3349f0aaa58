//! Partial evaluation of a policy table: walks it as the decision algorithm does, for every kind,
//! action and role at once, and writes fast paths for the parts that depend on a request.
//!
//! It runs when policies are compiled, over a table that was found sound, and reads it with the
//! readers of the walk. The same table always gives the same fast paths. Rules that it cannot
//! express get no fast path.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod candidates;
mod classes;
mod derived;
mod fuse;
mod grants;
mod limits;
mod moments;
mod predicates;
mod reasons;
mod rows;
mod schemas;
mod shape;
mod trees;
mod write;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

pub use reasons::{Absence, Reason, absences};

use crate::limits::{
    MAX_ACTIONS, MAX_OWN_LISTS, MAX_ROLE_LISTS, MAX_ROLE_SCOPES, MAX_SCOPES, MAX_STEPS, MAX_WORDS,
    MAX_WORDS_BEFORE_OWN_LISTS,
};
use candidates::{Candidates, Route, Stop};
use classes::{Classes, Purpose};
use predicates::Predicates;
use rows::{Action, AllRows};
use schemas::Guards;
use shape::Shape;
use wardgate_engine::cel::Pool;
use wardgate_engine::decide::scopes::Search;
use wardgate_engine::glob;
use wardgate_engine::limits::MAX_REQUEST_STEPS;
use wardgate_engine::order::{in_order, sort_by};
use wardgate_engine::table::layout::Key;
use wardgate_engine::table::{Name, PolicyTable, Section, at, list};
use wardgate_fastpath::layout::{MAX_PATTERNS, MAX_SETS, ORIGINS, fast_path};

/// Fast paths, and the index that leads to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The words of [`Section::FastPaths`].
    pub words: Vec<u32>,
    /// String ids of kind, version and scope, and the value of their [`Key::FastPaths`].
    pub lists: Vec<([u32; 3], u32)>,
    /// String ids of principal, kind and scope, and the value of their [`Key::OwnFastPaths`].
    pub own_lists: Vec<([u32; 3], u32)>,
}

/// Builds the fast paths of a table that has none yet.
#[must_use]
pub fn build(table: &PolicyTable) -> Built {
    let pool = table.pool();
    let mut builder = Builder::new(table, &pool);
    let lists: Vec<_> = subjects(table)
        .into_keys()
        .filter_map(|key| Some((key, builder.list(key, None)?)))
        .collect();
    let own_lists = builder.own_lists(&lists);
    builder.finish(lists, own_lists)
}

struct Builder<'a> {
    table: &'a PolicyTable,
    predicates: Predicates<'a>,
    rows: AllRows<'a>,
    inherited: BTreeMap<u32, Rc<BTreeMap<u32, &'a [u32]>>>,
    fast_paths: Vec<Rc<[u32]>>,
    known: BTreeMap<Rc<[u32]>, u32>,
    /// The number of words of all fast paths.
    size: usize,
    /// The number of steps that are left.
    steps: usize,
}

/// A list of fast paths under construction: those of other actions, of named actions, and of actions
/// that the patterns of a set match, without and with verdicts; and the one of the derived roles;
/// each plus one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct List {
    other: [u32; 2],
    grants: u32,
    actions: Vec<[u32; 3]>,
    patterns: Vec<u32>,
    sets: Vec<[u32; 3]>,
}

impl<'a> Builder<'a> {
    fn new(table: &'a PolicyTable, pool: &'a Pool<'a>) -> Self {
        let mut inherited: BTreeMap<u32, BTreeMap<u32, &[u32]>> = BTreeMap::new();
        for ([scope, role, _], roles) in keys(table, Key::ParentRoles) {
            let roles = list(table.section(Section::Blocks), roles);
            inherited.entry(scope).or_default().insert(role, roles);
        }
        Self {
            table,
            predicates: Predicates::new(table, pool),
            rows: AllRows::new(table),
            inherited: in_order(
                inherited.into_iter().map(|(scope, roles)| (scope, Rc::new(roles))),
            ),
            fast_paths: Vec::new(),
            known: BTreeMap::new(),
            size: 0,
            steps: MAX_STEPS,
        }
    }

    /// Builds the fast paths of every action of one kind, version and scope; `None` if there is no
    /// fast path at all.
    /// `own` is the scope of a principal's own policy, which the search visits first.
    fn list(&mut self, key: [u32; 3], own: Option<Stop<'a>>) -> Option<List> {
        let mut route = self.route(key)?;
        route.is_own = own.is_some();
        route.stops.splice(..0, own);
        // A check reports what a schema finds, also where it does not reject.
        let grants = if route.guards.is_some() { self.grants(&route) } else { None };
        let mut list = List { grants: grants.unwrap_or(0), ..List::default() };
        for action in route.actions() {
            let paths = self.fast_paths(&route, Action::Named(action), grants.is_some());
            list.actions.push([action, paths[0], paths[1]]);
        }
        self.patterns(&route, &mut list, grants.is_some());
        let triples = || list.actions.iter().chain(&list.sets);
        let is_empty = list.other[0] == 0 && triples().all(|[_, fast_path, _]| *fast_path == 0);
        (!is_empty).then_some(list)
    }

    /// Returns the scopes that a search from this one visits; `None` if schemas reject that are not
    /// flat.
    fn route(&mut self, [kind, version, scope]: [u32; 3]) -> Option<Route<'a>> {
        let table = self.table;
        let guards = Guards::new(table, &mut self.predicates, [kind, version]);
        let is_undecided = guards.is_none() && schemas::rejects(table);
        let name = Name { text: table.string(scope), id: Some(scope) };
        let search = Search::new(table, Key::ResourceScope, name);
        if is_undecided || search.visited().next() != Some(scope) {
            return None;
        }
        let stops = search.visited().map(|at| self.stop([kind, version, at])).collect();
        let inherited = self.inherited.get(&scope).cloned().unwrap_or_default();
        Some(Route { table, stops, is_own: false, inherited, guards })
    }

    /// Builds the fast path that grants derived roles. Returns its number plus one, and 0 if no
    /// policy has derived roles; `None` if only the general path can grant them.
    fn grants(&mut self, route: &Route<'_>) -> Option<u32> {
        let shape = grants::shape(route, &mut self.predicates)?;
        if shape.is_empty() {
            return Some(0);
        }
        let record = write::record(&shape, &self.predicates, Purpose::Verdict)?;
        self.intern(record).map(|[_, verdicts]| verdicts)
    }

    /// Builds the fast paths of actions that no rule names, for each set of patterns that may match
    /// one.
    fn patterns(&mut self, route: &Route<'_>, list: &mut List, has_verdicts: bool) {
        let patterns: Vec<u32> = route.patterns().into_iter().collect();
        if patterns.len() > MAX_PATTERNS {
            return;
        }
        list.other = self.fast_paths(route, Action::Matched(&[]), has_verdicts);
        for bits in sets(&patterns, |id| self.table.string(id)) {
            let is_in = |bit: &usize| bits >> bit & 1 != 0;
            let matched: Vec<u32> = (0..patterns.len())
                .filter(is_in)
                .filter_map(|bit| patterns.get(bit).copied())
                .collect();
            let paths = self.fast_paths(route, Action::Matched(&matched), has_verdicts);
            list.sets.push([bits, paths[0], paths[1]]);
        }
        list.patterns = patterns;
    }

    fn stop(&mut self, [kind, version, scope]: [u32; 3]) -> Stop<'a> {
        let table = self.table;
        let rules = table.find(Key::Resource, [kind, version, scope]);
        let roles = table.find(Key::Roles, [version, scope, 0]);
        Stop {
            needs_consent: self.needs_consent(scope),
            rules: rules.map(|offset| {
                let rows = self.rows.at(offset);
                let about = rows.everything();
                (rows, about)
            }),
            roles: roles.map(|offset| {
                let rows = self.rows.at(offset);
                let about = rows.for_kind(kind);
                (rows, about)
            }),
        }
    }

    /// Builds the lists of the principals with policies of their own, for the kinds that these are
    /// about. They are found by the version of the resource; a request without a scope for the
    /// principal visits those of the root scope.
    fn own_lists(&mut self, lists: &[([u32; 3], List)]) -> Vec<([u32; 3], List)> {
        let table = self.table;
        let Some(root) = table.string_id("") else { return Vec::new() };
        let default = table.header().default_version;
        let mut own_lists = Vec::new();
        for ([principal, version, scope], block) in keys(table, Key::Principal) {
            if [version, scope] != [default, root] {
                continue;
            }
            let rows = self.rows.at(block);
            for ([kind, version, scope], _) in lists.iter().filter(|(key, _)| key[1] == version) {
                let about = rows.for_kind(*kind);
                let is_about = about.iter().any(|bits| *bits != 0);
                if !is_about || self.size > MAX_WORDS_BEFORE_OWN_LISTS {
                    continue;
                }
                let rules = Some((Rc::clone(&rows), about));
                let stop = Stop { needs_consent: self.needs_consent(root), rules, roles: None };
                let list = self.list([*kind, *version, *scope], Some(stop));
                own_lists.extend(list.map(|list| ([principal, *kind, *scope], list)));
                if own_lists.len() == MAX_OWN_LISTS {
                    return own_lists;
                }
            }
        }
        own_lists
    }

    fn needs_consent(&self, scope: u32) -> bool {
        self.table.find(Key::ScopePermissions, [scope, 0, 0]) == Some(1)
    }

    /// Builds the fast paths of one action, or of actions that no rule names: for the effect
    /// alone, and with verdicts. Returns their numbers plus one, 0 for none.
    ///
    /// Where the tests of all roles together are too many, their expressions are programs: those of one
    /// role are few.
    fn fast_paths(
        &mut self,
        route: &Route<'_>,
        action: Action<'_>,
        has_verdicts: bool,
    ) -> [u32; 2] {
        let mut paths = self.written(route, action, has_verdicts);
        if paths == [0; 2] && self.predicates.knows_tests() {
            self.predicates.allow_tests(false);
            paths = self.written(route, action, has_verdicts);
            self.predicates.allow_tests(true);
        }
        paths
    }

    fn written(&mut self, route: &Route<'_>, action: Action<'_>, has_verdicts: bool) -> [u32; 2] {
        let Some(candidates) = Candidates::new(route, action, &mut self.predicates) else {
            return [0; 2];
        };
        let cost = route.cost().saturating_add(candidates.cost(&self.predicates));
        let steps = at(MAX_REQUEST_STEPS / 2).saturating_sub(candidates.schema_cost());
        if cost > steps {
            return [0; 2];
        }
        let reported = candidates.reported_cost(&self.predicates).filter(|_| has_verdicts);
        // A check decides several actions within the steps of one request.
        let is_cheap = reported.is_some_and(|more| cost + more <= steps / MAX_ACTIONS);
        let both = if is_cheap && route.stops.len() <= MAX_SCOPES {
            self.verdicts(&candidates, action)
        } else {
            None
        };
        let record = both.or_else(|| self.record(&candidates, action, Purpose::Effect));
        record.and_then(|record| self.intern(record)).unwrap_or_default()
    }

    /// Writes a fast path with verdicts. One that makes outputs may read too much.
    fn verdicts(&mut self, candidates: &Candidates<'_>, action: Action<'_>) -> Option<Vec<u32>> {
        let found = self.record(candidates, action, Purpose::Verdict);
        if found.is_some() || !candidates.emit() {
            return found;
        }
        self.predicates.allow_outputs(false);
        let found = self.record(candidates, action, Purpose::Verdict);
        self.predicates.allow_outputs(true);
        found
    }

    fn record(
        &mut self,
        candidates: &Candidates<'_>,
        action: Action<'_>,
        purpose: Purpose,
    ) -> Option<Vec<u32>> {
        let classes = Classes::new(candidates, &self.predicates, purpose, &mut self.steps)?;
        let shape = Shape::new(&classes).guarded(candidates.guards(action));
        write::record(&shape, &self.predicates, purpose)
    }

    /// Returns the numbers of the views of a fast path, plus one, 0 for one that it does not have;
    /// `None` if the section is full.
    fn intern(&mut self, record: Vec<u32>) -> Option<[u32; 2]> {
        let has_verdicts = record.get(fast_path::FLAGS)? >> 8 & ORIGINS != 0;
        let number = match self.known.get(record.as_slice()) {
            Some(known) => *known,
            None => self.add(record)?,
        };
        let effects = number.checked_mul(2)?.checked_add(1)?;
        Some([effects, if has_verdicts { effects.checked_add(1)? } else { 0 }])
    }

    fn add(&mut self, record: Vec<u32>) -> Option<u32> {
        let record: Rc<[u32]> = record.into();
        let size = self.size.checked_add(1 + record.len())?;
        if size > MAX_WORDS {
            return None;
        }
        self.size = size;
        let number = u32::try_from(self.fast_paths.len()).ok()?;
        self.fast_paths.push(Rc::clone(&record));
        self.known.insert(record, number);
        Some(number)
    }

    /// Lays out the section: number and offsets of the fast paths, the fast paths, the lists, each
    /// once.
    fn finish(self, lists: Vec<([u32; 3], List)>, own: Vec<([u32; 3], List)>) -> Built {
        if lists.is_empty() {
            return Built::default();
        }
        let mut words = vec![index(self.fast_paths.len())];
        let mut next = 1 + self.fast_paths.len();
        for fast_path in &self.fast_paths {
            words.push(index(next));
            next += fast_path.len();
        }
        self.fast_paths.iter().for_each(|fast_path| words.extend_from_slice(fast_path));
        let mut positions: BTreeMap<List, u32> = BTreeMap::new();
        let mut position = |list| {
            *positions.entry(list).or_insert_with_key(|list| {
                let position = index(words.len());
                let [effect, verdict] = list.other;
                let counts = index(list.patterns.len() | list.sets.len() << 8);
                let actions = index(list.actions.len());
                words.extend([effect, verdict, list.grants, actions, counts]);
                words.extend_from_slice(list.actions.as_flattened());
                words.extend_from_slice(&list.patterns);
                words.extend_from_slice(list.sets.as_flattened());
                position
            })
        };
        let lists = lists.into_iter().map(|(key, list)| (key, position(list))).collect();
        let own_lists = own.into_iter().map(|(key, list)| (key, position(list))).collect();
        Built { words, lists, own_lists }
    }
}

/// Returns the sets of patterns that may match one action, a bit for each pattern: the smallest of
/// them, sorted by bits. Two patterns that begin with different letters match no action together.
fn sets<'t>(patterns: &[u32], text: impl Fn(u32) -> &'t str) -> Vec<u32> {
    let heads: Vec<&str> = patterns.iter().map(|id| glob::head(text(*id))).collect();
    let fits = |bits: &u32| {
        let mut of_set = (0..).zip(&heads).filter(|(bit, _)| bits >> bit & 1 != 0);
        let longest = of_set.clone().map(|(_, head)| *head).max_by_key(|head| head.len());
        longest.is_some_and(|longest| of_set.all(|(_, head)| longest.starts_with(head)))
    };
    let mut sets: Vec<u32> = (1..1 << patterns.len()).filter(fits).collect();
    sort_by(&mut sets, |a, b| a.count_ones().cmp(&b.count_ones()));
    sets.truncate(MAX_SETS);
    sort_by(&mut sets, u32::cmp);
    sets
}

/// Returns the kinds, versions and scopes that have lists: those with a resource policy, and scopes
/// below them that have role policies, which tell such a scope from the ones above.
fn subjects(table: &PolicyTable) -> BTreeMap<[u32; 3], u32> {
    let policies = keys(table, Key::Resource);
    let named = keys(table, Key::Roles).into_keys().map(|[_, scope, _]| scope);
    let inheriting = keys(table, Key::ParentRoles).into_keys().map(|[scope, ..]| scope);
    let scopes: BTreeSet<u32> = in_order(named.chain(inheriting));
    let mut more = Vec::new();
    for scope in scopes.into_iter().take(MAX_ROLE_SCOPES) {
        let name = Name { text: table.string(scope), id: Some(scope) };
        let above: Vec<u32> = Search::new(table, Key::ResourceScope, name).visited().collect();
        let covered = policies.keys().filter(|[_, _, policy]| above.contains(policy));
        more.extend(covered.map(|[kind, version, _]| ([*kind, *version, scope], 0)));
        if more.len() > MAX_ROLE_LISTS {
            break;
        }
    }
    more.truncate(MAX_ROLE_LISTS);
    more.extend(policies);
    in_order(more)
}

/// Returns the entries of the index of one kind, sorted by key.
fn keys(table: &PolicyTable, wanted: Key) -> BTreeMap<[u32; 3], u32> {
    let found = table.entries().iter().filter(|[key, ..]| *key == wanted.code());
    in_order(found.map(|[_, a, b, c, value]| ([*a, *b, *c], *value)))
}

/// Narrows an index: the section is bounded far below 2^32 words.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

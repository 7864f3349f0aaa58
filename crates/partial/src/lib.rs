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
mod predicates;
mod reasons;
mod rows;
mod shape;
mod trees;
mod write;

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

pub use reasons::{Absence, Reason, absences};

use crate::limits::{MAX_ACTIONS, MAX_SCOPES, MAX_STEPS, MAX_WORDS};
use candidates::{Candidates, Route, Stop};
use classes::{Classes, Purpose};
use predicates::Predicates;
use rows::AllRows;
use shape::Shape;
use wardgate_engine::cel::Pool;
use wardgate_engine::decide::scopes::Search;
use wardgate_engine::limits::MAX_REQUEST_STEPS;
use wardgate_engine::table::layout::{FLAG_SCHEMA_REJECT, INDEX_WORDS, Key};
use wardgate_engine::table::{Name, PolicyTable, Section, at, list, word};
use wardgate_fastpath::layout::fast_path;

/// Fast paths, and the index that leads to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The words of [`Section::FastPaths`].
    pub words: Vec<u32>,
    /// String ids of kind, version and scope, and the value of their [`Key::FastPaths`].
    pub lists: Vec<([u32; 3], u32)>,
}

/// Builds the fast paths of a table that has none yet.
#[must_use]
pub fn build(table: &PolicyTable) -> Built {
    let pool = table.pool();
    let mut builder = Builder::new(table, &pool);
    let lists: Vec<_> = keys(table, Key::Resource)
        .into_keys()
        .filter_map(|key| Some((key, builder.list(key)?)))
        .collect();
    builder.finish(lists)
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

/// A list of fast paths under construction: those of other actions and of named actions, without
/// and with verdicts, and the one of the derived roles; each plus one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct List {
    other: [u32; 2],
    grants: u32,
    actions: Vec<[u32; 3]>,
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
            inherited: inherited
                .into_iter()
                .map(|(scope, roles)| (scope, Rc::new(roles)))
                .collect(),
            fast_paths: Vec::new(),
            known: BTreeMap::new(),
            size: 0,
            steps: MAX_STEPS,
        }
    }

    /// Builds the fast paths of every action of one kind, version and scope; `None` if there is no
    /// fast path at all.
    fn list(&mut self, key: [u32; 3]) -> Option<List> {
        let route = self.route(key)?;
        // A check reports what a schema finds, also where it does not reject.
        let is_plain = self.table.find(Key::Schema, [key[0], key[1], 0]).is_none();
        let grants = if is_plain { self.grants(&route) } else { None };
        let other = self.fast_paths(&route, None, grants.is_some());
        let mut actions = Vec::new();
        for action in route.actions() {
            let [effect, verdict] = self.fast_paths(&route, Some(action), grants.is_some());
            actions.push([action, effect, verdict]);
        }
        let is_empty = other[0] == 0 && actions.iter().all(|[_, fast_path, _]| *fast_path == 0);
        (!is_empty).then_some(List { other, grants: grants.unwrap_or(0), actions })
    }

    /// Returns the scopes that a search from this one visits; `None` if schemas have a say.
    fn route(&mut self, [kind, version, scope]: [u32; 3]) -> Option<Route<'a>> {
        let table = self.table;
        let validates = table.header().flags & FLAG_SCHEMA_REJECT != 0
            && table.find(Key::Schema, [kind, version, 0]).is_some();
        let name = Name { text: table.string(scope), id: Some(scope) };
        let search = Search::new(table, Key::ResourceScope, name);
        if validates || search.visited().next() != Some(scope) {
            return None;
        }
        let stops = search.visited().map(|at| self.stop([kind, version, at])).collect();
        let inherited = self.inherited.get(&scope).cloned().unwrap_or_default();
        Some(Route { table, stops, inherited })
    }

    /// Builds the fast path that grants derived roles. Returns its number plus one, and 0 if no
    /// policy has derived roles; `None` if only the general path can grant them.
    fn grants(&mut self, route: &Route<'_>) -> Option<u32> {
        let shape = grants::shape(route, &mut self.predicates)?;
        if shape.is_empty() {
            return Some(0);
        }
        let record = write::record(&shape, &self.predicates, Purpose::Verdict)?;
        self.intern(record).map(|id| id + 1)
    }

    fn stop(&mut self, [kind, version, scope]: [u32; 3]) -> Stop<'a> {
        let table = self.table;
        let rules = table.find(Key::Resource, [kind, version, scope]);
        let roles = table.find(Key::Roles, [version, scope, 0]);
        Stop {
            needs_consent: table.find(Key::ScopePermissions, [scope, 0, 0]) == Some(1),
            rules: rules.map(|offset| self.rows.at(offset)),
            roles: roles.map(|offset| {
                let rows = self.rows.at(offset);
                let about = rows.for_kind(kind);
                (rows, about)
            }),
        }
    }

    /// Builds the fast paths of one action, or of the actions that no rule names: for the effect
    /// alone, and with verdicts. Returns their numbers plus one, 0 for none.
    fn fast_paths(
        &mut self,
        route: &Route<'_>,
        action: Option<u32>,
        has_verdicts: bool,
    ) -> [u32; 2] {
        let Some(candidates) = Candidates::new(route, action, &mut self.predicates) else {
            return [0; 2];
        };
        let cost = route.cost().saturating_add(candidates.cost(&self.predicates));
        let effect = if cost > at(MAX_REQUEST_STEPS / 2) {
            None
        } else {
            self.record(&candidates, Purpose::Effect)
        };
        let reported = candidates.reported_cost(&self.predicates).filter(|_| has_verdicts);
        // A check decides several actions within the steps of one request.
        let is_cheap =
            reported.is_some_and(|more| cost + more <= at(MAX_REQUEST_STEPS / 2) / MAX_ACTIONS);
        let verdict = if is_cheap && route.stops.len() <= MAX_SCOPES {
            self.record(&candidates, Purpose::Verdict)
        } else {
            None
        };
        // If the entries are the same, one fast path serves both.
        let is_shared = verdict.as_deref().zip(effect.as_deref()).is_some_and(is_same);
        let verdict = verdict.and_then(|verdict| self.intern(verdict)).map_or(0, |id| id + 1);
        if is_shared && verdict != 0 {
            return [verdict; 2];
        }
        let effect = effect.and_then(|effect| self.intern(effect)).map_or(0, |id| id + 1);
        [effect, verdict]
    }

    fn record(&mut self, candidates: &Candidates<'_>, purpose: Purpose) -> Option<Vec<u32>> {
        let classes = Classes::new(candidates, &self.predicates, purpose, &mut self.steps)?;
        write::record(&Shape::new(&classes), &self.predicates, purpose)
    }

    /// Returns the number of a fast path; `None` if the section is full.
    fn intern(&mut self, record: Vec<u32>) -> Option<u32> {
        let record: Rc<[u32]> = record.into();
        if let Some(known) = self.known.get(&record) {
            return Some(*known);
        }
        let size = self.size.checked_add(1 + record.len())?;
        if size > MAX_WORDS {
            return None;
        }
        self.size = size;
        let id = u32::try_from(self.fast_paths.len()).ok()?;
        self.fast_paths.push(Rc::clone(&record));
        self.known.insert(record, id);
        Some(id)
    }

    /// Lays out the section: number and offsets of the fast paths, the fast paths, the lists, each
    /// once.
    fn finish(self, lists: Vec<([u32; 3], List)>) -> Built {
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
        let mut found = Vec::new();
        for (key, list) in lists {
            let position = *positions.entry(list).or_insert_with_key(|list| {
                let position = index(words.len());
                let [effect, verdict] = list.other;
                words.extend([effect, verdict, list.grants, index(list.actions.len())]);
                words.extend_from_slice(list.actions.as_flattened());
                position
            });
            found.push((key, position));
        }
        Built { words, lists: found }
    }
}

/// Returns the entries of the index of one kind, sorted by key.
fn keys(table: &PolicyTable, wanted: Key) -> BTreeMap<[u32; 3], u32> {
    let entries = table.section(Section::Index).chunks_exact(INDEX_WORDS);
    let found = entries.filter(|entry| word(entry, 0) == wanted.code());
    let parts = |entry: &[u32]| [word(entry, 1), word(entry, 2), word(entry, 3)];
    found.filter_map(|entry| Some((parts(entry), word(entry, 4).checked_sub(1)?))).collect()
}

/// Returns true if a fast path with verdicts has, apart from them, the words of another one.
fn is_same((verdict, effect): (&[u32], &[u32])) -> bool {
    let is_equal = |at: usize| at == fast_path::ORIGINS_AT || verdict.get(at) == effect.get(at);
    (0..effect.len()).all(is_equal)
        && verdict.get(fast_path::ORIGINS_AT) == Some(&index(effect.len()))
}

/// Narrows an index: the section is bounded far below 2^32 words.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

//! Reasons why actions have no fast path, for authors and benchmarks.
//!
//! The actions are walked again as for building, and the first bound or construct that stands in
//! the way is the reason. Nothing here reaches a bundle.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use super::candidates::{Candidates, Route};
use super::classes::{Classes, Purpose};
use super::rows::Action;
use super::shape::Shape;
use super::{Builder, keys, write};
use wardgate_engine::cel::Op;
use wardgate_engine::cel::pool::{DEPENDS_ON_ROLES, Pool, Root};
use wardgate_engine::cel::validate::instructions;
use wardgate_engine::fastpath::footprint::is_readable;
use wardgate_engine::limits::{MAX_REQUEST_STEPS, MAX_VARIABLE_DEPTH};
use wardgate_engine::table::layout::{Junction, Key};
use wardgate_engine::table::{PolicyTable, Section, at, word};

/// An action without a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence<'a> {
    /// The kind of the resource.
    pub kind: &'a str,
    /// The version of the policies.
    pub version: &'a str,
    /// The scope of the resource.
    pub scope: &'a str,
    /// The action; `None` for the actions that no rule names.
    pub action: Option<&'a str>,
    /// The reason.
    pub reason: Reason,
}

/// A reason why an action has no fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Requests that do not fit the schemas of the kind are denied, and a schema is not flat.
    Schema,
    /// A pattern with a wildcard may match the action.
    ActionPattern,
    /// A rule names roles by a pattern with a wildcard.
    RolePattern,
    /// A condition reads auxiliary data.
    AuxData,
    /// A condition reads the effective derived roles.
    DerivedRoles,
    /// A condition reads all attributes, or a whole message, as one value.
    WholeMap,
    /// A condition reads a scope or a version.
    ScopeOrVersion,
    /// A condition reads a path with too many names, or a member of a text.
    Path,
    /// The conditions read too many slots.
    Slots,
    /// The general path might take too many steps.
    Cost,
    /// The roles have too many steps or classes.
    Classes,
    /// The fast paths of the table have too many words.
    Size,
}

impl Reason {
    /// Returns a few words for a table of reasons.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Schema => "a schema that is not flat rejects",
            Self::ActionPattern => "a pattern may match the action",
            Self::RolePattern => "a rule names roles by a pattern",
            Self::AuxData => "a condition reads auxiliary data",
            Self::DerivedRoles => "a condition reads derived roles",
            Self::WholeMap => "a condition reads a whole map",
            Self::ScopeOrVersion => "a condition reads a scope or version",
            Self::Path => "a condition reads too long a path",
            Self::Slots => "the conditions read too many slots",
            Self::Cost => "the general path might take too many steps",
            Self::Classes => "the roles have too many steps",
            Self::Size => "the fast paths are too large",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words())
    }
}

/// Returns the actions that [`build`](super::build) leaves without a fast path.
#[must_use]
pub fn absences(table: &PolicyTable) -> Vec<Absence<'_>> {
    let pool = table.pool();
    let mut builder = Builder::new(table, &pool);
    let mut found = Vec::new();
    for key in keys(table, Key::Resource).into_keys() {
        let [kind, version, scope] = key.map(|id| table.string(id));
        let absence = |action, reason| Absence { kind, version, scope, action, reason };
        let Some(route) = builder.route(key) else {
            found.push(absence(None, Reason::Schema));
            continue;
        };
        let named = route.actions().into_iter().map(Some);
        for name in core::iter::once(None).chain(named) {
            let action = name.map_or(Action::Matched(&[]), Action::Named);
            if builder.fast_paths(&route, action, false)[0] == 0 {
                let name = name.map(|action| table.string(action));
                found.push(absence(name, builder.reason(&route, action)));
            }
        }
    }
    found
}

impl Builder<'_> {
    fn reason(&mut self, route: &Route<'_>, action: Action<'_>) -> Reason {
        let purpose = Purpose::Effect;
        let Some(candidates) = Candidates::new(route, action, &mut self.predicates) else {
            return self.construct(route, action);
        };
        let cost = route.cost().saturating_add(candidates.cost(&self.predicates));
        if cost.saturating_add(candidates.schema_cost()) > at(MAX_REQUEST_STEPS / 2) {
            return Reason::Cost;
        }
        let Some(classes) = Classes::new(&candidates, &self.predicates, purpose, &mut self.steps)
        else {
            return Reason::Classes;
        };
        let shape = Shape::new(&classes).guarded(candidates.guards(action));
        match write::record(&shape, &self.predicates, purpose) {
            Some(_) => Reason::Size,
            None => Reason::Slots,
        }
    }

    /// Returns the construct that keeps the rules of an action from becoming candidates.
    fn construct(&mut self, route: &Route<'_>, action: Action<'_>) -> Reason {
        let rules = route.stops.iter().flat_map(|stop| {
            let rules = stop.rules.iter().map(|(rows, about)| (rows, about.clone(), true));
            rules.chain(stop.roles.iter().map(|(rows, about)| (rows, about.clone(), false)))
        });
        for (rows, among, is_resource_policy) in rules {
            let Some(numbers) = rows.for_action(action, &among) else {
                return Reason::ActionPattern;
            };
            for number in numbers {
                let has_pattern = rows
                    .named(number)
                    .is_some_and(|named| !named.anyone && !named.patterns.is_empty());
                if is_resource_policy && has_pattern {
                    return Reason::RolePattern;
                }
                let rule = rows.block.rule(number);
                if self.predicates.of(&rule).is_none() {
                    let conditions = [rule.role_condition(), rule.condition()];
                    return condition_reason(self.table, conditions.into_iter().flatten());
                }
            }
        }
        Reason::Size
    }
}

/// Returns what conditions read that no frame holds.
fn condition_reason(table: &PolicyTable, conditions: impl Iterator<Item = u32>) -> Reason {
    let pool = table.pool();
    let mut reads = BTreeSet::new();
    for condition in conditions {
        programs(table, condition, &mut |program| {
            program_reasons(&pool, program, MAX_VARIABLE_DEPTH, &mut reads);
        });
    }
    reads.first().copied().unwrap_or(Reason::Slots)
}

/// Visits the programs of a condition. The validator of the table bounds its depth.
fn programs(table: &PolicyTable, condition: u32, visit: &mut dyn FnMut(u32)) {
    let words = table.section(Section::Conditions).get(at(condition)..).unwrap_or(&[]);
    let (junction, count) = Junction::split(word(words, 0));
    for operand in words.iter().skip(1).take(at(count)) {
        match junction {
            Junction::Expr => visit(*operand),
            _ => programs(table, *operand, visit),
        }
    }
}

fn program_reasons(pool: &Pool<'_>, program: u32, depth: u32, reads: &mut BTreeSet<Reason>) {
    let (Some(program), Some(depth)) = (pool.program(program), depth.checked_sub(1)) else {
        return;
    };
    if program.flags & DEPENDS_ON_ROLES != 0 {
        reads.insert(Reason::DerivedRoles);
    }
    for found in instructions(program.code).flatten() {
        let id = found.words.first().copied().unwrap_or(u32::MAX);
        match found.op {
            Op::Slot | Op::HasSlot if !is_readable(id, pool) => {
                reads.insert(slot_reason(pool, id));
            }
            Op::Variable | Op::HasVariable => {
                if let Some((program, _)) = pool.variable(id) {
                    program_reasons(pool, program, depth, reads);
                }
            }
            _ => {}
        }
    }
}

fn slot_reason(pool: &Pool<'_>, slot: u32) -> Reason {
    let (root, length) = (word(pool.slots, at(slot)), word(pool.slots, at(slot).saturating_add(1)));
    match Root::from_code(root) {
        Some(Root::AuxData | Root::AuxDataJwt | Root::AuxDataJwts) => Reason::AuxData,
        Some(Root::EffectiveDerivedRoles | Root::Runtime) => Reason::DerivedRoles,
        Some(Root::Request | Root::Principal | Root::Resource) => Reason::WholeMap,
        Some(Root::PrincipalAttr | Root::ResourceAttr) if length == 0 => Reason::WholeMap,
        Some(
            Root::PrincipalScope
            | Root::PrincipalPolicyVersion
            | Root::ResourceScope
            | Root::ResourcePolicyVersion,
        ) => Reason::ScopeOrVersion,
        _ => Reason::Path,
    }
}

//! The fast path of the derived roles: which of them a principal gains in the scopes that a check
//! visits.
//!
//! Each derived role of each scope has a bit, the mask of the roles of which a principal needs one.
//! An entry that allows grants it; the entries before it find the errors of its variables.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use wardgate_engine::order::in_order;
use wardgate_engine::table::{Block, DerivedRole};
use wardgate_fastpath::layout::{ALLOW, origin};

use super::candidates::Route;
use super::classes::Step;
use super::predicates::{ALWAYS, Predicates};
use super::shape::{Entries, Entry, Shape, Taken};
use crate::limits::{MAX_GRANTS, MAX_SCOPES};

/// Returns the shape of the fast path; `None` if only the general path can grant the roles.
pub(super) fn shape(route: &Route<'_>, predicates: &mut Predicates<'_>) -> Option<Shape> {
    let mut granted = Vec::new();
    for (scope, stop) in route.stops.iter().skip(usize::from(route.is_own)).enumerate() {
        let block: Option<Block<'_>> = stop.rules.as_ref().map(|(rows, _)| rows.block);
        let roles = block.into_iter().flat_map(|block| block.derived_roles());
        granted.extend(roles.map(|role| (scope, role)));
    }
    if granted.len() > MAX_GRANTS || route.stops.len() > MAX_SCOPES {
        return None;
    }
    let mut entries = Vec::new();
    for (bit, (scope, role)) in granted.iter().enumerate() {
        let scope = u32::try_from(*scope).ok()?;
        let number = u32::try_from(bit).ok()?;
        for predicate in predicates.variables(role.variables())?.iter() {
            let step = Step::reported(*predicate);
            entries.push(Entry::Step(step, taken(bit, origin::word(origin::NONE, scope, 0))));
        }
        let predicate = match role.condition() {
            Some(condition) => predicates.of_conditions([None, Some(condition)])?,
            None => ALWAYS,
        };
        let step = Step::of_rule(ALLOW, predicate);
        let origin = origin::word(origin::RESOURCE_RULE, scope, number);
        entries.push(Entry::Step(step, taken(bit, origin)));
    }
    let (roles, others) = masks(route, &granted);
    Some(Shape { entries: Entries::Masked(entries), roles, others, guards: Default::default() })
}

const fn taken(bit: usize, origin: u32) -> Taken {
    Taken { mask: 1 << bit, origin, is_more: false }
}

/// Returns the derived roles that each role may lead to, and those that every role may.
fn masks(route: &Route<'_>, granted: &[(usize, DerivedRole<'_>)]) -> (Vec<(u32, u32)>, u32) {
    let is_any = |role: &u32| route.table.string(*role) == "*";
    let mask = |meets: &dyn Fn(&[u32]) -> bool| {
        granted
            .iter()
            .enumerate()
            .fold(0, |mask, (bit, (_, role))| mask | u32::from(meets(role.parent_roles())) << bit)
    };
    let others = mask(&|parents| parents.iter().any(is_any));
    let parents = granted.iter().flat_map(|(_, role)| role.parent_roles()).copied();
    let known: BTreeSet<u32> = in_order(parents.chain(route.inherited.keys().copied()));
    let mut masks = BTreeMap::new();
    for role in known {
        let inherited = route.inherited.get(&role).copied().unwrap_or(&[]);
        let own = |parents: &[u32]| {
            parents.contains(&role) || inherited.iter().any(|role| parents.contains(role))
        };
        masks.insert(role, others | mask(&own));
    }
    (masks.into_iter().filter(|(_, mask)| *mask != others).collect(), others)
}

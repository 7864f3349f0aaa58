//! Plain limits: those whose charge needs no program, so that a host can read the values of the key
//! itself and needs no session.

use alloc::vec::Vec;

use super::{Rounded, part_of, tokens};
use crate::cel::op::Op;
use crate::cel::value::constant;
use crate::cel::{Pool, Value};
use crate::limits::MAX_VARIABLE_DEPTH;
use crate::names::sanitized;
use crate::table::PolicyTable;
use crate::table::layout::block;
use crate::table::limit::Limit;

/// The charge of a plain limit: one without a condition, with a constant cost and quota, whose key is
/// made of constants and of values at paths into the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCharge {
    /// The parts of the key.
    pub key: Vec<PlainPart>,
    /// The tokens, rounded up; 0 only looks.
    pub cost: u64,
    /// The tokens of a window, rounded down; at least 1.
    pub quota: u64,
}

/// One part of the key of a plain limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainPart {
    /// The letter and the value of a constant, as in the key of a [`Charge`](super::Charge).
    Constant(Vec<u8>),
    /// The value at this slot: see [`PolicyTable::slot_path`].
    Slot(u32),
}

impl PolicyTable {
    /// Returns the charge of a plain limit; `None` of any other.
    #[must_use]
    pub fn plain_charge(&self, limit: &Limit<'_>) -> Option<PlainCharge> {
        if limit.condition().is_some() {
            return None;
        }
        let pool = self.pool();
        let amount = |program, rounded| tokens(&constant_of(&pool, program)?, rounded);
        let key = limit.key().iter().map(|program| part(&pool, *program));
        Some(PlainCharge {
            key: key.collect::<Option<_>>()?,
            cost: limit.cost().map_or(Some(1), |program| amount(program, Rounded::Up))?,
            quota: amount(limit.quota(), Rounded::Down).filter(|quota| *quota > 0)?,
        })
    }

    /// Returns the numbers of the limits for an action on a kind of resource, in the order of their
    /// names. Conditions are not evaluated.
    #[must_use]
    pub fn limits_for(&self, kind: &str, action: &str) -> Vec<usize> {
        let Some(block) = self.limit_block() else { return Vec::new() };
        let mut candidates = block.candidates();
        block.narrow_actions(&mut candidates, self.name(action));
        block.narrow_resources(&mut candidates, self.name(&sanitized(kind)));
        candidates.collect()
    }

    /// Returns the kinds and the actions that limits are for.
    #[must_use]
    pub fn limit_names(&self) -> [LimitNames<'_>; 2] {
        let Some(limits) = self.limit_block() else { return Default::default() };
        [block::RESOURCES, block::ACTIONS].map(|dimension| match limits.values(dimension) {
            None => LimitNames { exact: Vec::new(), has_others: true },
            Some(values) => LimitNames {
                exact: values.exact().map(|(id, _)| self.string(id)).collect(),
                has_others: values.globs().next().is_some(),
            },
        })
    }
}

/// The names of kinds, or of actions, that limits are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitNames<'t> {
    /// The names that are compared literally.
    pub exact: Vec<&'t str>,
    /// True if limits may be for other names too.
    pub has_others: bool,
}

/// The end of a program that only loads: the constant or the slot.
enum Loaded {
    Constant(u32),
    Slot(u32),
}

/// Returns what a program loads, if it does nothing else. Variables are followed.
fn loaded(pool: &Pool<'_>, mut program: u32) -> Option<Loaded> {
    for _ in 0..MAX_VARIABLE_DEPTH {
        let [load, operand, end] = pool.program(program)?.code else { return None };
        let ([load, to, ..], [end, from, ..]) = (load.to_le_bytes(), end.to_le_bytes());
        if Op::from_code(end) != Some(Op::Return) || to != from {
            return None;
        }
        match Op::from_code(load)? {
            Op::Const => return Some(Loaded::Constant(*operand)),
            Op::Slot => return Some(Loaded::Slot(*operand)),
            Op::Variable => (program, _) = pool.variable(*operand)?,
            _ => return None,
        }
    }
    None
}

fn constant_of<'a>(pool: &'a Pool<'a>, program: u32) -> Option<Value<'a>> {
    match loaded(pool, program)? {
        Loaded::Constant(id) => Some(constant(pool, id)),
        Loaded::Slot(_) => None,
    }
}

fn part(pool: &Pool<'_>, program: u32) -> Option<PlainPart> {
    match loaded(pool, program)? {
        Loaded::Constant(id) => part_of(&constant(pool, id)).ok().map(PlainPart::Constant),
        Loaded::Slot(slot) => Some(PlainPart::Slot(slot)),
    }
}

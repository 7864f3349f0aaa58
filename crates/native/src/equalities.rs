//! Plans of equalities only, decided on what a request holds, without a frame.
//!
//! It is the walk of the plan itself: entry by entry, for all roles at once, and a slot is read where
//! an entry asks for it. Numbers are equal if they are as numbers, everything else if it is the same.

use wardgate_engine::table::PolicyTable;
use wardgate_plan::layout::{ALLOW, ALWAYS, DENY, EQUAL_CONST, EQUAL_SLOT, NEGATE, SIMPLE};
use wardgate_plan::{Entry, Plan, word};

use crate::ask::Reading;
use crate::names::Known;

/// One entry.
#[derive(Debug)]
pub(crate) struct Equality {
    test: Test,
    is_negated: bool,
    effect: Effect,
    /// The roles that it is about.
    roles: u32,
}

#[derive(Debug)]
enum Test {
    Always,
    Null(usize),
    Bool(usize, bool),
    Text(usize, Known),
    /// Two slots are the same.
    Same(usize, usize),
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Allow,
    Deny,
    None,
}

/// Unpacks the entries of a plan, if they are all of this kind.
pub(crate) fn unpack(table: &PolicyTable, plan: &Plan<'_>) -> Option<Box<[Equality]>> {
    let is_simple = plan.flags() & SIMPLE != 0;
    let entries = if is_simple { plan.entries() } else { return None };
    entries.iter().map(|entry| Equality::unpack(table, entry)).collect()
}

/// Decides for roles of these classes. `read` reads a slot; nothing is a doubt.
#[inline]
pub(crate) fn decide<'a>(
    equalities: &[Equality],
    roles: u32,
    read: impl Fn(usize) -> Reading<'a>,
) -> Option<bool> {
    let (mut live, mut allowed, mut failed) = (roles, 0, 0);
    for equality in equalities {
        let here = equality.roles & live;
        if here == 0 {
            continue;
        }
        match (equality.test.truth(&read)?, equality.effect) {
            (Truth::Error, _) => {
                failed |= here;
                live &= !here;
            }
            (truth, Effect::Deny) if equality.holds(truth) => live &= !here,
            (truth, Effect::Allow) if equality.holds(truth) => allowed |= here,
            _ => {}
        }
    }
    match (allowed & live, failed) {
        (0, _) => Some(false),
        (_, 0) => Some(true),
        // The order of the roles matters.
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Truth {
    False,
    True,
    Error,
}

impl Equality {
    fn unpack(table: &PolicyTable, [head, operand, roles]: &Entry) -> Option<Self> {
        let [op, a, b, effect] = head.to_le_bytes().map(u32::from);
        Some(Self {
            test: match op & !NEGATE {
                EQUAL_CONST => Test::constant(table, a, *operand)?,
                EQUAL_SLOT => Test::Same(slot(a)?, slot(b)?),
                _ => return None,
            },
            is_negated: op & NEGATE != 0,
            effect: match effect {
                ALLOW => Effect::Allow,
                DENY => Effect::Deny,
                _ => Effect::None,
            },
            roles: *roles,
        })
    }

    #[inline]
    fn holds(&self, truth: Truth) -> bool {
        (truth == Truth::True) != self.is_negated
    }
}

impl Test {
    fn constant(table: &PolicyTable, a: u32, operand: u32) -> Option<Self> {
        if a == ALWAYS {
            return (operand == word::TRUE).then_some(Self::Always);
        }
        let slot = slot(a)?;
        Some(match operand {
            word::NULL => Self::Null(slot),
            word::FALSE => Self::Bool(slot, false),
            word::TRUE => Self::Bool(slot, true),
            word::FIRST_STRING..word::FIRST_TEMPORARY => {
                let text = table.string(operand.wrapping_sub(word::FIRST_STRING));
                Self::Text(slot, Known::from(Box::from(text)))
            }
            _ => return None,
        })
    }

    #[inline]
    fn truth<'a>(&self, read: &impl Fn(usize) -> Reading<'a>) -> Option<Truth> {
        match self {
            Self::Always => Some(Truth::True),
            Self::Null(slot) => compare(read(*slot), |found| matches!(found, Reading::Null)),
            Self::Bool(slot, value) => compare(
                read(*slot),
                |found| matches!(found, Reading::Bool(found) if found == *value),
            ),
            Self::Text(slot, text) => compare(
                read(*slot),
                |found| matches!(found, Reading::Text(found) if text.is(found)),
            ),
            Self::Same(a, b) => same(read(*a), read(*b)),
        }
    }
}

impl Truth {
    #[inline]
    const fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

#[inline]
fn compare<'a>(found: Reading<'a>, is_equal: impl FnOnce(Reading<'a>) -> bool) -> Option<Truth> {
    match found {
        Reading::Missing | Reading::Broken => Some(Truth::Error),
        Reading::Value(_) | Reading::Odd => None,
        Reading::Number(number) if !number.is_finite() => None,
        found => Some(Truth::of(is_equal(found))),
    }
}

#[inline]
fn same(left: Reading<'_>, right: Reading<'_>) -> Option<Truth> {
    compare(left, |left| match (left, right) {
        (Reading::Null, Reading::Null) => true,
        (Reading::Bool(left), Reading::Bool(right)) => left == right,
        (Reading::Number(left), Reading::Number(right)) => left == right,
        (Reading::Text(left), Reading::Text(right)) => left == right,
        _ => false,
    })
    .and_then(|truth| match compare(right, |_| truth == Truth::True)? {
        Truth::Error => Some(Truth::Error),
        right => Some(if truth == Truth::Error { truth } else { right }),
    })
}

fn slot(slot: u32) -> Option<usize> {
    usize::try_from(slot).ok().filter(|_| slot != ALWAYS)
}

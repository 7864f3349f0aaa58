//! Fast paths of equalities only, decided on the values of a request, without a frame.
//!
//! The walk is that of the fast path itself: entry by entry, for all roles at once. A slot is read
//! when an entry needs it. Numbers are equal by value, other values if they are the same.

use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::{ALLOW, ALWAYS, DENY, EQUAL_CONST, EQUAL_SLOT, NEGATE, SIMPLE};
use wardgate_fastpath::{Entry, FastPath, word};

use crate::fast::input::SlotValue;
use crate::field::Field;
use crate::names::{Known, is_same};

/// One entry: an equality, and its effect on roles.
#[derive(Debug)]
pub(crate) struct Equality {
    test: Test,
    slot: usize,
    is_negated: bool,
    /// The roles of the entry.
    roles: u32,
    /// The roles that it allows if it holds.
    allowed: u32,
    /// The roles that it denies if it holds.
    denied: u32,
}

/// The right side of an equality.
#[derive(Debug)]
enum Test {
    /// No comparison: it always holds.
    Always,
    Null,
    Bool(bool),
    Text(Known),
    /// Another slot, by number.
    Same(usize),
}

/// Returns the entries of a fast path; `None` if one is not an equality.
pub(crate) fn unpack(table: &PolicyTable, fast_path: &FastPath<'_>) -> Option<Box<[Equality]>> {
    let is_simple = fast_path.flags() & SIMPLE != 0;
    let entries = if is_simple { fast_path.entries() } else { return None };
    entries.iter().map(|entry| Equality::unpack(table, entry)).collect()
}

/// Decides for roles with these classes; `read` reads a slot. Returns `None` if the answer is
/// unsure.
#[inline(always)]
pub(crate) fn decide<'a>(
    equalities: &[Equality],
    roles: u32,
    read: impl Fn(usize) -> SlotValue<'a>,
) -> Option<bool> {
    let (mut live, mut allowed, mut failed) = (roles, 0, 0);
    for equality in equalities {
        let here = equality.roles & live;
        if here == 0 {
            continue;
        }
        match equality.truth(&read) {
            Truth::Known(holds) => {
                let here = here & 0_u32.wrapping_sub(u32::from(holds ^ equality.is_negated));
                allowed |= here & equality.allowed;
                live &= !(here & equality.denied);
            }
            Truth::Error => {
                failed |= here;
                live &= !here;
            }
            Truth::Doubt => return None,
        }
    }
    match (allowed & live, failed) {
        (0, _) => Some(false),
        (_, 0) => Some(true),
        // The order of the roles matters.
        _ => None,
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// True if the equality holds.
    Known(bool),
    /// One of the values is missing.
    Error,
    /// Only the general path can compare the values.
    Doubt,
}

impl Equality {
    fn unpack(table: &PolicyTable, [head, operand, roles]: &Entry) -> Option<Self> {
        let [op, a, b, effect] = head.to_le_bytes().map(u32::from);
        let test = match op & !NEGATE {
            EQUAL_CONST => Test::constant(table, a, *operand)?,
            EQUAL_SLOT => Test::Same(slot(b)?),
            _ => return None,
        };
        Some(Self {
            slot: if matches!(test, Test::Always) { 0 } else { slot(a)? },
            test,
            is_negated: op & NEGATE != 0,
            roles: *roles,
            allowed: if effect == ALLOW { *roles } else { 0 },
            denied: if effect == DENY { *roles } else { 0 },
        })
    }

    #[inline(always)]
    fn truth<'a>(&self, read: &impl Fn(usize) -> SlotValue<'a>) -> Truth {
        match self.test {
            Test::Always => Truth::Known(true),
            _ => self.test.of(read(self.slot), read),
        }
    }
}

impl Truth {
    #[inline]
    const fn of(holds: bool) -> Self {
        Self::Known(holds)
    }
}

impl Test {
    fn constant(table: &PolicyTable, a: u32, operand: u32) -> Option<Self> {
        if a == ALWAYS {
            return (operand == word::TRUE).then_some(Self::Always);
        }
        Some(match operand {
            word::NULL => Self::Null,
            word::FALSE => Self::Bool(false),
            word::TRUE => Self::Bool(true),
            word::FIRST_STRING..word::FIRST_TEMPORARY => {
                let text = table.string(operand.wrapping_sub(word::FIRST_STRING));
                Self::Text(Known::from(Box::from(text)))
            }
            _ => return None,
        })
    }

    #[inline(always)]
    fn of<'a>(&self, found: SlotValue<'a>, read: &impl Fn(usize) -> SlotValue<'a>) -> Truth {
        match (self, found) {
            (Self::Bool(value), SlotValue::Field(Field::Bool(found))) => Truth::of(found == *value),
            (Self::Text(text), SlotValue::Field(Field::Text(found))) => Truth::of(text.is(found)),
            (Self::Same(other), found) => same(found, read(*other)),
            (Self::Null, SlotValue::Field(Field::Null)) => Truth::Known(true),
            (_, found) => equal_to_other_type(found),
        }
    }
}

/// Returns the result of a comparison with a value of another type.
#[inline(never)]
fn equal_to_other_type(found: SlotValue<'_>) -> Truth {
    match found {
        SlotValue::Field(Field::Missing) | SlotValue::Broken => Truth::Error,
        SlotValue::Field(Field::Number(number)) if !number.is_finite() => Truth::Doubt,
        SlotValue::Field(Field::List(_) | Field::Map(_)) => Truth::Doubt,
        SlotValue::Field(_) => Truth::Known(false),
        SlotValue::Attr(_) | SlotValue::Roles | SlotValue::Json(_) | SlotValue::Unsupported => {
            Truth::Doubt
        }
    }
}

#[inline]
fn same(left: SlotValue<'_>, right: SlotValue<'_>) -> Truth {
    match (left, right) {
        (SlotValue::Field(Field::Text(left)), SlotValue::Field(Field::Text(right))) => {
            Truth::of(is_same(left, right))
        }
        _ => same_but_texts(left, right),
    }
}

#[inline(never)]
fn same_but_texts(left: SlotValue<'_>, right: SlotValue<'_>) -> Truth {
    match (equal_to_other_type(left), equal_to_other_type(right)) {
        (Truth::Doubt, _) | (_, Truth::Doubt) => return Truth::Doubt,
        (Truth::Error, _) | (_, Truth::Error) => return Truth::Error,
        _ => {}
    }
    Truth::of(match (left, right) {
        (SlotValue::Field(Field::Null), SlotValue::Field(Field::Null)) => true,
        (SlotValue::Field(Field::Bool(left)), SlotValue::Field(Field::Bool(right))) => {
            left == right
        }
        (SlotValue::Field(Field::Number(left)), SlotValue::Field(Field::Number(right))) => {
            left == right
        }
        _ => false,
    })
}

fn slot(slot: u32) -> Option<usize> {
    usize::try_from(slot).ok().filter(|_| slot != ALWAYS)
}

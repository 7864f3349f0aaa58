//! The short form for the most frequent batch: a few equalities, and a principal with one class of
//! roles.
//!
//! It goes block by block and keeps the state of 64 rows in registers. The general form of
//! `columns` goes entry by entry, and writing its sets takes as long as the comparisons do. A batch
//! that does not fit goes through the general form, and both give the same answers.

use wardgate_simd::{Backend, Words};

use super::lanes::Lanes;
use super::set::{BLOCKS, rows_of};
use crate::frame::word;
use crate::layout::{self, ALLOW, DENY, NEGATE, SIMPLE};
use crate::record::{Entry, FastPath};

/// One entry: a slot compared with a word. All bits set mean yes, no bits mean no.
#[derive(Clone, Copy)]
struct Test<'a> {
    /// The blocks of a slot that varies, else empty.
    blocks: &'a [Words],
    operand: u32,
    /// The result for a slot that does not vary, and whether reading it is an error.
    holds: u64,
    fails: u64,
    negated: u64,
    allows: u64,
    denies: u64,
}

/// Writes the rows that are allowed; `None` if the batch needs the general form. No row is Unsure:
/// one class has no order of roles, and words suffice.
#[inline]
pub(super) fn decide<B: Backend>(
    fast_path: &FastPath<'_>,
    lanes: &Lanes<'_, B>,
    roles: u32,
    allowed: &mut [u64; BLOCKS],
) -> Option<()> {
    if fast_path.flags() & SIMPLE == 0 || !roles.is_power_of_two() {
        return None;
    }
    let (mut room, mut count) = ([Test::NONE; MAX_TESTS], 0_usize);
    for entry in fast_path.entries().iter().filter(|entry| entry[2] & roles != 0) {
        *room.get_mut(count)? = test(entry, lanes)?;
        count += 1;
    }
    let tests = room.get(..count)?;
    lanes.backend.run(|backend| {
        for (block, position) in allowed.iter_mut().enumerate() {
            *position = tests_of(backend, tests, block, rows_of(block, lanes.rows));
        }
    });
    Some(())
}

/// Returns the live rows of one block that the tests allow.
#[inline]
fn tests_of<B: Backend>(backend: B, tests: &[Test<'_>], block: usize, mut live: u64) -> u64 {
    let mut allowed = 0;
    if live == 0 {
        return 0;
    }
    for test in tests {
        let (holds, fails) = test.blocks.get(block).map_or((test.holds, test.fails), |words| {
            backend.equal_and_below(words, test.operand, word::NULL)
        });
        let yes = holds ^ test.negated;
        live &= !(fails | yes & test.denies);
        allowed |= yes & test.allows;
    }
    // Rows that failed or were denied are no longer live, even if an entry allowed them.
    allowed & live
}

fn test<'a, B: Backend>([head, operand, _]: &Entry, lanes: &Lanes<'a, B>) -> Option<Test<'a>> {
    let [op, a, b, effect] = head.to_le_bytes().map(u32::from);
    let (slot, operand) = match op & !NEGATE {
        layout::EQUAL_CONST => (a, *operand),
        layout::EQUAL_SLOT => lanes.against_word(a, b)?,
        _ => return None,
    };
    let all = |chosen| if chosen { u64::MAX } else { 0 };
    let scalar = lanes.scalar(slot);
    Some(Test {
        blocks: if scalar.is_none() { lanes.column(slot).words } else { &[] },
        operand,
        holds: all(scalar == Some(operand)),
        fails: all(scalar.is_some_and(|word| word < word::NULL)),
        negated: all(op & NEGATE != 0),
        allows: all(effect == ALLOW),
        denies: all(effect == DENY),
    })
}

impl Test<'_> {
    const NONE: Self =
        Self { blocks: &[], operand: 0, holds: 0, fails: 0, negated: 0, allows: 0, denies: 0 };
}

/// The largest number of entries of the short form.
const MAX_TESTS: usize = 4;

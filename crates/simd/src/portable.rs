//! The meaning of every operation: one row after the other, in safe code.
//!
//! The other back ends must agree with this file, never the reverse.

use crate::{Backend, Numbers, ROWS, Relation, Words};

/// The back end that runs on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl Portable {
    /// Returns the back end, which needs no proof.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Backend for Portable {
    const NAME: &'static str = "portable";

    #[inline]
    fn equal(self, column: &Words, value: u32) -> u64 {
        bits(column.iter().map(|word| *word == value))
    }

    #[inline]
    fn equal_columns(self, left: &Words, right: &Words) -> u64 {
        bits(left.iter().zip(right).map(|(left, right)| left == right))
    }

    #[inline]
    fn below(self, column: &Words, bound: u32) -> u64 {
        bits(column.iter().map(|word| *word < bound))
    }

    #[inline]
    fn compare(self, relation: Relation, column: &Numbers, value: f64) -> u64 {
        self.compare_columns(relation, column, &[value; ROWS])
    }

    #[inline]
    fn compare_columns(self, relation: Relation, left: &Numbers, right: &Numbers) -> u64 {
        bits(left.iter().zip(right).map(|(left, right)| holds(relation, *left, *right)))
    }
}

/// Compares two numbers by `relation`.
#[inline]
fn holds(relation: Relation, left: f64, right: f64) -> bool {
    match relation {
        Relation::Equal => left == right,
        Relation::Less => left < right,
        Relation::LessEqual => left <= right,
        Relation::More => left > right,
        Relation::MoreEqual => left >= right,
    }
}

/// Collects the results of the rows, the first in the lowest bit.
#[inline]
fn bits(rows: impl Iterator<Item = bool>) -> u64 {
    rows.zip(0u32..).fold(0, |bits, (row, position)| bits | u64::from(row) << position)
}

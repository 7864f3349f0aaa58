//! The bounds of partial evaluation. What exceeds one is left to the general path.

/// Words that the fast paths of one table may take; the actions beyond are left to the general path.
pub(crate) const MAX_WORDS: usize = 1 << 22;

/// Entries that one fast path may have, those of all its classes counted.
pub(crate) const MAX_ENTRIES: usize = 1 << 17;

/// Steps that building the fast paths of one table may take: a rule that is looked at for a role is one.
pub(crate) const MAX_STEPS: usize = 1 << 27;

/// Instructions of one expression that a fast path takes apart; a longer one runs as a program.
pub(crate) const MAX_FUSED: usize = 64;

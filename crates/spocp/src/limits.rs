//! Every bound on input.

/// Bytes of one expression, in the form in which it is read.
pub const MAX_BYTES: usize = 1 << 20;

/// Lists within lists, star forms counted too.
pub const MAX_DEPTH: usize = 64;

/// Elements of one expression in all: atoms, lists, star forms, and the words of ranges.
pub const MAX_ELEMENTS: usize = 1 << 16;

/// Rules of one set.
pub const MAX_RULES: usize = 1 << 24;

/// Places in the tree of one set of rules. A symbol of a rule takes one where no other rule has it.
pub const MAX_PLACES: usize = 1 << 28;

/// Bytes of text in one set of rules, each text counted once.
pub const MAX_TEXT: usize = 1 << 31;

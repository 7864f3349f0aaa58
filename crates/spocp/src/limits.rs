//! Every bound on input.

/// Bytes of one expression, in the form in which it is read.
pub const MAX_BYTES: usize = 1 << 20;

/// Lists within lists, star forms counted too.
pub const MAX_DEPTH: usize = 64;

/// Elements of one expression in all: atoms, lists, star forms, and the words of ranges.
pub const MAX_ELEMENTS: usize = 1 << 16;

/// Rules of one set.
pub const MAX_RULES: usize = 1 << 24;

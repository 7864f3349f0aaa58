//! Every bound on input.

/// The longest expression in bytes, in the form in which it is read.
pub const MAX_BYTES: usize = 1 << 20;

/// The deepest nesting of lists, including star forms.
pub const MAX_DEPTH: usize = 64;

/// The most elements of one expression: atoms, lists, star forms, and the words of ranges.
pub const MAX_ELEMENTS: usize = 1 << 16;

/// The most rules of one set.
pub const MAX_RULES: usize = 1 << 24;

/// The most nodes in the tree of one set of rules. A symbol of a rule takes one unless another rule
/// shares it.
pub const MAX_PLACES: usize = 1 << 28;

/// The most bytes of text in one set of rules, each text counted once.
pub const MAX_TEXT: usize = 1 << 31;

//! The bounds of this crate. What exceeds one is told as unknown.

/// The largest number of variables of one question: terms with classes, and patterns.
pub const MAX_VARIABLES: usize = 256;

/// The largest number of edges that the diagrams of one question may have, each of four bytes.
pub const MAX_EDGES: usize = 1 << 20;

/// The largest number of edges of all questions of one comparison: about four seconds of work.
pub const MAX_ALL_EDGES: usize = 1 << 26;

/// The largest number of requests that are tried to show one difference.
pub const MAX_TRIES: usize = 400;

/// The largest number of requests that are tried in one comparison.
pub const MAX_ALL_TRIES: usize = 1 << 20;

/// The largest number of other roles that are tried beside one whose search ends in one table only.
pub const MAX_SECOND_ROLES: usize = 4;

/// The largest number of roles of one action.
pub const MAX_ROLES: usize = 1 << 14;

/// The largest number of rules that are looked at in one comparison, each for an action and a role.
pub const MAX_STEPS: usize = 1 << 27;

/// The largest number of answers of one comparison that are not equal.
pub const MAX_ANSWERS: usize = 20_000;

/// The largest number of rules that an index remembers after they were replaced, before it is made anew.
pub const MAX_RETIRED_RULES: usize = 20_000;

/// The largest number of comparisons that prove edits of one kind.
pub const MAX_PROOFS: usize = 64;

/// The largest number of times that the text of one policy is read to see which edits it reads well with.
pub const MAX_READINGS: usize = 32;

/// The largest number of bytes of policies that are read again to prove edits, each time counted.
pub const MAX_PROOF_BYTES: usize = 1 << 28;

/// The smallest number of policies for which a derived role is proposed.
pub const MIN_DERIVED_POLICIES: usize = 3;

/// The largest number of rules that are left out, one after the other, to see whether they decide anything.
pub const MAX_REMOVALS: usize = 200;

//! The bounds of partial evaluation. An action or expression that exceeds one is left to the
//! general path or to a program.

/// The largest number of words of the fast paths of one table; the actions beyond are left to the
/// general path.
pub(crate) const MAX_WORDS: usize = 1 << 22;

/// The largest number of lists for principals with policies of their own; beyond it the general path
/// decides about them.
pub(crate) const MAX_OWN_LISTS: usize = 1 << 12;

/// The largest number of lists for scopes that only role policies are about, and of scopes with role
/// policies that are searched for them; the general path decides in the scopes beyond.
pub(crate) const MAX_ROLE_LISTS: usize = 1 << 12;
pub(crate) const MAX_ROLE_SCOPES: usize = 1 << 10;

/// The number of words of [`MAX_WORDS`] at which no more such lists are made.
pub(crate) const MAX_WORDS_BEFORE_OWN_LISTS: usize = 1 << 20;

/// The largest number of entries of one fast path, those of all its classes counted.
pub(crate) const MAX_ENTRIES: usize = 1 << 17;

/// The largest number of steps for building the fast paths of one table: each rule that is looked
/// at for a role is one.
pub(crate) const MAX_STEPS: usize = 1 << 27;

/// The largest number of instructions of one expression that becomes code of a fast path; a longer
/// one runs as a program.
pub(crate) const MAX_FUSED: usize = 64;

/// The largest number of actions of one check that fast paths with verdicts decide: their steps
/// must fit into those of one request. The package for JavaScript has the same bound.
pub(crate) const MAX_ACTIONS: usize = 16;

/// The largest number of scopes on the route of a kind whose fast paths have verdicts: an origin
/// has six bits for it, and two of the numbers have other meanings.
pub(crate) const MAX_SCOPES: usize = 62;

/// The largest number of derived roles on the route of such a kind: each has a bit.
pub(crate) const MAX_GRANTS: usize = 31;

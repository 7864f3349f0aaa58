//! Every bound on untrusted input, in one place.
//!
//! Each loop over input ends at one of these constants; reaching one is an evaluation error, which
//! never opens a door.

/// Steps one program may take, the variables that it reads not counted: an instruction
/// is one step, and a function that loops over a value pays one step for each element or for each
/// 16 bytes that it touches.
pub const MAX_STEPS: u32 = 2_000_000;

/// Steps one request may take: those of all its programs, one for each condition, scope, role and
/// glob that the walk looks at, and for what it writes down as the programs pay for it. Where they
/// end, what is left undecided is denied.
pub const MAX_REQUEST_STEPS: u32 = 10 * MAX_STEPS;

/// Bytes of the rules and expressions that an explanation lists; it leaves out what comes later.
pub const MAX_EXPLANATION_BYTES: usize = 4 << 20;

/// Registers one program may name. Programs are at most this deep, because a register is an `u8`.
pub const MAX_REGISTERS: usize = 250;

/// How deep variables may refer to variables.
pub const MAX_VARIABLE_DEPTH: u32 = 64;

/// How deep an attribute, a list or a map may nest.
pub const MAX_VALUE_DEPTH: usize = 64;

/// Bytes of the longest string or byte string that an evaluation may build.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// Elements of the longest list or map that an evaluation may build.
pub const MAX_ELEMENTS: usize = 100_000;

/// Bytes of the longest glob. A way through the pattern is one bit, so this is also the size of the
/// matcher's state.
pub const MAX_GLOB_BYTES: usize = 1024;

/// How deep the groups of a glob may nest.
pub const MAX_GLOB_DEPTH: usize = 16;

/// Bytes of the longest regular expression.
pub const MAX_REGEX_BYTES: usize = 1 << 16;

/// Instructions of the longest compiled regular expression; an instruction is named by a `u16`.
pub const MAX_REGEX_INSTRUCTIONS: usize = 65_000;

/// Words of all the character classes of one regular expression. Letters of all scripts take 1300.
pub const MAX_REGEX_CLASS_WORDS: usize = 1 << 17;

/// How deep groups may nest in a regular expression.
pub const MAX_REGEX_DEPTH: usize = 1000;

/// The largest count in `x{n,m}`, and the largest product of counts nested in each other. The number
/// is RE2's.
pub const MAX_REGEX_REPEAT: u32 = 1000;

/// How deep `all`, `any` and `none` may nest in a condition.
pub const MAX_CONDITION_DEPTH: usize = 64;

/// Values one request may hold, each element and each member counted.
pub const MAX_REQUEST_VALUES: usize = 100_000;

/// Bytes of all the strings of one request, names of members included.
pub const MAX_REQUEST_BYTES: usize = 16 << 20;

/// Steps that checking the attributes of one request against one schema may take: a keyword, a
/// comparison or an instruction of a regular expression is one step, as are 16 bytes of text that is
/// read or reported.
pub const MAX_SCHEMA_STEPS: u32 = 2_000_000;

/// Keywords of one node of a schema. JSON Schema does not have as many.
pub const MAX_SCHEMA_KEYWORDS: usize = 64;

/// How deep the nodes of a schema may lead to each other while one value is checked.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// Segments of a path that a fast path reads.
pub const MAX_FAST_PATH_SEGMENTS: usize = 32;

/// Roles that a principal may have in a request that fast paths decide. What the general path would charge
/// for so many is known when the fast path is built.
pub const MAX_FAST_PATH_ROLES: usize = 64;

/// Bytes of the longest role in such a request.
pub const MAX_FAST_PATH_ROLE_BYTES: usize = 192;

/// Steps of [`MAX_REQUEST_STEPS`] that the programs of a fast path may take. The other half is for what the
/// general path would charge for the walk, which is known when the fast path is built: so no fast path answers
/// where the general path would give up.
pub const MAX_FAST_PATH_STEPS: u32 = MAX_REQUEST_STEPS / 2;

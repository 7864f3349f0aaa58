//! Every bound on untrusted input.
//!
//! Each loop over input ends at one of these constants; reaching one is an evaluation error, which
//! never allows an action.

/// The largest number of steps of one program, without the variables that it reads: an instruction
/// is one step, and a function that loops over a value pays one step for each element or for each
/// 16 bytes that it reads.
pub const MAX_STEPS: u32 = 2_000_000;

/// The largest number of steps of one request: those of all its programs, one for each condition,
/// scope, role and glob that the walk considers, and for the results that it records as the
/// programs pay for them. Once they are spent, all actions without a decision are denied.
pub const MAX_REQUEST_STEPS: u32 = 10 * MAX_STEPS;

/// The largest number of bytes of the rules and expressions that an explanation lists; it omits
/// those beyond.
pub const MAX_EXPLANATION_BYTES: usize = 4 << 20;

/// The largest number of registers of one program. Programs are at most this deep, because a
/// register is an `u8`.
pub const MAX_REGISTERS: usize = 250;

/// The largest depth of variables that refer to variables.
pub const MAX_VARIABLE_DEPTH: u32 = 64;

/// The largest depth of an attribute, a list or a map.
pub const MAX_VALUE_DEPTH: usize = 64;

/// The bytes of the longest string or byte string that an evaluation may build.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// The elements of the longest list or map that an evaluation may build.
pub const MAX_ELEMENTS: usize = 100_000;

/// The bytes of the longest glob. A state of the matcher is one bit for each byte, so this is also
/// the size of its state set in bits.
pub const MAX_GLOB_BYTES: usize = 1024;

/// The largest depth of groups in a glob.
pub const MAX_GLOB_DEPTH: usize = 16;

/// The bytes of the longest regular expression.
pub const MAX_REGEX_BYTES: usize = 1 << 16;

/// The number of instructions of the longest compiled regular expression; an instruction is named
/// by a `u16`.
pub const MAX_REGEX_INSTRUCTIONS: usize = 65_000;

/// The largest number of words of all the character classes of one regular expression. Letters of
/// all scripts take 1300.
pub const MAX_REGEX_CLASS_WORDS: usize = 1 << 17;

/// The largest depth of groups in a regular expression.
pub const MAX_REGEX_DEPTH: usize = 1000;

/// The largest count in `x{n,m}`, and the largest product of counts nested in each other. The
/// number is RE2's.
pub const MAX_REGEX_REPEAT: u32 = 1000;

/// The largest depth of `all`, `any` and `none` in a condition.
pub const MAX_CONDITION_DEPTH: usize = 64;

/// The largest number of values of one request, each element and each member counted.
pub const MAX_REQUEST_VALUES: usize = 100_000;

/// The largest number of bytes of all the strings of one request, names of members included.
pub const MAX_REQUEST_BYTES: usize = 16 << 20;

/// The largest number of steps of checking the attributes of one request against one schema: a
/// keyword, a comparison or an instruction of a regular expression is one step, as are 16 bytes of
/// text that is read or reported.
pub const MAX_SCHEMA_STEPS: u32 = 2_000_000;

/// The largest number of keywords of one node of a schema. JSON Schema does not have as many.
pub const MAX_SCHEMA_KEYWORDS: usize = 64;

/// The largest depth of a schema's nodes during the check of one value.
pub const MAX_SCHEMA_DEPTH: usize = 128;

/// The largest number of segments of a path that a fast path reads.
pub const MAX_FAST_PATH_SEGMENTS: usize = 32;

/// The largest number of roles of a principal in a request that fast paths decide. The steps that
/// the general path charges for so many are known when the fast path is built.
pub const MAX_FAST_PATH_ROLES: usize = 64;

/// The bytes of the longest role in such a request.
pub const MAX_FAST_PATH_ROLE_BYTES: usize = 192;

/// The bytes of the longest action that fast paths compare with patterns. The steps that the general
/// path charges for it are known when the fast path is built.
pub const MAX_FAST_PATH_ACTION_BYTES: usize = 64;

/// The largest number of steps of [`MAX_REQUEST_STEPS`] that the programs of a fast path may take.
/// The other half is for the steps that the general path charges for the walk, which are known when
/// the fast path is built: so no fast path answers where the general path would reach its limit.
pub const MAX_FAST_PATH_STEPS: u32 = MAX_REQUEST_STEPS / 2;

/// The largest number of words that fill a pattern of topics without running its program, and the
/// largest number of bytes of each.
pub const MAX_TOPIC_WORDS: usize = 8;
/// See [`MAX_TOPIC_WORDS`].
pub const MAX_TOPIC_WORD_BYTES: usize = 256;

/// The largest number of steps of the programs of one fast path with verdicts. A check that fast
/// paths decide has at most 16 actions, and one more of them for its derived roles.
pub const MAX_VERDICT_STEPS: u32 = MAX_FAST_PATH_STEPS / 17;

/// The largest number of kinds that a host lists when it opens a bundle. Writing and reading so many
/// takes a third of a millisecond; a host with more of them loads the list of each kind on first
/// use.
pub const MAX_LISTED_KINDS: usize = 1024;

/// The largest number of parts of the key of a rate limit.
pub const MAX_LIMIT_KEYS: usize = 16;

/// The largest number of rate limits that one action meets: those that are enforced, and as many
/// others.
pub const MAX_MET_LIMITS: usize = 16;

/// The largest number of tokens that the cost or the quota of a rate limit counts. Larger numbers
/// count as this one, which is more than any limit admits.
pub const MAX_LIMIT_TOKENS: u64 = 1_000_000_000_001;

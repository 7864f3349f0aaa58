//! The layout of a policy table, shared by the compiler that writes it and the engine that reads
//! it.
//!
//! A table is a header, then sections of 32-bit words. Inside a section, references are word
//! offsets from its start or dense ids; a reference that may be absent is stored plus one, with 0
//! for none.

use super::{at, word};
use crate::codes::codes;

/// First word of every table: "WGT1".
pub const MAGIC: u32 = 0x3154_4757;

/// Version of this layout. A reader accepts exactly its own.
pub const VERSION: u32 = 3;

/// The number of words in the header: magic, version, flags, string id of the default policy
/// version, then offset and length of each section in the order of [`Section`].
pub const HEADER_WORDS: usize = 4 + 2 * SECTIONS;

/// Number of sections.
pub const SECTIONS: usize = Section::ALL.len();

/// Table flag: strict evaluation.
pub const FLAG_STRICT: u32 = 1;
/// Table flag: lenient scope search.
pub const FLAG_LENIENT_SCOPE_SEARCH: u32 = 2;
/// Table flag: schema violations are reported.
pub const FLAG_SCHEMA_WARN: u32 = 4;
/// Table flag: schema violations are reported and the request is denied.
pub const FLAG_SCHEMA_REJECT: u32 = 8;

/// Table flag: the table has rate limits, and the header goes on with their offset and length: see
/// [`limit`](super::limit).
#[cfg(feature = "ratelimit")]
pub const FLAG_LIMITS: u32 = 16;
/// No table flag: a reader without rate limits does not know the flag of tables with limits.
#[cfg(not(feature = "ratelimit"))]
const FLAG_LIMITS: u32 = 0;

/// All table flags. A reader refuses others: an unknown flag may change a decision.
const FLAGS: u32 =
    FLAG_STRICT | FLAG_LENIENT_SCOPE_SEARCH | FLAG_SCHEMA_WARN | FLAG_SCHEMA_REJECT | FLAG_LIMITS;

codes! {
    /// A section of the table.
    pub enum Section {
        /// See [`crate::cel::pool::Pool::strings`].
        Strings = 0,
        /// See [`crate::cel::pool::Pool::constants`].
        Constants = 1,
        /// See [`crate::cel::pool::Pool::slots`].
        Slots = 2,
        /// See [`crate::cel::pool::Pool::programs`].
        Programs = 3,
        /// See [`crate::cel::pool::Pool::code`].
        Code = 4,
        /// See [`crate::cel::pool::Pool::variables`].
        Variables = 5,
        /// Condition nodes: see [`Junction`].
        Conditions = 6,
        /// Variable sets: count, then variable ids in the order of evaluation.
        VariableSets = 7,
        /// All entries found by name, [`INDEX_WORDS`] words each, sorted by key.
        Index = 8,
        /// Heads of rule blocks, blocks, and lists of roles, found through `Index`.
        Blocks = 9,
        /// Schemas, found through `Index`.
        Schemas = 10,
        /// Policies for inspection: [`POLICY_WORDS`] words each.
        Policies = 11,
        /// Fast paths and lists of fast paths, found through `Index`. See
        /// [`wardgate_fastpath::layout`].
        FastPaths = 12,
        /// Explanation `i` is the part of [`Parts::explanations`](super::Parts::explanations) from
        /// offset `i` to the next one.
        Explanations = 13,
    }
}

/// The number of words of one entry in [`Section::Index`]: four words of key and one of value.
pub const INDEX_WORDS: usize = 5;

/// The number of words of one record in [`Section::Policies`]: kind ([`PolicyKind`]), string id of
/// the policy key, id of the explanation that names the source file, number of rules, string ids of name, version and
/// scope.
pub const POLICY_WORDS: usize = 7;

codes! {
    /// First word of a key in [`Section::Index`]; the others are string ids.
    pub enum Key {
        /// `(scope)`: resource or role policies exist in this scope; value unused.
        ResourceScope = 0,
        /// `(scope)`: principal policies exist in this scope; value unused.
        PrincipalScope = 1,
        /// `(scope)`: value is 1 if an allow needs the consent of the parent scope, else 0.
        ScopePermissions = 2,
        /// `(version, scope)`: some principal has a policy there; value unused.
        PrincipalVersion = 3,
        /// `(kind, version, scope)`: value is the head of the block of the resource policy.
        Resource = 4,
        /// `(version, scope)`: value is the head of the block of all role policies there.
        Roles = 5,
        /// `(principal, version, scope)`: value is the head of the block of the principal policy.
        Principal = 6,
        /// `(scope, role)`: value is a list of ancestor roles: count, string ids.
        ParentRoles = 7,
        /// `(kind, version)`: value is a schema record in [`Section::Blocks`]: for the principal,
        /// then for the resource, the schema node plus one, and the list of actions that are not
        /// validated plus one.
        Schema = 8,
        /// `(kind, version, scope)`: value is the list of fast paths in [`Section::FastPaths`].
        FastPaths = 12,
        /// `(principal, kind, scope)`: value is the list of fast paths of a principal with policies
        /// of its own, for the default version.
        OwnFastPaths = 10,
    }
}

codes! {
    /// The kind of a condition node. The first word of a node is `junction | operands << 2`. An
    /// expression has one operand, its program; a junction has the offsets of its child nodes, all
    /// of them before itself.
    pub enum Junction {
        /// A program.
        Expr = 0,
        /// Satisfied if every child is.
        All = 1,
        /// Satisfied if some child is.
        Any = 2,
        /// Satisfied if no child is.
        None = 3,
    }
}

impl Junction {
    /// Returns the word for a node of this kind with this many operands.
    #[must_use]
    pub const fn word(self, operands: u32) -> u32 {
        self.code() | operands << 2
    }

    /// Splits the first word of a node.
    #[must_use]
    pub fn split(word: u32) -> (Self, u32) {
        (Self::from_code(word & 3).unwrap_or(Self::None), word >> 2)
    }
}

codes! {
    /// The kind of policy of a record in [`Section::Policies`].
    pub enum PolicyKind {
        /// A resource policy.
        Resource = 0,
        /// A principal policy.
        Principal = 1,
        /// A role policy.
        Role = 2,
    }
}

/// The number of words in the head of a block: what tells the rules of one policy from equal rules
/// of another one.
pub const HEAD_WORDS: usize = 4;

/// The positions of the fields in the head of a block.
pub mod head {
    /// String id of the key of the policy (empty for role policies).
    pub const POLICY: usize = 0;
    /// Id of the explanation that names the source file.
    pub const FILE: usize = 1;
    /// Offset of the block. Policies with equal rules share one.
    pub const BLOCK: usize = 2;
    /// Offset of the lines: count, then the line of each rule in its source file, 1-based.
    pub const LINES: usize = 3;
}

/// The number of words in the header of a block: number of rules; then the offset of each dimension
/// (actions, roles, resources), of the list of derived roles and of the rules, all relative to the
/// start of the block. A dimension at offset 0 does not narrow.
pub const BLOCK_WORDS: usize = 6;

/// The positions of the fields in a block's header.
pub mod block {
    /// Number of rules.
    pub const RULES: usize = 0;
    /// Offset of the actions dimension: number of exact values, number of globs, number of pairs;
    /// then for each value, the exact ones sorted, its string id, the number of its first pair and
    /// the number of its pairs; then the pairs: the number of a word of a bit set over the rules,
    /// and that word. The pairs of a value are sorted, and follow those of the value before it.
    /// Words that are zero are left out: a policy may have many rules and many actions.
    pub const ACTIONS: usize = 1;
    /// Offset of the roles dimension.
    pub const ROLES: usize = 2;
    /// Offset of the resources dimension.
    pub const RESOURCES: usize = 3;
    /// Offset of the derived roles (count, then records) or of the role policies.
    pub const DERIVED_ROLES: usize = 4;
    /// Offset of the rule records.
    pub const RULE_RECORDS: usize = 5;
}

/// The number of words in the header of a dimension.
pub const DIMENSION_WORDS: usize = 3;

/// The number of words of one value of a dimension.
pub const VALUE_WORDS: usize = 3;

/// The number of words of one rule record.
pub const RULE_WORDS: usize = 11;

/// The positions of the fields in a rule record.
pub mod rule {
    /// One of [`super::EFFECT_NONE`], [`super::EFFECT_ALLOW`], [`super::EFFECT_DENY`].
    pub const EFFECT: usize = 0;
    /// String id of the rule's name.
    pub const NAME: usize = 1;
    /// Condition plus one.
    pub const CONDITION: usize = 2;
    /// Condition of the derived role plus one.
    pub const ROLE_CONDITION: usize = 3;
    /// Variable set plus one.
    pub const VARIABLES: usize = 4;
    /// Variable set of the derived role plus one.
    pub const ROLE_VARIABLES: usize = 5;
    /// Program of the output when the rule is activated, plus one.
    pub const OUTPUT_ACTIVATED: usize = 6;
    /// Program of the output when the condition is not met, plus one.
    pub const OUTPUT_NOT_MET: usize = 7;
    /// String id of the derived role, plus one.
    pub const DERIVED_ROLE: usize = 8;
    /// Flags: [`super::FROM_ROLE_POLICY`], [`super::NEGATED`].
    pub const FLAGS: usize = 9;
    /// Number of the role policy that holds the rule, plus one; 0 for the policy of the block.
    pub const ROLE_POLICY: usize = 10;
}

/// The rule only emits outputs.
pub const EFFECT_NONE: u32 = 0;
/// The rule allows.
pub const EFFECT_ALLOW: u32 = 1;
/// The rule denies.
pub const EFFECT_DENY: u32 = 2;

/// Rule flag: the rule narrows a role (it comes from a role policy).
pub const FROM_ROLE_POLICY: u32 = 1;
/// Rule flag: an allow that the compiler turned into a deny of its negated condition.
pub const NEGATED: u32 = 2;

/// The number of words of one derived role record: string id of the name, condition plus one,
/// variable set plus one, offset (in the section) of its parent roles: count, string ids.
pub const DERIVED_ROLE_WORDS: usize = 4;

/// The number of words of one role policy record in a roles block: string ids of the role and of
/// the policy key, id of the explanation that names the source file.
pub const ROLE_POLICY_WORDS: usize = 3;

/// The parsed header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Table flags.
    pub flags: u32,
    /// String id.
    pub default_version: u32,
    bounds: [(usize, usize); SECTIONS],
    /// Offset and length of the rate limits; both are 0 if there are none.
    #[cfg(feature = "ratelimit")]
    limits: (usize, usize),
}

impl Header {
    /// Reads the header; `None` if it is not one or a section leaves the table.
    #[must_use]
    pub fn read(words: &[u32]) -> Option<Self> {
        if word(words, 0) != MAGIC || word(words, 1) != VERSION || words.len() < HEADER_WORDS {
            return None;
        }
        let flags = word(words, 2);
        if flags & !FLAGS != 0 {
            return None;
        }
        let mut bounds = [(0, 0); SECTIONS];
        for (section, bound) in bounds.iter_mut().enumerate() {
            let start = at(word(words, 4 + 2 * section));
            let length = at(word(words, 5 + 2 * section));
            words.get(start..start.checked_add(length)?)?;
            *bound = (start, length);
        }
        Some(Self {
            flags,
            default_version: word(words, 3),
            bounds,
            #[cfg(feature = "ratelimit")]
            limits: limit_bounds(words, flags)?,
        })
    }

    /// Returns offset and length of the rate limits.
    #[cfg(feature = "ratelimit")]
    pub(crate) const fn limits(&self) -> (usize, usize) {
        self.limits
    }

    /// Returns offset and length of `section`.
    #[must_use]
    pub fn bounds(&self, section: Section) -> (usize, usize) {
        self.bounds.get(at(section.code())).copied().unwrap_or_default()
    }
}

/// Reads offset and length of the rate limits, which follow the header of a table that has some.
#[cfg(feature = "ratelimit")]
fn limit_bounds(words: &[u32], flags: u32) -> Option<(usize, usize)> {
    if flags & FLAG_LIMITS == 0 {
        return Some((0, 0));
    }
    let (start, length) = (at(word(words, HEADER_WORDS)), at(word(words, HEADER_WORDS + 1)));
    words.get(start..start.checked_add(length)?)?;
    Some((start, length))
}

/// Hashes text, to find a string by it.
#[must_use]
pub(crate) fn hash_text(bytes: impl Iterator<Item = u8>) -> u32 {
    let mut hash = TextHash::default();
    bytes.for_each(|byte| hash.read(byte));
    hash.finish()
}

/// The hash of a text that is being read: FNV-1a over bytes, mixed at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextHash(u32);

impl TextHash {
    pub(crate) const fn finish(self) -> u32 {
        mix(self.0)
    }

    pub(crate) fn read(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
}

impl Default for TextHash {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

/// Hashes a key for [`Section::Index`].
#[must_use]
pub(crate) fn hash_key(key: [u32; 4]) -> u32 {
    mix(key.iter().fold(0x9e37_79b9_u32, |hash, part| mix(hash ^ part).wrapping_add(*part)))
}

/// The finaliser of MurmurHash3.
const fn mix(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

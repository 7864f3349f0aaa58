//! The words of fast paths, shared by the crate `wardgate-partial`, which writes them, and their
//! readers.
//!
//! The section starts with the number of fast paths and the offset of each, ascending. A reference
//! that may be absent is stored plus one, 0 for none.

/// The number of words in a frame. The last one is [`ALWAYS`].
pub const FRAME_WORDS: usize = 64;

/// The slot that holds `true` in every frame: an entry without a condition compares it.
pub const ALWAYS: u32 = 63;

/// The largest number of slots of one fast path.
pub const MAX_SLOTS: usize = 32;

/// The largest number of classes of roles that fit into a mask. The mask stays positive as a signed
/// number.
pub const MAX_CLASSES: usize = 31;

/// The largest number of memos of one decision; memo number 0 means that the result is not stored.
pub const MAX_MEMOS: usize = 32;

/// The largest number of truths on the stack of code.
pub const MAX_STACK: usize = 32;

/// The largest number of classes that one request of a fast path by class may name: words 32 to 62
/// of the frame hold them.
pub const MAX_REQUEST_CLASSES: usize = 31;

/// The word of the frame with the first class of a request.
pub const FIRST_CLASS_WORD: usize = 32;

/// The number of words in the header of a fast path.
pub const PATH_WORDS: usize = 7;

/// The positions of the fields in the header of a fast path.
///
/// Behind the header come, without a gap: slots, roles, entries, the entries of verdicts alone,
/// origins and places, code, and lists. Each part starts where the one before it ends, and what
/// refers to a part counts from the start of that part, so that equal parts of fast paths are equal
/// words.
///
/// A fast path has two views, numbered `2 * n` and `2 * n + 1` for the fast path `n` of the section.
/// That of effects has the first slots and the entries that bear on allow or deny. That of verdicts
/// has all: what a check reports too. Fast paths by class have the first view alone.
pub mod fast_path {
    /// The flags below: for effects in the lowest byte, for verdicts in the next one.
    pub const FLAGS: usize = 0;
    /// Number of slots: for effects in the lowest byte, for verdicts in the next one; the larger one
    /// is that of all. Their records follow the header.
    pub const SLOTS: usize = 1;
    /// Number of roles; their records follow the slots: string id, then mask or class; sorted.
    pub const ROLES: usize = 2;
    /// Number of entries; in a fast path by class: number of classes, which have two words each,
    /// the number of their first entry and the number of their entries.
    pub const ENTRIES: usize = 3;
    /// Number of entries of verdicts alone; in a fast path by class: of the entries of all classes.
    pub const MORE: usize = 4;
    /// Mask or class of a role that is not listed.
    pub const OTHERS: usize = 5;
    /// Number of words of code.
    pub const CODE_WORDS: usize = 6;
}

/// The origin of an entry: the rule that it stands for, in relation to a kind, so that kinds with
/// equal rules share fast paths. The lowest bits are its type, the next ones the scope, counted from
/// the most specific one that a search visits; the rest is a number.
///
/// Behind the origins of all entries, each entry of verdicts alone has its place: the number of
/// other entries that are tried before it. Places never fall.
pub mod origin {
    /// A rule of the resource policy, by its number in the block.
    pub const RESOURCE_RULE: u32 = 0;
    /// A rule of a role policy, by its number in the block.
    pub const ROLE_RULE: u32 = 1;
    /// The policy of a role does not list the action: the string id of the role.
    pub const NOT_LISTED: u32 = 2;
    /// No rule: the entry finds the errors of a variable, or ends a scope.
    pub const NONE: u32 = 3;

    /// The scope of the policy of the principal itself, which is visited before all others.
    pub const OWN: u32 = 62;
    /// The largest number of a scope, and of scopes.
    pub const MAX_SCOPE: u32 = 63;
    /// The largest number of a rule or role.
    pub const MAX_NUMBER: u32 = (1 << 24) - 1;

    /// Returns the word of an origin.
    #[must_use]
    pub const fn word(kind: u32, scope: u32, number: u32) -> u32 {
        kind | scope << 2 | number << 8
    }

    /// Returns type, scope and number.
    #[must_use]
    pub const fn parts(word: u32) -> [u32; 3] {
        [word & 3, word >> 2 & MAX_SCOPE, word >> 8]
    }
}

/// Fast path flag: every entry is [`EQUAL_CONST`] or [`EQUAL_SLOT`].
pub const SIMPLE: u32 = 1;
/// Fast path flag: some entry runs a program of the table.
pub const PROGRAMS: u32 = 2;
/// Fast path flag: some program reads the time, or a slot holds it.
pub const NOW: u32 = 4;
/// Fast path flag: roles have classes with entries of their own, because the classes are too many
/// for a mask.
pub const BY_CLASS: u32 = 8;
/// Fast path flag: the view has origins. Only that of verdicts has.
pub const ORIGINS: u32 = 16;

/// The number of words of one slot: offset in the table's slots, uses, and an offset in the lists
/// plus one, or 0. The uses of effects are the lowest byte, those of verdicts the next one. The
/// offset is that of the constants (count, sorted string ids), or of the test if the uses are
/// [`TEST`] (count, kind, operands; see [`test`]).
pub const SLOT_WORDS: usize = 3;

/// Use of a slot: it is compared with constants.
pub const CONSTANTS: u32 = 1;
/// Use of a slot: a program may read its text.
pub const TEXT: u32 = 2;
/// Use of a slot: a program may read its value of any type.
pub const VALUE: u32 = 4;
/// Use of a slot: it is compared with no other slot, so texts outside of its constants may share
/// one word.
pub const LONE: u32 = 16;
/// Use of a slot: its word is the result of a test of the value. It has no other use.
pub const TEST: u32 = 8;

/// Tests: what a host computes of a value where the value is, instead of writing the value itself.
///
/// The result is a word: `true` and `false`, missing for an error of any kind, and a number for
/// [`SIZE`](test::SIZE), [`TIME`](test::TIME) and [`NOW`](test::NOW). A value that a host does not
/// test exactly as the general path would, such as one beyond the bounds below, makes the decision
/// unsure.
pub mod test {
    /// The value is a list and an element has all of the terms; or it is a map, there is one term
    /// without a name, and the text of the term is a key. Operands: terms.
    pub const MEMBER: u32 = 0;
    /// `value.exists(x, ...)` for a list: some element meets all terms. Operands: terms.
    pub const EXISTS: u32 = 1;
    /// `value.all(x, ...)` for a list: every element meets all terms. Operands: terms.
    pub const ALL: u32 = 2;
    /// `value.startsWith(text)`. Operands: one term without a name.
    pub const STARTS_WITH: u32 = 3;
    /// `value.endsWith(text)`. Operands: one term without a name.
    pub const ENDS_WITH: u32 = 4;
    /// `value.contains(text)`. Operands: one term without a name.
    pub const CONTAINS: u32 = 5;
    /// `size(value)`: code points, elements or entries. No operands.
    pub const SIZE: u32 = 6;
    /// `timestamp(value)` in milliseconds since 1970; they may have a fraction. No operands.
    pub const TIME: u32 = 7;
    /// `now()` in milliseconds since 1970, whatever the value is. A host writes it when it decides,
    /// so that a decision has one time. No operands.
    pub const NOW: u32 = 8;
    /// The attributes fit a flat schema: the slot is all of those of the principal or of the
    /// resource. The word is `true`; wherever a host is not certain of it, the decision is unsure.
    /// Operands: terms of their own, see [`schema`](crate::schema).
    pub const FITS: u32 = 9;
    /// `value.matchesTopic(patterns)`: some pattern matches the topic of MQTT that the value is. A map,
    /// which stands for the topics of a filter, makes the decision unsure. Operands: terms without a
    /// name, each the constant text of a pattern.
    pub const TOPIC: u32 = 10;
    /// `value.matchesTopic(pattern, words)`: the pattern with a word in the place of each level `{}`
    /// matches. Operands: terms without a name, first the constant text of the pattern, then the words.
    pub const FILLED_TOPIC: u32 = 11;
    /// `hasIntersection(value, list)`: both are lists, and an element of one is in the other. Elements that
    /// are lists or maps make the decision unsure, and so does `list * (list + value)` above [`MAX_PAIRS`],
    /// by their lengths. Operands: one term without a name, the slot of the other list.
    pub const INTERSECTS: u32 = 12;

    /// The number of words of a term: the string id of a member of the element plus one (0 is the
    /// element itself), [`NEGATED`] and [`SLOT`] as bits, and the word of a constant or the number
    /// of an earlier slot, which has no test.
    pub const TERM_WORDS: usize = 3;
    /// Bit of a term: it holds if the values are unequal.
    pub const NEGATED: u32 = 1;
    /// Bit of a term: its last word is a slot.
    pub const SLOT: u32 = 2;

    /// The largest number of terms of one test.
    pub const MAX_TERMS: usize = 4;
    /// The largest number of elements or entries that a host tests.
    pub const MAX_ELEMENTS: usize = 1024;
    /// The largest number of comparisons for which a host tests two lists: as many as the general path
    /// makes where all texts of the second list have one hash.
    pub const MAX_PAIRS: usize = 8192;
    /// The largest number of bytes or code units of a text that is compared with elements.
    pub const MAX_NEEDLE: usize = 256;
    /// The largest number of bytes of a topic, and of bytes or code units of a pattern or word for it.
    pub const MAX_TOPIC: usize = 256;
    /// The largest number of bytes or code units of a text that a host tests.
    pub const MAX_TEXT: usize = 16_384;
    /// The largest number of bytes or code units of a text that a host reads as a moment.
    pub const MAX_MOMENT: usize = 64;
    /// The largest distance from 1970, in whole seconds, of a moment that a host writes with a
    /// fraction of a millisecond: below 2^42 milliseconds, doubles are less than half a microsecond
    /// apart, so moments that differ by that much have different numbers.
    pub const MAX_FINE_SECONDS: i64 = 4_398_046_510;
}

/// The number of words of one role.
pub const ROLE_WORDS: usize = 2;

/// The number of words of one entry: `op | a << 8 | b << 16 | effect << 24`, operand, mask of
/// roles.
pub const ENTRY_WORDS: usize = 3;

/// Effect of an entry: it allows.
pub const ALLOW: u32 = 1;
/// Effect of an entry: it denies.
pub const DENY: u32 = 2;
/// Effect of an entry of verdicts alone: the rule of its origin is activated, and emits its output
/// for that.
pub const EMITS: u32 = 3;
/// Effect of an entry of verdicts alone: only the condition of the rule is not met, and the rule
/// emits its output for that.
pub const EMITS_UNMET: u32 = 4;

/// Bit of an operation that negates its truth; errors stay.
pub const NEGATE: u32 = 0x80;

/// Entry, and code: slot `a` equals the operand.
pub const EQUAL_CONST: u32 = 0;
/// Entry: slot `a` equals slot `b`.
pub const EQUAL_SLOT: u32 = 1;
/// Entry: the code at the operand, counted from the start of the code, is true; `b` is its memo.
pub const CODE: u32 = 2;
/// Entry: a scope ends; the operand is 1 if an allow in it needs the consent of the next scope.
pub const SCOPE_END: u32 = 3;

/// The number of words in the header of a fast path list: fast path of other actions plus one,
/// their fast path with verdicts plus one, the fast path of the derived roles plus one, number of
/// actions; `patterns | sets << 8`. Then come
/// - the actions, each a string id and its fast paths, sorted;
/// - the string ids of the patterns, sorted;
/// - the sets of patterns, each its bits and its fast paths, sorted.
///
/// An action that is not listed has the fast paths of the patterns that match it: those of the set
/// with a bit for each, or those of other actions if none does.
pub const LIST_WORDS: usize = 5;

/// The number of words of an action or a set of a list: string id or bits, fast path plus one, fast
/// path with verdicts plus one.
pub const ACTION_WORDS: usize = 3;

/// The largest number of entries of a fast path with verdicts.
pub const MAX_VERDICTS: usize = 1 << 16;

/// The largest number of patterns of a list.
pub const MAX_PATTERNS: usize = 8;

/// The largest number of sets of patterns of a list.
pub const MAX_SETS: usize = 16;

/// Operations of code: `op | a << 8 | b << 16 | c << 24`, then operands.
pub mod code {
    /// Ends the code; the truth on the stack is the result.
    pub const END: u32 = 0;
    /// Pushes truth `a`.
    pub const PUSH: u32 = 1;
    /// Pushes the truth of: slot `a` equals the operand.
    pub const EQUAL_CONST: u32 = 2;
    /// Pushes the truth of: slot `a` equals slot `b`.
    pub const EQUAL_SLOT: u32 = 3;
    /// Pushes slot `a` itself.
    pub const BOOL: u32 = 4;
    /// Pushes true if slot `a` has a value.
    pub const HAS: u32 = 5;
    /// Pushes the truth of: slot `a` is in the list at the operand (count, sorted words), counted
    /// from the start of the lists.
    pub const MEMBER: u32 = 6;
    /// Pushes the truth of: slot `a` compared by relation `b` with the number in two operands, low
    /// word first.
    pub const COMPARE: u32 = 7;
    /// Pushes the truth of: slot `a` compared with slot `b` by relation `c`.
    pub const COMPARE_SLOTS: u32 = 8;
    /// `!x`.
    pub const NOT: u32 = 9;
    /// `x && y` of CEL: `false` absorbs errors.
    pub const AND: u32 = 10;
    /// `x || y`: `true` absorbs errors.
    pub const OR: u32 = 11;
    /// Ends a whole expression. An error ends the condition if `a` is 0, and is false if it is 1.
    pub const LEAF: u32 = 12;
    /// Jumps over as many words behind the operand as it says, keeping the truth, if it is false;
    /// otherwise drops it.
    pub const JUMP_FALSE: u32 = 13;
    /// The same if it is true.
    pub const JUMP_TRUE: u32 = 14;
    /// Exchanges true and false.
    pub const INVERT: u32 = 15;
    /// Runs the program in the operand; `a` is its memo.
    pub const PROGRAM: u32 = 16;

    /// Returns the number of operands that follow an operation.
    #[must_use]
    pub const fn operands(op: u32) -> usize {
        match op {
            EQUAL_CONST | MEMBER | JUMP_FALSE | JUMP_TRUE | PROGRAM => 1,
            COMPARE => 2,
            _ => 0,
        }
    }
}

/// Relations between numbers.
pub mod relation {
    /// `<`
    pub const LESS: u32 = 0;
    /// `<=`
    pub const LESS_EQUAL: u32 = 1;
    /// `>`
    pub const GREATER: u32 = 2;
    /// `>=`
    pub const GREATER_EQUAL: u32 = 3;
    /// `==`
    pub const EQUAL: u32 = 4;
    /// `!=`
    pub const UNEQUAL: u32 = 5;
}

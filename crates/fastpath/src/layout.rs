//! The words of fast paths, shared by the specialiser that writes them and everything that reads them.
//!
//! The section starts with the number of fast paths and the offset of each, ascending. Offsets inside a
//! fast path count from its first word. A reference that may be absent is stored plus one, 0 for none.

/// Words of a frame. The last one is [`ALWAYS`].
pub const FRAME_WORDS: usize = 64;

/// The slot that holds `true` in every frame: what an entry without a condition compares.
pub const ALWAYS: u32 = 63;

/// Slots of one fast path.
pub const MAX_SLOTS: usize = 32;

/// Classes of roles that fit into a mask. The mask stays positive as a signed number.
pub const MAX_CLASSES: usize = 31;

/// Results that one decision remembers; number 0 is not remembered.
pub const MAX_MEMOS: usize = 32;

/// Truths that code may have on its stack.
pub const MAX_STACK: usize = 32;

/// Classes that one request of a fast path by class may name: words 32 to 62 of the frame hold them.
pub const MAX_REQUEST_CLASSES: usize = 31;

/// Where the classes of a request stand in the frame.
pub const FIRST_CLASS_WORD: usize = 32;

/// Words at the start of a fast path.
pub const PATH_WORDS: usize = 8;

/// Where in the start of a fast path a field stands.
pub mod fast_path {
    /// The flags below.
    pub const FLAGS: usize = 0;
    /// Number of slots; their records follow the start of the fast path.
    pub const SLOTS: usize = 1;
    /// Number of roles; their records follow the slots: string id, then mask or class; sorted.
    pub const ROLES: usize = 2;
    /// Number of entries; in a fast path by class: number of classes.
    pub const ENTRIES: usize = 3;
    /// Mask or class of a role that is not listed.
    pub const OTHERS: usize = 4;
    /// Offset of the entries; in a fast path by class: of the classes, each an offset and a count of entries.
    pub const ENTRIES_AT: usize = 5;
    /// Offset of the code.
    pub const CODE_AT: usize = 6;
    /// Words of code.
    pub const CODE_WORDS: usize = 7;
}

/// Fast path flag: every entry is [`EQUAL_CONST`] or [`EQUAL_SLOT`].
pub const SIMPLE: u32 = 1;
/// Fast path flag: some entry runs a program of the table.
pub const PROGRAMS: u32 = 2;
/// Fast path flag: some program reads the time.
pub const NOW: u32 = 4;
/// Fast path flag: roles have classes with entries of their own, because there are too many for a mask.
pub const BY_CLASS: u32 = 8;

/// Words of one slot: offset in the table's slots, uses, offset of its constants (count, sorted string
/// ids) or 0.
pub const SLOT_WORDS: usize = 3;

/// Use of a slot: it is compared with constants.
pub const CONSTANTS: u32 = 1;
/// Use of a slot: a program may read its text.
pub const TEXT: u32 = 2;
/// Use of a slot: a program may read it whatever it is.
pub const VALUE: u32 = 4;

/// Words of one role.
pub const ROLE_WORDS: usize = 2;

/// Words of one entry: `op | a << 8 | b << 16 | effect << 24`, operand, mask of roles.
pub const ENTRY_WORDS: usize = 3;

/// Effect of an entry: it allows.
pub const ALLOW: u32 = 1;
/// Effect of an entry: it denies.
pub const DENY: u32 = 2;

/// Bit of an operation that turns its truth around; errors stay.
pub const NEGATE: u32 = 0x80;

/// Entry, and code: slot `a` equals the operand.
pub const EQUAL_CONST: u32 = 0;
/// Entry: slot `a` equals slot `b`.
pub const EQUAL_SLOT: u32 = 1;
/// Entry: the code at the operand is true; `b` is its memo.
pub const CODE: u32 = 2;
/// Entry: a scope ends; the operand is 1 where its allow needs the consent of the next one.
pub const SCOPE_END: u32 = 3;

/// Words at the start of a fast path list: fast path of other actions plus one, number of actions. Each action is
/// a string id and a fast path plus one; sorted.
pub const LIST_WORDS: usize = 2;

/// Operations of code: `op | a << 8 | b << 16 | c << 24`, then operands.
pub mod code {
    /// The truth on the stack is the result.
    pub const END: u32 = 0;
    /// Pushes truth `a`.
    pub const PUSH: u32 = 1;
    /// Slot `a` equals the operand.
    pub const EQUAL_CONST: u32 = 2;
    /// Slot `a` equals slot `b`.
    pub const EQUAL_SLOT: u32 = 3;
    /// Slot `a` itself.
    pub const BOOL: u32 = 4;
    /// Whether slot `a` is there.
    pub const HAS: u32 = 5;
    /// Slot `a` is in the list at the operand: count, sorted words.
    pub const MEMBER: u32 = 6;
    /// Slot `a` compared with the number in two operands, low word first, by relation `b`.
    pub const COMPARE: u32 = 7;
    /// Slot `a` compared with slot `b` by relation `c`.
    pub const COMPARE_SLOTS: u32 = 8;
    /// `!x`.
    pub const NOT: u32 = 9;
    /// `x && y` of the language of conditions: `false` absorbs errors.
    pub const AND: u32 = 10;
    /// `x || y`: `true` absorbs errors.
    pub const OR: u32 = 11;
    /// A whole expression ends. An error ends the condition where `a` is 0, and is false where it is 1.
    pub const LEAF: u32 = 12;
    /// Jumps to the operand, keeping the truth, if it is false; otherwise drops it.
    pub const JUMP_FALSE: u32 = 13;
    /// Jumps to the operand, keeping the truth, if it is true; otherwise drops it.
    pub const JUMP_TRUE: u32 = 14;
    /// Turns true and false around.
    pub const INVERT: u32 = 15;
    /// Runs the program in the operand; `a` is its memo.
    pub const PROGRAM: u32 = 16;

    /// Returns how many operands follow an operation.
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

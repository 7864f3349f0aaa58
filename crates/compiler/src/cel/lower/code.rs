//! Instructions under construction: words, jumps that wait for their target, and registers, which
//! are given and taken back like a stack.

use wardgate_engine::cel::Op;
use wardgate_engine::limits::MAX_REGISTERS;

use crate::words::index;

#[derive(Debug, Default)]
pub(super) struct Code {
    words: Vec<u32>,
    used: usize,
    most_used: usize,
}

/// A word that becomes the target of a jump.
#[must_use]
pub(super) struct Pending(usize);

/// The number of registers in use at some moment.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl Code {
    pub(super) fn op(&mut self, op: Op, a: u8, b: u8, c: u8) {
        self.words.push(u32::from_le_bytes([op.code(), a, b, c]));
    }

    pub(super) fn op_word(&mut self, op: Op, [a, b, c]: [u8; 3], word: u32) {
        self.op(op, a, b, c);
        self.words.push(word);
    }

    /// Writes an instruction whose last word is a target that is not known yet.
    pub(super) fn jump(&mut self, op: Op, [a, b, c]: [u8; 3]) -> Pending {
        self.op(op, a, b, c);
        self.words.push(u32::MAX);
        Pending(self.words.len() - 1)
    }

    /// Writes a branch on register `on`; returns the jump of `false` and the jump of an error,
    /// which then is in register `error`.
    pub(super) fn branch(&mut self, error: u8, on: u8) -> (Pending, Pending) {
        let to_false = self.jump(Op::Branch, [error, on, 0]);
        self.words.push(u32::MAX);
        (to_false, Pending(self.words.len() - 1))
    }

    /// Makes a waiting jump go to the next instruction.
    pub(super) fn land(&mut self, pending: Pending) {
        let here = self.here();
        if let Some(word) = self.words.get_mut(pending.0) {
            *word = here;
        }
    }

    /// Returns the offset of the next instruction. Sources are bounded far below 2^32 words.
    pub(super) fn here(&self) -> u32 {
        index(self.words.len())
    }

    /// Takes a register out of use, `None` if there is none left.
    pub(super) fn register(&mut self) -> Option<u8> {
        let register = u8::try_from(self.used).ok().filter(|_| self.used < MAX_REGISTERS)?;
        self.used += 1;
        self.most_used = self.most_used.max(self.used);
        Some(register)
    }

    pub(super) const fn mark(&self) -> Mark {
        Mark(self.used)
    }

    /// Gives back every register taken since `mark`.
    pub(super) const fn release(&mut self, mark: Mark) {
        self.used = mark.0;
    }

    /// Returns the instructions and how many registers they use.
    pub(super) fn finish(self) -> (Vec<u32>, u32) {
        (self.words, index(self.most_used))
    }
}

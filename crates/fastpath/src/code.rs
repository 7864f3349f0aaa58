//! Truths of entries: one equality, or code for longer conditions.
//!
//! Three-valued as in CEL: an error is a truth, and `&&` and `||` absorb it where they can. Code
//! only jumps forwards, so it ends.

use crate::at;
use crate::frame::{Slots, word};
use crate::layout::{self, MAX_MEMOS, NEGATE, code, relation};
use crate::record::{Entry, FastPath, counted};

/// The result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// `false`.
    False,
    /// `true`.
    True,
    /// An evaluation error.
    Error,
    /// A value that is neither `true` nor `false`.
    Other,
}

/// Runs the programs that a fast path names.
pub trait Programs {
    /// Returns the result of the program; `None` if only the general path can compute it.
    fn run(&self, program: u32) -> Option<Truth>;

    /// Notes that an entry emits an output while the role at this position is tried.
    fn emitted(&self, role: usize, entry: u32) {
        let _ = (role, entry);
    }
}

/// Programs for fast paths that run none: the result of every program is unknown.
#[derive(Clone, Copy, Debug)]
pub struct NoPrograms;

impl Programs for NoPrograms {
    fn run(&self, _: u32) -> Option<Truth> {
        None
    }
}

/// The state of evaluating one fast path on one frame.
pub(crate) struct Machine<'a, S> {
    code: &'a [u32],
    lists: &'a [u32],
    frame: &'a S,
    programs: &'a dyn Programs,
    /// Results by memo number, plus one.
    memo: [u8; MAX_MEMOS],
    /// True if an error that a lenient leaf would take for false is a doubt.
    is_exact: bool,
    /// The position of the role that is tried; only verdicts count it.
    pub(crate) role: usize,
    /// True if an entry has emitted an output.
    pub(crate) has_emitted: bool,
}

/// The stack of truths: two bits each, the top one lowest.
#[derive(Clone, Copy)]
struct Stack(u64);

impl<'a, S: Slots> Machine<'a, S> {
    pub(crate) fn new(fast_path: FastPath<'a>, frame: &'a S, programs: &'a dyn Programs) -> Self {
        let (code, lists) = fast_path.code_and_lists();
        let (memo, is_exact, role, has_emitted) = ([0; MAX_MEMOS], false, 0, false);
        Self { code, lists, frame, programs, memo, is_exact, role, has_emitted }
    }

    /// Notes that an entry emits an output.
    pub(crate) fn emit(&mut self, entry: u32) {
        self.has_emitted = true;
        self.programs.emitted(self.role, entry);
    }

    /// Makes every error of a condition a doubt, in lenient tables too.
    pub(crate) const fn exact(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// Returns the truth of an entry; `None` is Unsure.
    pub(crate) fn truth(&mut self, [head, operand, _]: &Entry) -> Option<Truth> {
        let (a, b) = (head >> 8 & 0xff, head >> 16 & 0xff);
        let truth = match head & 0x7f {
            layout::EQUAL_CONST => self.equal_const(a, *operand),
            layout::EQUAL_SLOT => self.equal_slots(a, b)?,
            layout::CODE => self.remembered(b, |machine| machine.run(at(*operand)))?,
            _ => return None,
        };
        Some(if head & NEGATE == 0 { truth } else { truth.inverted() })
    }

    fn remembered(
        &mut self,
        number: u32,
        work: impl FnOnce(&mut Self) -> Option<Truth>,
    ) -> Option<Truth> {
        let number = at(number) % MAX_MEMOS;
        let known = self.memo.get(number).copied().and_then(|known| known.checked_sub(1));
        if let Some(known) = known {
            return Some(Truth::from_bits(known.into()));
        }
        let truth = work(self)?;
        if number != 0
            && let Some(position) = self.memo.get_mut(number)
        {
            *position = truth.memo();
        }
        Some(truth)
    }

    /// Runs the code at `next` to its end.
    fn run(&mut self, mut next: usize) -> Option<Truth> {
        let mut stack = Stack(0);
        loop {
            let instruction = self.word(next);
            let [op, a, b, c] = instruction.to_le_bytes().map(u32::from);
            let operand = self.word(next.saturating_add(1));
            let after = next.saturating_add(1 + code::operands(op));
            let truth = match op {
                code::END => return Some(stack.top()),
                code::PUSH => Truth::from_bits(a.into()),
                code::EQUAL_CONST => self.equal_const(a, operand),
                code::EQUAL_SLOT => self.equal_slots(a, b)?,
                code::BOOL => self.bool(a),
                code::HAS => self.has(a),
                code::MEMBER => self.member(a, operand),
                code::COMPARE => {
                    let high = self.word(next.saturating_add(2));
                    self.compare(a, b, f64::from_bits(u64::from(high) << 32 | u64::from(operand)))
                }
                code::COMPARE_SLOTS => self.compare_slots(a, b, c)?,
                code::PROGRAM => self.remembered(a, |machine| machine.programs.run(operand))?,
                code::LEAF if self.is_exact && stack.top() == Truth::Error => return None,
                _ => {
                    next = match stack.step(op, a) {
                        Step::Next => after,
                        Step::Jump => after.saturating_add(at(operand)),
                        Step::Fail => return Some(Truth::Error),
                        Step::Unknown => return None,
                    };
                    continue;
                }
            };
            stack.push(truth);
            next = after;
        }
    }

    /// Returns a word of the code, or 0 beyond its end.
    #[inline]
    fn word(&self, offset: usize) -> u32 {
        self.code.get(offset).copied().unwrap_or(0)
    }

    fn equal_const(&self, slot: u32, operand: u32) -> Truth {
        match self.frame.word(slot) {
            word::MISSING | word::BROKEN => Truth::Error,
            found => Truth::of(found == operand),
        }
    }

    fn equal_slots(&self, a: u32, b: u32) -> Option<Truth> {
        Some(match (self.frame.word(a), self.frame.word(b)) {
            (word::MISSING | word::BROKEN, _) | (_, word::MISSING | word::BROKEN) => Truth::Error,
            (word::VALUE, word::VALUE) => return None,
            (word::NUMBER, word::NUMBER) => Truth::of(self.frame.number(a) == self.frame.number(b)),
            (left, right) => Truth::of(left == right),
        })
    }

    fn bool(&self, slot: u32) -> Truth {
        match self.frame.word(slot) {
            word::MISSING | word::BROKEN => Truth::Error,
            word::FALSE => Truth::False,
            word::TRUE => Truth::True,
            _ => Truth::Other,
        }
    }

    fn has(&self, slot: u32) -> Truth {
        match self.frame.word(slot) {
            word::BROKEN => Truth::Error,
            found => Truth::of(found != word::MISSING),
        }
    }

    fn member(&self, slot: u32, list: u32) -> Truth {
        match self.frame.word(slot) {
            word::MISSING | word::BROKEN => Truth::Error,
            found => Truth::of(counted(self.lists, list).binary_search(&found).is_ok()),
        }
    }

    fn compare(&self, slot: u32, relation: u32, number: f64) -> Truth {
        match (self.frame.word(slot), relation) {
            (word::MISSING | word::BROKEN, _) => Truth::Error,
            (word::NUMBER, _) => Truth::of(holds(self.frame.number(slot), relation, number)),
            (_, relation::EQUAL) => Truth::False,
            (_, relation::UNEQUAL) => Truth::True,
            _ => Truth::Error,
        }
    }

    fn compare_slots(&self, a: u32, b: u32, relation: u32) -> Option<Truth> {
        Some(match (self.frame.word(a), self.frame.word(b)) {
            (word::MISSING | word::BROKEN, _) | (_, word::MISSING | word::BROKEN) => Truth::Error,
            (word::NUMBER, word::NUMBER) => {
                Truth::of(holds(self.frame.number(a), relation, self.frame.number(b)))
            }
            _ => return None,
        })
    }
}

/// The continuation after an operation on the stack.
enum Step {
    Next,
    Jump,
    Fail,
    Unknown,
}

impl Stack {
    const fn push(&mut self, truth: Truth) {
        self.0 = self.0 << 2 | truth.bits();
    }

    const fn pop(&mut self) -> Truth {
        let top = self.top();
        self.0 >>= 2;
        top
    }

    const fn top(self) -> Truth {
        Truth::from_bits(self.0 & 3)
    }

    fn step(&mut self, op: u32, a: u32) -> Step {
        let top = self.pop();
        let truth = match op {
            code::NOT if top == Truth::Other => Truth::Error,
            code::NOT | code::INVERT => top.inverted(),
            code::AND => self.pop().joined(top, Truth::False),
            code::OR => self.pop().joined(top, Truth::True),
            code::LEAF => match top {
                Truth::Error if a == 0 => return Step::Fail,
                Truth::True => Truth::True,
                _ => Truth::False,
            },
            code::JUMP_FALSE if top != Truth::False => return Step::Next,
            code::JUMP_TRUE if top != Truth::True => return Step::Next,
            code::JUMP_FALSE | code::JUMP_TRUE => top,
            _ => return Step::Unknown,
        };
        self.push(truth);
        if matches!(op, code::JUMP_FALSE | code::JUMP_TRUE) { Step::Jump } else { Step::Next }
    }
}

impl Truth {
    const fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        match bits {
            0 => Self::False,
            1 => Self::True,
            2 => Self::Error,
            _ => Self::Other,
        }
    }

    const fn bits(self) -> u64 {
        match self {
            Self::False => 0,
            Self::True => 1,
            Self::Error => 2,
            Self::Other => 3,
        }
    }

    const fn memo(self) -> u8 {
        match self {
            Self::False => 1,
            Self::True => 2,
            Self::Error => 3,
            Self::Other => 4,
        }
    }

    const fn inverted(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::True => Self::False,
            other => other,
        }
    }

    /// Returns `self && right` if `absorbing` is `False`, and `self || right` if it is `True`.
    fn joined(self, right: Self, absorbing: Self) -> Self {
        if self == absorbing || right == absorbing {
            absorbing
        } else if matches!(
            (self, right),
            (Self::Error | Self::Other, _) | (_, Self::Error | Self::Other)
        ) {
            Self::Error
        } else {
            absorbing.inverted()
        }
    }
}

#[inline]
fn holds(left: f64, relation: u32, right: f64) -> bool {
    match relation {
        relation::LESS => left < right,
        relation::LESS_EQUAL => left <= right,
        relation::GREATER => left > right,
        relation::GREATER_EQUAL => left >= right,
        relation::EQUAL => left == right,
        _ => left != right,
    }
}

//! Code, run for all rows at once.
//!
//! The rows go through the code in one sweep. A row that jumps waits at its target: it takes part
//! in no operation in between, and its truths stay as they are. Jumps only lead forwards, so the
//! sweep reaches every waiting row, and no row is ever behind it. Code that needs a deeper stack or
//! more targets is left to the decisions row by row.

use wardgate_simd::Backend;

use super::lanes::Lanes;
use super::set::{Set, Truths};
use crate::at;
use crate::code::Truth;
use crate::layout::code;
use crate::record::counted;

/// The active rows and the waiting rows of one sweep.
pub(super) struct Run {
    /// Rows that are not waiting and have not failed.
    active: Set,
    failed: Set,
    stack: [Truths; MAX_TRUTHS],
    depth: usize,
    waiting: [Waiting; MAX_TARGETS],
}

/// Rows that jumped, until the sweep reaches their target.
#[derive(Clone, Copy)]
struct Waiting {
    target: usize,
    /// The number of truths on the stack at the jump. The landing requires as many.
    depth: usize,
    rows: Set,
}

/// One piece of code, and the rows to run it for.
pub(super) struct Task<'a, 'l, B> {
    pub(super) code: &'a [u32],
    pub(super) lists: &'a [u32],
    pub(super) lanes: &'l Lanes<'a, B>,
    pub(super) start: u32,
    pub(super) rows: Set,
}

impl Run {
    pub(super) const fn new() -> Self {
        Self {
            active: Set::NONE,
            failed: Set::NONE,
            stack: [Truths::FALSE; MAX_TRUTHS],
            depth: 0,
            waiting: [Waiting { target: 0, depth: 0, rows: Set::NONE }; MAX_TARGETS],
        }
    }

    /// Returns the truths of the code in the rows of the task; `None` if the code cannot run for
    /// all rows at once. Adds the rows whose answer is unknown to `unsure`.
    pub(super) fn code<B: Backend>(
        &mut self,
        task: &Task<'_, '_, B>,
        unsure: &mut Set,
    ) -> Option<Truths> {
        self.begin(task.rows);
        let mut next = at(task.start);
        loop {
            self.land(next)?;
            let instruction = task.word(next);
            let op = instruction & 0xff;
            if op == code::END {
                return self.end();
            }
            let after = next.saturating_add(1 + code::operands(op));
            if (code::NOT..=code::INVERT).contains(&op) {
                let target = after.saturating_add(at(task.word(next.saturating_add(1))));
                self.step(instruction, target)?;
            } else {
                let mut unknown = Set::NONE;
                let truths = task.test(next, &mut unknown)?;
                unsure.add(unknown & self.active);
                self.push(&truths)?;
            }
            next = after;
        }
    }

    fn begin(&mut self, rows: Set) {
        self.active = rows;
        self.failed = Set::NONE;
        self.depth = 0;
        for waiting in &mut self.waiting {
            waiting.target = NOWHERE;
        }
    }

    fn end(&self) -> Option<Truths> {
        let nobody_waits = self.waiting.iter().all(|waiting| waiting.target == NOWHERE);
        let mut result = *self.stack.first().filter(|_| nobody_waits && self.depth == 1)?;
        result.blend(&Truths::all(Truth::Error), self.failed);
        Some(result)
    }

    /// Activates the rows that wait for `position`.
    fn land(&mut self, position: usize) -> Option<()> {
        for waiting in &mut self.waiting {
            if waiting.target == position {
                if waiting.depth != self.depth {
                    return None;
                }
                self.active.add(waiting.rows);
                waiting.target = NOWHERE;
            }
        }
        Some(())
    }

    fn push(&mut self, truths: &Truths) -> Option<()> {
        self.stack.get_mut(self.depth)?.blend(truths, self.active);
        self.depth += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<Truths> {
        self.depth = self.depth.checked_sub(1)?;
        self.stack.get(self.depth).copied()
    }

    /// Performs an operation on the truths alone.
    fn step(&mut self, instruction: u32, target: usize) -> Option<()> {
        let [op, a, ..] = instruction.to_le_bytes().map(u32::from);
        let top = self.pop()?;
        let truths = match op {
            code::NOT => top.negated(),
            code::INVERT => top.inverted(),
            code::AND => self.pop()?.and(&top),
            code::OR => self.pop()?.or(&top),
            code::LEAF => self.leaf(&top, a),
            code::JUMP_FALSE => return self.jump(top.no(), target),
            code::JUMP_TRUE => return self.jump(top.yes(), target),
            _ => return None,
        };
        self.push(&truths)
    }

    /// Ends a whole expression: an error fails the row if `a` is 0, and is false if it is 1.
    fn leaf(&mut self, top: &Truths, a: u32) -> Truths {
        if a == 0 {
            let failing = top.errors() & self.active;
            self.failed.add(failing);
            self.active.remove(failing);
        }
        Truths { low: top.yes(), high: Set::NONE }
    }

    /// Makes the active rows among `rows` wait. They keep the popped truth in its entry of the
    /// stack: no other row writes there.
    fn jump(&mut self, rows: Set, target: usize) -> Option<()> {
        let rows = rows & self.active;
        let depth = self.depth.saturating_add(1);
        self.active.remove(rows);
        let same = |waiting: &&mut Waiting| waiting.target == target && waiting.depth == depth;
        if let Some(waiting) = self.waiting.iter_mut().find(same) {
            waiting.rows.add(rows);
            return Some(());
        }
        let free = self.waiting.iter_mut().find(|waiting| waiting.target == NOWHERE)?;
        *free = Waiting { target, depth, rows };
        Some(())
    }
}

impl<B: Backend> Task<'_, '_, B> {
    /// Returns a word of the code, or 0 beyond its end.
    #[inline]
    fn word(&self, offset: usize) -> u32 {
        self.code.get(offset).copied().unwrap_or(0)
    }

    /// Makes the test of the instruction at `position`.
    fn test(&self, position: usize, unknown: &mut Set) -> Option<Truths> {
        let operand = |number: usize| self.word(position.saturating_add(number));
        let [op, a, b, c] = operand(0).to_le_bytes().map(u32::from);
        Some(match op {
            code::PUSH => Truths::all(Truth::from_bits(a.into())),
            code::EQUAL_CONST => self.lanes.equal_const(a, operand(1)),
            code::EQUAL_SLOT => self.lanes.equal_slots(a, b, unknown),
            code::BOOL => self.lanes.bool(a),
            code::HAS => self.lanes.has(a),
            code::MEMBER => self.lanes.member(a, counted(self.lists, operand(1))),
            code::COMPARE => {
                let bits = u64::from(operand(2)) << 32 | u64::from(operand(1));
                self.lanes.compare(a, b, f64::from_bits(bits))
            }
            code::COMPARE_SLOTS => self.lanes.compare_slots([a, b], c, unknown),
            _ => return None,
        })
    }
}

/// The largest number of truths on the stack. Deeper conditions are rare, and each truth takes
/// space in the processor's cache.
const MAX_TRUTHS: usize = 8;

/// The largest number of different targets with waiting rows: the depth to which `all` and `any`
/// nest.
const MAX_TARGETS: usize = 8;

/// The target of no waiting row: code never reaches it.
const NOWHERE: usize = usize::MAX;

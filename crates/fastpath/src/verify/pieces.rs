//! The proof that the code of a fast path is sound: it ends, and reads only slots of its view.

use alloc::vec::Vec;

use super::{Known, Verifier, View, ensure, is_constant};
use crate::at;
use crate::layout::{MAX_MEMOS, MAX_STACK, PROGRAMS, code, relation};
use crate::record::counted;

impl<K: Known> Verifier<'_, K> {
    /// Verifies all code: pieces one after the other, each with its end, in each view.
    pub(super) fn code(&mut self) -> Option<()> {
        let code = self.words;
        let mut next = 0;
        while next < code.len() {
            let (piece, mut end, mut views) = (next, 0, 0);
            for view in 0..self.views.len() {
                // What is sound with the slots of effects is so with those of verdicts.
                if let Some(found) = self.piece(piece, view) {
                    (end, views) = (found, views | 1 << view);
                }
            }
            ensure(end > piece)?;
            *self.code.get_mut(piece)? = views;
            next = end;
        }
        Some(())
    }

    /// Verifies one piece of code for a view and returns the position after it.
    fn piece(&self, mut next: usize, view: usize) -> Option<usize> {
        let (code, view) = (self.words, self.views.get(view)?);
        let (mut depth, mut jumps) = (0_usize, Jumps::default());
        loop {
            jumps.land(next, depth)?;
            let [op, a, b, c] = code.get(next)?.to_le_bytes().map(u32::from);
            let operand = code.get(next.checked_add(1)?).copied().unwrap_or(0);
            next = next.checked_add(1 + code::operands(op))?;
            ensure(next <= code.len())?;
            self.operands(op, [a, b, c], operand, view)?;
            match op {
                code::END => return ensure(depth == 1 && jumps.is_empty()).map(|()| next),
                code::NOT | code::LEAF | code::INVERT => ensure(depth >= 1)?,
                code::AND | code::OR => {
                    ensure(depth >= 2)?;
                    depth -= 1;
                }
                code::JUMP_FALSE | code::JUMP_TRUE => {
                    let target = next.checked_add(at(operand))?;
                    ensure(depth >= 1 && target < code.len())?;
                    jumps.add(target, depth)?;
                    depth -= 1;
                }
                _ => depth += 1,
            }
            ensure(depth <= MAX_STACK)?;
        }
    }

    fn operands(&self, op: u32, [a, b, c]: [u32; 3], operand: u32, view: &View) -> Option<()> {
        match op {
            code::PUSH => ensure(a <= 3),
            code::EQUAL_CONST => ensure(view.has(a) && is_constant(operand)),
            code::EQUAL_SLOT => ensure(view.are_comparable(a, b)),
            code::BOOL | code::HAS => ensure(view.has(a)),
            code::MEMBER => {
                let list = counted(self.lists, operand);
                self.unread.set(self.unread.get().checked_sub(list.len())?);
                ensure(self.lists.get(at(operand)).is_some_and(|count| at(*count) == list.len()))?;
                ensure(
                    view.has(a) && list.is_sorted() && list.iter().all(|word| is_constant(*word)),
                )
            }
            code::COMPARE => ensure(view.has(a) && b <= relation::UNEQUAL),
            code::COMPARE_SLOTS => {
                ensure(view.has(a) && view.has(b) && c <= relation::GREATER_EQUAL)
            }
            code::LEAF => ensure(a <= 1),
            code::PROGRAM => {
                ensure(view.flags & PROGRAMS != 0 && at(a) < MAX_MEMOS)?;
                ensure(self.known.reads_only(operand, &view.slots))
            }
            code::END..=code::INVERT => Some(()),
            _ => None,
        }
    }
}

/// Jumps that have not landed: the target, and the number of truths on the stack there.
#[derive(Default)]
struct Jumps(Vec<(usize, usize)>);

impl Jumps {
    fn add(&mut self, target: usize, depth: usize) -> Option<()> {
        if !self.0.contains(&(target, depth)) {
            self.0.push((target, depth));
        }
        // The depth of conditions stays below this bound.
        ensure(self.0.len() <= 128)
    }

    fn land(&mut self, position: usize, depth: usize) -> Option<()> {
        ensure(self.0.iter().all(|(target, wanted)| {
            *target > position || (*target == position && *wanted == depth)
        }))?;
        self.0.retain(|(target, _)| *target != position);
        Some(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

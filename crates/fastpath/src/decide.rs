//! Decisions on a frame.
//!
//! For each class of roles the entries are tried in the order of the general path: a deny or an
//! error ends the class, an allow is noted. A principal with an allow in one class is allowed. If
//! another of its classes fails, the order of the roles matters and the answer is Unsure.

mod selected;

use crate::code::{Machine, NoPrograms, Programs, Truth};
use crate::frame::{Slots, word};
use crate::layout::{self, ALLOW, BY_CLASS, DENY, EMITS, EMITS_UNMET, NEGATE, SIMPLE};
use crate::mask;
use crate::record::{Entry, FastPath, FastPaths};

pub use selected::Selection;

/// The answer of a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The general path would deny.
    Deny,
    /// The general path would allow.
    Allow,
    /// The fast path cannot decide: take the general path.
    Unsure,
}

impl FastPaths<'_> {
    /// Decides by fast path `id` if it runs no programs: finds it and calls [`FastPath::decide`].
    // The runtime module builds the callers for size: inlined there, it would be built for size
    // too. Inlined natively, it would share its registers with a loop of the caller.
    #[inline(never)]
    #[must_use]
    pub fn decide(self, id: u32, roles: u32, frame: &impl Slots) -> Answer {
        match self.get(id) {
            Some(fast_path) => fast_path.decide(roles, frame, &NoPrograms),
            None => Answer::Unsure,
        }
    }
}

impl FastPath<'_> {
    /// Decides for a principal; `roles` unites the masks of its roles and is 0 without roles.
    /// Returns [`Answer::Unsure`] for a fast path by class.
    #[inline]
    #[must_use]
    pub fn decide(&self, roles: u32, frame: &impl Slots, programs: &dyn Programs) -> Answer {
        let fast =
            if self.flags() & SIMPLE == 0 { None } else { simple(self.entries(), roles, frame) };
        // The copy is for the call alone, so that the fast version keeps none in memory.
        fast.unwrap_or_else(|| (*self).decide_all(roles, frame, programs))
    }

    /// Decides with a fast path by class; returns [`Answer::Unsure`] for any other. `classes` are
    /// the classes of the principal's roles, in the order of the roles.
    #[must_use]
    pub fn decide_classes(
        &self,
        classes: &[u32],
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Answer {
        if self.flags() & BY_CLASS == 0 {
            return Answer::Unsure;
        }
        let mut machine = Machine::new(*self, frame, programs);
        in_order(classes.iter().map(|class| machine.end(numbered(self.class(*class)?), |_| true)))
    }

    /// Decides for roles with these masks, in their order: the way of [`FastPath::decide`] where it is
    /// unsure because one role is allowed and another fails. Returns [`Answer::Unsure`] for a fast
    /// path by class.
    #[must_use]
    pub fn decide_in_order(
        &self,
        roles: &[u32],
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Answer {
        if self.flags() & BY_CLASS != 0 {
            return Answer::Unsure;
        }
        let mut machine = Machine::new(*self, frame, programs);
        let entries = self.entries();
        in_order(roles.iter().map(|role| machine.end(numbered(entries), |mask| mask & role != 0)))
    }

    /// Decides as [`FastPath::decide`] does, in the plain form for every kind of entry.
    // Out of line, so that the fast version needs no stack.
    #[inline(never)]
    #[must_use]
    pub fn decide_all(&self, roles: u32, frame: &impl Slots, programs: &dyn Programs) -> Answer {
        if self.flags() & BY_CLASS != 0 {
            return Answer::Unsure;
        }
        Machine::new(*self, frame, programs).all(roles, self.entries().iter())
    }
}

/// The progress of the classes: a bit for each class.
#[derive(Default)]
struct State {
    /// Classes without a deny, an error, or an allow in an earlier scope.
    live: u32,
    /// Classes allowed in this scope.
    allowed: u32,
    /// Classes allowed in an earlier scope.
    done: u32,
    failed: u32,
}

/// The outcome of one class or role.
pub(crate) enum End {
    /// The entry with this number allows.
    Allowed(u32),
    /// The entry with this number denies.
    Denied(u32),
    /// An entry is an error.
    Failed,
    /// No entry applies.
    Silent,
}

/// Returns the answer for roles with these outcomes, in their order: the first one that is allowed
/// or fails decides. `None` is Unsure.
fn in_order(ends: impl Iterator<Item = Option<End>>) -> Answer {
    for end in ends {
        match end {
            Some(End::Allowed(_)) => return Answer::Allow,
            Some(End::Failed) => return Answer::Deny,
            Some(End::Denied(_) | End::Silent) => {}
            None => return Answer::Unsure,
        }
    }
    Answer::Deny
}

impl State {
    fn note(&mut self, entry: &Entry, truth: Truth) {
        let here = entry[2] & self.live;
        match (truth, entry[0] >> 24) {
            (Truth::Error, _) => {
                self.failed |= here;
                self.live &= !here;
            }
            (Truth::True, DENY) => self.live &= !here,
            (Truth::True, ALLOW) => self.allowed |= here,
            _ => {}
        }
    }

    fn end_scope(&mut self, needs_consent: bool) {
        if !needs_consent {
            self.done |= self.allowed & self.live;
            self.live &= !self.allowed;
        }
        self.allowed = 0;
    }

    const fn answer(&self) -> Answer {
        answer(self.allowed & self.live | self.done, self.failed)
    }
}

impl<S: Slots> Machine<'_, S> {
    /// Tries entries for all classes of `roles` at once.
    fn all<'e>(&mut self, roles: u32, entries: impl Iterator<Item = &'e Entry>) -> Answer {
        let mut state = State { live: roles, ..State::default() };
        for entry in entries {
            if self.entry(entry, &mut state).is_none() {
                return Answer::Unsure;
            }
        }
        state.answer()
    }

    /// Tries one entry for all classes at once. `None` is Unsure.
    fn entry(&mut self, entry: &Entry, state: &mut State) -> Option<()> {
        if entry[0] & 0x7f == layout::SCOPE_END {
            state.end_scope(entry[1] != 0);
        } else if entry[2] & state.live != 0 {
            let truth = self.truth(entry)?;
            state.note(entry, truth);
        }
        Some(())
    }

    /// Tries the entries whose mask is taken. `None` is Unsure.
    pub(crate) fn end<'e>(
        &mut self,
        entries: impl Iterator<Item = (&'e Entry, u32)>,
        takes: impl Fn(u32) -> bool,
    ) -> Option<End> {
        let mut allowed = None;
        for (entry, number) in entries {
            if entry[0] & 0x7f == layout::SCOPE_END {
                if let Some(number) = allowed.take()
                    && entry[1] == 0
                {
                    return Some(End::Allowed(number));
                }
                continue;
            }
            if !takes(entry[2]) {
                continue;
            }
            match (self.truth(entry)?, entry[0] >> 24) {
                (Truth::Error, _) => return Some(End::Failed),
                (Truth::True, DENY) => return Some(End::Denied(number)),
                (Truth::True, ALLOW) => allowed = allowed.or(Some(number)),
                (Truth::True, EMITS | EMITS_UNMET) => self.emit(number),
                _ => {}
            }
        }
        Some(allowed.map_or(End::Silent, End::Allowed))
    }
}

fn numbered(entries: &[Entry]) -> impl Iterator<Item = (&Entry, u32)> {
    entries.iter().zip(0..)
}

const fn answer(allowed: u32, failed: u32) -> Answer {
    match (allowed, failed) {
        (0, _) => Answer::Deny,
        (_, 0) => Answer::Allow,
        _ => Answer::Unsure,
    }
}

/// Decides where every entry is an equality. Branches depend on roles and on missing values, which are
/// alike in many requests, and not on other values. Returns `None` for frames that words alone cannot
/// decide: equal words of numbers or of lists.
///
/// [`FastPath::decide_all`] gives the same answers.
#[inline]
fn simple(entries: &[Entry], roles: u32, frame: &impl Slots) -> Option<Answer> {
    let (mut live, mut allowed, mut failed, mut ambiguous) = (roles, 0, 0, 0);
    for [head, operand, roles] in entries {
        let here = roles & live;
        if here == 0 {
            continue;
        }
        let left = frame.word(head >> 8);
        let is_slot = mask(head & layout::EQUAL_SLOT != 0);
        let right = operand & !is_slot | frame.word(head >> 16) & is_slot;
        if left.min(right) < word::NULL {
            failed |= here;
            live &= !here;
            continue;
        }
        let equal = mask(left == right);
        ambiguous |= equal & mask(matches!(left, word::NUMBER | word::VALUE));
        let held = here & (equal ^ mask(head & NEGATE != 0));
        live &= !(held & mask(head & DENY << 24 != 0));
        allowed |= held & mask(head & ALLOW << 24 != 0);
    }
    (ambiguous == 0).then(|| answer(allowed & live, failed))
}

#[cfg(test)]
mod tests;

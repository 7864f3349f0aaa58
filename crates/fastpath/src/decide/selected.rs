//! Decisions that try some of the entries, because the host knows that the others are false.
//!
//! A false entry changes nothing, so the answer is that of all entries.

use crate::at;
use crate::code::{Machine, Programs, Truth};
use crate::decide::{Answer, in_order};
use crate::frame::Slots;
use crate::layout::{self, BY_CLASS, NEGATE};
use crate::record::{Entry, FastPath};

/// Selects entries.
pub trait Selection {
    /// Returns those of `entries` that may not be false, and every end of a scope, in their order. They
    /// are the entries of a class, or all of a fast path that is not by class, with class 0.
    fn select<'e>(&self, class: u32, entries: &'e [Entry]) -> impl Iterator<Item = &'e Entry>;
}

impl<'a> FastPath<'a> {
    /// Decides as [`FastPath::decide_all`] does.
    #[must_use]
    pub fn decide_selected(
        &self,
        roles: u32,
        selection: &impl Selection,
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Answer {
        if self.flags() & BY_CLASS != 0 {
            return Answer::Unsure;
        }
        let entries = selection.select(0, self.entries());
        Machine::new(*self, frame, programs).all(roles, entries)
    }

    /// Decides as [`FastPath::decide_classes`] does.
    #[must_use]
    pub fn decide_classes_selected(
        &self,
        classes: &[u32],
        selection: &impl Selection,
        frame: &impl Slots,
        programs: &dyn Programs,
    ) -> Answer {
        if self.flags() & BY_CLASS == 0 {
            return Answer::Unsure;
        }
        let mut machine = Machine::new(*self, frame, programs);
        in_order(classes.iter().map(|class| {
            let entries = selection.select(*class, self.class(*class)?);
            machine.end(entries.map(|entry| (entry, 0)), |_| true)
        }))
    }

    /// Returns the entries of each class, or all of a fast path that is not by class.
    pub fn lists(&self) -> impl Iterator<Item = &'a [Entry]> + use<'a> {
        let this = *self;
        let is_by_class = this.flags() & BY_CLASS != 0;
        let count = if is_by_class { this.classes() } else { 1 };
        (0..count).map(
            move |class| {
                if is_by_class { this.class(class).unwrap_or(&[]) } else { this.entries() }
            },
        )
    }

    /// Returns the programs that the code of an entry names.
    pub fn programs(&self, entry: &Entry) -> impl Iterator<Item = u32> + use<'a> {
        let (code, _) = self.code_and_lists();
        let mut next = is_code(entry).then_some(at(entry[1]));
        core::iter::from_fn(move || {
            loop {
                let start = next?;
                let op = code.get(start)? & 0xff;
                let after = start.checked_add(1 + layout::code::operands(op))?;
                next = (op != layout::code::END).then_some(after);
                if op == layout::code::PROGRAM {
                    return code.get(start + 1).copied();
                }
            }
        })
    }

    /// Returns true if an entry is false where every program that it runs is false and `may_be` holds
    /// for all of them. It then reads nothing but their results.
    #[must_use]
    pub fn is_false_without(&self, entry: &Entry, may_be: impl FnMut(u32) -> bool) -> bool {
        let (code, _) = self.code_and_lists();
        let is_plain = is_code(entry) && entry[0] & NEGATE == 0;
        is_plain && crate::code::where_false(code, at(entry[1]), may_be) == Some(Truth::False)
    }
}

const fn is_code(entry: &Entry) -> bool {
    entry[0] & 0x7f == layout::CODE
}

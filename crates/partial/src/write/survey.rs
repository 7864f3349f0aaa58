//! What a fast path reads: its slots with their uses and constants, and its flags, for each view.

use alloc::collections::BTreeSet;

use wardgate_engine::order::{in_order, sort_by};
use wardgate_fastpath::layout::{
    BY_CLASS, CONSTANTS, LONE, MAX_SLOTS, NOW, PROGRAMS, SIMPLE, TEXT, VALUE, test,
};
use wardgate_fastpath::word;

use super::{Slot, Writer};
use crate::classes::Purpose;
use crate::derived::Operand;
use crate::fuse::Op;
use crate::predicates::Predicate;
use crate::shape::{Entries, Entry, Shape};

impl Writer<'_, '_> {
    /// Notes every slot, constant and program: first those of effects, so that their slots come
    /// first.
    pub(super) fn survey(&mut self, shape: &Shape) -> Option<()> {
        if matches!(shape.entries, Entries::ByClass(_)) {
            self.flags = [BY_CLASS; 2];
        }
        self.survey_view(shape)?;
        if self.purpose == Purpose::Verdict {
            self.view = 1;
            self.survey_view(shape)?;
        }
        self.share_constants();
        Some(())
    }

    fn survey_view(&mut self, shape: &Shape) -> Option<()> {
        let more = self.view == 1;
        match &shape.entries {
            Entries::Masked(entries) => self.survey_entries(entries, more)?,
            Entries::ByClass(classes) => {
                classes.iter().try_for_each(|entries| self.survey_entries(entries, more))?;
            }
        }
        // Guards come last, so that a host knows the other values.
        let guards = shape.guards.get(self.view)?;
        guards.iter().try_for_each(|guard| self.slot(*guard, 0).map(drop))?;
        self.end_view();
        Some(())
    }

    /// Sorts and marks the slots of a view.
    fn end_view(&mut self) {
        self.mark_lone();
        let (predicates, first) = (self.predicates, self.slots_of_effects);
        if self.view == 0 {
            self.slots_of_effects = self.slots.len();
        }
        // A test reads slots that come before its own.
        let mut new = self.slots.split_off(first);
        let is_test = |slot: &Slot| predicates.derived(slot.id).is_some();
        sort_by(&mut new, |a, b| is_test(a).cmp(&is_test(b)));
        self.slots.append(&mut new);
    }

    fn survey_entries(&mut self, entries: &[Entry], more: bool) -> Option<()> {
        for entry in entries {
            let Entry::Step(step, taken) = entry else {
                self.clear(SIMPLE);
                continue;
            };
            if taken.is_more != more {
                continue;
            }
            if let Some(output) = step.output {
                self.survey_output(output)?;
            }
            match self.predicates.get(step.predicate)? {
                Predicate::Always | Predicate::Never => {}
                Predicate::Equality(equality, _) => self.survey_op(equality)?,
                Predicate::Code(code) => {
                    self.clear(SIMPLE);
                    let count = self.counts.entry(step.predicate).or_default();
                    count.0 += 1;
                    if count.0 == 1 {
                        code.iter().try_for_each(|op| self.survey_op(op))?;
                    }
                }
            }
        }
        Some(())
    }

    fn clear(&mut self, flag: u32) {
        self.flags.iter_mut().skip(self.view).for_each(|flags| *flags &= !flag);
    }

    fn set(&mut self, flag: u32) {
        self.flags.iter_mut().skip(self.view).for_each(|flags| *flags |= flag);
    }

    fn survey_op(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::EqualConst(slot, word) => self.compare(*slot, *word),
            Op::EqualSlot(a, b) => {
                let (a, b) = (self.slot(*a, 0)?, self.slot(*b, 0)?);
                self.join(a, b)
            }
            Op::Member(slot, words) => {
                self.slot(*slot, 0)?;
                words.iter().try_for_each(|word| self.compare(*slot, *word))
            }
            Op::Bool(slot) | Op::Has(slot) | Op::Compare(slot, ..) => {
                self.slot(*slot, 0).map(|_| ())
            }
            Op::CompareSlots(a, b, _) => {
                self.slot(*a, 0)?;
                self.slot(*b, 0).map(|_| ())
            }
            Op::Program(program) => self.survey_program(*program),
            _ => Some(()),
        }
    }

    fn survey_program(&mut self, program: u32) -> Option<()> {
        let footprint = self.predicates.footprint(program)?;
        self.set(PROGRAMS | if footprint.reads_time { NOW } else { 0 });
        self.programs.entry(program).or_default().0 += 1;
        footprint.slots.iter().try_for_each(|slot| self.slot(*slot, TEXT | VALUE).map(|_| ()))
    }

    /// Notes what the program of an output reads. It runs after the decision, so the fast path itself may need no
    /// programs.
    fn survey_output(&mut self, program: u32) -> Option<()> {
        let footprint = self.predicates.footprint(program)?;
        self.set(if footprint.reads_time { NOW } else { 0 });
        footprint.slots.iter().try_for_each(|slot| self.slot(*slot, TEXT | VALUE).map(|_| ()))
    }

    /// Returns the number of a slot. That of a derived slot comes with the slots that its test
    /// reads.
    fn slot(&mut self, id: u32, uses: u32) -> Option<usize> {
        let predicates = self.predicates;
        let test = predicates.derived(id);
        if test.is_some_and(|test| test.kind == test::NOW) {
            self.set(NOW);
        }
        for term in test.map_or(&[][..], |test| &test.terms) {
            if let Operand::Slot(slot) = term.operand {
                self.slot(slot, 0)?;
            }
        }
        let known = self.slots.iter().position(|slot| slot.id == id);
        let position = known.unwrap_or(self.slots.len());
        if known.is_none() {
            let constants = BTreeSet::new();
            self.slots.push(Slot { id, uses: [0; 2], constants, group: position });
        }
        let slot = self.slots.get_mut(position)?;
        slot.uses.iter_mut().skip(self.view).for_each(|known| *known |= uses);
        (self.slots.len() <= MAX_SLOTS).then_some(position)
    }

    fn compare(&mut self, slot: u32, word: u32) -> Option<()> {
        let position = self.slot(slot, 0)?;
        if let Some(string) = word.checked_sub(word::FIRST_STRING) {
            self.slots.get_mut(position)?.constants.insert(string);
        }
        Some(())
    }

    /// Puts two slots into one group.
    fn join(&mut self, a: usize, b: usize) -> Option<()> {
        let (a, b) = (self.slots.get(a)?.group, self.slots.get(b)?.group);
        for slot in self.slots.iter_mut().filter(|slot| slot.group == a.max(b)) {
            slot.group = a.min(b);
        }
        Some(())
    }

    /// Gives slots that are compared with each other the same constants, so that a text has the
    /// same word in all of them.
    fn share_constants(&mut self) {
        for group in 0..self.slots.len() {
            let members = self.slots.iter().filter(|slot| slot.group == group);
            let all: BTreeSet<u32> = in_order(members.flat_map(|slot| &slot.constants).copied());
            let uses = if all.is_empty() { 0 } else { CONSTANTS };
            for slot in self.slots.iter_mut().filter(|slot| slot.group == group) {
                slot.constants.clone_from(&all);
                slot.uses = slot.uses.map(|known| known | uses);
            }
        }
    }

    /// Marks the slots that are compared with no other slot of the view.
    fn mark_lone(&mut self) {
        let view = self.view;
        for group in 0..self.slots.len() {
            let mut members = self.slots.iter_mut().filter(|slot| slot.group == group);
            if let (Some(only), None) = (members.next(), members.next())
                && let Some(uses) = only.uses.get_mut(view)
            {
                *uses |= LONE;
            }
        }
    }
}

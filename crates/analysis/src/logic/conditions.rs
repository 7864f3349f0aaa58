//! Conditions of rules: `all`, `any` and `none` over terms, each with one number for both tables.

use std::collections::HashMap;
use std::rc::Rc;

use wardgate_engine::table::layout::Junction;
use wardgate_engine::table::{PolicyTable, Section, at, word};

use super::reader::{Reader, View};
use super::terms::{TermId, Terms, number};

/// The number of a condition.
pub(crate) type ConditionId = u32;

/// A condition whose parts are conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    Leaf(TermId),
    All(Box<[ConditionId]>),
    Any(Box<[ConditionId]>),
    None(Box<[ConditionId]>),
}

/// All conditions of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    known: HashMap<Rc<Condition>, ConditionId>,
    all: Vec<Rc<Condition>>,
}

impl Conditions {
    /// Returns the condition with this number.
    pub(crate) fn get(&self, id: ConditionId) -> Rc<Condition> {
        let found = self.all.get(at(id)).cloned();
        found.unwrap_or_else(|| Rc::new(Condition::Any([].into())))
    }

    /// Reads the condition at an offset of a table. The validator of the table bounds its depth.
    pub(crate) fn read(
        &mut self,
        table: &PolicyTable,
        (reader, terms): (&mut Reader<'_>, &mut Terms),
        offset: u32,
        view: View,
    ) -> ConditionId {
        let words = table.section(Section::Conditions).get(at(offset)..).unwrap_or(&[]);
        let (junction, count) = Junction::split(word(words, 0));
        let operands = words.get(1..1 + at(count)).unwrap_or(&[]);
        let mut parts = Vec::with_capacity(operands.len());
        if junction == Junction::Expr {
            let term = reader.read(terms, word(operands, 0), view);
            return self.intern(Condition::Leaf(term));
        }
        for operand in operands {
            parts.push(self.read(table, (reader, terms), *operand, view));
        }
        let parts: Box<[ConditionId]> = parts.into();
        match junction {
            Junction::All if parts.len() == 1 => parts.first().copied().unwrap_or(0),
            Junction::Any if parts.len() == 1 => parts.first().copied().unwrap_or(0),
            Junction::All => self.intern(Condition::All(parts)),
            Junction::Any => self.intern(Condition::Any(parts)),
            _ => self.intern(Condition::None(parts)),
        }
    }

    fn intern(&mut self, condition: Condition) -> ConditionId {
        let condition = Rc::new(condition);
        if let Some(known) = self.known.get(&condition) {
            return *known;
        }
        let id = number(self.all.len());
        self.all.push(Rc::clone(&condition));
        self.known.insert(condition, id);
        id
    }

    /// Appends the terms of a condition.
    pub(crate) fn terms(&self, id: ConditionId, terms: &mut Vec<TermId>) {
        match &*self.get(id) {
            Condition::Leaf(term) => terms.push(*term),
            Condition::All(parts) | Condition::Any(parts) | Condition::None(parts) => {
                parts.iter().for_each(|part| self.terms(*part, terms));
            }
        }
    }
}

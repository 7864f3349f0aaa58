//! Flat schemas, as tests of all attributes of the principal or of the resource.
//!
//! A fast path of a kind with schemas decides only requests that fit them for certain; the general
//! path reports what is wrong with the others. So a test need not know every keyword: a schema with
//! one that it does not know, or with lists and objects, is not flat, and has no test.

use alloc::vec::Vec;

use wardgate_engine::cel::Value;
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::value::constant;
use wardgate_engine::glob;
use wardgate_engine::limits::MAX_SCHEMA_STEPS;
use wardgate_engine::schema::keyword::{self, Keyword};
use wardgate_engine::schema::{NO_NODE, Node, pairs};
use wardgate_engine::table::layout::{FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN, Key};
use wardgate_engine::table::{PolicyTable, Section, at, list, word as word_at};
use wardgate_fastpath::layout::test::{self, MAX_TEXT};
use wardgate_fastpath::schema::{
    self, CLOSED, COUNTED, EQUAL, EQUAL_NUMBER, MAX_ATTRIBUTES, MAX_LENGTH, MAX_NAME, MAXIMUM,
    MIN_LENGTH, MINIMUM, REQUIRED, SCALARS, TYPES,
};

use super::classes::Purpose;
use super::derived::{Operand, Term, Test};
use super::predicates::Predicates;
use super::rows::Action;

/// The schemas of a kind, as tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    /// Each the slot of a test, and the list of the patterns of actions that it does not concern,
    /// plus one.
    guards: Vec<(u32, u32)>,
    /// An upper bound of the steps that the general path takes to check a request that fits.
    pub(super) cost: usize,
    rejects: bool,
}

impl Guards {
    /// Returns the tests for the schemas of a kind and version, none if schemas are not enforced;
    /// `None` if one is not flat.
    pub(super) fn new(
        table: &PolicyTable,
        predicates: &mut Predicates<'_>,
        [kind, version]: [u32; 2],
    ) -> Option<Self> {
        let mut guards = Self { rejects: rejects(table), ..Self::default() };
        let is_enforced = table.header().flags & (FLAG_SCHEMA_WARN | FLAG_SCHEMA_REJECT) != 0;
        let record = table.find(Key::Schema, [kind, version, 0]).filter(|_| is_enforced);
        let Some(record) = record else { return Some(guards) };
        let words = table.section(Section::Blocks).get(at(record)..)?;
        for (root, position) in [(Root::PrincipalAttr, 0), (Root::ResourceAttr, 2)] {
            let Some(node) = word_at(words, position).checked_sub(1) else { continue };
            let mut flat = Flat { table, predicates, terms: Vec::new(), cost: 0 };
            flat.object(node)?;
            let (terms, cost) = (flat.terms, flat.cost);
            let slot = slot_of(table, root)?;
            let slot = predicates.slot_of(Test { slot, kind: test::FITS, terms });
            guards.guards.push((slot, word_at(words, position + 1)));
            guards.cost = guards.cost.saturating_add(cost);
        }
        Some(guards)
    }

    /// Returns the slots of the tests that a fast path for an action needs.
    pub(super) fn of(&self, table: &PolicyTable, action: Action<'_>, purpose: Purpose) -> Vec<u32> {
        // A violation that is only reported changes no effect.
        if purpose == Purpose::Effect && !self.rejects {
            return Vec::new();
        }
        let mut needed = Vec::new();
        for (slot, ignored) in &self.guards {
            let patterns = ignored.checked_sub(1);
            let patterns = patterns.map_or(&[][..], |at| list(table.section(Section::Blocks), at));
            let is_ignored = |pattern: &u32| match action {
                Action::Named(action) => {
                    glob::matches(table.string(*pattern), table.string(action))
                }
                Action::Matched(_) => false,
            };
            if !patterns.iter().any(is_ignored) {
                needed.push(*slot);
            }
        }
        needed
    }
}

/// Returns true if requests that do not fit their schemas are denied.
pub(super) fn rejects(table: &PolicyTable) -> bool {
    table.header().flags & FLAG_SCHEMA_REJECT != 0
}

/// Returns the slot of all attributes below a root.
fn slot_of(table: &PolicyTable, root: Root) -> Option<u32> {
    let slots = table.section(Section::Slots);
    let mut offset = 0_u32;
    while let [code, length, ..] = slots.get(at(offset)..)? {
        if *code == root.code() && *length == 0 {
            return Some(offset);
        }
        offset = offset.checked_add(2)?.checked_add(*length)?;
    }
    None
}

/// Writes the terms of a flat schema.
struct Flat<'a, 'p, 't> {
    table: &'t PolicyTable,
    predicates: &'a Predicates<'p>,
    terms: Vec<Term>,
    cost: usize,
}

impl<'t> Flat<'_, '_, 't> {
    /// Writes the schema of all attributes; `None` if it is not flat.
    fn object(&mut self, node: u32) -> Option<()> {
        let (mut properties, mut required, mut names) = (&[][..], &[][..], None);
        for (keyword, words) in self.node(node)?.keywords() {
            match (keyword?, words) {
                (Keyword::Type, [types, _]) if types & keyword::OBJECT != 0 => {}
                (Keyword::Required, words) => required = words,
                (Keyword::Properties, words) => properties = words,
                (Keyword::AdditionalProperties, [NO_NODE]) => names = Some(CLOSED),
                (Keyword::AdditionalProperties, [node]) => {
                    // Any value fits a node without keywords.
                    let is_open = self.node(*node)?.keywords().next().is_none();
                    names = Some(is_open.then_some(COUNTED)?);
                }
                _ => return None,
            }
        }
        for (name, node) in pairs(properties) {
            self.property(name, node, required.contains(&name))?;
        }
        for name in required {
            if !pairs(properties).any(|(known, _)| known == *name) {
                (names != Some(CLOSED)).then_some(())?;
                self.term(*name, schema::bits(TYPES, SCALARS | REQUIRED), 0);
            }
        }
        self.cost = self.cost.saturating_add(2 * required.len());
        if let Some(form) = names {
            let operand = Operand::OfSchema(schema::bits(form, 0), 0);
            self.terms.push(Term { member: None, is_negated: false, operand });
            // For each attribute: those before it are looked at, and its name is copied.
            let each = 2 + properties.len() / 32 + MAX_NAME * 4 / 16;
            self.cost = self.cost.saturating_add(MAX_ATTRIBUTES * each);
        }
        let fits = self.terms.len() <= schema::MAX_TERMS && self.cost < at(MAX_SCHEMA_STEPS) / 2;
        fits.then_some(())
    }

    /// Writes the schema of one attribute.
    fn property(&mut self, name: u32, node: u32, is_required: bool) -> Option<()> {
        let (mut types, mut constants, mut bounds) = (SCALARS, None, Vec::new());
        for (keyword, words) in self.node(node)?.keywords() {
            match (keyword?, words) {
                (Keyword::Type, [mask, _]) => types &= mask,
                (Keyword::Const | Keyword::Enum, [_, all @ ..]) if constants.is_none() => {
                    constants = Some(all);
                }
                (Keyword::Minimum, [low, high]) => bounds.push((MINIMUM, bound(*low, *high)?)),
                (Keyword::Maximum, [low, high]) => bounds.push((MAXIMUM, bound(*low, *high)?)),
                (Keyword::MinLength, [length]) => bounds.push((MIN_LENGTH, *length)),
                (Keyword::MaxLength, [length]) => bounds.push((MAX_LENGTH, *length)),
                _ => return None,
            }
        }
        let is_long = |(form, bound): &(u32, u32)| *form >= MIN_LENGTH && bound.cast_signed() < 0;
        if types == 0 || bounds.iter().any(is_long) {
            return None;
        }
        let required = if is_required { REQUIRED } else { 0 };
        self.term(name, schema::bits(TYPES, types | required), 0);
        let before = self.terms.len();
        for id in constants.unwrap_or(&[]) {
            let (constant, steps) = self.constant(*id);
            self.cost = self.cost.saturating_add(steps);
            // What no scalar equals, or no term holds, is left out.
            if let Some((form, operand)) = constant {
                self.term(name, schema::bits(form, 0), operand);
            }
        }
        (constants.is_none() || self.terms.len() > before).then_some(())?;
        // A code unit has up to three bytes; a text whose length counts is read.
        let read = bounds.len() * (2 + MAX_TEXT * 3 / 16);
        let steps = 8 + self.table.string(name).len() / 16 + read;
        self.cost = self.cost.saturating_add(steps);
        for (form, bound) in bounds {
            self.term(name, schema::bits(form, 0), bound);
        }
        Some(())
    }

    /// Returns form and operand for a constant, and the steps of comparing a value with it.
    fn constant(&self, id: u32) -> (Option<(u32, u32)>, usize) {
        let pool = self.table.pool();
        let word = self.predicates.word(id).map(|word| (EQUAL, word));
        match constant(&pool, id) {
            Value::String(text) => (word, 3 + text.len() / 16),
            Value::Double(number) => (signed(number).map(|number| (EQUAL_NUMBER, number)), 3),
            _ => (word, 3),
        }
    }

    fn term(&mut self, name: u32, bits: u32, operand: u32) {
        let operand = Operand::OfSchema(bits, operand);
        self.terms.push(Term { member: Some(name), is_negated: false, operand });
    }

    fn node(&self, id: u32) -> Option<Node<'t>> {
        Node::at(self.table.section(Section::Schemas), id)
    }
}

/// Returns the operand of a bound; `None` if it is no small whole number.
fn bound(low: u32, high: u32) -> Option<u32> {
    signed(f64::from_bits(u64::from(high) << 32 | u64::from(low)))
}

/// Returns a whole number of 32 bits as an operand.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "a number that changes is none of 32 bits"
)]
fn signed(number: f64) -> Option<u32> {
    let whole = number as i32;
    (f64::from(whole) == number).then_some(whole.cast_unsigned())
}

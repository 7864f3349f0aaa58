//! The writer of fast paths: numbers for slots and memos, words for entries and code.

mod survey;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{
    self, CODE, EQUAL_CONST, EQUAL_SLOT, MAX_MEMOS, MAX_VERDICTS, NEGATE, ORIGINS, PATH_WORDS,
    SCOPE_END, SIMPLE, TEST, code, fast_path, origin,
};
use wardgate_fastpath::word;

use super::classes::Purpose;
use super::derived::{Operand, Test};
use super::fuse::Op;
use super::predicates::{Predicate, PredicateId, Predicates};
use super::shape::{Entries, Entry, Shape, Taken};

/// Writes the fast path; `None` if it reads too much, or has verdicts with too many entries or by
/// class.
pub(super) fn record(
    shape: &Shape,
    predicates: &Predicates<'_>,
    purpose: Purpose,
) -> Option<Vec<u32>> {
    let mut writer = Writer::new(predicates, purpose);
    writer.survey(shape)?;
    writer.number_memos();
    writer.words(shape)
}

/// A slot of the fast path under construction.
struct Slot {
    /// The slot's offset in the table, or the number of a derived slot.
    id: u32,
    /// The uses in each view.
    uses: [u32; 2],
    constants: BTreeSet<u32>,
    /// The first slot that it is compared with, directly or through others: these share constants.
    group: usize,
}

struct Writer<'a, 'p> {
    predicates: &'a Predicates<'p>,
    purpose: Purpose,
    /// The first view of what is being surveyed: 0 for what bears on effects, 1 for what only
    /// verdicts depend on.
    view: usize,
    slots: Vec<Slot>,
    /// The number of slots of the view of effects.
    slots_of_effects: usize,
    /// The flags of each view.
    flags: [u32; 2],
    /// The number of entries that evaluate each predicate with code, and its memo.
    counts: BTreeMap<PredicateId, (usize, u32)>,
    /// The number of occurrences of each program in code, and its memo.
    programs: BTreeMap<u32, (usize, u32)>,
    code: Vec<u32>,
    /// The offset in `code` of each predicate.
    positions: BTreeMap<PredicateId, usize>,
    /// Lists of words behind the code.
    lists: Vec<u32>,
}

impl<'a, 'p> Writer<'a, 'p> {
    fn new(predicates: &'a Predicates<'p>, purpose: Purpose) -> Self {
        Self {
            predicates,
            purpose,
            view: 0,
            slots: Vec::new(),
            slots_of_effects: 0,
            flags: [SIMPLE; 2],
            counts: BTreeMap::new(),
            programs: BTreeMap::new(),
            code: Vec::new(),
            positions: BTreeMap::new(),
            lists: Vec::new(),
        }
    }

    /// Gives a memo to each condition and program that is evaluated more than once, as far as the
    /// numbers go.
    fn number_memos(&mut self) {
        let mut numbers = 1..u32::try_from(MAX_MEMOS).unwrap_or(0);
        let often = self.counts.values_mut().chain(self.programs.values_mut());
        for (_, memo) in often.filter(|(times, _)| *times > 1) {
            *memo = numbers.next().unwrap_or(0);
        }
    }

    fn words(mut self, shape: &Shape) -> Option<Vec<u32>> {
        self.write_code()?;
        let mut words = vec![0; PATH_WORDS];
        self.write_slots(&mut words)?;
        words.extend(shape.roles.iter().flat_map(|(role, word)| [*role, *word]));
        let [of_effects, mut of_verdicts] = self.flags;
        let slots = index(self.slots_of_effects) | index(self.slots.len()) << 8;
        let (entries, more, slots) = match (&shape.entries, self.purpose) {
            (Entries::Masked(entries), Purpose::Verdict) => {
                of_verdicts |= ORIGINS;
                let [entries, more] = self.write_verdicts(entries, &mut words)?;
                (entries, more, slots)
            }
            (Entries::Masked(entries), Purpose::Effect) => {
                of_verdicts = 0;
                (self.write_entries(entries, &mut words)?, 0, slots & 0xff)
            }
            (Entries::ByClass(classes), Purpose::Effect) => {
                of_verdicts = 0;
                let mut first = 0;
                for entries in classes {
                    words.extend([first, index(entries.len())]);
                    first += index(entries.len());
                }
                for entries in classes {
                    self.write_entries(entries, &mut words)?;
                }
                (index(classes.len()), first, slots & 0xff)
            }
            (Entries::ByClass(_), Purpose::Verdict) => return None,
        };
        for (field, value) in [
            (fast_path::FLAGS, of_effects | of_verdicts << 8),
            (fast_path::SLOTS, slots),
            (fast_path::ROLES, index(shape.roles.len())),
            (fast_path::ENTRIES, entries),
            (fast_path::MORE, more),
            (fast_path::OTHERS, shape.others),
            (fast_path::CODE_WORDS, index(self.code.len())),
        ] {
            *words.get_mut(field)? = value;
        }
        words.append(&mut self.code);
        words.append(&mut self.lists);
        Some(words)
    }

    fn write_slots(&mut self, words: &mut Vec<u32>) -> Option<()> {
        let predicates = self.predicates;
        for (number, slot) in self.slots.iter().enumerate() {
            let [mut of_effects, mut of_verdicts] = slot.uses;
            let (id, list) = match predicates.derived(slot.id) {
                Some(test) => {
                    (of_effects, of_verdicts) = (TEST, TEST);
                    (test.slot, self.test_words(test)?)
                }
                None => (slot.id, slot.constants.iter().copied().collect()),
            };
            if number >= self.slots_of_effects {
                of_effects = 0;
            }
            if self.purpose == Purpose::Effect {
                of_verdicts = 0;
            }
            let is_empty = list.is_empty();
            let at = if is_empty { 0 } else { 1 + put_list(&mut self.lists, list.into_iter()) };
            words.extend([id, of_effects | of_verdicts << 8, index(at)]);
        }
        Some(())
    }

    /// Returns the kind of a test and its terms.
    fn test_words(&self, test: &Test) -> Option<Vec<u32>> {
        let mut words = vec![test.kind];
        for term in &test.terms {
            let operand = match term.operand {
                Operand::Word(word) | Operand::OfSchema(_, word) => word,
                Operand::Slot(slot) => self.position(slot)?,
            };
            words.extend([term.member.map_or(0, |id| id.saturating_add(1)), term.bits(), operand]);
        }
        Some(words)
    }

    /// Writes entries and returns their number.
    fn write_entries(&self, entries: &[Entry], words: &mut Vec<u32>) -> Option<u32> {
        for entry in entries {
            words.extend(self.entry(entry)?);
        }
        Some(index(entries.len()))
    }

    /// Writes entries with their origins, those of verdicts alone behind the others. Returns their
    /// numbers; `None` if they are too many.
    fn write_verdicts(&self, entries: &[Entry], words: &mut Vec<u32>) -> Option<[u32; 2]> {
        let (mut count, mut origins) = (0, Vec::new());
        let (mut more, mut of_more, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            let (origin, is_more) = match entry {
                Entry::Step(_, taken) => (taken.origin, taken.is_more),
                Entry::ScopeEnd => (origin::word(origin::NONE, 0, 0), false),
            };
            if is_more {
                more.extend(self.entry(entry)?);
                of_more.push(origin);
                places.push(count);
            } else {
                words.extend(self.entry(entry)?);
                origins.push(origin);
                count += 1;
            }
        }
        let numbers = [count, index(places.len())];
        [more, origins, of_more, places].into_iter().for_each(|part| words.extend(part));
        (entries.len() <= MAX_VERDICTS).then_some(numbers)
    }

    fn entry(&self, entry: &Entry) -> Option<[u32; 3]> {
        let Entry::Step(step, Taken { mask, .. }) = entry else { return Some([SCOPE_END, 0, 0]) };
        let (head, operand) = match self.predicates.get(step.predicate)? {
            Predicate::Always => (EQUAL_CONST | layout::ALWAYS << 8, word::TRUE),
            Predicate::Never => (EQUAL_CONST | NEGATE | layout::ALWAYS << 8, word::TRUE),
            Predicate::Equality(equality, negated) => {
                let (head, operand) = match equality {
                    Op::EqualConst(slot, word) => (EQUAL_CONST | self.position(*slot)? << 8, *word),
                    Op::EqualSlot(a, b) => {
                        (EQUAL_SLOT | self.position(*a)? << 8 | self.position(*b)? << 16, 0)
                    }
                    _ => return None,
                };
                (head | if *negated { NEGATE } else { 0 }, operand)
            }
            Predicate::Code(_) => {
                let (_, memo) = self.counts.get(&step.predicate)?;
                (CODE | memo << 16, index(*self.positions.get(&step.predicate)?))
            }
        };
        Some([head | step.effect << 24, operand, *mask])
    }

    fn position(&self, slot: u32) -> Option<u32> {
        self.slots.iter().position(|known| known.id == slot).map(index)
    }

    /// Writes the code of every predicate.
    fn write_code(&mut self) -> Option<()> {
        let predicates = self.predicates;
        let ids: Vec<PredicateId> = self.counts.keys().copied().collect();
        for id in ids {
            let Predicate::Code(ops) = predicates.get(id)? else { continue };
            self.positions.insert(id, self.code.len());
            let labels = labels(ops, self.code.len());
            for op in ops {
                self.write_op(op, &labels)?;
            }
            self.code.push(code::END);
        }
        Some(())
    }

    fn write_op(&mut self, op: &Op, labels: &BTreeMap<u32, usize>) -> Option<()> {
        let slot = |slot: &u32| self.position(*slot);
        match op {
            Op::Label(_) => {}
            Op::Push(truth) => self.code.push(code::PUSH | truth << 8),
            Op::EqualConst(a, word) => self.code.extend([code::EQUAL_CONST | slot(a)? << 8, *word]),
            Op::EqualSlot(a, b) => {
                self.code.push(code::EQUAL_SLOT | slot(a)? << 8 | slot(b)? << 16);
            }
            Op::Bool(a) => self.code.push(code::BOOL | slot(a)? << 8),
            Op::Has(a) => self.code.push(code::HAS | slot(a)? << 8),
            Op::Member(a, words) => {
                let list = put_list(&mut self.lists, words.iter().copied());
                self.code.extend([code::MEMBER | self.position(*a)? << 8, index(list)]);
            }
            Op::Compare(a, relation, bits) => {
                let [low, high] = halves(*bits);
                self.code.extend([code::COMPARE | slot(a)? << 8 | relation << 16, low, high]);
            }
            Op::CompareSlots(a, b, relation) => {
                let slots = slot(a)? << 8 | slot(b)? << 16;
                self.code.push(code::COMPARE_SLOTS | slots | relation << 24);
            }
            Op::Not => self.code.push(code::NOT),
            Op::And => self.code.push(code::AND),
            Op::Or => self.code.push(code::OR),
            Op::Leaf => self.code.push(code::LEAF | self.predicates.leniency() << 8),
            Op::JumpFalse(label) => self.jump(code::JUMP_FALSE, *labels.get(label)?)?,
            Op::JumpTrue(label) => self.jump(code::JUMP_TRUE, *labels.get(label)?)?,
            Op::Invert => self.code.push(code::INVERT),
            Op::Program(program) => {
                let (_, memo) = self.programs.get(program)?;
                self.code.extend([code::PROGRAM | memo << 8, *program]);
            }
        }
        Some(())
    }

    /// Writes a jump to a position of the code.
    fn jump(&mut self, op: u32, target: usize) -> Option<()> {
        let after = self.code.len() + 2;
        self.code.extend([op, index(target.checked_sub(after)?)]);
        Some(())
    }
}

/// Returns the positions of the labels of a piece of code.
fn labels(ops: &[Op], start: usize) -> BTreeMap<u32, usize> {
    let mut labels = BTreeMap::new();
    let mut next = start;
    for op in ops {
        next += match op {
            Op::Label(label) => {
                labels.insert(*label, next);
                0
            }
            Op::EqualConst(..) | Op::Member(..) | Op::JumpFalse(_) | Op::JumpTrue(_) => 2,
            Op::Program(_) => 2,
            Op::Compare(..) => 3,
            _ => 1,
        };
    }
    labels
}

/// Appends a count and words; returns their offset.
fn put_list(lists: &mut Vec<u32>, words: impl ExactSizeIterator<Item = u32>) -> usize {
    let at = lists.len();
    lists.push(index(words.len()));
    lists.extend(words);
    at
}

fn halves(bits: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bits.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Narrows an index. Fast paths are bounded far below 2^32 words; a saturated index is out of
/// bounds, and the proof refuses it.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

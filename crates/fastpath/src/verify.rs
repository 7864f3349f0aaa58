//! The proof that fast paths are sound, made once when a table is opened.
//!
//! A sound fast path refers only to entries that exist, its entries, code and programs read only
//! its own slots, and its code ends. The proof does not compare it with the policies: that is the
//! work of the crate `wardgate-partial`, and the responsibility of the bundle's signers.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::at;
use crate::frame::word;
use crate::layout::test::{self, MAX_TERMS, NEGATED};
use crate::layout::{
    self, ALLOW, ALWAYS, BY_CLASS, CONSTANTS, DENY, LONE, MAX_CLASSES, MAX_MEMOS, MAX_PATTERNS,
    MAX_SETS, MAX_SLOTS, MAX_STACK, MAX_VERDICTS, NEGATE, NOW, OWN, PATH_WORDS, PROGRAMS,
    ROLE_WORDS, SIMPLE, SLOT_WORDS, TEST, TEXT, VALUE, code, fast_path, relation,
};
use crate::record::{Entry, FastPath, FastPaths, SlotRecord, SlotTest, Term};
use crate::schema;

/// The parts of a table that fast paths refer to.
pub trait Known {
    /// Returns true if the table has a string with this id.
    fn has_string(&self, id: u32) -> bool;
    /// Returns true if a slot begins at this offset of the table's slots.
    fn has_slot(&self, slot: u32) -> bool;
    /// Returns true if a slot for all attributes of the principal or the resource begins at this
    /// offset.
    fn has_attributes(&self, slot: u32) -> bool;
    /// Returns true if the table has the program and it reads no other slots than these.
    fn reads_only(&self, program: u32, slots: &[u32]) -> bool;
}

/// Proves every fast path of a section sound.
///
/// Returns `None` if one is not.
#[must_use]
pub fn verify(section: &[u32], known: &dyn Known) -> Option<()> {
    let Some((count, offsets)) = section.split_first() else { return Some(()) };
    let offsets = offsets.get(..at(*count))?;
    let first = offsets.len().checked_add(1)?;
    ensure(offsets.first().is_none_or(|offset| at(*offset) >= first))?;
    ensure(offsets.is_sorted())?;
    for (id, _) in (0..*count).zip(offsets) {
        // A fast path ends where the next one begins, so that the proof takes no longer than the
        // section is.
        let end = offsets.get(at(id) + 1).map_or(section.len(), |next| at(*next));
        Verifier::new(FastPaths::new(section.get(..end)?).get(id)?, known)?.fast_path()?;
    }
    Some(())
}

/// Proves the fast path list at `offset` sound.
///
/// Returns `None` if it is not.
#[must_use]
pub fn verify_list(section: &[u32], offset: u32, known: &dyn Known) -> Option<()> {
    let fast_paths = FastPaths::new(section);
    let list = fast_paths.list(offset)?;
    let exists =
        |fast_path: Option<u32>| fast_path.is_none_or(|fast_path| at(fast_path) < fast_paths.len());
    ensure(exists(list.set(0)) && exists(list.verdict_set(0)) && exists(list.grants()))?;
    ensure(list.actions_with_verdicts().all(|(_, verdicts)| exists(verdicts)))?;
    let patterns = list.patterns();
    ensure(patterns.len() <= MAX_PATTERNS && list.sets().count() <= MAX_SETS)?;
    ensure(patterns.iter().all(|pattern| known.has_string(*pattern)))?;
    ensure(patterns.is_sorted_by(|a, b| a < b))?;
    let is_set = |bits: u32| bits != 0 && bits >> patterns.len() == 0;
    ensure(list.sets().all(|(bits, paths)| is_set(bits) && paths.into_iter().all(exists)))?;
    ensure(list.sets().is_sorted_by(|(a, _), (b, _)| a < b))?;
    ensure(
        list.actions().all(|(action, fast_path)| known.has_string(action) && exists(fast_path)),
    )?;
    ensure(list.actions().is_sorted_by(|(a, _), (b, _)| a < b))
}

struct Verifier<'a> {
    fast_path: FastPath<'a>,
    known: &'a dyn Known,
    /// The slots that the fast path lists, by their offsets in the table; [`TESTED`] for those with
    /// a test, which hold no value.
    slots: Vec<u32>,
    /// A bit for each slot that is compared with no other slot.
    lone: u32,
    /// For each word of the fast path: true if verified code begins there.
    code: Vec<bool>,
    /// Words of lists that may still be read. The bound is needed because code that names a long
    /// list many times would cost a walk every time.
    unread: Cell<usize>,
}

impl<'a> Verifier<'a> {
    fn new(fast_path: FastPath<'a>, known: &'a dyn Known) -> Option<Self> {
        let (start, length) = fast_path.code();
        fast_path.record().get(start..start.checked_add(length)?)?;
        let offset = |slot: SlotRecord<'_>| if slot.uses & TEST == 0 { slot.slot } else { TESTED };
        let slots: Vec<u32> = fast_path.slots().map(offset).collect();
        let bits = fast_path.slots().zip(0..u32::BITS);
        let lone = bits.fold(0, |bits, (slot, bit)| bits | u32::from(slot.uses & LONE != 0) << bit);
        let unread = Cell::new(fast_path.record().len().saturating_mul(READS));
        Some(Self { fast_path, known, slots, lone, code: vec![false; length], unread })
    }

    fn fast_path(mut self) -> Option<()> {
        let start = self.fast_path.start();
        let flags = start[fast_path::FLAGS];
        ensure(flags & !(SIMPLE | PROGRAMS | NOW | BY_CLASS | OWN) == 0)?;
        ensure(flags & SIMPLE == 0 || flags & (PROGRAMS | BY_CLASS) == 0)?;
        self.slots()?;
        self.code()?;
        if flags & BY_CLASS == 0 { self.by_mask() } else { self.by_class() }?;
        self.origins()
    }

    /// Ensures that each entry has an origin, or none has.
    fn origins(&self) -> Option<()> {
        let start = self.fast_path.start();
        if start[fast_path::ORIGINS_AT] == 0 {
            return Some(());
        }
        let (origins, entries) = (self.fast_path.origins().len(), at(start[fast_path::ENTRIES]));
        ensure(start[fast_path::FLAGS] & BY_CLASS == 0 && origins == entries)?;
        ensure(entries <= MAX_VERDICTS)
    }

    fn slots(&self) -> Option<()> {
        let start = self.fast_path.start();
        let (slots, roles) = (at(start[fast_path::SLOTS]), at(start[fast_path::ROLES]));
        ensure(slots <= MAX_SLOTS && self.slots.len() == slots)?;
        let words = slots * SLOT_WORDS + roles.checked_mul(ROLE_WORDS)?;
        let tables = self.fast_path.record().get(PATH_WORDS..PATH_WORDS.checked_add(words)?)?;
        let records = tables.as_chunks::<SLOT_WORDS>().0;
        for (position, (slot, record)) in self.fast_path.slots().zip(records).enumerate() {
            let is_whole = slot.test.is_some_and(|test| test.kind == test::FITS);
            ensure(if is_whole {
                self.known.has_attributes(slot.slot)
            } else {
                self.known.has_slot(slot.slot)
            })?;
            if slot.uses == TEST {
                let earlier = self.slots.get(..position)?;
                self.test(slot.test?, record[2], earlier)?;
            } else {
                ensure(slot.uses & !(CONSTANTS | TEXT | VALUE | LONE) == 0)?;
                self.strings(slot.constants, record[2])?;
            }
        }
        let roles = self.fast_path.roles();
        ensure(roles.iter().all(|role| self.known.has_string(role[0])))?;
        ensure(roles.is_sorted_by(|a, b| a[0] < b[0]))
    }

    /// Ensures that a list of constants is complete and sorted.
    fn strings(&self, strings: &[u32], offset: u32) -> Option<()> {
        ensure(offset == 0 || at(self.fast_path.word(at(offset))) == strings.len())?;
        ensure(strings.iter().all(|id| self.known.has_string(*id)))?;
        ensure(strings.is_sorted_by(|a, b| a < b))
    }

    /// Ensures that a test is complete, and refers to strings of the table and to the slots before
    /// it, without those that have a test themselves.
    fn test(
        &self,
        SlotTest { kind, terms }: SlotTest<'_>,
        offset: u32,
        earlier: &[u32],
    ) -> Option<()> {
        let words = terms.len().checked_mul(test::TERM_WORDS)?.checked_add(1)?;
        ensure(at(self.fast_path.word(at(offset))) == words)?;
        if kind == test::FITS {
            return self.schema(terms);
        }
        ensure(terms.len() <= MAX_TERMS)?;
        match kind {
            test::SIZE | test::TIME | test::NOW => ensure(terms.is_empty())?,
            test::EXISTS | test::ALL => ensure(!terms.is_empty())?,
            test::MEMBER | test::STARTS_WITH | test::ENDS_WITH | test::CONTAINS => {
                ensure(matches!(terms, [[name, bits, _]] if *name == 0 && bits & NEGATED == 0))?;
            }
            _ => return None,
        }
        terms.iter().try_for_each(|[name, bits, operand]| {
            ensure(name.checked_sub(1).is_none_or(|id| self.known.has_string(id)))?;
            ensure(bits & !(NEGATED | test::SLOT) == 0)?;
            if bits & test::SLOT == 0 {
                let string = operand.checked_sub(word::FIRST_STRING);
                return ensure(
                    is_constant(*operand) && string.is_none_or(|id| self.known.has_string(id)),
                );
            }
            ensure(earlier.get(at(*operand)).is_some_and(|slot| *slot != TESTED))
        })
    }

    /// Ensures that the terms of a schema have known forms, and refer to strings of the table.
    fn schema(&self, terms: &[Term]) -> Option<()> {
        ensure(terms.len() <= schema::MAX_TERMS)?;
        terms.iter().try_for_each(|[name, bits, operand]| {
            let [form, bits] = schema::form(*bits);
            let is_known = name.checked_sub(1).is_some_and(|id| self.known.has_string(id));
            let string = operand.checked_sub(word::FIRST_STRING);
            ensure(match form {
                schema::TYPES => is_known && bits & !(schema::SCALARS | schema::REQUIRED) == 0,
                schema::EQUAL => {
                    is_known
                        && is_constant(*operand)
                        && string.is_none_or(|id| self.known.has_string(id))
                }
                schema::CLOSED | schema::COUNTED => *name == 0,
                _ => is_known && form <= schema::MAX_LENGTH,
            })
        })
    }

    fn by_mask(&self) -> Option<()> {
        let fits = |mask: u32| mask >> MAX_CLASSES == 0;
        let entries = self.fast_path.entries();
        ensure(entries.len() == at(self.fast_path.start()[fast_path::ENTRIES]))?;
        ensure(
            fits(self.fast_path.others())
                && self.fast_path.roles().iter().all(|role| fits(role[1])),
        )?;
        ensure(entries.iter().all(|entry| fits(entry[2])))?;
        entries.iter().try_for_each(|entry| self.entry(entry))
    }

    fn by_class(&self) -> Option<()> {
        let classes = self.fast_path.classes();
        ensure(self.fast_path.others() < classes)?;
        ensure(self.fast_path.roles().iter().all(|role| role[1] < classes))?;
        let (records, _) = self
            .fast_path
            .record()
            .get(at(self.fast_path.start()[fast_path::ENTRIES_AT])..)?
            .as_chunks::<2>();
        let mut end = 0;
        for (class, [offset, count]) in (0..classes).zip(records) {
            // Classes follow each other, so that the proof takes no longer than the fast path is.
            ensure(*offset >= end)?;
            end = offset.checked_add(count.checked_mul(3)?)?;
            let entries = self.fast_path.class(class)?;
            ensure(entries.len() == at(*count))?;
            entries.iter().try_for_each(|entry| self.entry(entry))?;
        }
        ensure(records.len() >= at(classes))
    }

    fn entry(&self, [head, operand, _]: &Entry) -> Option<()> {
        let [op, a, b, effect] = head.to_le_bytes().map(u32::from);
        ensure(matches!(effect, 0 | ALLOW | DENY))?;
        let op = op & !NEGATE;
        ensure(self.fast_path.flags() & SIMPLE == 0 || op <= layout::EQUAL_SLOT)?;
        match op {
            layout::EQUAL_CONST => ensure(self.has(a) && is_constant(*operand)),
            layout::EQUAL_SLOT => ensure(self.are_comparable(a, b)),
            layout::CODE => {
                let (start, _) = self.fast_path.code();
                let begins = at(*operand).checked_sub(start).and_then(|at| self.code.get(at));
                ensure(begins == Some(&true) && at(b) < MAX_MEMOS)
            }
            layout::SCOPE_END => ensure(*operand <= 1),
            _ => None,
        }
    }

    fn has(&self, slot: u32) -> bool {
        slot == ALWAYS || at(slot) < self.slots.len()
    }

    /// Returns true if two slots may be compared: neither is marked as compared with no other.
    fn are_comparable(&self, a: u32, b: u32) -> bool {
        let is_lone = |slot| self.lone.checked_shr(slot).unwrap_or(0) & 1 != 0;
        self.has(a) && self.has(b) && (a == b || !is_lone(a) && !is_lone(b))
    }

    /// Verifies all code: pieces one after the other, each with its end.
    fn code(&mut self) -> Option<()> {
        let (start, length) = self.fast_path.code();
        let mut next = start;
        while next < start + length {
            let piece = next;
            next = self.piece(next, start + length)?;
            *self.code.get_mut(piece - start)? = true;
        }
        Some(())
    }

    /// Verifies one piece of code and returns the position after it.
    fn piece(&self, mut next: usize, end: usize) -> Option<usize> {
        let (mut depth, mut jumps) = (0_usize, Jumps::default());
        loop {
            jumps.land(next, depth)?;
            let word = self.fast_path.word(next);
            let [op, a, b, c] = word.to_le_bytes().map(u32::from);
            let operand = self.fast_path.word(next.saturating_add(1));
            next = next.checked_add(1 + code::operands(op))?;
            ensure(next <= end)?;
            self.operands(op, [a, b, c], operand)?;
            match op {
                code::END => return ensure(depth == 1 && jumps.is_empty()).map(|()| next),
                code::NOT | code::LEAF | code::INVERT => ensure(depth >= 1)?,
                code::AND | code::OR => {
                    ensure(depth >= 2)?;
                    depth -= 1;
                }
                code::JUMP_FALSE | code::JUMP_TRUE => {
                    ensure(depth >= 1 && at(operand) >= next && at(operand) < end)?;
                    jumps.add(at(operand), depth)?;
                    depth -= 1;
                }
                _ => depth += 1,
            }
            ensure(depth <= MAX_STACK)?;
        }
    }

    fn operands(&self, op: u32, [a, b, c]: [u32; 3], operand: u32) -> Option<()> {
        match op {
            code::PUSH => ensure(a <= 3),
            code::EQUAL_CONST => ensure(self.has(a) && is_constant(operand)),
            code::EQUAL_SLOT => ensure(self.are_comparable(a, b)),
            code::BOOL | code::HAS => ensure(self.has(a)),
            code::MEMBER => {
                let list = self.fast_path.list(operand);
                self.unread.set(self.unread.get().checked_sub(list.len())?);
                ensure(at(self.fast_path.word(at(operand))) == list.len())?;
                ensure(
                    self.has(a) && list.is_sorted() && list.iter().all(|word| is_constant(*word)),
                )
            }
            code::COMPARE => ensure(self.has(a) && b <= relation::UNEQUAL),
            code::COMPARE_SLOTS => {
                ensure(self.has(a) && self.has(b) && c <= relation::GREATER_EQUAL)
            }
            code::LEAF => ensure(a <= 1),
            code::PROGRAM => {
                ensure(self.fast_path.flags() & PROGRAMS != 0 && at(a) < MAX_MEMOS)?;
                ensure(self.known.reads_only(operand, &self.slots))
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

/// Returns true if a slot may be compared with `word` by their words alone.
const fn is_constant(word: u32) -> bool {
    matches!(word, word::NULL | word::FALSE | word::TRUE)
        || word >= word::FIRST_STRING && word < word::FIRST_TEMPORARY
}

/// Stands for a slot whose word is the result of a test.
const TESTED: u32 = u32::MAX;

/// The largest number of times that the lists of a fast path may be named, all in all.
const READS: usize = 16;

fn ensure(holds: bool) -> Option<()> {
    holds.then_some(())
}

#[cfg(test)]
mod tests;

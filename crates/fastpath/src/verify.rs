//! The proof that fast paths are sound, made once when a table is opened.
//!
//! A sound fast path refers only to entries that exist, its entries, code and programs read only
//! its own slots, and its code ends. The proof does not compare it with the policies: that is the
//! work of the crate `wardgate-partial`, and the responsibility of the bundle's signers.

mod pieces;

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::iter;

use crate::at;
use crate::frame::word;
use crate::layout::test::{self, MAX_TERMS, NEGATED};
use crate::layout::{
    self, ALLOW, ALWAYS, BY_CLASS, CONSTANTS, DENY, EMITS_UNMET, LONE, MAX_CLASSES, MAX_MEMOS,
    MAX_PATTERNS, MAX_SETS, MAX_SLOTS, MAX_VERDICTS, NEGATE, NOW, ORIGINS, PROGRAMS, SIMPLE, TEST,
    TEXT, VALUE, fast_path,
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
/// Returns `None` if one is not. It is generic so that the crate that opens tables compiles it: that
/// one is built for size in the runtime module, and this one for speed.
#[must_use]
pub fn verify<K: Known>(section: &[u32], known: &K) -> Option<()> {
    let Some((count, offsets)) = section.split_first() else { return Some(()) };
    let offsets = offsets.get(..at(*count))?;
    let first = offsets.len().checked_add(1)?;
    ensure(offsets.first().is_none_or(|offset| at(*offset) >= first))?;
    ensure(offsets.is_sorted())?;
    for (number, _) in (0..*count).zip(offsets) {
        // A fast path ends where the next one begins, so that the proof takes no longer than the
        // section is.
        let end = offsets.get(at(number) + 1).map_or(section.len(), |next| at(*next));
        let view = number.checked_mul(2)?;
        Verifier::new(FastPaths::new(section.get(..end)?).get(view)?, known).fast_path()?;
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
    let exists = |fast_path: Option<u32>| {
        fast_path.is_none_or(|fast_path| fast_paths.get(fast_path).is_some())
    };
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

struct Verifier<'a, K> {
    fast_path: FastPath<'a>,
    known: &'a K,
    /// The words of the code and of the lists.
    words: &'a [u32],
    lists: &'a [u32],
    /// The views: that of effects, and that of verdicts if there is one.
    views: Vec<View>,
    /// For each word of the code: the views for which verified code begins there, a bit for each.
    code: Vec<u32>,
    /// Words of lists that may still be read. The bound is needed because code that names a long
    /// list many times would cost a walk every time.
    unread: Cell<usize>,
}

/// The slots and flags of one view.
struct View {
    flags: u32,
    /// The slots that the view lists, by their offsets in the table; [`TESTED`] for those with a
    /// test, which hold no value.
    slots: Vec<u32>,
    /// A bit for each slot that is compared with no other slot.
    lone: u32,
}

impl<'a, K: Known> Verifier<'a, K> {
    fn new(fast_path: FastPath<'a>, known: &'a K) -> Self {
        let effects = fast_path.of_effects();
        let views: Vec<View> =
            iter::once(effects).chain(effects.of_verdicts()).map(View::new).collect();
        let (words, lists) = fast_path.code_and_lists();
        let code = vec![0; words.len()];
        let unread = Cell::new(fast_path.record().len().saturating_mul(READS * views.len()));
        Self { fast_path: effects, known, lists, words, views, code, unread }
    }

    fn fast_path(mut self) -> Option<()> {
        let start = self.fast_path.start();
        let flags = [start[fast_path::FLAGS] & 0xff, start[fast_path::FLAGS] >> 8];
        ensure(flags[0] & !(SIMPLE | PROGRAMS | NOW | BY_CLASS) == 0)?;
        ensure(flags[1] & !(SIMPLE | PROGRAMS | NOW | ORIGINS) == 0)?;
        ensure(
            (flags[1] & ORIGINS != 0) == (flags[1] != 0) && flags[0] & flags[1] & BY_CLASS == 0,
        )?;
        ensure(flags[1] == 0 || flags[0] & BY_CLASS == 0)?;
        let is_sound = |flags: u32| flags & SIMPLE == 0 || flags & (PROGRAMS | BY_CLASS) == 0;
        ensure(flags.into_iter().all(is_sound))?;
        // All parts before the lists are there.
        ensure(self.words.len() == at(start[fast_path::CODE_WORDS]))?;
        self.slots()?;
        self.code()?;
        if flags[0] & BY_CLASS == 0 { self.by_mask() } else { self.by_class() }?;
        self.origins()
    }

    /// Ensures that each entry has an origin and each one of verdicts alone a place, or none has.
    fn origins(&self) -> Option<()> {
        let start = self.fast_path.start();
        let (entries, more) = (start[fast_path::ENTRIES], start[fast_path::MORE]);
        let Some(view) = self.fast_path.of_verdicts() else {
            return ensure(more == 0 || self.fast_path.flags() & BY_CLASS != 0);
        };
        let (all, (_, places)) = (at(entries).checked_add(at(more))?, view.more());
        ensure(all <= MAX_VERDICTS && view.origins().len() == all && places.len() == at(more))?;
        ensure(places.is_sorted() && places.last().is_none_or(|place| *place <= entries))
    }

    fn slots(&self) -> Option<()> {
        let start = self.fast_path.start();
        let slots = start[fast_path::SLOTS];
        let [of_effects, of_verdicts, 0, 0] = slots.to_le_bytes() else { return None };
        let all = self.fast_path.all_slots();
        ensure(all.len() == usize::from(of_effects.max(of_verdicts)) && all.len() <= MAX_SLOTS)?;
        for (view, count) in self.views.iter().zip([of_effects, of_verdicts]) {
            ensure(view.slots.len() == usize::from(count))?;
        }
        // The slots of effects are those of verdicts too.
        ensure(self.views.len() == 1 && of_verdicts == 0 || of_effects <= of_verdicts)?;
        ensure(self.fast_path.roles().len() == at(start[fast_path::ROLES]))?;
        let views = iter::once(self.fast_path).chain(self.fast_path.of_verdicts());
        for (view, slots) in views.zip(&self.views) {
            for (position, (slot, record)) in view.slots().zip(all).enumerate() {
                let is_whole = slot.test.is_some_and(|test| test.kind == test::FITS);
                let is_there = if is_whole {
                    self.known.has_attributes(slot.slot)
                } else {
                    self.known.has_slot(slot.slot)
                };
                ensure(is_there && record[1] >> 16 == 0)?;
                if slot.uses == TEST {
                    let earlier = slots.slots.get(..position)?;
                    self.test(slot.test?, record[2], earlier)?;
                } else {
                    ensure(slot.uses & !(CONSTANTS | TEXT | VALUE | LONE) == 0)?;
                    self.strings(slot.constants, record[2])?;
                }
            }
        }
        let roles = self.fast_path.roles();
        ensure(roles.iter().all(|role| self.known.has_string(role[0])))?;
        ensure(roles.is_sorted_by(|a, b| a[0] < b[0]))
    }

    /// Returns the number of words that the list of a slot states; 0 if it has none.
    fn stated(&self, offset: u32) -> usize {
        let stated = offset.checked_sub(1).and_then(|at_list| self.lists.get(at(at_list)));
        stated.map_or(0, |count| at(*count))
    }

    /// Ensures that a list of constants is complete and sorted.
    fn strings(&self, strings: &[u32], offset: u32) -> Option<()> {
        ensure(self.stated(offset) == strings.len())?;
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
        ensure(self.stated(offset) == words)?;
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
            test::INTERSECTS => {
                ensure(matches!(terms, [[name, bits, _]] if *name == 0 && *bits == test::SLOT))?;
            }
            test::TOPIC | test::FILLED_TOPIC => {
                ensure(terms.iter().all(|[name, bits, _]| *name == 0 && bits & NEGATED == 0))?;
                let patterns = if kind == test::TOPIC { terms } else { terms.get(..1)? };
                let is_text =
                    |[_, bits, operand]: &Term| *bits == 0 && *operand >= word::FIRST_STRING;
                ensure(!patterns.is_empty() && patterns.iter().all(is_text))?;
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
        for view in 0..self.views.len() {
            entries.iter().try_for_each(|entry| self.entry(entry, view, false))?;
        }
        let (more, _) = self.fast_path.of_verdicts().map_or((&[][..], &[][..]), |view| view.more());
        more.iter().try_for_each(|entry| {
            // A scope ends for both views.
            ensure(entry[0] & 0x7f != layout::SCOPE_END)?;
            self.entry(entry, VERDICTS, true)
        })
    }

    fn by_class(&self) -> Option<()> {
        let classes = self.fast_path.classes();
        ensure(self.fast_path.others() < classes)?;
        ensure(self.fast_path.roles().iter().all(|role| role[1] < classes))?;
        let (table, entries) = (self.fast_path.class_table(), self.fast_path.class_entries());
        ensure(table.len() == at(classes))?;
        ensure(entries.len() == at(self.fast_path.start()[fast_path::MORE]))?;
        let mut end = 0;
        for [first, count] in table {
            // Classes follow each other, so that the proof takes no longer than the fast path is.
            ensure(*first == end)?;
            end = first.checked_add(*count)?;
        }
        ensure(at(end) == entries.len())?;
        entries.iter().try_for_each(|entry| self.entry(entry, EFFECTS, false))
    }

    /// Ensures that an entry is sound in a view; an entry of verdicts alone may emit an output.
    fn entry(&self, [head, operand, mask]: &Entry, view: usize, may_emit: bool) -> Option<()> {
        ensure(mask >> MAX_CLASSES == 0 || self.fast_path.flags() & BY_CLASS != 0)?;
        let [op, a, b, effect] = head.to_le_bytes().map(u32::from);
        ensure(matches!(effect, 0 | ALLOW | DENY) || may_emit && effect <= EMITS_UNMET)?;
        let op = op & !NEGATE;
        let of_view = self.views.get(view)?;
        ensure(of_view.flags & SIMPLE == 0 || op <= layout::EQUAL_SLOT)?;
        match op {
            layout::EQUAL_CONST => ensure(of_view.has(a) && is_constant(*operand)),
            layout::EQUAL_SLOT => ensure(of_view.are_comparable(a, b)),
            layout::CODE => {
                let begins = self.code.get(at(*operand))?;
                ensure(begins >> view & 1 != 0 && at(b) < MAX_MEMOS)
            }
            layout::SCOPE_END => ensure(*operand <= 1),
            _ => None,
        }
    }
}

impl View {
    fn new(view: FastPath<'_>) -> Self {
        let mut found = Self { flags: view.flags(), slots: Vec::new(), lone: 0 };
        // More slots than bits are more than any fast path may have, which their number tells.
        for (SlotRecord { slot, uses, .. }, bit) in view.slots().zip(0..u32::BITS) {
            found.slots.push(if uses & TEST == 0 { slot } else { TESTED });
            found.lone |= u32::from(uses & LONE != 0) << bit;
        }
        found
    }

    fn has(&self, slot: u32) -> bool {
        slot == ALWAYS || at(slot) < self.slots.len()
    }

    /// Returns true if two slots may be compared: neither is marked as compared with no other.
    fn are_comparable(&self, a: u32, b: u32) -> bool {
        let is_lone = |slot| self.lone.checked_shr(slot).unwrap_or(0) & 1 != 0;
        self.has(a) && self.has(b) && (a == b || !is_lone(a) && !is_lone(b))
    }
}

/// Returns true if a slot may be compared with `word` by their words alone.
const fn is_constant(word: u32) -> bool {
    matches!(word, word::NULL | word::FALSE | word::TRUE)
        || word >= word::FIRST_STRING && word < word::FIRST_TEMPORARY
}

/// The positions of the views.
const EFFECTS: usize = 0;
const VERDICTS: usize = 1;

/// Stands for a slot whose word is the result of a test.
const TESTED: u32 = u32::MAX;

/// The largest number of times that the lists of a fast path may be named in each view, all in all.
const READS: usize = 16;

fn ensure(holds: bool) -> Option<()> {
    holds.then_some(())
}

#[cfg(test)]
mod tests;

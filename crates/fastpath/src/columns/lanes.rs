//! The tests of entries and code, made for all rows of a batch at once.
//!
//! Each returns for every row what the machine of `code` returns for one request. A slot that is
//! the same in all rows is tested once.

use core::slice::from_ref;

use wardgate_simd::{Backend, Numbers, Relation, Words};

use super::set::{BLOCK, Set, Truths};
use super::{BATCH_COLUMNS, BATCH_ROWS};
use crate::at;
use crate::frame::{Frame, word};
use crate::layout::{MAX_SLOTS, relation};

/// The slots of a batch.
pub(super) struct Lanes<'a, B> {
    pub(super) backend: B,
    /// The slots that are the same in all rows.
    pub(super) frame: &'a Frame,
    /// The slots that differ from row to row: a bit for each.
    pub(super) varying: u32,
    pub(super) words: &'a [[u32; BATCH_ROWS]; BATCH_COLUMNS],
    pub(super) numbers: &'a [[f64; BATCH_ROWS]; BATCH_COLUMNS],
    pub(super) rows: usize,
}

/// One slot, as the vector operations read it: its blocks, or one block that serves for all of
/// them.
pub(super) struct Lane<'a> {
    pub(super) words: &'a [Words],
    numbers: &'a [Numbers],
}

/// A block in which all rows are the same.
struct Scalar {
    words: Words,
    numbers: Numbers,
}

impl<'a, B: Backend> Lanes<'a, B> {
    pub(super) fn equal_const(&self, slot: u32, operand: u32) -> Truths {
        if let Some(found) = self.scalar(slot) {
            let broken = found < word::NULL;
            return Truths { low: Set::of(!broken && found == operand), high: Set::of(broken) };
        }
        self.backend.run(|backend| {
            let mut truths = Truths::FALSE;
            let results = truths.low.0.iter_mut().zip(&mut truths.high.0);
            for (words, (low, high)) in self.column(slot).words.iter().zip(results) {
                let (equal, broken) = backend.equal_and_below(words, operand, word::NULL);
                (*low, *high) = (equal & !broken, broken);
            }
            truths
        })
    }

    /// Adds to `unsure` the rows that hold two lists or maps.
    pub(super) fn equal_slots(&self, a: u32, b: u32, unsure: &mut Set) -> Truths {
        match self.against_word(a, b) {
            Some((slot, word)) => self.equal_const(slot, word),
            None => self.equal_lanes(a, b, unsure),
        }
    }

    /// Returns one of two slots and the word that makes it equal to the other. `None` if both vary,
    /// and for numbers, lists and maps, whose words do not decide equality.
    pub(super) fn against_word(&self, a: u32, b: u32) -> Option<(u32, u32)> {
        let tells =
            |word: &u32| *word >= word::NULL && !matches!(*word, word::NUMBER | word::VALUE);
        let right = self.scalar(b).filter(tells).map(|word| (a, word));
        right.or_else(|| self.scalar(a).filter(tells).map(|word| (b, word)))
    }

    fn equal_lanes(&self, a: u32, b: u32, unsure: &mut Set) -> Truths {
        let high = self.below_null(a) | self.below_null(b);
        let equal = self.words_equal(a, b) & !high;
        unsure.add(equal & self.word_equal(a, word::VALUE));
        let numbers = equal & self.word_equal(a, word::NUMBER);
        if numbers.is_empty() {
            return Truths { low: equal, high };
        }
        let unequal = numbers & !self.numbers_compare(a, b, Relation::Equal);
        Truths { low: equal & !unequal, high }
    }

    pub(super) fn bool(&self, slot: u32) -> Truths {
        let (no, yes) = (self.word_equal(slot, word::FALSE), self.word_equal(slot, word::TRUE));
        let broken = self.below_null(slot);
        Truths { low: !(no | broken), high: !(no | yes) }
    }

    pub(super) fn has(&self, slot: u32) -> Truths {
        let high = self.word_equal(slot, word::BROKEN);
        Truths { low: !self.below_null(slot), high }
    }

    pub(super) fn member(&self, slot: u32, list: &[u32]) -> Truths {
        let high = self.below_null(slot);
        let found = if list.len() <= MAX_COMPARED {
            list.iter().fold(Set::NONE, |found, word| found | self.word_equal(slot, *word))
        } else {
            self.words_found(slot, list)
        };
        Truths { low: found & !high, high }
    }

    pub(super) fn compare(&self, slot: u32, relation: u32, number: f64) -> Truths {
        let numbers = self.word_equal(slot, word::NUMBER);
        let holding = |relation| numbers & self.number_compares(slot, relation, number);
        match relation {
            relation::EQUAL => {
                Truths { low: holding(Relation::Equal), high: self.below_null(slot) }
            }
            relation::UNEQUAL => {
                let high = self.below_null(slot);
                Truths { low: !(high | holding(Relation::Equal)), high }
            }
            other => Truths { low: holding(ordering(other)), high: !numbers },
        }
    }

    /// Adds to `unsure` the rows that hold a value other than a number.
    pub(super) fn compare_slots(
        &self,
        [a, b]: [u32; 2],
        relation: u32,
        unsure: &mut Set,
    ) -> Truths {
        let high = self.below_null(a) | self.below_null(b);
        let numbers = self.word_equal(a, word::NUMBER) & self.word_equal(b, word::NUMBER);
        unsure.add(!(high | numbers));
        Truths { low: numbers & self.numbers_compare(a, b, ordering(relation)), high }
    }

    fn below_null(&self, slot: u32) -> Set {
        self.words_where(slot, |backend, words| backend.below(words, word::NULL))
    }

    fn word_equal(&self, slot: u32, value: u32) -> Set {
        self.words_where(slot, |backend, words| backend.equal(words, value))
    }

    /// Searches the list for the word of each row.
    fn words_found(&self, slot: u32, list: &[u32]) -> Set {
        self.words_where(slot, |_, words| {
            let found = words.iter().map(|word| u64::from(list.binary_search(word).is_ok()));
            found.zip(0_u32..).fold(0, |bits, (found, row)| bits | found << row)
        })
    }

    fn words_where(&self, slot: u32, test: impl Fn(B, &Words) -> u64) -> Set {
        let mut room = None;
        let lane = self.lane(slot, &mut room);
        let found = |backend| filled(lane.words.iter().map(|words| test(backend, words)));
        self.spread(slot, self.backend.run(found))
    }

    fn number_compares(&self, slot: u32, relation: Relation, number: f64) -> Set {
        let mut room = None;
        let lane = self.lane(slot, &mut room);
        let test = |backend: B, numbers| backend.compare(relation, numbers, number);
        let found = |backend| filled(lane.numbers.iter().map(|numbers| test(backend, numbers)));
        self.spread(slot, self.backend.run(found))
    }

    fn words_equal(&self, a: u32, b: u32) -> Set {
        let mut rooms = (None, None);
        let (a, b) = (self.lane(a, &mut rooms.0), self.lane(b, &mut rooms.1));
        let pairs = a.words.iter().cycle().zip(b.words.iter().cycle()).take(self.blocks());
        self.backend.run(|backend| filled(pairs.map(|(a, b)| backend.equal_columns(a, b))))
    }

    fn numbers_compare(&self, a: u32, b: u32, relation: Relation) -> Set {
        let mut rooms = (None, None);
        let (a, b) = (self.lane(a, &mut rooms.0), self.lane(b, &mut rooms.1));
        let pairs = a.numbers.iter().cycle().zip(b.numbers.iter().cycle()).take(self.blocks());
        let test = |backend: B, (a, b)| backend.compare_columns(relation, a, b);
        self.backend.run(|backend| filled(pairs.map(|pair| test(backend, pair))))
    }

    /// Copies the result in the one block of a scalar to all blocks.
    fn spread(&self, slot: u32, found: Set) -> Set {
        if self.varies(slot) { found } else { Set::of(found.0[0] != 0) }
    }

    /// Returns the number of blocks that hold a row.
    fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }

    fn varies(&self, slot: u32) -> bool {
        at(slot) < MAX_SLOTS && self.varying >> slot & 1 == 1
    }

    pub(super) fn scalar(&self, slot: u32) -> Option<u32> {
        (!self.varies(slot)).then(|| self.frame.word(slot))
    }

    /// Returns the blocks of a slot; those of a scalar are made in `room`.
    fn lane<'s>(&'s self, slot: u32, room: &'s mut Option<Scalar>) -> Lane<'s> {
        if self.varies(slot) {
            return self.column(slot);
        }
        let words = [self.frame.word(slot); BLOCK];
        let scalar = room.insert(Scalar { words, numbers: [self.frame.number(slot); BLOCK] });
        Lane { words: from_ref(&scalar.words), numbers: from_ref(&scalar.numbers) }
    }

    /// Returns the column of a slot that varies; the columns are in the order of the slots.
    pub(super) fn column(&self, slot: u32) -> Lane<'a> {
        let before = self.varying & !(u32::MAX << (slot % u32::BITS));
        let position = at(before.count_ones());
        let words = self.words.get(position).map_or(&[][..], |column| column.as_chunks().0);
        let numbers = self.numbers.get(position).map_or(&[][..], |column| column.as_chunks().0);
        let blocks = self.blocks();
        Lane {
            words: words.get(..blocks).unwrap_or(words),
            numbers: numbers.get(..blocks).unwrap_or(numbers),
        }
    }
}

fn filled(blocks: impl Iterator<Item = u64>) -> Set {
    let mut set = Set::NONE;
    for (word, bits) in set.0.iter_mut().zip(blocks) {
        *word = bits;
    }
    set
}

const fn ordering(relation: u32) -> Relation {
    match relation {
        relation::LESS => Relation::Less,
        relation::LESS_EQUAL => Relation::LessEqual,
        relation::GREATER => Relation::More,
        _ => Relation::MoreEqual,
    }
}

/// The largest number of words of a list that is compared with all rows at once. With more, each
/// row searches the list.
const MAX_COMPARED: usize = 64;

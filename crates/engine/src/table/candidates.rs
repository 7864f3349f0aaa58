//! The candidates of a request: the rules of a block that every dimension selects.
//!
//! A dimension selects the rules that name a value, exactly or by a glob. Their sets are sparse and
//! sorted, so the search leaps from word to word and reads nothing of the rules between: its cost
//! does not depend on the number of rules that a dimension excludes.

use alloc::vec::Vec;

use super::block::{Block, Name, RuleSet, Values};
use super::layout::block;
use super::{PolicyTable, at};
use crate::glob;

/// The rules that one dimension selects: the union of some sets, read from the first word to the
/// last.
#[derive(Default)]
pub(crate) struct Selection<'a> {
    /// The unread rest of each set.
    few: [RuleSet<'a>; FEW],
    count: usize,
    more: Vec<RuleSet<'a>>,
    /// True if the dimension does not narrow.
    has_all: bool,
}

/// The candidates, by their numbers in the block, ascending.
pub(crate) struct Candidates<'a> {
    /// Those of the actions, and of the other dimensions.
    dimensions: [Selection<'a>; 3],
    rules: usize,
    /// The word that is read next, and the rest of the word before it.
    next_word: usize,
    rest: u32,
}

/// The rules of one chunk, for an observer that wants the others too.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chunk {
    first_word: usize,
    all: [u32; CHUNK_WORDS],
    relevant: [u32; CHUNK_WORDS],
    candidates: [u32; CHUNK_WORDS],
}

impl<'a> Block<'a> {
    /// Returns the rules that name `action`.
    pub(crate) fn for_action(&self, action: Name<'_>) -> Selection<'a> {
        self.select(block::ACTIONS, &mut core::iter::once(action))
    }

    /// Returns the rules that name one of `roles`.
    pub(crate) fn for_roles<'n>(&self, roles: impl Iterator<Item = Name<'n>>) -> Selection<'a> {
        let mut roles = roles;
        self.select(block::ROLES, &mut roles)
    }

    /// Returns the rules that name `kind`.
    pub(crate) fn for_kind(&self, kind: Name<'_>) -> Selection<'a> {
        self.select(block::RESOURCES, &mut core::iter::once(kind))
    }

    fn select<'n>(
        &self,
        dimension: usize,
        names: &mut dyn Iterator<Item = Name<'n>>,
    ) -> Selection<'a> {
        let Some(values) = self.values(dimension) else { return Selection::all() };
        let mut selection = Selection::default();
        for name in names {
            selection.add_named(self.table(), values, name);
        }
        selection
    }

    /// Returns the rules that are in all selections.
    pub(crate) fn candidates(
        &self,
        actions: Selection<'a>,
        [one, other]: [Selection<'a>; 2],
    ) -> Candidates<'a> {
        let dimensions = [actions, one, other];
        Candidates { dimensions, rules: self.rule_count(), next_word: 0, rest: 0 }
    }
}

impl<'a> Selection<'a> {
    /// Returns the selection of all rules.
    pub(crate) fn all() -> Self {
        Self { has_all: true, ..Self::default() }
    }

    /// Returns the selection of one set.
    pub(crate) fn of(rules: RuleSet<'a>) -> Self {
        let mut selection = Self::default();
        selection.add(rules);
        selection
    }

    /// Adds the rules that name `name`, exactly or by a glob.
    fn add_named(&mut self, table: &PolicyTable, values: Values<'a>, name: Name<'_>) {
        if let Some(found) = name.id.and_then(|id| values.find(id)) {
            self.add(found);
        }
        for (glob, rules) in values.globs() {
            if glob::matches(table.string(glob), name.text) {
                self.add(rules);
            }
        }
    }

    fn add(&mut self, rules: RuleSet<'a>) {
        match self.few.get_mut(self.count) {
            Some(free) => *free = rules,
            None => self.more.push(rules),
        }
        self.count = self.count.saturating_add(1);
    }

    /// Returns the number of the first word from `word` on that is not zero, and that word. The
    /// calls ascend.
    fn leap(&mut self, word: usize) -> Option<(usize, u32)> {
        if self.has_all {
            return Some((word, u32::MAX));
        }
        let mut first: Option<(usize, u32)> = None;
        for set in self.few.iter_mut().take(self.count).chain(&mut self.more) {
            let Some((number, bits)) = set.leap(word) else { continue };
            match &mut first {
                Some((least, union)) if *least == number => *union |= bits,
                Some((least, _)) if *least < number => {}
                _ => first = Some((number, bits)),
            }
        }
        first
    }

    /// Returns a word. The calls ascend.
    fn word(&mut self, word: usize) -> u32 {
        self.leap(word).filter(|(number, _)| *number == word).map_or(0, |(_, bits)| bits)
    }
}

impl RuleSet<'_> {
    /// Drops the words before `word`, and returns the first that is left, with its number.
    fn leap(&mut self, word: usize) -> Option<(usize, u32)> {
        if self.0.first().is_some_and(|[number, _]| at(*number) < word) {
            let before = self.0.partition_point(|[number, _]| at(*number) < word);
            self.0 = self.0.get(before..)?;
        }
        self.0.first().map(|[number, bits]| (at(*number), *bits))
    }
}

impl Candidates<'_> {
    /// Returns true if there is none.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.next().is_none()
    }

    /// Returns the chunks of the block, all of them.
    pub(crate) fn chunks(mut self) -> impl Iterator<Item = Chunk> {
        let words = self.rules.div_ceil(32);
        (0..words).step_by(CHUNK_WORDS).map(move |first| self.chunk(first))
    }

    fn chunk(&mut self, first_word: usize) -> Chunk {
        let mut chunk = Chunk { first_word, ..Chunk::default() };
        let words = chunk.all.iter_mut().zip(&mut chunk.relevant).zip(&mut chunk.candidates);
        for (word, ((all, relevant), candidates)) in (first_word..).zip(words) {
            *all = self.valid(word);
            let [actions, one, other] = self.dimensions.each_mut().map(|of| of.word(word));
            *relevant = *all & one & other;
            *candidates = *relevant & actions;
        }
        chunk
    }

    /// Returns a bit for each rule of a word.
    fn valid(&self, word: usize) -> u32 {
        match self.rules.saturating_sub(word.saturating_mul(32)) {
            0 => 0,
            left if left >= 32 => u32::MAX,
            left => (1 << left) - 1,
        }
    }

    /// Returns the first word from `word` on that no dimension excludes, with its number.
    fn leap(&mut self, mut word: usize) -> Option<(usize, u32)> {
        let words = self.rules.div_ceil(32);
        while word < words {
            let start = word;
            let mut bits = self.valid(word);
            for dimension in &mut self.dimensions {
                let (next, found) = dimension.leap(word)?;
                (word, bits) = (next, bits & found);
            }
            if word == start {
                return Some((word, bits));
            }
        }
        None
    }
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            let (word, bits) = self.leap(self.next_word)?;
            (self.next_word, self.rest) = (word.saturating_add(1), bits);
        }
        let lowest = at(self.rest.trailing_zeros());
        self.rest &= self.rest.wrapping_sub(1);
        Some(self.next_word.saturating_sub(1).saturating_mul(32).saturating_add(lowest))
    }
}

impl Chunk {
    /// Returns the rules that the other dimensions exclude.
    pub(crate) fn excluded(&self) -> Rules {
        self.rules(self.all, self.relevant)
    }

    /// Returns the rules that do not name the action, of those that the others leave.
    pub(crate) fn of_other_actions(&self) -> Rules {
        self.rules(self.relevant, self.candidates)
    }

    /// Returns the candidates.
    pub(crate) fn candidates(&self) -> Rules {
        self.rules(self.candidates, [0; CHUNK_WORDS])
    }

    /// Returns the rules of the first set that are not in the second.
    fn rules(&self, first: [u32; CHUNK_WORDS], second: [u32; CHUNK_WORDS]) -> Rules {
        let mut words = first;
        for (bits, without) in words.iter_mut().zip(second) {
            *bits &= !without;
        }
        Rules { words, first: self.first_word.saturating_mul(32) }
    }
}

/// Rules of one chunk, by their numbers in the block, ascending.
pub(crate) struct Rules {
    words: [u32; CHUNK_WORDS],
    first: usize,
}

impl Iterator for Rules {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (word, bits) = self.words.iter_mut().enumerate().find(|(_, bits)| **bits != 0)?;
        let lowest = at(bits.trailing_zeros());
        *bits &= bits.wrapping_sub(1);
        Some(self.first.saturating_add(word.saturating_mul(32)).saturating_add(lowest))
    }
}

/// The number of words of a chunk.
const CHUNK_WORDS: usize = 4;

/// The number of sets that a selection holds without allocating.
const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::block::RuleSet;
    use super::{Candidates, Chunk, Selection};

    type Pairs = Vec<[u32; 2]>;

    /// Returns a random set over so many rules; words that are zero are left out.
    fn set(random: &mut fastrand::Rng, rules: u32) -> Pairs {
        let density = random.u32(0..5);
        let words = (0..rules.div_ceil(32)).filter(|_| density > 0);
        let sparse = |random: &mut fastrand::Rng| (0..density).fold(0, |b, _| b | random.u32(..));
        let mut pairs: Pairs = Vec::new();
        for word in words {
            let left = rules - word * 32;
            let valid = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            let bits = if random.u32(..4) < density { sparse(random) & valid } else { 0 };
            if bits != 0 {
                pairs.push([word, bits]);
            }
        }
        pairs
    }

    fn holds(sets: &Option<Vec<Pairs>>, rule: usize) -> bool {
        let one = |set: &Pairs| {
            set.iter().any(|[word, bits]| {
                rule / 32 == usize::try_from(*word).unwrap() && bits >> (rule % 32) & 1 == 1
            })
        };
        sets.as_ref().is_none_or(|sets| sets.iter().any(one))
    }

    fn selection(sets: &Option<Vec<Pairs>>) -> Selection<'_> {
        let Some(sets) = sets else { return Selection::all() };
        let mut selection = Selection::default();
        sets.iter().for_each(|pairs| selection.add(RuleSet(pairs)));
        selection
    }

    #[test]
    fn candidates_are_the_rules_in_every_dimension() {
        let mut random = fastrand::Rng::with_seed(19);
        for _ in 0..2000 {
            let rules = random.u32(0..400);
            let mut dimension = || {
                let count = random.usize(0..12);
                (random.u32(..4) > 0).then(|| (0..count).map(|_| set(&mut random, rules)).collect())
            };
            let dimensions: [Option<Vec<Pairs>>; 3] = [dimension(), dimension(), dimension()];
            let rules = usize::try_from(rules).unwrap();
            let candidates = || Candidates {
                dimensions: dimensions.each_ref().map(selection),
                rules,
                next_word: 0,
                rest: 0,
            };
            let named = |of: &[Option<Vec<Pairs>>], rule| of.iter().all(|sets| holds(sets, rule));
            let those = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..rules).filter(|rule| keep(*rule)).collect()
            };
            let expected = those(&|rule| named(&dimensions, rule));
            assert_eq!(candidates().collect::<Vec<_>>(), expected);
            let chunks: Vec<Chunk> = candidates().chunks().collect();
            let all = |of: &dyn Fn(&Chunk) -> Vec<usize>| -> Vec<usize> {
                chunks.iter().flat_map(of).collect()
            };
            assert_eq!(all(&|chunk| chunk.candidates().collect()), expected);
            assert_eq!(
                all(&|chunk| chunk.excluded().collect()),
                those(&|rule| !named(&dimensions[1..], rule))
            );
            assert_eq!(
                all(&|chunk| chunk.of_other_actions().collect()),
                those(&|rule| named(&dimensions[1..], rule) && !named(&dimensions[..1], rule))
            );
        }
    }
}

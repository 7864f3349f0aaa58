//! The candidates of a request: the rules of a block that every dimension selects.
//!
//! A dimension selects the rules that name a value, exactly or by a glob. Their sets are sparse and
//! sorted, so the search leaps from word to word and reads nothing of the rules between: its cost
//! does not depend on the number of rules that a dimension excludes.

use alloc::vec::Vec;

use super::at;
use super::block::{Block, Name, RuleSet};
use super::layout::block;
use crate::glob;

/// The candidates, by their numbers in the block, ascending: at first all of its rules.
pub(crate) struct Candidates<'a> {
    rules: usize,
    /// The bits of the dimensions that narrow: each selects the union of its sets.
    narrowed: u8,
    /// The unread rest of each set, and the bit of its dimension.
    few: [(u8, RuleSet<'a>); FEW],
    count: usize,
    more: Vec<(u8, RuleSet<'a>)>,
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
    /// Returns all rules as candidates.
    pub(crate) fn candidates(&self) -> Candidates<'a> {
        Candidates::new(self.rule_count())
    }

    /// Keeps the candidates that name `action`.
    pub(crate) fn narrow_actions(&self, candidates: &mut Candidates<'a>, action: Name<'_>) {
        self.narrow(candidates, ACTIONS, &mut core::iter::once(action));
    }

    /// Keeps the candidates that name one of `roles`.
    pub(crate) fn narrow_roles<'n>(
        &self,
        candidates: &mut Candidates<'a>,
        mut roles: impl Iterator<Item = Name<'n>>,
    ) {
        self.narrow(candidates, ROLES, &mut roles);
    }

    /// Keeps the candidates that name `kind`.
    pub(crate) fn narrow_resources(&self, candidates: &mut Candidates<'a>, kind: Name<'_>) {
        self.narrow(candidates, RESOURCES, &mut core::iter::once(kind));
    }

    fn narrow<'n>(
        &self,
        candidates: &mut Candidates<'a>,
        dimension: u8,
        names: &mut dyn Iterator<Item = Name<'n>>,
    ) {
        let offset = match dimension {
            ACTIONS => block::ACTIONS,
            ROLES => block::ROLES,
            _ => block::RESOURCES,
        };
        let Some(values) = self.values(offset) else { return };
        candidates.narrowed |= dimension;
        for name in names {
            if let Some(found) = name.id.and_then(|id| values.find(id)) {
                candidates.add(dimension, found);
            }
            for (glob, rules) in values.globs() {
                if glob::matches(self.table().string(glob), name.text) {
                    candidates.add(dimension, rules);
                }
            }
        }
    }
}

impl<'a> Candidates<'a> {
    fn new(rules: usize) -> Self {
        Self {
            rules,
            narrowed: 0,
            few: [(0, RuleSet::default()); FEW],
            count: 0,
            more: Vec::new(),
            next_word: 0,
            rest: 0,
        }
    }

    /// Keeps the rules of one action.
    pub(crate) fn keep(&mut self, rules: RuleSet<'a>) {
        self.narrowed |= ACTIONS;
        self.add(ACTIONS, rules);
    }

    fn add(&mut self, dimension: u8, rules: RuleSet<'a>) {
        match self.few.get_mut(self.count) {
            Some(free) => *free = (dimension, rules),
            None => self.more.push((dimension, rules)),
        }
        self.count = self.count.saturating_add(1);
    }

    /// Returns true if there is none.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.next().is_none()
    }

    /// Returns the chunks of the block, all of them.
    pub(crate) fn chunks(&mut self) -> impl Iterator<Item = Chunk> {
        let words = self.rules.div_ceil(32);
        (0..words).step_by(CHUNK_WORDS).map(move |first| self.chunk(first))
    }

    fn chunk(&mut self, first_word: usize) -> Chunk {
        let mut chunk = Chunk { first_word, ..Chunk::default() };
        let words = chunk.all.iter_mut().zip(&mut chunk.relevant).zip(&mut chunk.candidates);
        for (word, ((all, relevant), candidates)) in (first_word..).zip(words) {
            *all = self.valid(word);
            *relevant = *all & self.word_in(ROLES, word) & self.word_in(RESOURCES, word);
            *candidates = *relevant & self.word_in(ACTIONS, word);
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
            for dimension in [ACTIONS, ROLES, RESOURCES] {
                if self.narrowed & dimension != 0 {
                    let (next, found) = self.leap_in(dimension, word)?;
                    (word, bits) = (next, bits & found);
                }
            }
            if word == start {
                return Some((word, bits));
            }
        }
        None
    }

    /// Returns the first word from `word` on that a dimension does not exclude, with its number. The
    /// calls ascend.
    fn leap_in(&mut self, dimension: u8, word: usize) -> Option<(usize, u32)> {
        let mut first: Option<(usize, u32)> = None;
        for (of, set) in self.few.iter_mut().take(self.count).chain(&mut self.more) {
            if *of != dimension {
                continue;
            }
            let Some((number, bits)) = set.leap(word) else { continue };
            match &mut first {
                Some((least, union)) if *least == number => *union |= bits,
                Some((least, _)) if *least < number => {}
                _ => first = Some((number, bits)),
            }
        }
        first
    }

    /// Returns a word of a dimension. The calls ascend.
    fn word_in(&mut self, dimension: u8, word: usize) -> u32 {
        if self.narrowed & dimension == 0 {
            return u32::MAX;
        }
        let found = self.leap_in(dimension, word);
        found.filter(|(number, _)| *number == word).map_or(0, |(_, bits)| bits)
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

/// The bits of the dimensions.
const ACTIONS: u8 = 1;
const ROLES: u8 = 2;
const RESOURCES: u8 = 4;

/// The number of words of a chunk.
const CHUNK_WORDS: usize = 4;

/// The number of sets that candidates hold without allocating.
const FEW: usize = 6;

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::block::RuleSet;
    use super::{ACTIONS, Candidates, Chunk, RESOURCES, ROLES};

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

    fn candidates(dimensions: &[Option<Vec<Pairs>>; 3], rules: usize) -> Candidates<'_> {
        let mut candidates = Candidates::new(rules);
        for (bit, sets) in [ACTIONS, ROLES, RESOURCES].into_iter().zip(dimensions) {
            let Some(sets) = sets else { continue };
            candidates.narrowed |= bit;
            sets.iter().for_each(|pairs| candidates.add(bit, RuleSet(pairs)));
        }
        candidates
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
            let candidates = || candidates(&dimensions, rules);
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

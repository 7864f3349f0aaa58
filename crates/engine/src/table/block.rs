//! A block: the rules of one policy, with bit sets that narrow them to the candidates of a request.
//!
//! Each dimension (actions, roles, resources) maps a value to the rules that name it; the
//! candidates are the AND of the dimensions. Globs are matched against the text of the request.

use super::layout::{
    DERIVED_ROLE_WORDS, EFFECT_ALLOW, EFFECT_DENY, FROM_ROLE_POLICY, NEGATED, ROLE_POLICY_WORDS,
    RULE_WORDS, block, rule,
};
use super::{PolicyTable, Section, at, word};
use crate::decision::Effect;
use crate::glob;

/// Rules are narrowed this many at a time, so that no block is too large for the stack.
const CHUNK_WORDS: usize = 4;

/// A bit for each rule of one chunk of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    bits: [u32; CHUNK_WORDS],
    first_word: usize,
}

/// A name in a request: its text, and its id if the policies mention it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) text: &'a str,
    pub(crate) id: Option<u32>,
}

/// The rules of one policy, or of all role policies of one scope.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    table: &'a PolicyTable,
    words: &'a [u32],
}

/// The values of one dimension, each with the set of its rules.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    entries: &'a [u32],
    /// Words of one entry.
    size: usize,
    exact: usize,
    globs: usize,
}

/// One rule of a block.
#[derive(Clone, Copy)]
pub(crate) struct Rule<'a> {
    table: &'a PolicyTable,
    words: &'a [u32],
}

/// One derived role that a resource policy refers to.
#[derive(Clone, Copy)]
pub(crate) struct DerivedRole<'a> {
    table: &'a PolicyTable,
    words: &'a [u32],
}

impl<'a> Block<'a> {
    pub(crate) fn new(table: &'a PolicyTable, offset: u32) -> Self {
        let words = table.section(Section::Blocks).get(at(offset)..).unwrap_or(&[]);
        Self { table, words }
    }

    pub(crate) fn len(&self) -> usize {
        at(word(self.words, block::RULES))
    }

    /// Returns a chunk of all rules for each 128 rules.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Chunk> + use<> {
        let rules = self.len();
        (0..rules.div_ceil(32)).step_by(CHUNK_WORDS).map(move |word| Chunk::full(word, rules))
    }

    /// Returns how many globs the dimensions hold.
    pub(crate) fn globs(&self) -> usize {
        let dimensions = [block::ACTIONS, block::ROLES, block::RESOURCES];
        let offsets = dimensions.map(|dimension| at(word(self.words, dimension)));
        let counts = offsets.iter().filter(|offset| **offset != 0);
        counts.fold(0, |sum, offset| sum.saturating_add(at(word(self.words, offset + 1))))
    }

    pub(crate) fn narrow_actions(&self, chunk: &mut Chunk, action: Name<'_>) {
        self.narrow(chunk, block::ACTIONS, core::iter::once(action));
    }

    pub(crate) fn narrow_roles<'n>(
        &self,
        chunk: &mut Chunk,
        roles: impl Iterator<Item = Name<'n>>,
    ) {
        self.narrow(chunk, block::ROLES, roles);
    }

    pub(crate) fn narrow_resources(&self, chunk: &mut Chunk, kind: Name<'_>) {
        self.narrow(chunk, block::RESOURCES, core::iter::once(kind));
    }

    fn narrow<'n>(
        &self,
        chunk: &mut Chunk,
        dimension: usize,
        names: impl Iterator<Item = Name<'n>>,
    ) {
        let offset = at(word(self.words, dimension));
        if offset == 0 {
            return;
        }
        let dimension = self.words.get(offset..).unwrap_or(&[]);
        let mut union = Chunk { bits: [0; CHUNK_WORDS], first_word: chunk.first_word };
        for name in names {
            self.collect(dimension, name, &mut union);
        }
        chunk.retain(&union);
    }

    /// Adds the rules that name `name`, exactly or by a glob.
    fn collect(&self, dimension: &'a [u32], name: Name<'_>, union: &mut Chunk) {
        let entry = 1 + self.len().div_ceil(32);
        let exact = at(word(dimension, 0));
        let globs = at(word(dimension, 1));
        let entries = dimension.get(2..).unwrap_or(&[]);
        if let Some(found) = name.id.and_then(|id| search(entries, exact, entry, id)) {
            union.add(found);
        }
        for glob in entries.chunks_exact(entry).skip(exact).take(globs) {
            let rules = glob.get(1..).unwrap_or(&[]);
            // Most globs are none of this chunk's business in a block of many chunks.
            if union.lacks(rules) && glob::matches(self.table.string(word(glob, 0)), name.text) {
                union.add(rules);
            }
        }
    }

    pub(crate) fn rules(&self, chunk: Chunk) -> impl Iterator<Item = Rule<'a>> + use<'a> {
        let block = *self;
        chunk.ones().map(move |index| block.rule(index))
    }

    /// Returns the values of a dimension; nothing if it does not narrow.
    pub(crate) fn values(&self, dimension: usize) -> Option<Values<'a>> {
        let offset = at(word(self.words, dimension));
        let words = self.words.get(offset..).filter(|_| offset != 0)?;
        let (exact, globs) = (at(word(words, 0)), at(word(words, 1)));
        Some(Values { entries: words.get(2..)?, size: 1 + self.len().div_ceil(32), exact, globs })
    }

    pub(crate) fn rule(&self, index: usize) -> Rule<'a> {
        let start = at(word(self.words, block::RULE_RECORDS)) + index * RULE_WORDS;
        Rule { table: self.table, words: self.words.get(start..).unwrap_or(&[]) }
    }

    pub(crate) fn derived_roles(&self) -> impl Iterator<Item = DerivedRole<'a>> + use<'a> {
        let table = self.table;
        self.records(DERIVED_ROLE_WORDS).map(move |words| DerivedRole { table, words })
    }

    /// Returns the key of the policy of `role`, in a block of role policies.
    pub(crate) fn role_policy(&self, role: u32) -> Option<&'a str> {
        self.records(ROLE_POLICY_WORDS)
            .find(|record| word(record, 0) == role)
            .map(|record| self.table.string(word(record, 1)))
    }

    /// Returns the string ids of the roles that have a policy, in a block of role policies.
    pub(crate) fn role_policies(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.records(ROLE_POLICY_WORDS).map(|record| word(record, 0))
    }

    fn records(&self, size: usize) -> core::iter::Take<core::slice::ChunksExact<'a, u32>> {
        let offset = at(word(self.words, block::DERIVED_ROLES));
        let list = if offset == 0 { &[] } else { self.words.get(offset..).unwrap_or(&[]) };
        list.get(1..).unwrap_or(&[]).chunks_exact(size).take(at(word(list, 0)))
    }
}

impl<'a> Values<'a> {
    /// Returns string id and rules of each value that is compared as it stands.
    pub(crate) fn exact(self) -> impl Iterator<Item = (u32, &'a [u32])> {
        self.all().take(self.exact)
    }

    /// Returns the rules of one such value.
    pub(crate) fn find(self, id: u32) -> Option<&'a [u32]> {
        search(self.entries, self.exact, self.size, id)
    }

    /// Returns string id and rules of each glob.
    pub(crate) fn globs(self) -> impl Iterator<Item = (u32, &'a [u32])> {
        self.all().skip(self.exact).take(self.globs)
    }

    fn all(self) -> impl Iterator<Item = (u32, &'a [u32])> {
        let entries = self.entries.chunks_exact(self.size);
        entries.map(|entry| (word(entry, 0), entry.get(1..).unwrap_or(&[])))
    }
}

impl<'a> Rule<'a> {
    fn optional(&self, field: usize) -> Option<u32> {
        word(self.words, field).checked_sub(1)
    }

    /// Returns the effect, or nothing for a rule that only emits outputs.
    pub(crate) fn effect(&self) -> Option<Effect> {
        match word(self.words, rule::EFFECT) {
            EFFECT_ALLOW => Some(Effect::Allow),
            EFFECT_DENY => Some(Effect::Deny),
            _ => None,
        }
    }

    pub(crate) fn name(&self) -> &'a str {
        self.table.string(word(self.words, rule::NAME))
    }

    pub(crate) fn policy(&self) -> &'a str {
        self.table.string(word(self.words, rule::POLICY))
    }

    pub(crate) fn source(&self) -> &'a str {
        self.table.string(word(self.words, rule::SOURCE))
    }

    pub(crate) fn file(&self) -> (&'a str, u32) {
        (self.table.string(word(self.words, rule::FILE)), word(self.words, rule::LINE))
    }

    pub(crate) fn condition(&self) -> Option<u32> {
        self.optional(rule::CONDITION)
    }

    pub(crate) fn role_condition(&self) -> Option<u32> {
        self.optional(rule::ROLE_CONDITION)
    }

    pub(crate) fn variables(&self) -> Option<u32> {
        self.optional(rule::VARIABLES)
    }

    pub(crate) fn role_variables(&self) -> Option<u32> {
        self.optional(rule::ROLE_VARIABLES)
    }

    /// Returns the program of the output for a rule that is activated or whose condition is not met.
    pub(crate) fn output(&self, activated: bool) -> Option<u32> {
        self.optional(if activated { rule::OUTPUT_ACTIVATED } else { rule::OUTPUT_NOT_MET })
    }

    pub(crate) fn derived_role(&self) -> Option<&'a str> {
        self.optional(rule::DERIVED_ROLE).map(|id| self.table.string(id))
    }

    pub(crate) fn is_from_role_policy(&self) -> bool {
        word(self.words, rule::FLAGS) & FROM_ROLE_POLICY != 0
    }

    pub(crate) fn is_negated(&self) -> bool {
        word(self.words, rule::FLAGS) & NEGATED != 0
    }
}

impl<'a> DerivedRole<'a> {
    pub(crate) fn name(&self) -> &'a str {
        self.table.string(word(self.words, 0))
    }

    pub(crate) fn condition(&self) -> Option<u32> {
        word(self.words, 1).checked_sub(1)
    }

    pub(crate) fn variables(&self) -> Option<u32> {
        word(self.words, 2).checked_sub(1)
    }

    pub(crate) fn parent_roles(&self) -> &'a [u32] {
        list(self.table.section(Section::Blocks), word(self.words, 3))
    }
}

impl Chunk {
    fn full(first_word: usize, rules: usize) -> Self {
        let bits = core::array::from_fn(|index| {
            let before = (first_word + index) * 32;
            match rules.saturating_sub(before) {
                0 => 0,
                left if left >= 32 => u32::MAX,
                left => (1 << left) - 1,
            }
        });
        Self { bits, first_word }
    }

    fn add(&mut self, set: &[u32]) {
        for (bits, word) in self.bits.iter_mut().zip(set.iter().skip(self.first_word)) {
            *bits |= word;
        }
    }

    /// Whether `set` holds rules of this chunk that are not in it.
    fn lacks(&self, set: &[u32]) -> bool {
        self.bits.iter().zip(set.iter().skip(self.first_word)).any(|(bits, word)| word & !bits != 0)
    }

    fn retain(&mut self, other: &Self) {
        for (bits, word) in self.bits.iter_mut().zip(other.bits) {
            *bits &= word;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits == [0; CHUNK_WORDS]
    }

    /// Returns the rules of `self` that are not in `other`.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        for (bits, word) in self.bits.iter_mut().zip(other.bits) {
            *bits &= !word;
        }
        self
    }

    fn ones(self) -> impl Iterator<Item = usize> {
        self.bits.into_iter().enumerate().flat_map(move |(index, mut bits)| {
            core::iter::from_fn(move || {
                let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some((self.first_word + index) * 32 + at(lowest))
            })
        })
    }
}

/// Returns the list at `offset`: a count, then that many words.
pub(crate) fn list(words: &[u32], offset: u32) -> &[u32] {
    let list = words.get(at(offset)..).unwrap_or(&[]);
    list.get(1..1 + at(word(list, 0))).unwrap_or(&[])
}

/// Finds `id` among `count` sorted entries of `size` words and returns the words behind it.
fn search(entries: &[u32], count: usize, size: usize, id: u32) -> Option<&[u32]> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        let entry = entries.get(middle * size..(middle + 1) * size)?;
        match word(entry, 0).cmp(&id) {
            core::cmp::Ordering::Less => low = middle + 1,
            core::cmp::Ordering::Greater => high = middle,
            core::cmp::Ordering::Equal => return entry.get(1..),
        }
    }
    None
}

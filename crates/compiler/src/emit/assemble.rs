//! The sections of a table as they grow, and the table made of them at the end.

use std::collections::{BTreeMap, HashMap};

use wardgate_engine::table::layout::{
    FLAG_LENIENT_SCOPE_SEARCH, FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN, FLAG_STRICT, HEADER_WORDS,
    INDEX_WORDS, Junction, Key, MAGIC, Section, VERSION, hash_key, hash_text,
};
use wardgate_engine::table::{Evaluation, Parts, PolicyTable};

use super::options::{Enforcement, Options};
use crate::pool::PoolBuilder;
use crate::words::index;

/// All sections under construction.
#[derive(Default)]
pub(super) struct Assembly {
    pub(super) pool: PoolBuilder,
    pub(super) policies: Vec<u32>,
    pub(super) schemas: Vec<u32>,
    conditions: Interned,
    sets: Interned,
    blocks: Vec<u32>,
    index: BTreeMap<[u32; 4], u32>,
    fast_paths: Vec<u32>,
}

/// Words in which equal sequences share one place.
#[derive(Default)]
struct Interned {
    words: Vec<u32>,
    known: HashMap<Vec<u32>, u32>,
}

impl Interned {
    fn put(&mut self, sequence: Vec<u32>) -> u32 {
        *self.known.entry(sequence).or_insert_with_key(|sequence| {
            let at = index(self.words.len());
            self.words.extend_from_slice(sequence);
            at
        })
    }
}

impl Assembly {
    /// Returns the ids of three strings.
    pub(super) fn ids(&mut self, texts: [&str; 3]) -> [u32; 3] {
        texts.map(|text| self.pool.string(text))
    }

    /// Makes `value` findable under a key.
    pub(super) fn name(&mut self, key: Key, parts: [u32; 3], value: u32) {
        self.index.insert([key.code(), parts[0], parts[1], parts[2]], value);
    }

    /// Returns the condition node with these operands.
    pub(super) fn condition(&mut self, junction: Junction, operands: &[u32]) -> u32 {
        let mut node = vec![junction.word(index(operands.len()))];
        node.extend_from_slice(operands);
        self.conditions.put(node)
    }

    /// Returns the condition that is satisfied where `condition` is not.
    pub(super) fn negation(&mut self, condition: u32) -> u32 {
        self.condition(Junction::None, &[condition])
    }

    /// Returns the set of these variables.
    pub(super) fn set(&mut self, variables: &[u32]) -> u32 {
        self.sets.put(counted(variables.iter().copied()))
    }

    /// Returns a list of names.
    pub(super) fn names<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> u32 {
        let list = counted(names.map(|name| self.pool.string(name)).collect::<Vec<_>>());
        self.push(&list)
    }

    /// Writes words into the section of blocks.
    pub(super) fn push(&mut self, words: &[u32]) -> u32 {
        let at = index(self.blocks.len());
        self.blocks.extend_from_slice(words);
        at
    }

    /// Lays out the table, and once more with the fast paths that the first one leads to.
    pub(super) fn finish(mut self, options: &Options) -> Parts {
        let parts = self.lay_out(options);
        // A table that is not sound is refused where it is opened.
        let Ok(table) = PolicyTable::from_parts(parts.clone()) else { return parts };
        let built = wardgate_partial::build(&table);
        for (key, value) in built.lists {
            self.name(Key::FastPaths, key, value);
        }
        for (key, value) in built.own_lists {
            self.name(Key::OwnFastPaths, key, value);
        }
        self.fast_paths = built.words;
        self.lay_out(options)
    }

    /// Lays the sections out one after the other.
    fn lay_out(&mut self, options: &Options) -> Parts {
        let default_version = self.pool.string(&options.default_version);
        let string_index = self.string_index();
        let named = self.name_index();
        let pool = self.pool.view();
        let mut words = vec![MAGIC, VERSION, flags(options), default_version];
        words.resize(HEADER_WORDS, 0);
        for (position, section) in Section::ALL.into_iter().enumerate() {
            let content = match section {
                Section::Strings => pool.strings,
                Section::StringIndex => &string_index,
                Section::Constants => pool.constants,
                Section::Slots => pool.slots,
                Section::Programs => pool.programs,
                Section::Code => pool.code,
                Section::Variables => pool.variables,
                Section::Conditions => &self.conditions.words,
                Section::VariableSets => &self.sets.words,
                Section::Index => &named,
                Section::Blocks => &self.blocks,
                Section::Schemas => &self.schemas,
                Section::Policies => &self.policies,
                Section::FastPaths => &self.fast_paths,
            };
            let bounds = [index(words.len()), index(content.len())];
            if let Some(bounds_words) = words.get_mut(4 + 2 * position..6 + 2 * position) {
                bounds_words.copy_from_slice(&bounds);
            }
            words.extend_from_slice(content);
        }
        Parts { words, text: pool.text.into(), blob: pool.blob.into() }
    }

    /// Writes the hash table from text to string id, half full at most.
    fn string_index(&self) -> Vec<u32> {
        let pool = self.pool.view();
        let count = pool.strings.len().saturating_sub(1);
        let mut buckets = vec![0; (2 * count).next_power_of_two().max(2)];
        for id in 0..index(count) {
            let text = pool.string(id).unwrap_or("");
            let hash = hash_text(text.bytes());
            let free = free_bucket(buckets.len(), hash, |at| buckets.get(at) == Some(&0));
            if let Some(bucket) = buckets.get_mut(free) {
                *bucket = id + 1;
            }
        }
        buckets
    }

    /// Writes the hash table of everything found by name, half full at most.
    fn name_index(&self) -> Vec<u32> {
        let count = (2 * self.index.len()).next_power_of_two().max(2);
        let mut entries = vec![0; count * INDEX_WORDS];
        for (key, value) in &self.index {
            let is_free = |at: usize| entries.get(at * INDEX_WORDS + 4) == Some(&0);
            let at = free_bucket(count, hash_key(*key), is_free) * INDEX_WORDS;
            if let Some(entry) = entries.get_mut(at..at + INDEX_WORDS) {
                entry.copy_from_slice(&[key[0], key[1], key[2], key[3], value + 1]);
            }
        }
        entries
    }
}

/// Returns the first free bucket of a probe that starts at `hash`. One exists: half are free.
fn free_bucket(buckets: usize, hash: u32, is_free: impl Fn(usize) -> bool) -> usize {
    let start = usize::try_from(hash).unwrap_or(0);
    let candidates = (0..buckets).map(|probe| start.wrapping_add(probe) & (buckets - 1));
    candidates.into_iter().find(|at| is_free(*at)).unwrap_or(0)
}

fn flags(options: &Options) -> u32 {
    let strict = if options.evaluation == Evaluation::Strict { FLAG_STRICT } else { 0 };
    let lenient = if options.lenient_scope_search { FLAG_LENIENT_SCOPE_SEARCH } else { 0 };
    let enforcement = match options.schema_enforcement {
        Enforcement::None => 0,
        Enforcement::Warn => FLAG_SCHEMA_WARN,
        Enforcement::Reject => FLAG_SCHEMA_REJECT,
    };
    strict | lenient | enforcement
}

/// Returns a count, then the words.
pub(super) fn counted(words: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut list = vec![0];
    list.extend(words);
    let count = index(list.len() - 1);
    if let Some(first) = list.first_mut() {
        *first = count;
    }
    list
}

//! The sections of a table as they grow, and the table made of them at the end.

use std::collections::{BTreeMap, HashMap};

use wardgate_engine::table::layout::{
    FLAG_LENIENT_SCOPE_SEARCH, FLAG_LIMITS, FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN, FLAG_STRICT,
    HEADER_WORDS, Junction, Key, MAGIC, Section, VERSION,
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
    /// The rate limits: see `wardgate_engine::table::limit`.
    pub(super) limits: Vec<u32>,
    conditions: Interned,
    sets: Interned,
    blocks: Vec<u32>,
    shared: HashMap<(Kind, Vec<u32>), u32>,
    index: BTreeMap<[u32; 4], u32>,
    fast_paths: Vec<u32>,
}

/// The kind of a record that policies share if it is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A list of names.
    Names,
    /// The lines of rules.
    Lines,
    /// The rules of a resource or principal policy.
    Rules,
    /// The rules of role policies.
    RoleRules,
}

/// Words in which equal sequences share one place.
#[derive(Default)]
struct Interned {
    words: Vec<u32>,
    known: HashMap<Vec<u32>, u32>,
}

impl Interned {
    fn put(&mut self, sequence: Vec<u32>) -> u32 {
        let Self { words, known } = self;
        *known.entry(sequence).or_insert_with_key(|sequence| append(words, sequence))
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
        self.shared(Kind::Names, list)
    }

    /// Writes words into the section of blocks; equal words of the same kind have one place.
    pub(super) fn shared(&mut self, kind: Kind, words: Vec<u32>) -> u32 {
        let Self { shared, blocks, .. } = self;
        *shared.entry((kind, words)).or_insert_with_key(|(_, words)| append(blocks, words))
    }

    /// Writes words into the section of blocks.
    pub(super) fn push(&mut self, words: &[u32]) -> u32 {
        append(&mut self.blocks, words)
    }

    /// Lays out the table, and once more with the fast paths that the first one leads to.
    pub(super) fn finish(mut self, options: &Options) -> Parts {
        let parts = self.lay_out(options);
        // A table that is not sound is refused where it is opened.
        let Ok(table) = PolicyTable::from_parts_with_limits(parts.clone()) else { return parts };
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
        let named = self.name_index();
        let pool = self.pool.view();
        let mut words = vec![MAGIC, VERSION, flags(options), default_version];
        words.resize(HEADER_WORDS, 0);
        if !self.limits.is_empty() {
            words.extend([0, 0]);
        }
        for (position, section) in Section::ALL.into_iter().enumerate() {
            let content = match section {
                Section::Strings => pool.strings,
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
                Section::Explanations => pool.explanations,
            };
            let bounds = [index(words.len()), index(content.len())];
            if let Some(bounds_words) = words.get_mut(4 + 2 * position..6 + 2 * position) {
                bounds_words.copy_from_slice(&bounds);
            }
            words.extend_from_slice(content);
        }
        self.lay_out_limits(&mut words);
        let explanations = self.pool.explanations().into();
        Parts { words, text: pool.text.into(), blob: pool.blob.into(), explanations }
    }

    /// Appends the rate limits, if there are any, and says so in the header.
    fn lay_out_limits(&self, words: &mut Vec<u32>) {
        let bounds = [index(words.len()), index(self.limits.len())];
        if self.limits.is_empty() {
            return;
        }
        if let Some(flags) = words.get_mut(FLAGS_WORD) {
            *flags |= FLAG_LIMITS;
        }
        if let Some(place) = words.get_mut(HEADER_WORDS..HEADER_WORDS + 2) {
            place.copy_from_slice(&bounds);
        }
        words.extend_from_slice(&self.limits);
    }

    /// Writes everything found by name, sorted.
    fn name_index(&self) -> Vec<u32> {
        let entries = self.index.iter();
        entries.flat_map(|(key, value)| key.iter().chain([value])).copied().collect()
    }
}

/// Adds words at the end of a section, and returns their offset.
fn append(section: &mut Vec<u32>, words: &[u32]) -> u32 {
    let at = index(section.len());
    section.extend_from_slice(words);
    at
}

/// The word of the header that holds the flags.
const FLAGS_WORD: usize = 2;

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

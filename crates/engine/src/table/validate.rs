//! The proof, made once when a table is opened, that every reference inside is sound.
//!
//! A table that passes can be read without error paths: a lookup that finds no entry afterwards
//! means that there is none, and every walk over the table ends.

use super::layout::{
    BLOCK_WORDS, DERIVED_ROLE_WORDS, DIMENSION_WORDS, EFFECT_ALLOW, EFFECT_DENY, EFFECT_NONE,
    FROM_ROLE_POLICY, INDEX_WORDS, Junction, Key, NEGATED, POLICY_WORDS, PolicyKind,
    ROLE_POLICY_WORDS, RULE_WORDS, VALUE_WORDS, block, rule,
};
use super::{PolicyTable, Section, at, word};
use crate::cel::pool::PROGRAM_WORDS;
use crate::limits::MAX_CONDITION_DEPTH;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

/// The flaw in the parts of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No header of this version, or a section leaves the table.
    Header,
    /// The string offsets do not follow the text.
    Strings,
    /// A hash table has a wrong size or names a string or an entry that does not exist.
    Index,
    /// A program, a constant, a slot or a variable is malformed.
    Programs,
    /// A condition or a variable set is malformed.
    Conditions,
    /// A rule block is malformed.
    Blocks,
    /// The list of policies is malformed.
    Policies,
    /// A fast path is unsound.
    FastPaths,
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Header => "the header is missing, of another version, or names a section outside",
            Self::Strings => "the string offsets do not follow the text",
            Self::Index => "a look-up table is malformed",
            Self::Programs => "a program is malformed",
            Self::Conditions => "a condition is malformed",
            Self::Blocks => "a rule block is malformed",
            Self::Policies => "the list of policies is malformed",
            Self::FastPaths => "a fast path is malformed",
        })
    }
}

impl core::error::Error for Flaw {}

/// Checks the whole table but its fast paths, and returns the lists of them that the index names.
///
/// Each check stays a function of its own. Merged into one, its loops made V8 optimise 14 KB of code
/// in the background for a function that runs once: twice the time of now.
pub(crate) fn validate(table: &PolicyTable) -> Result<Vec<u32>, Flaw> {
    strings(table).ok_or(Flaw::Strings)?;
    crate::cel::validate(table.pool()).map_err(|_| Flaw::Programs)?;
    let conditions = conditions(table).ok_or(Flaw::Conditions)?;
    let sets = variable_sets(table).ok_or(Flaw::Conditions)?;
    string_index(table).ok_or(Flaw::Index)?;
    let (targets, fast_path_lists) = index(table).ok_or(Flaw::Index)?;
    let unread = Cell::new(table.section(Section::Blocks).len());
    let check = BlockCheck { table, conditions: &conditions, sets: &sets, unread };
    targets.iter().try_for_each(|target| check.target(*target)).ok_or(Flaw::Blocks)?;
    policies(table).ok_or(Flaw::Policies)?;
    Ok(fast_path_lists)
}

fn ensure(holds: bool) -> Option<()> {
    holds.then_some(())
}

/// Checks that string offsets start at 0, never fall, end with the text and split it at characters.
#[inline(never)]
fn strings(table: &PolicyTable) -> Option<()> {
    let offsets = table.section(Section::Strings);
    let text = &table.parts().text;
    ensure(offsets.first() == Some(&0) && offsets.last().map(|end| at(*end)) == Some(text.len()))?;
    for pair in offsets.windows(2) {
        text.get(at(word(pair, 0))..at(word(pair, 1)))?;
    }
    ensure(has_string(table, table.header().default_version))
}

fn has_string(table: &PolicyTable, id: u32) -> bool {
    at(id).saturating_add(1) < table.section(Section::Strings).len()
}

/// Checks the string index, which is at most half full, so that every probe ends.
#[inline(never)]
fn string_index(table: &PolicyTable) -> Option<()> {
    let buckets = table.section(Section::StringIndex);
    ensure(buckets.len().is_power_of_two())?;
    let used = buckets.iter().filter(|bucket| **bucket != 0).count();
    ensure(used <= buckets.len() / 2)?;
    let known = |bucket: &u32| bucket.checked_sub(1).is_none_or(|id| has_string(table, id));
    ensure(buckets.iter().all(known))
}

/// The target of an index entry.
#[derive(Clone, Copy)]
enum Target {
    Rules(u32),
    Roles(u32),
    Names(u32),
    Schema(u32),
}

/// Checks the index and returns the blocks and the lists of fast paths that it names.
#[inline(never)]
fn index(table: &PolicyTable) -> Option<(Vec<Target>, Vec<u32>)> {
    let entries = table.section(Section::Index);
    let buckets = entries.len() / INDEX_WORDS;
    ensure(buckets.is_power_of_two() && buckets * INDEX_WORDS == entries.len())?;
    let mut targets = Vec::new();
    let mut fast_path_lists = Vec::new();
    let mut used = 0;
    for entry in entries.chunks_exact(INDEX_WORDS) {
        let Some(value) = word(entry, 4).checked_sub(1) else { continue };
        used += 1;
        let is = |key: Key| word(entry, 0) == key.code();
        if is(Key::Resource) || is(Key::Principal) {
            targets.push(Target::Rules(value));
        } else if is(Key::Roles) {
            targets.push(Target::Roles(value));
        } else if is(Key::ParentRoles) {
            targets.push(Target::Names(value));
        } else if is(Key::Schema) {
            targets.push(Target::Schema(value));
        } else if is(Key::FastPaths) || is(Key::OwnFastPaths) {
            fast_path_lists.push(value);
        } else if is(Key::ScopePermissions) {
            ensure(value <= 1)?;
        } else {
            ensure(word(entry, 0) < Key::Schema.code())?;
        }
    }
    ensure(used <= buckets / 2)?;
    Some((targets, fast_path_lists))
}

/// Returns a flag for each word of the section: true if a condition starts there.
#[inline(never)]
fn conditions(table: &PolicyTable) -> Option<Vec<bool>> {
    let words = table.section(Section::Conditions);
    let programs = table.section(Section::Programs).len() / PROGRAM_WORDS;
    let mut depths = vec![0_usize; words.len()];
    let mut offset = 0;
    while offset < words.len() {
        let (junction, operands) = Junction::split(word(words, offset));
        let end = offset.checked_add(1)?.checked_add(at(operands))?;
        let operands = words.get(offset + 1..end)?;
        let depth = if junction == Junction::Expr {
            ensure(operands.len() == 1 && at(word(operands, 0)) < programs)?;
            1
        } else {
            1 + deepest_child(&depths, offset, operands)?
        };
        ensure(depth <= MAX_CONDITION_DEPTH)?;
        *depths.get_mut(offset)? = depth;
        offset = end;
    }
    Some(depths.iter().map(|depth| *depth > 0).collect())
}

/// Returns the greatest depth of the children, which are all before their parent.
fn deepest_child(depths: &[usize], parent: usize, children: &[u32]) -> Option<usize> {
    let mut deepest = 0;
    for child in children {
        let depth = *depths.get(at(*child)).filter(|_| at(*child) < parent)?;
        ensure(depth > 0)?;
        deepest = deepest.max(depth);
    }
    Some(deepest)
}

/// Returns a flag for each word of the section: true if a variable set starts there.
#[inline(never)]
fn variable_sets(table: &PolicyTable) -> Option<Vec<bool>> {
    let words = table.section(Section::VariableSets);
    let variables = table.section(Section::Variables).len() / crate::cel::pool::VARIABLE_WORDS;
    let mut starts = vec![false; words.len()];
    let mut offset = 0;
    while offset < words.len() {
        let end = offset.checked_add(1)?.checked_add(at(word(words, offset)))?;
        ensure(words.get(offset + 1..end)?.iter().all(|id| at(*id) < variables))?;
        *starts.get_mut(offset)? = true;
        offset = end;
    }
    Some(starts)
}

struct BlockCheck<'a> {
    table: &'a PolicyTable,
    conditions: &'a [bool],
    sets: &'a [bool],
    /// Words of the section that no check has read yet. Records do not share words: otherwise a
    /// small table could name a large block many times, and every time would cost a walk.
    unread: Cell<usize>,
}

impl BlockCheck<'_> {
    fn target(&self, target: Target) -> Option<()> {
        match target {
            Target::Rules(offset) => self.block(offset, DERIVED_ROLE_WORDS),
            Target::Roles(offset) => self.block(offset, ROLE_POLICY_WORDS),
            Target::Names(offset) => self.names(offset),
            Target::Schema(offset) => self.schema(offset),
        }
    }

    fn words(&self, offset: u32) -> Option<&[u32]> {
        self.table.section(Section::Blocks).get(at(offset)..)
    }

    /// Returns `count` words from `offset` on, which no check has read before.
    fn read<'w>(&self, words: &'w [u32], offset: usize, count: usize) -> Option<&'w [u32]> {
        self.unread.set(self.unread.get().checked_sub(count)?);
        words.get(offset..offset.checked_add(count)?)
    }

    fn names(&self, offset: u32) -> Option<()> {
        let list = self.words(offset)?;
        let count = 1_usize.checked_add(at(word(list, 0)))?;
        let names = self.read(list, 0, count)?.get(1..)?;
        ensure(names.iter().all(|id| has_string(self.table, *id)))
    }

    /// Checks a schema record. The nodes themselves are read with checks: a malformed schema
    /// refuses the request.
    fn schema(&self, offset: u32) -> Option<()> {
        let record = self.read(self.words(offset)?, 0, 4)?;
        let ignored = [word(record, 1), word(record, 3)];
        ignored.iter().filter_map(|list| list.checked_sub(1)).try_for_each(|list| self.names(list))
    }

    fn block(&self, offset: u32, record_words: usize) -> Option<()> {
        let words = self.words(offset)?;
        let header = self.read(words, 0, BLOCK_WORDS)?;
        ensure(has_string(self.table, word(header, block::POLICY)))?;
        let rules = at(word(words, block::RULES));
        for dimension in [block::ACTIONS, block::ROLES, block::RESOURCES] {
            self.dimension(words, at(word(words, dimension)), rules)?;
        }
        self.records(words, record_words)?;
        let start = at(word(words, block::RULE_RECORDS));
        let records = self.read(words, start, rules.checked_mul(RULE_WORDS)?)?;
        records.chunks_exact(RULE_WORDS).try_for_each(|record| self.rule(record))
    }

    fn dimension(&self, words: &[u32], offset: usize, rules: usize) -> Option<()> {
        if offset == 0 {
            return Some(());
        }
        let dimension = words.get(offset..)?;
        let [exact, globs, count] = dimension.first_chunk::<DIMENSION_WORDS>()?.map(at);
        let size = exact.checked_add(globs)?.checked_mul(VALUE_WORDS)?;
        let (values, _) = self.read(dimension, DIMENSION_WORDS, size)?.as_chunks::<VALUE_WORDS>();
        let pairs =
            self.read(dimension, DIMENSION_WORDS.checked_add(size)?, count.checked_mul(2)?)?;
        ensure(values.iter().all(|value| has_string(self.table, value[0])))?;
        ensure(values.get(..exact)?.is_sorted_by(|a, b| a[0] < b[0]))?;
        let mut rest = pairs.as_chunks::<2>().0;
        for value in values {
            // Each value's pairs follow those before, so that the check reads them once.
            ensure(at(value[1]).checked_add(rest.len()) == Some(count))?;
            let (own, others) = rest.split_at_checked(at(value[2]))?;
            ensure(own.is_sorted_by(|a, b| a[0] < b[0]))?;
            ensure(own.last().is_none_or(|[number, _]| at(*number) < rules.div_ceil(32)))?;
            rest = others;
        }
        ensure(rest.is_empty())
    }

    fn records(&self, words: &[u32], size: usize) -> Option<()> {
        let offset = at(word(words, block::DERIVED_ROLES));
        if offset == 0 {
            return Some(());
        }
        let list = words.get(offset..)?;
        let count = at(word(list, 0)).checked_mul(size)?;
        let mut records = self.read(list, 1, count)?.chunks_exact(size);
        records.try_for_each(|record| {
            ensure(has_string(self.table, word(record, 0)))?;
            if size == ROLE_POLICY_WORDS {
                return ensure(has_string(self.table, word(record, 1)));
            }
            self.condition(word(record, 1))?;
            self.variable_set(word(record, 2))?;
            self.names(word(record, 3))
        })
    }

    fn rule(&self, record: &[u32]) -> Option<()> {
        for field in [rule::NAME, rule::SOURCE, rule::POLICY, rule::FILE] {
            ensure(has_string(self.table, word(record, field)))?;
        }
        // A rule of an unknown effect would pass for one without an effect: a denial would be lost.
        ensure(matches!(word(record, rule::EFFECT), EFFECT_NONE | EFFECT_ALLOW | EFFECT_DENY))?;
        ensure(word(record, rule::FLAGS) & !(FROM_ROLE_POLICY | NEGATED) == 0)?;
        let derived_role = word(record, rule::DERIVED_ROLE);
        ensure(derived_role == 0 || has_string(self.table, derived_role - 1))?;
        self.condition(word(record, rule::CONDITION))?;
        self.condition(word(record, rule::ROLE_CONDITION))?;
        self.variable_set(word(record, rule::VARIABLES))?;
        self.variable_set(word(record, rule::ROLE_VARIABLES))?;
        self.program(word(record, rule::OUTPUT_ACTIVATED))?;
        self.program(word(record, rule::OUTPUT_NOT_MET))
    }

    fn condition(&self, reference: u32) -> Option<()> {
        let known = |offset: u32| self.conditions.get(at(offset)) == Some(&true);
        ensure(reference.checked_sub(1).is_none_or(known))
    }

    fn variable_set(&self, reference: u32) -> Option<()> {
        let known = |offset: u32| self.sets.get(at(offset)) == Some(&true);
        ensure(reference.checked_sub(1).is_none_or(known))
    }

    fn program(&self, reference: u32) -> Option<()> {
        let programs = self.table.section(Section::Programs).len() / PROGRAM_WORDS;
        ensure(reference.checked_sub(1).is_none_or(|program| at(program) < programs))
    }
}

#[inline(never)]
fn policies(table: &PolicyTable) -> Option<()> {
    let words = table.section(Section::Policies);
    ensure(words.len().is_multiple_of(POLICY_WORDS))?;
    words.chunks_exact(POLICY_WORDS).try_for_each(|record| {
        PolicyKind::from_code(word(record, 0))?;
        let ids =
            [word(record, 1), word(record, 2), word(record, 4), word(record, 5), word(record, 6)];
        ensure(ids.iter().all(|id| has_string(table, *id)))
    })
}

//! The proof, made once when a table is opened, that every reference inside is sound.
//!
//! A table that passes can be read without error paths: a lookup that finds no entry afterwards
//! means that there is none, and every walk over the table ends.

use super::layout::{
    BLOCK_WORDS, DERIVED_ROLE_WORDS, DIMENSION_WORDS, EFFECT_ALLOW, EFFECT_DENY, EFFECT_NONE,
    FROM_ROLE_POLICY, HEAD_WORDS, INDEX_WORDS, Junction, Key, NEGATED, POLICY_WORDS, PolicyKind,
    ROLE_POLICY_WORDS, RULE_WORDS, VALUE_WORDS, block, head, rule,
};
use super::{PolicyTable, Section, at, word};
use crate::cel::pool::PROGRAM_WORDS;
use crate::limits::MAX_CONDITION_DEPTH;
use alloc::vec;
use alloc::vec::Vec;

/// The flaw in the parts of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No header of this version, or a section leaves the table.
    Header,
    /// The offsets of strings or explanations do not follow their text.
    Strings,
    /// The entries found by name are not sorted, or of an unknown kind.
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
    /// A rate limit is malformed.
    #[cfg(feature = "ratelimit")]
    Limits,
    /// The table has rate limits, and the caller does not enforce any.
    #[cfg(feature = "ratelimit")]
    HasLimits,
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Header => "the header is missing, of another version, or names a section outside",
            Self::Strings => "the string offsets do not follow the text",
            Self::Index => "the index is malformed",
            Self::Programs => "a program is malformed",
            Self::Conditions => "a condition is malformed",
            Self::Blocks => "a rule block is malformed",
            Self::Policies => "the list of policies is malformed",
            Self::FastPaths => "a fast path is malformed",
            #[cfg(feature = "ratelimit")]
            Self::Limits => "a rate limit is malformed",
            #[cfg(feature = "ratelimit")]
            Self::HasLimits => "it has rate limits, which this host does not enforce",
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
    let (targets, fast_path_lists) = index(table).ok_or(Flaw::Index)?;
    let blocks = table.section(Section::Blocks).len();
    let read = vec![0; blocks];
    let mut check =
        BlockCheck { table, conditions: &conditions, sets: &sets, unread: blocks, read };
    targets.iter().try_for_each(|target| check.target(*target)).ok_or(Flaw::Blocks)?;
    #[cfg(feature = "ratelimit")]
    check.limits().ok_or(Flaw::Limits)?;
    policies(table).ok_or(Flaw::Policies)?;
    Ok(fast_path_lists)
}

fn ensure(holds: bool) -> Option<()> {
    holds.then_some(())
}

/// Checks that the offsets of strings and explanations follow their texts. Explanations may be left
/// out; their offsets stay.
#[inline(never)]
fn strings(table: &PolicyTable) -> Option<()> {
    let parts = table.parts();
    texts(table.section(Section::Strings), &parts.text)?;
    let explanations = table.section(Section::Explanations);
    if parts.explanations.is_empty() {
        ensure(explanations.first() == Some(&0) && explanations.is_sorted())?;
    } else {
        texts(explanations, &parts.explanations)?;
    }
    ensure(has_string(table, table.header().default_version))
}

/// Checks that offsets start at 0, never fall, end with the text and split it at characters.
fn texts(offsets: &[u32], text: &str) -> Option<()> {
    ensure(offsets.first() == Some(&0) && offsets.last().map(|end| at(*end)) == Some(text.len()))?;
    for pair in offsets.windows(2) {
        text.get(at(word(pair, 0))..at(word(pair, 1)))?;
    }
    Some(())
}

fn has_explanation(table: &PolicyTable, id: u32) -> bool {
    at(id).saturating_add(1) < table.section(Section::Explanations).len()
}

fn has_string(table: &PolicyTable, id: u32) -> bool {
    at(id).saturating_add(1) < table.section(Section::Strings).len()
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
    ensure(table.section(Section::Index).len().is_multiple_of(INDEX_WORDS))?;
    ensure(table.entries().is_sorted_by(|a, b| a[..4] < b[..4]))?;
    let mut targets = Vec::new();
    let mut fast_path_lists = Vec::new();
    for [key, .., value] in table.entries().iter().copied() {
        match Key::from_code(key)? {
            Key::Resource | Key::Principal => targets.push(Target::Rules(value)),
            Key::Roles => targets.push(Target::Roles(value)),
            Key::ParentRoles => targets.push(Target::Names(value)),
            Key::Schema => targets.push(Target::Schema(value)),
            Key::FastPaths | Key::OwnFastPaths => fast_path_lists.push(value),
            Key::ScopePermissions => ensure(value <= 1)?,
            Key::ResourceScope | Key::PrincipalScope | Key::PrincipalVersion => {}
        }
    }
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
    /// Words of the section that no check has read yet. Records do not overlap: otherwise a small
    /// table could name a large block in many ways, and each would cost a walk.
    unread: usize,
    /// For each word the mark of the [`Kind`] of record that a check has read there, or 0: a record that
    /// is named twice is read once.
    read: Vec<u8>,
}

/// The kind of a record in [`Section::Blocks`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A list of names.
    Names,
    /// A list of lines.
    Lines,
    /// A block of rules.
    Rules,
    /// A block of rules of role policies.
    RoleRules,
}

impl Kind {
    const fn mark(self) -> u8 {
        match self {
            Self::Names => 1,
            Self::Lines => 2,
            Self::Rules => 3,
            Self::RoleRules => 4,
        }
    }
}

#[cfg(feature = "ratelimit")]
impl BlockCheck<'_> {
    /// Checks the rate limits and the block that says which requests they are for.
    fn limits(&mut self) -> Option<()> {
        if !self.table.has_limits() {
            return Some(());
        }
        let programs = self.table.section(Section::Programs).len() / PROGRAM_WORDS;
        let words = self.table.limit_words();
        self.head(word(words, 0), Kind::Rules)?;
        let block = super::Block::new(self.table, word(words, 0));
        // A name belongs to a state: two limits of one name would charge each other's.
        ensure(block.rules().is_sorted_by(|a, b| a.name() < b.name()))?;
        let is_program = |program: &u32| at(*program) < programs;
        super::limit::validate(words, block.rule_count(), &is_program, &|id| {
            has_explanation(self.table, id)
        })
    }
}

impl<'a> BlockCheck<'a> {
    fn target(&mut self, target: Target) -> Option<()> {
        match target {
            Target::Rules(offset) => self.head(offset, Kind::Rules),
            Target::Roles(offset) => self.head(offset, Kind::RoleRules),
            Target::Names(offset) => self.names(offset),
            Target::Schema(offset) => self.schema(offset),
        }
    }

    fn words(&self, offset: u32) -> Option<&'a [u32]> {
        self.table.section(Section::Blocks).get(at(offset)..)
    }

    /// Returns `count` words from `offset` on, which no check has read before.
    fn read(&mut self, words: &'a [u32], offset: usize, count: usize) -> Option<&'a [u32]> {
        self.unread = self.unread.checked_sub(count)?;
        words.get(offset..offset.checked_add(count)?)
    }

    /// Returns true if a check has to read what starts at `offset`: no other one has. Something of
    /// another kind may not start there.
    fn is_new(&mut self, offset: u32, kind: Kind) -> Option<bool> {
        let known = self.read.get_mut(at(offset))?;
        let is_new = *known == 0;
        ensure(is_new || *known == kind.mark())?;
        *known = kind.mark();
        Some(is_new)
    }

    fn names(&mut self, offset: u32) -> Option<()> {
        if !self.is_new(offset, Kind::Names)? {
            return Some(());
        }
        let names = self.list(offset)?;
        ensure(names.iter().all(|id| has_string(self.table, *id)))
    }

    /// Returns the list at `offset`: a count, then that many words.
    fn list(&mut self, offset: u32) -> Option<&'a [u32]> {
        let list = self.words(offset)?;
        let count = 1_usize.checked_add(at(word(list, 0)))?;
        self.read(list, 0, count)?.get(1..)
    }

    /// Checks a schema record. The nodes themselves are read with checks: a malformed schema
    /// refuses the request.
    fn schema(&mut self, offset: u32) -> Option<()> {
        let record = self.read(self.words(offset)?, 0, 4)?;
        let ignored = [word(record, 1), word(record, 3)];
        ignored.iter().filter_map(|list| list.checked_sub(1)).try_for_each(|list| self.names(list))
    }

    /// Checks the head of a block, and the block unless another head has the same one.
    fn head(&mut self, offset: u32, kind: Kind) -> Option<()> {
        let head = self.read(self.words(offset)?, 0, HEAD_WORDS)?;
        ensure(has_string(self.table, word(head, head::POLICY)))?;
        ensure(has_explanation(self.table, word(head, head::FILE)))?;
        let (block, lines) = (word(head, head::BLOCK), word(head, head::LINES));
        if self.is_new(block, kind)? {
            self.block(block, kind)?;
        }
        if self.is_new(lines, Kind::Lines)? {
            self.list(lines)?;
        }
        ensure(word(self.words(lines)?, 0) == word(self.words(block)?, block::RULES))
    }

    fn block(&mut self, offset: u32, kind: Kind) -> Option<()> {
        let words = self.words(offset)?;
        self.read(words, 0, BLOCK_WORDS)?;
        let rules = at(word(words, block::RULES));
        for dimension in [block::ACTIONS, block::ROLES, block::RESOURCES] {
            self.dimension(words, at(word(words, dimension)), rules)?;
        }
        let policies = self.records(words, kind)?;
        let start = at(word(words, block::RULE_RECORDS));
        let records = self.read(words, start, rules.checked_mul(RULE_WORDS)?)?;
        records.chunks_exact(RULE_WORDS).try_for_each(|record| self.rule(record, policies))
    }

    fn dimension(&mut self, words: &'a [u32], offset: usize, rules: usize) -> Option<()> {
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

    /// Checks the derived roles or the role policies of a block, and returns the number of role
    /// policies.
    fn records(&mut self, words: &'a [u32], kind: Kind) -> Option<u32> {
        let offset = at(word(words, block::DERIVED_ROLES));
        if offset == 0 {
            return Some(0);
        }
        let is_role = kind == Kind::RoleRules;
        let size = if is_role { ROLE_POLICY_WORDS } else { DERIVED_ROLE_WORDS };
        let list = words.get(offset..)?;
        let count = word(list, 0);
        for record in self.read(list, 1, at(count).checked_mul(size)?)?.chunks_exact(size) {
            ensure(has_string(self.table, word(record, 0)))?;
            if is_role {
                ensure(has_string(self.table, word(record, 1)))?;
                ensure(has_explanation(self.table, word(record, 2)))?;
            } else {
                self.condition(word(record, 1))?;
                self.variable_set(word(record, 2))?;
                self.names(word(record, 3))?;
            }
        }
        Some(if is_role { count } else { 0 })
    }

    fn rule(&self, record: &[u32], role_policies: u32) -> Option<()> {
        ensure(has_string(self.table, word(record, rule::NAME)))?;
        ensure(word(record, rule::ROLE_POLICY) <= role_policies)?;
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
        ensure(has_explanation(table, word(record, 2)))?;
        let ids = [word(record, 1), word(record, 4), word(record, 5), word(record, 6)];
        ensure(ids.iter().all(|id| has_string(table, *id)))
    })
}

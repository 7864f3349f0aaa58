//! A block: the rules of one policy, with bit sets that narrow them to the candidates of a request.
//!
//! Each dimension (actions, roles, resources) maps a value to the rules that name it: see
//! [`candidates`](super::candidates). Policies with equal rules share everything but their heads.

use alloc::string::String;

use super::layout::{
    DERIVED_ROLE_WORDS, DIMENSION_WORDS, EFFECT_ALLOW, EFFECT_DENY, FROM_ROLE_POLICY, NEGATED,
    ROLE_POLICY_WORDS, RULE_WORDS, VALUE_WORDS, block, head, rule,
};
use super::{PolicyTable, Section, at, word};
use crate::decision::Effect;
use crate::glob;

/// A name in a request: its text, and its id if the policies mention it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The name as the request writes it.
    pub text: &'a str,
    /// The string id, if the policies mention the name.
    pub id: Option<u32>,
}

/// The rules of one policy, or of all role policies of one scope.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    table: &'a PolicyTable,
    /// The section from the head on.
    head: &'a [u32],
    words: &'a [u32],
}

/// The values of one dimension, each with the set of its rules.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    exact: &'a [[u32; VALUE_WORDS]],
    globs: &'a [[u32; VALUE_WORDS]],
    pairs: &'a [[u32; 2]],
}

/// A set of rules: numbers of words, ascending, each with the bits of 32 rules.
#[derive(Clone, Copy, Default)]
pub struct RuleSet<'a>(pub(super) &'a [[u32; 2]]);

/// One rule of a block.
#[derive(Clone, Copy)]
pub struct Rule<'a> {
    block: Block<'a>,
    index: usize,
    words: &'a [u32],
}

/// One derived role that a resource policy refers to.
#[derive(Clone, Copy)]
pub struct DerivedRole<'a> {
    table: &'a PolicyTable,
    words: &'a [u32],
}

impl<'a> Block<'a> {
    /// Reads the block whose head is at word `offset` of [`Section::Blocks`].
    pub fn new(table: &'a PolicyTable, offset: u32) -> Self {
        let section = table.section(Section::Blocks);
        let head = section.get(at(offset)..).unwrap_or(&[]);
        let words = section.get(at(word(head, head::BLOCK))..).unwrap_or(&[]);
        Self { table, head, words }
    }

    pub(crate) const fn table(&self) -> &'a PolicyTable {
        self.table
    }

    /// Returns the number of rules.
    pub fn rule_count(&self) -> usize {
        at(word(self.words, block::RULES))
    }

    /// Returns the number of chunks, of 128 rules each, for which the general path charges steps.
    pub fn chunk_count(&self) -> usize {
        self.rule_count().div_ceil(CHUNK_RULES)
    }

    /// Returns all rules.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Rule<'a>> + use<'a> {
        let block = *self;
        (0..self.rule_count()).map(move |index| block.rule(index))
    }

    /// Returns the steps that comparing an action, a role and a kind of these lengths in bytes with
    /// the globs takes.
    pub fn glob_steps(&self, action: usize, role: usize, kind: usize) -> usize {
        let mut steps = 0_usize;
        for (dimension, length) in
            [(block::ACTIONS, action), (block::ROLES, role), (block::RESOURCES, kind)]
        {
            let Some(values) = self.values(dimension) else { continue };
            for (glob, _) in values.globs() {
                steps = steps.saturating_add(glob::steps(self.table.string(glob), length));
            }
        }
        steps
    }

    /// Returns true if a rule has an output.
    pub fn has_outputs(&self) -> bool {
        self.rules().any(|rule| rule.output(true).is_some() || rule.output(false).is_some())
    }

    /// Returns the values of a dimension; `None` if it does not narrow.
    #[inline(never)]
    pub fn values(&self, dimension: usize) -> Option<Values<'a>> {
        Values::read(self.words, dimension)
    }

    /// Returns rule `index`; one past the end reads as zeros.
    pub fn rule(&self, index: usize) -> Rule<'a> {
        let start = at(word(self.words, block::RULE_RECORDS)) + index * RULE_WORDS;
        Rule { block: *self, index, words: self.words.get(start..).unwrap_or(&[]) }
    }

    /// Returns the derived roles that the policy of the block imports, in their order.
    pub fn derived_roles(&self) -> impl Iterator<Item = DerivedRole<'a>> + use<'a> {
        let table = self.table;
        self.records(DERIVED_ROLE_WORDS).map(move |words| DerivedRole { table, words })
    }

    /// Returns the key of the policy of `role`, in a block of role policies.
    pub fn role_policy(&self, role: u32) -> Option<&'a str> {
        self.records(ROLE_POLICY_WORDS)
            .find(|record| word(record, 0) == role)
            .map(|record| self.table.string(word(record, 1)))
    }

    /// Returns the string ids of the roles that have a policy, in a block of role policies.
    pub fn role_policies(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.records(ROLE_POLICY_WORDS).map(|record| word(record, 0))
    }

    /// Returns the string id of the key of the policy; of the empty one for role policies.
    pub(crate) fn policy_id(&self) -> u32 {
        word(self.head, head::POLICY)
    }

    /// Returns the key of the policy; empty for role policies.
    #[cfg(feature = "observe")]
    pub fn policy(&self) -> &'a str {
        self.table.string(self.policy_id())
    }

    /// Returns the values of a dimension that `rule`, one of this block, names.
    #[cfg(feature = "observe")]
    pub fn named_by<'r>(
        &self,
        rule: &'r Rule<'a>,
        dimension: usize,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'r> {
        let (table, index) = (self.table, rule.index);
        let values = self.values(dimension).into_iter();
        let all = values.flat_map(|values| values.exact().chain(values.globs()));
        let names = move |set: &RuleSet<'a>| set.holds(index);
        all.filter(move |(_, rules)| names(rules)).map(|(id, _)| table.string(id))
    }

    fn records(&self, size: usize) -> core::iter::Take<core::slice::ChunksExact<'a, u32>> {
        let offset = at(word(self.words, block::DERIVED_ROLES));
        let list = if offset == 0 { &[] } else { self.words.get(offset..).unwrap_or(&[]) };
        list.get(1..).unwrap_or(&[]).chunks_exact(size).take(at(word(list, 0)))
    }
}

impl<'a> Values<'a> {
    /// Reads a dimension of the block that begins with `block`; `None` if it does not narrow.
    pub fn read(block: &'a [u32], dimension: usize) -> Option<Self> {
        let offset = at(word(block, dimension));
        let words = block.get(offset..).filter(|_| offset != 0)?;
        let [exact, globs, pairs] = words.first_chunk::<DIMENSION_WORDS>()?.map(at);
        let (values, _) = words.get(DIMENSION_WORDS..)?.as_chunks();
        let values = values.get(..exact.checked_add(globs)?)?;
        let rest = DIMENSION_WORDS.checked_add(values.len().checked_mul(VALUE_WORDS)?)?;
        let (all, _) = words.get(rest..)?.as_chunks();
        let (exact, globs) = values.split_at_checked(exact)?;
        Some(Self { exact, globs, pairs: all.get(..pairs)? })
    }

    /// Returns string id and rules of each value that is compared literally.
    pub fn exact(self) -> impl Iterator<Item = (u32, RuleSet<'a>)> {
        self.exact.iter().map(move |value| (value[0], self.rules(value)))
    }

    /// Returns the rules of the literal value with this string id.
    pub fn find(self, id: u32) -> Option<RuleSet<'a>> {
        let position = self.exact.binary_search_by(|value| value[0].cmp(&id)).ok()?;
        self.exact.get(position).map(|value| self.rules(value))
    }

    /// Returns string id and rules of each glob.
    pub fn globs(self) -> impl Iterator<Item = (u32, RuleSet<'a>)> {
        self.globs.iter().map(move |value| (value[0], self.rules(value)))
    }

    fn rules(self, value: &[u32; VALUE_WORDS]) -> RuleSet<'a> {
        let pairs = self.pairs.get(at(value[1])..).and_then(|pairs| pairs.get(..at(value[2])));
        RuleSet(pairs.unwrap_or(&[]))
    }
}

impl<'a> RuleSet<'a> {
    /// Returns the words that are not zero, with their numbers.
    pub fn words(self) -> impl Iterator<Item = (usize, u32)> {
        self.0.iter().map(|[number, bits]| (at(*number), *bits))
    }

    #[cfg(feature = "observe")]
    fn holds(self, index: usize) -> bool {
        self.words().any(|(number, bits)| number == index / 32 && bits >> (index % 32) & 1 == 1)
    }
}

impl<'a> Rule<'a> {
    fn optional(&self, field: usize) -> Option<u32> {
        word(self.words, field).checked_sub(1)
    }

    /// Returns a number that is unique in the table, and grows with the rules of a block.
    #[cfg(feature = "observe")]
    pub fn number(&self) -> u64 {
        let head = self.block.table.section(Section::Blocks).len() - self.block.head.len();
        let number = |index: usize| u64::try_from(index).unwrap_or(u64::MAX);
        number(head) << 32 | number(self.index)
    }

    /// Returns the effect, or `None` for a rule that only emits outputs.
    pub fn effect(&self) -> Option<Effect> {
        match word(self.words, rule::EFFECT) {
            EFFECT_ALLOW => Some(Effect::Allow),
            EFFECT_DENY => Some(Effect::Deny),
            _ => None,
        }
    }

    /// Returns the rule's name.
    pub fn name(&self) -> &'a str {
        self.block.table.string(self.name_id())
    }

    /// Returns the string id of [`Rule::name`].
    pub(crate) fn name_id(&self) -> u32 {
        word(self.words, rule::NAME)
    }

    /// Returns the key of the policy that holds the rule.
    pub fn policy(&self) -> &'a str {
        self.block.table.string(self.policy_id())
    }

    /// Returns the string id of [`Rule::policy`].
    pub(crate) fn policy_id(&self) -> u32 {
        self.role_policy().map_or(self.block.policy_id(), |record| word(record, 1))
    }

    /// Returns the record of the role policy that holds the rule.
    fn role_policy(&self) -> Option<&'a [u32]> {
        let number = self.optional(rule::ROLE_POLICY)?;
        self.block.records(ROLE_POLICY_WORDS).nth(at(number))
    }

    /// Returns the policy and name of the rule, as `policy#rule`.
    pub fn source(&self) -> String {
        let mut source = String::with_capacity(self.source_len());
        for part in [self.policy(), "#", self.name()] {
            source.push_str(part);
        }
        source
    }

    /// Returns the length of [`Rule::source`] in bytes.
    pub(crate) fn source_len(&self) -> usize {
        self.policy().len().saturating_add(self.name().len()).saturating_add(1)
    }

    /// Returns the file, which is empty in a table without explanations, and the line of the rule.
    pub fn file(&self) -> (&'a str, u32) {
        let Block { table, head, .. } = self.block;
        let own = || word(head, head::FILE);
        let file = self.role_policy().map_or_else(own, |record| word(record, 2));
        let lines = list(table.section(Section::Blocks), word(head, head::LINES));
        (table.explanation(file), word(lines, self.index))
    }

    /// Returns the program of the condition.
    pub fn condition(&self) -> Option<u32> {
        self.optional(rule::CONDITION)
    }

    /// Returns the program of the condition of the rule's derived role.
    pub fn role_condition(&self) -> Option<u32> {
        self.optional(rule::ROLE_CONDITION)
    }

    /// Returns the list of the variables that the condition reads.
    pub fn variables(&self) -> Option<u32> {
        self.optional(rule::VARIABLES)
    }

    /// Returns the list of the variables that the condition of the derived role reads.
    pub fn role_variables(&self) -> Option<u32> {
        self.optional(rule::ROLE_VARIABLES)
    }

    /// Returns the program of the output for a rule that is activated or whose condition is not
    /// met.
    pub fn output(&self, activated: bool) -> Option<u32> {
        self.optional(if activated { rule::OUTPUT_ACTIVATED } else { rule::OUTPUT_NOT_MET })
    }

    /// Returns the derived role that the rule is for.
    pub fn derived_role(&self) -> Option<&'a str> {
        self.optional(rule::DERIVED_ROLE).map(|id| self.block.table.string(id))
    }

    /// Returns true if the rule comes from a role policy.
    pub fn is_from_role_policy(&self) -> bool {
        word(self.words, rule::FLAGS) & FROM_ROLE_POLICY != 0
    }

    /// Returns true if the rule applies when its condition is not met.
    pub fn is_negated(&self) -> bool {
        word(self.words, rule::FLAGS) & NEGATED != 0
    }
}

impl<'a> DerivedRole<'a> {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.table.string(word(self.words, 0))
    }

    /// Returns the offset of the condition.
    #[must_use]
    pub fn condition(&self) -> Option<u32> {
        word(self.words, 1).checked_sub(1)
    }

    /// Returns the offset of the set of variables that its definition uses.
    #[must_use]
    pub fn variables(&self) -> Option<u32> {
        word(self.words, 2).checked_sub(1)
    }

    /// Returns the string ids of the roles of which a principal needs one.
    #[must_use]
    pub fn parent_roles(&self) -> &'a [u32] {
        list(self.table.section(Section::Blocks), word(self.words, 3))
    }
}

/// Returns the list at `offset`: a count, then that many words.
pub fn list(words: &[u32], offset: u32) -> &[u32] {
    let list = words.get(at(offset)..).unwrap_or(&[]);
    list.get(1..1 + at(word(list, 0))).unwrap_or(&[])
}

/// The number of rules of a chunk.
const CHUNK_RULES: usize = 128;

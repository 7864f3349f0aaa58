//! The rules of a block by the roles that they name: the lookups of the walk, for all roles at
//! once.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use wardgate_engine::glob;
use wardgate_engine::table::layout::block;
use wardgate_engine::table::{Block, PolicyTable, RuleSet, Values, at};

/// The rules of one block.
pub(super) struct Rows<'a> {
    pub(super) block: Block<'a>,
    table: &'a PolicyTable,
    actions: Option<Values<'a>>,
    resources: Option<Values<'a>>,
    named: Vec<Named>,
}

/// The roles that a rule names.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// True if the rule names every role.
    pub(super) anyone: bool,
    /// String ids of roles.
    pub(super) roles: Vec<u32>,
    /// String ids of patterns that some roles match.
    pub(super) patterns: Vec<u32>,
}

/// The action of a question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action<'a> {
    /// One that some rule names literally.
    Named(u32),
    /// Any other one that exactly these patterns match, beside those that match every action.
    Matched(&'a [u32]),
}

/// A set of rules: a bit for each.
pub(super) type Bits = Vec<u32>;

/// The rules of all blocks that were read.
pub(super) struct AllRows<'a> {
    table: &'a PolicyTable,
    known: BTreeMap<u32, Rc<Rows<'a>>>,
}

impl<'a> AllRows<'a> {
    pub(super) const fn new(table: &'a PolicyTable) -> Self {
        Self { table, known: BTreeMap::new() }
    }

    /// Returns the rules of the block at `offset`.
    pub(super) fn at(&mut self, offset: u32) -> Rc<Rows<'a>> {
        let table = self.table;
        let rows = || Rc::new(Rows::new(table, Block::new(table, offset)));
        Rc::clone(self.known.entry(offset).or_insert_with(rows))
    }
}

impl<'a> Rows<'a> {
    fn new(table: &'a PolicyTable, block: Block<'a>) -> Self {
        let (actions, resources) = (block.values(block::ACTIONS), block.values(block::RESOURCES));
        let mut rows = Self { block, table, actions, resources, named: Vec::new() };
        rows.name(block.values(block::ROLES));
        rows
    }

    /// Notes the roles that each rule names.
    fn name(&mut self, roles: Option<Values<'a>>) {
        let anyone = Named { anyone: roles.is_none(), ..Named::default() };
        self.named = vec![anyone; self.block.rule_count()];
        let Some(roles) = roles else { return };
        for (role, rules) in roles.exact() {
            for rule in rules_of(rules) {
                self.named.get_mut(rule).into_iter().for_each(|named| named.roles.push(role));
            }
        }
        for (pattern, rules) in roles.globs() {
            let anyone = matches_all(self.table.string(pattern));
            for named in rules_of(rules) {
                let Some(named) = self.named.get_mut(named) else { continue };
                named.anyone |= anyone;
                named.patterns.extend((!anyone).then_some(pattern));
            }
        }
    }

    pub(super) fn named(&self, rule: usize) -> Option<&Named> {
        self.named.get(rule)
    }

    /// Returns the string ids of the actions that some rule of `among` names literally.
    pub(super) fn actions(&self, among: &[u32]) -> impl Iterator<Item = u32> {
        let values = self.actions.into_iter().flat_map(Values::exact);
        values.filter(move |(_, rules)| meets(*rules, among)).map(|(action, _)| action)
    }

    /// Returns the rules for a kind of resource.
    pub(super) fn for_kind(&self, kind: u32) -> Bits {
        self.select(self.resources, Some(kind)).unwrap_or_default()
    }

    /// Returns the patterns of actions that some rule of `among` has, without those that match
    /// every action.
    pub(super) fn patterns(&self, among: &[u32]) -> impl Iterator<Item = u32> {
        let values = self.actions.into_iter().flat_map(Values::globs);
        let patterns = values.filter(move |(_, rules)| meets(*rules, among));
        patterns.map(|(id, _)| id).filter(|id| !matches_all(self.table.string(*id)))
    }

    /// Returns the rules of `among` for an action, in ascending order.
    pub(super) fn for_action(&self, action: Action<'_>, among: &[u32]) -> Option<Vec<usize>> {
        let mut rules = match action {
            Action::Named(id) => self.select(self.actions, Some(id))?,
            Action::Matched(patterns) => self.for_matched(patterns),
        };
        for (rules, among) in rules.iter_mut().zip(among) {
            *rules &= among;
        }
        Some(ones(&rules).collect())
    }

    /// Returns the rules whose values include the one with this string id, exactly or by a glob.
    fn select(&self, values: Option<Values<'a>>, id: Option<u32>) -> Option<Bits> {
        let Some(values) = values else { return Some(self.everything()) };
        let id = id?;
        let mut rules = vec![0; self.block.rule_count().div_ceil(32)];
        values.find(id).into_iter().for_each(|found| unite(&mut rules, found));
        let text = self.table.string(id);
        for (pattern, found) in values.globs() {
            if glob::matches(self.table.string(pattern), text) {
                unite(&mut rules, found);
            }
        }
        Some(rules)
    }

    /// Returns the rules for an action that no rule names, and that these patterns match.
    fn for_matched(&self, patterns: &[u32]) -> Bits {
        let Some(values) = self.actions else { return self.everything() };
        let mut rules = vec![0; self.block.rule_count().div_ceil(32)];
        for (pattern, found) in values.globs() {
            if patterns.contains(&pattern) || matches_all(self.table.string(pattern)) {
                unite(&mut rules, found);
            }
        }
        rules
    }

    /// Returns the set of all rules.
    pub(super) fn everything(&self) -> Bits {
        let rules = self.block.rule_count();
        let word = |word: usize| match rules.saturating_sub(word * 32) {
            left if left >= 32 => u32::MAX,
            left => (1 << left) - 1,
        };
        (0..rules.div_ceil(32)).map(word).collect()
    }
}

fn unite(rules: &mut [u32], more: RuleSet<'_>) {
    for (number, bits) in more.words() {
        if let Some(word) = rules.get_mut(number) {
            *word |= bits;
        }
    }
}

/// Returns true if a rule is in both sets.
fn meets(rules: RuleSet<'_>, among: &[u32]) -> bool {
    rules.words().any(|(number, bits)| among.get(number).is_some_and(|word| word & bits != 0))
}

fn rules_of(rules: RuleSet<'_>) -> impl Iterator<Item = usize> {
    rules.words().flat_map(|(word, bits)| bits_of(word, bits))
}

/// Returns the numbers of the bits that are set.
fn ones(bits: &[u32]) -> impl Iterator<Item = usize> {
    (0..).zip(bits).flat_map(|(word, bits): (usize, &u32)| bits_of(word, *bits))
}

fn bits_of(word: usize, mut bits: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word * 32 + at(lowest))
    })
}

fn matches_all(pattern: &str) -> bool {
    matches!(pattern, "*" | "**")
}

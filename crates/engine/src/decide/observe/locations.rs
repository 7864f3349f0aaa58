//! The source locations of a table's rules.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::decision::Effect;
use crate::table::layout::{Key, block};
use crate::table::{Block, PolicyTable, Rule, Section, list};

/// One rule of a table, and its source location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleLocation<'a> {
    /// Its number, as [`Considered::number`](super::Considered::number) returns it.
    pub number: u64,
    /// The key of its policy.
    pub policy: &'a str,
    /// Its name; empty if the author of a role policy gave none.
    pub name: &'a str,
    /// The line of its source.
    pub line: u32,
    /// The derived role through which this entry names roles.
    pub derived_role: Option<&'a str>,
}

/// One rule of a table with what it names: one for its roles, and one more for each derived role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRule<'a> {
    /// Its policy, name and line, and the derived role of this entry.
    pub location: RuleLocation<'a>,
    /// Its file; empty in a table without explanations.
    pub file: &'a str,
    /// Its effect; `None` if it only emits outputs.
    pub effect: Option<Effect>,
    /// The roles that it names, patterns included; the parent roles of the derived role.
    pub roles: Vec<&'a str>,
    /// The actions that it names, patterns included.
    pub actions: Vec<&'a str>,
}

impl PolicyTable {
    /// Returns all rules with what they name, in the order of [`PolicyTable::rule_locations`].
    #[must_use]
    pub fn named_rules(&self) -> Vec<NamedRule<'_>> {
        let mut rules: Vec<NamedRule<'_>> = self.blocks().flat_map(named).collect();
        rules.sort_unstable_by_key(|rule| rule.location.number);
        rules.dedup_by_key(|rule| rule.location.number);
        rules
    }

    /// Returns the roles that some role inherits from in some scope, with that role.
    #[must_use]
    pub fn inherited_roles(&self) -> BTreeSet<(&str, &str)> {
        let mut pairs = BTreeSet::new();
        for [key, _, role, _, offset] in self.entries() {
            if *key == Key::ParentRoles.code() {
                let parents = list(self.section(Section::Blocks), *offset);
                pairs.extend(parents.iter().map(|id| (self.string(*role), self.string(*id))));
            }
        }
        pairs
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let keys = [Key::Resource, Key::Principal, Key::Roles].map(Key::code);
        let blocks = self.entries().iter().filter(move |[key, ..]| keys.contains(key));
        blocks.map(move |[.., offset]| Block::new(self, *offset))
    }

    /// Returns all rules, those of one policy in the order in which they are written.
    #[must_use]
    pub fn rule_locations(&self) -> Vec<RuleLocation<'_>> {
        let mut positions = BTreeMap::new();
        for rule in self.blocks().flat_map(|block| block.rules()) {
            let position = location(&rule);
            positions.insert(position.number, position);
        }
        positions.into_values().collect()
    }
}

fn location<'a>(rule: &Rule<'a>) -> RuleLocation<'a> {
    RuleLocation {
        number: rule.number(),
        policy: rule.policy(),
        name: rule.name(),
        line: rule.file().1,
        derived_role: rule.derived_role(),
    }
}

fn named<'a>(block: Block<'a>) -> impl Iterator<Item = NamedRule<'a>> {
    block.rules().map(move |rule| NamedRule {
        location: location(&rule),
        file: rule.file().0,
        effect: if rule.is_negated() { Some(Effect::Allow) } else { rule.effect() },
        roles: block.named_by(&rule, block::ROLES).collect(),
        actions: block.named_by(&rule, block::ACTIONS).collect(),
    })
}

//! The source locations of a table's rules.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::table::layout::Key;
use crate::table::{Block, PolicyTable};

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

impl PolicyTable {
    /// Returns all rules, those of one policy in the order in which they are written.
    #[must_use]
    pub fn rule_locations(&self) -> Vec<RuleLocation<'_>> {
        let mut positions = BTreeMap::new();
        for [key, .., offset] in self.entries() {
            let is = |wanted: Key| *key == wanted.code();
            if is(Key::Resource) || is(Key::Principal) || is(Key::Roles) {
                let block = Block::new(self, *offset);
                for rule in block.rules() {
                    let position = RuleLocation {
                        number: rule.number(),
                        policy: rule.policy(),
                        name: rule.name(),
                        line: rule.file().1,
                        derived_role: rule.derived_role(),
                    };
                    positions.insert(position.number, position);
                }
            }
        }
        positions.into_values().collect()
    }
}

//! The actions of a kind: those that rules about it name.
//!
//! Every action that may be allowed on some resource of the kind is among them, except those that
//! rules name by a pattern only: the names that match `view:*` cannot be listed.

use alloc::vec::Vec;

use super::layout::{Key, block};
use super::{Block, Name, PolicyTable};
use crate::names::sanitized;

impl PolicyTable {
    /// Returns the actions that rules about resources of `kind` name, in any version and scope:
    /// those of its resource policies, and those that policies of principals and roles name for it.
    /// Each occurs once, in the order of the text.
    #[must_use]
    pub fn actions(&self, kind: &str) -> Vec<&str> {
        let policy_kind = sanitized(kind);
        let own = self.string_id(&policy_kind);
        let mut found = Vec::new();
        for [key, name, .., value] in self.entries() {
            let is = |wanted: Key| *key == wanted.code();
            let of_kind = is(Key::Resource) && Some(*name) == own;
            if of_kind || is(Key::Principal) || is(Key::Roles) {
                let block = Block::new(self, *value);
                block.add_actions(self.name(&policy_kind), &mut |id| {
                    insert(&mut found, self.string(id))
                });
            }
        }
        found
    }
}

/// Inserts a text unless it is present. A sorted list is smaller code than a set.
fn insert<'a>(sorted: &mut Vec<&'a str>, text: &'a str) {
    if let Err(position) = sorted.binary_search(&text) {
        sorted.insert(position, text);
    }
}

impl Block<'_> {
    /// Calls `add` with the string ids of the actions that the rules for `kind` name.
    fn add_actions(&self, kind: Name<'_>, add: &mut dyn FnMut(u32)) {
        let Some(actions) = self.values(block::ACTIONS) else { return };
        for (action, rules) in actions.exact() {
            let mut candidates = self.candidates();
            candidates.keep(rules);
            self.narrow_resources(&mut candidates, kind);
            if !candidates.is_empty() {
                add(action);
            }
        }
    }
}

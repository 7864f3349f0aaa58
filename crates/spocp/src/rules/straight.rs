//! The straight search: the node that a query reaches while the walk has one position, as for most
//! rules.
//!
//! It follows the symbols of a query as if it were a rule. Where rules continue with a star form,
//! or a rule ends within a list of the query, there are several positions, and `walk` begins again.

use super::ahead::Ahead;
use super::literals::Literals;
use super::nodes::{Flag, Node as TrieNode, ROOT};
use super::symbol::Kind;
use super::trie::Trie;
use crate::expression::Expression;

/// The result of a straight search.
pub(super) enum Way {
    /// The query ends at this node.
    To(u32),
    /// No rule is like the query.
    Nowhere,
    /// The walk may have several positions.
    Forks,
}

/// Follows the query from the root.
pub(super) fn straight(trie: &Trie, query: &Expression, ahead: &Ahead) -> Way {
    let mut at = ROOT;
    let Some(mut position) = trie.node(at) else { return Way::Forks };
    let mut literals = Literals::of(query);
    for literal in literals.by_ref() {
        if forks(position, literal.kind) {
            return Way::Forks;
        }
        let hint = ahead.hint_of(&literal);
        match trie.follow(at, position, &literal, hint) {
            Some(next) => (at, position) = next,
            None => return Way::Nowhere,
        }
    }
    if literals.is_cut() || position.has_any_of(&[Flag::Alias, Flag::Close]) {
        return Way::Forks;
    }
    Way::To(at)
}

/// Returns true if a rule continues with another symbol than one of that kind, which may allow the
/// query.
fn forks(position: &TrieNode, kind: Kind) -> bool {
    position.has_any_of(&[Flag::Any, Flag::Stars, Flag::Alias, Flag::End])
        || position.has(Flag::Close) && kind != Kind::Close
}

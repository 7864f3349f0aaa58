//! The straight search: the node that a query reaches while the walk has one position, as for most
//! rules.
//!
//! It follows the symbols of a query as if it were a rule. Where rules continue with a star form,
//! or a rule ends within a list of the query, there are several positions, and `walk` begins again.

use super::ahead::Ahead;
use super::nodes::{Flag, Node as TrieNode, ROOT};
use super::symbol::{Kind, Part, Parts, Text};
use super::trie::Trie;
use crate::expression::{Expression, Node};

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
    for part in Parts::of_rule(query) {
        let Some(text) = text(query, part, ahead) else { return Way::Forks };
        if trie.node(at).is_none_or(|position| forks(position, part.kind)) {
            return Way::Forks;
        }
        match trie.child(at, part.kind, &text) {
            Some(child) => at = child,
            None => return Way::Nowhere,
        }
    }
    match trie.node(at) {
        Some(position) if !position.has(Flag::Alias) && !position.has(Flag::Close) => Way::To(at),
        _ => Way::Forks,
    }
}

/// Returns the text of a symbol, unless it is a star form.
fn text<'q>(query: &'q Expression, part: Part, ahead: &Ahead) -> Option<Text<'q>> {
    match query.nodes.get(part.at) {
        _ if part.kind == Kind::Close => Some(Text::new(b"")),
        Some(Node::Atom(span)) => Some(Text::hinted(query.bytes(*span), ahead.hint(part.at))),
        _ => None,
    }
}

/// Returns true if a rule continues with another symbol than one of that kind, which may allow the
/// query.
fn forks(position: &TrieNode, kind: Kind) -> bool {
    position.has_any_of(&[Flag::Any, Flag::Stars, Flag::Alias, Flag::End])
        || position.has(Flag::Close) && kind != Kind::Close
}

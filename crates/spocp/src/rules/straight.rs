//! The straight way: where a query leads while there is one place at a time, which is where most rules are.
//!
//! It goes along the symbols of a query as if it were a rule. Where rules go on with a star form, or one
//! ends within a list of the query, there is more than one place to go on from, and `walk` begins anew.

use super::ahead::Ahead;
use super::nodes::{Flag, Node as Place, ROOT};
use super::symbol::{Kind, Part, Parts, Text};
use super::trie::Trie;
use crate::expression::{Expression, Node};

/// Where a query leads.
pub(super) enum Way {
    /// To one node; the query ends there.
    To(u32),
    /// No rule is like it.
    Nowhere,
    /// To more than one place, perhaps.
    Forks,
}

/// Goes the straight way.
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

/// Whether a rule has something else than a symbol of that kind here, which allows what the query has.
fn forks(position: &Place, kind: Kind) -> bool {
    position.has_any_of(&[Flag::Any, Flag::Stars, Flag::Alias, Flag::End])
        || position.has(Flag::Close) && kind != Kind::Close
}

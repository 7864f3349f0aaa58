//! Removes parentheses without a meaning.
//!
//! Those stay that the grammar needs, that hold a comment, and that show an `&&` among `||`. The
//! caller compares the trees before and after.

use super::tree::{Brackets, Item, Node, Suffix};
use super::words::Kind;
use wardgate_compiler::cel::ast::BinaryOp;

/// The context of a node, which decides the nodes that need no parentheses there.
#[derive(Clone, Copy)]
enum Context {
    /// Anything may.
    Alone,
    /// Anything but a choice.
    OfChoice,
    /// An operand of a chain: a node that binds at least, or more than, so tightly.
    Operand { precedence: u8, first: bool },
    /// The operand of `!` or `-`.
    OfUnary,
    /// The value of a member, an index or a call.
    Base,
}

/// Takes them away from a whole expression.
pub(super) fn whole(node: &mut Node<'_>) {
    simplify(node, Context::Alone);
}

fn simplify(node: &mut Node<'_>, context: Context) {
    while let Some(inner) = bare(node, context) {
        *node = inner;
    }
    match node {
        Node::Leaf(_) => {}
        Node::Unary(_, operand) => simplify(operand, Context::OfUnary),
        Node::Chain(precedence, first, rest) => {
            let precedence = *precedence;
            simplify(first, Context::Operand { precedence, first: true });
            for (_, operand) in rest {
                simplify(operand, Context::Operand { precedence, first: false });
            }
        }
        Node::Choice(choice) => {
            simplify(&mut choice.condition, Context::OfChoice);
            simplify(&mut choice.then, Context::OfChoice);
            simplify(&mut choice.otherwise, Context::Alone);
        }
        Node::Group(brackets) | Node::Collection(brackets) => items(brackets),
        Node::Member(base, suffixes) => {
            simplify(base, Context::Base);
            for suffix in suffixes {
                if let Suffix::Brackets(brackets) = suffix {
                    items(brackets);
                }
            }
        }
    }
}

fn items(brackets: &mut Brackets<'_>) {
    for Item { key, value, .. } in &mut brackets.items {
        if let Some((key, _)) = key {
            simplify(key, Context::Alone);
        }
        simplify(value, Context::Alone);
    }
}

/// Returns the node in parentheses, if they are not needed.
fn bare<'s>(node: &mut Node<'s>, context: Context) -> Option<Node<'s>> {
    let Node::Group(brackets) = node else { return None };
    let Brackets { open, items, close } = &mut **brackets;
    let [Item { value, comma: None, .. }] = items.as_mut_slice() else { return None };
    if open.has_comments() || close.has_comments() || !fits(value, context) {
        return None;
    }
    let mut inner = std::mem::replace(value, Node::Leaf(Vec::new()));
    if let Some(first) = first_mut(&mut inner) {
        first.begins_line = open.begins_line;
        first.follows_blank = open.follows_blank;
    }
    Some(inner)
}

fn first_mut<'n, 's>(node: &'n mut Node<'s>) -> Option<&'n mut super::words::Word<'s>> {
    match node {
        Node::Leaf(words) | Node::Unary(words, _) => words.first_mut(),
        Node::Chain(_, first, _) | Node::Member(first, _) => first_mut(first),
        Node::Choice(choice) => first_mut(&mut choice.condition),
        Node::Group(brackets) | Node::Collection(brackets) => Some(&mut brackets.open),
    }
}

fn fits(inner: &Node<'_>, context: Context) -> bool {
    match (context, inner) {
        (Context::Alone, _) => true,
        (_, Node::Choice(_)) => false,
        (Context::OfChoice, _) => true,
        (Context::Operand { precedence, first }, Node::Chain(own, ..)) => {
            binds(*own, precedence, first)
        }
        (Context::Operand { .. }, _) => true,
        (_, Node::Unary(..) | Node::Chain(..)) => false,
        (_, Node::Leaf(words)) => words.iter().all(|word| word.kind != Kind::Number),
        (_, _) => true,
    }
}

/// Returns true if a chain may be an operand of another as it is.
fn binds(own: u8, precedence: u8, first: bool) -> bool {
    let arithmetic = precedence >= BinaryOp::Add.precedence();
    let shows_mixture =
        own == BinaryOp::And.precedence() && precedence == BinaryOp::Or.precedence();
    (own > precedence || own == precedence && first && arithmetic) && !shows_mixture
}

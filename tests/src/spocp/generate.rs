//! Generated S-expressions over a few short words, so that rules and queries meet.

use proptest::prelude::*;
use wardgate_spocp::Expression;

use super::{Relation, Tree, Type};

/// The kinds of elements that may occur.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    sets: bool,
    numbers: bool,
    affixes: bool,
    any: bool,
}

/// Atoms and lists.
pub const SIMPLE: Kinds = Kinds { sets: false, numbers: false, affixes: false, any: false };
/// Expressions that stand for so few simple ones that they can be counted.
pub const FINITE: Kinds = Kinds { sets: true, numbers: true, affixes: false, any: false };
/// Everything but prefixes and suffixes: no range is compared with those, so that
/// against them the definition demands more.
pub const NUMBERS: Kinds = Kinds { sets: true, numbers: true, affixes: false, any: true };
/// Everything.
pub const ALL: Kinds = Kinds { sets: true, numbers: true, affixes: true, any: true };

/// The highest number that is written down.
pub const MOST: u32 = 6;

/// Returns expressions that are two lists or sets deep.
pub fn tree(kinds: &Kinds) -> BoxedStrategy<Tree> {
    let leaf = leaf(kinds).boxed();
    let mut tree = leaf.clone();
    for _ in 0..2 {
        let inner = tree.clone();
        let tag = prop::sample::select(&["x", "y"][..]);
        let list = (tag, prop::collection::vec(inner.clone(), 0..3))
            .prop_map(|(tag, rest)| Tree::List([vec![Tree::Atom(tag.to_owned())], rest].concat()));
        let set = prop::collection::vec(inner, 1..5).prop_map(set).boxed();
        tree = if kinds.sets {
            prop_oneof![leaf.clone(), list, set].boxed()
        } else {
            prop_oneof![leaf.clone(), list].boxed()
        };
    }
    tree
}

/// Makes a set as the draft allows it: no set in it, and no two lists with the same tag.
fn set(elements: Vec<Tree>) -> Tree {
    let mut tags = Vec::new();
    let flat = elements.into_iter().flat_map(|element| match element {
        Tree::Set(inner) => inner,
        other => vec![other],
    });
    let members = flat.filter(|element| match element {
        Tree::List(inner) if tags.contains(&inner.first().cloned()) => false,
        Tree::List(inner) => {
            tags.push(inner.first().cloned());
            true
        }
        _ => true,
    });
    Tree::Set(members.collect())
}

fn leaf(kinds: &Kinds) -> BoxedStrategy<Tree> {
    let words = prop::sample::select(&["a", "b", "ab", "ba", "00", "01"][..]);
    let numbers = (0..=MOST).prop_map(|number| number.to_string());
    let text = prop_oneof![words.clone().prop_map(str::to_owned), numbers].boxed();
    let mut leaf = text.clone().prop_map(Tree::Atom).boxed();
    if kinds.numbers {
        let numeric = bounds((0..=MOST).prop_map(|number| number.to_string()).boxed());
        let numeric = numeric.prop_filter_map("narrow", |it| range(Type::Numeric, it));
        leaf = prop_oneof![2 => leaf, 1 => numeric].boxed();
    }
    if kinds.affixes {
        let alpha = bounds(text.clone()).prop_filter_map("narrow", |it| range(Type::Alpha, it));
        let prefix = text.clone().prop_map(Tree::Prefix);
        let suffix = text.prop_map(Tree::Suffix);
        leaf = prop_oneof![3 => leaf, 1 => alpha, 1 => prefix, 1 => suffix].boxed();
    }
    if kinds.any {
        leaf = prop_oneof![8 => leaf, 1 => Just(Tree::Any)].boxed();
    }
    leaf
}

type Bounds = Vec<(Relation, String)>;

/// Returns two bounds at most. Numbers have an upper one, or there would be too many of them to
/// count.
fn bounds(constant: BoxedStrategy<String>) -> impl Strategy<Value = Bounds> {
    let bound = (prop::sample::select(&Relation::ALL[..]), constant);
    prop::collection::vec(bound, 1..3)
}

/// Makes a range if it has an upper bound and can be read: some are too narrow.
fn range(kind: Type, bounds: Bounds) -> Option<Tree> {
    let uppers = bounds.iter().filter(|(by, _)| !by.is_lower()).count();
    let tree = Tree::Range(kind, bounds);
    let is_valid = Expression::from_canonical(tree.text().as_bytes()).is_ok();
    (uppers == 1 && is_valid).then_some(tree)
}

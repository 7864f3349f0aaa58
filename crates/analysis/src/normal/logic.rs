//! Negation, `&&` and `||` in normal form.
//!
//! De Morgan's laws are exact in CEL, errors included, and operands may be sorted, repeated or
//! joined. An operand that is no boolean is an error, so a negation that is taken twice leaves an
//! operand alone; where the value itself matters, [`Node::And`] with one operand stands for it.

use super::constant::Constant;
use super::node::Node;

impl Node {
    pub(super) fn truth(value: bool) -> Self {
        Self::Constant(Constant::truth_value(value))
    }

    /// Returns `!node`.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::And(nodes) => Self::or(nodes.into_iter().map(Self::negated).collect()),
            Self::Or(nodes) => Self::and(nodes.into_iter().map(Self::negated).collect()),
            Self::Not(node) if node.is_boolean() => *node,
            Self::Not(node) => Self::And(vec![*node]),
            Self::Constant(constant) => match constant.truth() {
                Some(value) => Self::truth(!value),
                None => Self::Not(Box::new(Self::Constant(constant))),
            },
            node => Self::Not(Box::new(node)),
        }
    }

    /// Returns the conjunction.
    pub(super) fn and(nodes: Vec<Self>) -> Self {
        let mut operands = Vec::new();
        for node in nodes {
            match node {
                Self::And(inner) => operands.extend(inner),
                node => operands.push(node),
            }
        }
        if operands.iter().any(|node| node.is_truth(false)) {
            return Self::truth(false);
        }
        operands.retain(|node| !node.is_truth(true));
        let mut operands = sorted(joined(operands, true));
        match operands.len() {
            0 => Self::truth(true),
            1 if operands.iter().all(Self::is_boolean) => operands.remove(0),
            _ => Self::And(operands),
        }
    }

    /// Returns the disjunction.
    pub(super) fn or(nodes: Vec<Self>) -> Self {
        let mut operands = Vec::new();
        for node in nodes {
            match node {
                Self::Or(inner) => operands.extend(inner),
                Self::And(mut inner) if inner.len() == 1 => operands.append(&mut inner),
                node => operands.push(node),
            }
        }
        if operands.iter().any(|node| node.is_truth(true)) {
            return Self::truth(true);
        }
        operands.retain(|node| !node.is_truth(false));
        let mut operands = sorted(joined(operands, false));
        match operands.len() {
            0 => Self::truth(false),
            1 => Self::and(vec![operands.remove(0)]),
            _ => Self::Or(operands),
        }
    }

    fn is_truth(&self, value: bool) -> bool {
        matches!(self, Self::Constant(constant) if constant.truth() == Some(value))
    }

    /// Returns true if the value equals one of the constants.
    pub(super) fn equals_one(value: Self, mut constants: Vec<Constant>) -> Self {
        constants.sort();
        constants.dedup();
        Self::In(Box::new(value), constants)
    }
}

/// Joins `x == a` and `x == b`: negated in a conjunction, as they are in a disjunction.
fn joined(operands: Vec<Node>, is_and: bool) -> Vec<Node> {
    let mut joined: Vec<Node> = Vec::with_capacity(operands.len());
    for operand in operands {
        let before = membership(&operand, is_and).and_then(|(value, _)| {
            let same = |node: &Node| matches!(membership(node, is_and), Some((x, _)) if x == value);
            joined.iter().position(same)
        });
        let Some(before) = before.and_then(|at| joined.get_mut(at)) else {
            joined.push(operand);
            continue;
        };
        if let (Some((value, ours)), Some((_, theirs))) =
            (membership(before, is_and), membership(&operand, is_and))
        {
            let both = Node::equals_one(value.clone(), [ours, theirs].concat());
            *before = if is_and { Node::Not(Box::new(both)) } else { both };
        }
    }
    joined
}

fn membership(node: &Node, is_negated: bool) -> Option<(&Node, &[Constant])> {
    match (node, is_negated) {
        (Node::In(value, constants), false) => Some((value, constants)),
        (Node::Not(node), true) => membership(node, false),
        _ => None,
    }
}

/// Sorts by the text without constants first, so that rules that differ in constants only have
/// their operands in one order.
fn sorted(mut operands: Vec<Node>) -> Vec<Node> {
    if operands.len() > 1 {
        operands.sort_by_cached_key(|node| (node.shape(), node.text()));
        operands.dedup();
    }
    operands
}

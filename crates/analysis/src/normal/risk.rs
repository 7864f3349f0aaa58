//! Which reads decide if a node can fail.

use std::collections::BTreeSet;

use wardgate_compiler::cel::ast::BinaryOp;

use super::node::Node;

impl Node {
    /// Returns true if no request makes the node fail.
    pub(super) fn is_safe(&self) -> bool {
        self.risks().is_some_and(|missing| missing.is_empty())
    }

    /// Returns the attributes without which the node fails; nothing if it may fail otherwise.
    fn risks(&self) -> Option<BTreeSet<String>> {
        match self {
            Self::Constant(_) => Some(BTreeSet::new()),
            Self::Path(path) if ALWAYS.contains(&&**path) => Some(BTreeSet::new()),
            Self::Path(path) => is_attribute(path).then(|| BTreeSet::from([path.to_string()])),
            Self::Has(value, _) => {
                matches!(&**value, Self::Path(path) if ATTRIBUTES.contains(&&**path))
                    .then(BTreeSet::new)
            }
            Self::In(value, _) => value.risks(),
            Self::Not(inner) if inner.is_boolean() => inner.risks(),
            Self::Binary(BinaryOp::Eq, nodes) => union(nodes.iter()),
            Self::Binary(BinaryOp::In, nodes) => {
                let is_range = |node: &Self| match node {
                    Self::List(elements) => elements.iter().all(|(_, optional)| !optional),
                    Self::Path(path) => RANGES.contains(&&**path),
                    _ => false,
                };
                let [value, range] = &**nodes;
                is_range(range).then(|| union([value, range]))?
            }
            Self::List(elements) if elements.iter().all(|(_, optional)| !optional) => {
                union(elements.iter().map(|(node, _)| node))
            }
            Self::And(nodes) => guarded(nodes, |node| match node {
                Self::Has(value, field) => Some(format!("{}.{field}", value.text())),
                _ => None,
            }),
            Self::Or(nodes) => guarded(nodes, |node| match node {
                Self::Not(inner) => match &**inner {
                    Self::Has(value, field) => Some(format!("{}.{field}", value.text())),
                    _ => None,
                },
                _ => None,
            }),
            _ => None,
        }
    }
}

fn union<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for node in nodes {
        all.extend(node.risks()?);
    }
    Some(all)
}

/// Returns the risks of operands without the attributes that a guard among them proves present: where
/// the guard fails, it decides.
fn guarded(nodes: &[Node], guard: impl Fn(&Node) -> Option<String>) -> Option<BTreeSet<String>> {
    if !nodes.iter().all(Node::is_boolean) {
        return None;
    }
    let mut all = union(nodes)?;
    for present in nodes.iter().filter_map(guard) {
        all.remove(&present);
    }
    Some(all)
}

/// Returns true if only its absence makes the read of a path fail.
fn is_attribute(path: &str) -> bool {
    let key = path.strip_prefix("P.attr.").or(path.strip_prefix("R.attr."));
    key.is_some_and(|key| !key.contains(['.', '[']))
}

/// The parts of the request that are always there.
const ALWAYS: [&str; 10] = [
    "P.id",
    "P.roles",
    "P.attr",
    "P.scope",
    "P.policyVersion",
    "R.id",
    "R.kind",
    "R.attr",
    "R.scope",
    "R.policyVersion",
];
const ATTRIBUTES: [&str; 2] = ["P.attr", "R.attr"];
const RANGES: [&str; 3] = ["P.roles", "P.attr", "R.attr"];

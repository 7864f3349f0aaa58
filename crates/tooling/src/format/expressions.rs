//! The scalars of a policy that are expressions, and the comparison of two texts by their values.
//!
//! A scalar is known by the offset of its first character. A scalar that an anchor uses elsewhere
//! as well is no expression.

use std::collections::BTreeSet;
use wardgate_engine::order::in_order;

use super::cel;
use wardgate_compiler::yaml::{Kind, Node};

/// The expressions of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Expressions {
    offsets: BTreeSet<usize>,
}

impl Expressions {
    /// Finds the expressions of documents.
    pub(super) fn find(documents: &[Node]) -> Self {
        let (mut offsets, mut others) = (BTreeSet::new(), BTreeSet::new());
        for document in documents {
            visit(document, Role::Document, &mut |node, role| {
                let found = if role == Role::Expression { &mut offsets } else { &mut others };
                found.insert(node.offset);
            });
        }
        Self { offsets: in_order(offsets.difference(&others).copied()) }
    }

    /// Returns true if an expression begins within these offsets.
    pub(super) fn any_in(&self, start: usize, end: usize) -> bool {
        self.offsets.range(start..end.max(start.saturating_add(1))).next().is_some()
    }
}

/// Returns true if documents hold the same values, expressions of one meaning taken for the same.
pub(super) fn same(ours: &[Node], theirs: &[Node]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| same_value(ours, theirs, Role::Document))
}

fn same_value(ours: &Node, theirs: &Node, role: Role) -> bool {
    match (&ours.kind, &theirs.kind) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Integer(a), Kind::Integer(b)) => a == b,
        (Kind::Float(a), Kind::Float(b)) => a.to_bits() == b.to_bits(),
        (Kind::String(a, style), Kind::String(b, other)) => {
            style == other
                && (unwound(a) == unwound(b) || role == Role::Expression && cel::equal(a, b))
        }
        (Kind::Seq(a), Kind::Seq(b)) => {
            let item = |(a, b): (&Node, &Node)| same_value(a, b, role.item());
            a.len() == b.len() && a.iter().zip(b).all(item)
        }
        (Kind::Map(a), Kind::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| {
                    same_value(&a.key, &b.key, Role::Other)
                        && same_value(&a.value, &b.value, role.field(&a.key))
                })
        }
        _ => false,
    }
}

/// Returns a text in which every line end is one character, in all spellings of files.
fn unwound(text: &str) -> std::borrow::Cow<'_, str> {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").into(),
        false => text.into(),
    }
}

/// Calls `each` for every scalar.
fn visit(node: &Node, role: Role, each: &mut impl FnMut(&Node, Role)) {
    match &node.kind {
        Kind::Seq(items) => items.iter().for_each(|item| visit(item, role.item(), each)),
        Kind::Map(entries) => {
            for entry in entries {
                visit(&entry.key, Role::Other, each);
                visit(&entry.value, role.field(&entry.key), each);
            }
        }
        Kind::String(..) => each(node, role),
        _ => each(node, Role::Other),
    }
}

/// The role of a value in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Document,
    Body,
    ExportedVariables,
    Variables,
    Definitions,
    Rule,
    Output,
    When,
    Condition,
    Match,
    Parts,
    Expression,
    Other,
}

impl Role {
    /// Returns the role of a list's items.
    const fn item(self) -> Self {
        match self {
            Self::Rule | Self::Match => self,
            _ => Self::Other,
        }
    }

    /// Returns the role of a field's value, by either spelling of its name.
    fn field(self, key: &Node) -> Self {
        let Kind::String(name, _) = &key.kind else { return Self::Other };
        let name = name.replace('_', "").to_ascii_lowercase();
        match (self, name.as_str()) {
            (
                Self::Document,
                "resourcepolicy" | "principalpolicy" | "rolepolicy" | "derivedroles",
            ) => Self::Body,
            (Self::Document, "exportvariables") => Self::ExportedVariables,
            (Self::Document, "variables") => Self::Definitions,
            (Self::Body, "rules" | "definitions") | (Self::Rule, "actions") => Self::Rule,
            (Self::Body, "variables") => Self::Variables,
            (Self::Variables, "local") | (Self::ExportedVariables, "definitions") => {
                Self::Definitions
            }
            (Self::Definitions, _) => Self::Expression,
            (Self::Rule, "condition") => Self::Condition,
            (Self::Rule, "output") => Self::Output,
            (Self::Output | Self::Match, "expr") => Self::Expression,
            (Self::Output, "when") => Self::When,
            (Self::When, "ruleactivated" | "conditionnotmet") => Self::Expression,
            (Self::Condition, "match") => Self::Match,
            (Self::Match, "all" | "any" | "none") => Self::Parts,
            (Self::Parts, "of") => Self::Match,
            _ => Self::Other,
        }
    }
}

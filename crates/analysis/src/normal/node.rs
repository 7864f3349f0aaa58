//! The tree of a normal form.

use std::rc::Rc;

use wardgate_compiler::cel::ast::{BinaryOp, Loop};

use super::constant::Constant;

/// An expression in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A value.
    Constant(Constant),
    /// A read of the request or of a global, in its shortest spelling.
    Path(Rc<str>),
    /// A name that a macro declares, by its depth.
    Local(usize),
    /// Another name: of a namespace or of a type.
    Name(Rc<str>),
    /// The negation of a boolean.
    Not(Box<Node>),
    /// All hold. With one operand it is that operand as a boolean.
    And(Vec<Node>),
    /// One holds; there are at least two.
    Or(Vec<Node>),
    /// The value equals one of the constants, which are sorted, each once.
    In(Box<Node>, Vec<Constant>),
    /// Another operator. `!=`, `>` and `>=` do not occur.
    Binary(BinaryOp, Box<[Node; 2]>),
    /// The negative number.
    Negative(Box<Node>),
    /// `has(value.field)`.
    Has(Box<Node>, Rc<str>),
    /// `has(V.name)`, with the expression of the variable.
    Defined(Box<Node>),
    /// A variable that reads as `null` where its expression fails.
    OrNull(Box<Node>),
    /// A field of a computed value; true if it is marked with `?`.
    Select(Box<Node>, Rc<str>, bool),
    /// An index; true if it is marked with `?`.
    Index(Box<[Node; 2]>, bool),
    /// A choice.
    Conditional(Box<[Node; 3]>),
    /// A function, its target if it has one, and its arguments.
    Call(Option<Box<Node>>, Rc<str>, Vec<Node>),
    /// A list; true marks elements with `?`.
    List(Vec<(Node, bool)>),
    /// A map; true marks entries with `?`.
    Map(Vec<([Node; 2], bool)>),
    /// A macro over a range.
    Loop(Box<LoopNode>),
    /// `cel.bind` of the name at this depth.
    Bind(usize, Box<[Node; 2]>),
    /// `optMap`, or `optFlatMap` if true, of the name at this depth.
    OptMap(usize, Box<[Node; 2]>, bool),
    /// A text that has no normal form; it equals itself within one policy.
    Raw(Rc<str>),
}

/// A macro over a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopNode {
    /// Which macro.
    pub kind: Loop,
    /// The number of its names.
    pub names: usize,
    /// The depth of its first name.
    pub depth: usize,
    /// The list or map.
    pub range: Node,
    /// The elements that count.
    pub filter: Option<Node>,
    /// The predicate or value.
    pub body: Node,
}

impl Node {
    /// Returns true if the node is a boolean wherever it has a value.
    pub(super) fn is_boolean(&self) -> bool {
        match self {
            Self::Constant(constant) => constant.truth().is_some(),
            Self::Not(_) | Self::And(_) | Self::Or(_) | Self::In(..) => true,
            Self::Has(..) | Self::Defined(_) => true,
            Self::Binary(op, _) => {
                matches!(op, BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Le | BinaryOp::In)
            }
            Self::Loop(node) => matches!(node.kind, Loop::All | Loop::Exists | Loop::ExistsOne),
            Self::Call(Some(_), function, _) => PREDICATES.contains(&&**function),
            _ => false,
        }
    }

    /// Returns the nodes directly below.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Path(_) | Self::Local(_) | Self::Name(_) | Self::Raw(_) => {
                Vec::new()
            }
            Self::Not(node)
            | Self::In(node, _)
            | Self::Negative(node)
            | Self::Has(node, _)
            | Self::Defined(node)
            | Self::OrNull(node)
            | Self::Select(node, ..) => vec![node],
            Self::And(nodes) | Self::Or(nodes) => nodes.iter().collect(),
            Self::Binary(_, nodes) | Self::Index(nodes, _) => nodes.iter().collect(),
            Self::Bind(_, nodes) | Self::OptMap(_, nodes, _) => nodes.iter().collect(),
            Self::Conditional(nodes) => nodes.iter().collect(),
            Self::Call(target, _, args) => target.iter().map(AsRef::as_ref).chain(args).collect(),
            Self::List(elements) => elements.iter().map(|(node, _)| node).collect(),
            Self::Map(entries) => entries.iter().flat_map(|(nodes, _)| nodes).collect(),
            Self::Loop(node) => {
                [&node.range].into_iter().chain(&node.filter).chain([&node.body]).collect()
            }
        }
    }

    /// Calls `visit` with each part that logic joins.
    pub(crate) fn each_atom(&self, visit: &mut dyn FnMut(&Self)) {
        match self {
            Self::And(nodes) | Self::Or(nodes) => {
                nodes.iter().for_each(|node| node.each_atom(visit));
            }
            node => visit(node),
        }
    }

    /// Calls `visit` with each read.
    pub(crate) fn each_read(&self, visit: &mut dyn FnMut(&Rc<str>)) {
        if let Self::Path(path) = self {
            visit(path);
        }
        self.children().into_iter().for_each(|child| child.each_read(visit));
    }
}

/// Methods whose values are booleans.
const PREDICATES: [&str; 4] = ["startsWith", "endsWith", "contains", "matches"];

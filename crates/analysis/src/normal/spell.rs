//! Normal forms as text.
//!
//! The text is CEL with the same meaning, and two normal forms that differ have different texts; `OrNull`,
//! `Defined` and `Raw` have spellings that no author can write. The shape has `_` for each constant.

use std::fmt::Write as _;

use wardgate_compiler::cel::ast::{BinaryOp, Loop};

use super::constant::Constant;
use super::node::{LoopNode, Node};
use super::path::is_name;

impl Node {
    /// Returns the expression as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut speller = Speller { out: String::new(), holes: None };
        speller.node(self, LOWEST);
        speller.out
    }

    /// Returns the text with `_` for each constant.
    #[must_use]
    pub fn shape(&self) -> String {
        self.shape_and_holes().0
    }

    /// Returns the same and what stood in its place, in order.
    pub(crate) fn shape_and_holes(&self) -> (String, Vec<String>) {
        let mut speller = Speller { out: String::new(), holes: Some(Vec::new()) };
        speller.node(self, LOWEST);
        (speller.out, speller.holes.unwrap_or_default())
    }
}

struct Speller {
    out: String,
    /// What stood in the place of `_`; nothing if constants are written.
    holes: Option<Vec<String>>,
}

impl Speller {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn constant(&mut self, text: &str) {
        match &mut self.holes {
            Some(holes) => {
                holes.push(text.to_owned());
                self.out.push('_');
            }
            None => self.out.push_str(text),
        }
    }

    /// Writes a node where operators bind at least as tightly as `level`.
    fn node(&mut self, node: &Node, level: u8) {
        let own = precedence(node);
        let is_wrapped = own < level;
        if is_wrapped {
            self.out.push('(');
        }
        self.bare(node, own);
        if is_wrapped {
            self.out.push(')');
        }
    }

    fn bare(&mut self, node: &Node, own: u8) {
        match node {
            Node::Constant(constant) => self.constant(constant.text()),
            Node::Path(text) | Node::Name(text) => self.push(text),
            Node::Raw(text) => self.push(&format!("\u{2}{text}\u{2}")),
            Node::Local(depth) => self.local(*depth),
            Node::And(nodes) => match nodes.as_slice() {
                [only] => {
                    self.node(only, own.saturating_add(1));
                    self.push(" && true");
                }
                nodes => self.joined(nodes, " && ", own.saturating_add(1)),
            },
            Node::Or(nodes) => self.joined(nodes, " || ", own.saturating_add(1)),
            Node::Not(inner) => self.negated(inner),
            Node::In(value, constants) => self.equals_one(value, constants, ["==", "in"]),
            Node::Binary(op, nodes) => self.binary(*op, nodes, own),
            Node::Negative(inner) => {
                self.push("-");
                self.node(inner, MEMBER);
            }
            Node::Has(value, field) => {
                self.push("has(");
                self.node(value, MEMBER);
                self.field(field, false);
                self.push(")");
            }
            Node::Defined(inner) => self.call("\u{2}defined", [&**inner]),
            Node::OrNull(inner) => self.call("\u{2}or-null", [&**inner]),
            Node::Select(value, field, optional) => {
                self.node(value, MEMBER);
                self.field(field, *optional);
            }
            Node::Index(nodes, optional) => {
                let [value, index] = &**nodes;
                self.node(value, MEMBER);
                self.push(if *optional { "[?" } else { "[" });
                self.node(index, LOWEST);
                self.push("]");
            }
            Node::Conditional(nodes) => {
                let [condition, then, otherwise] = &**nodes;
                self.node(condition, own.saturating_add(1));
                self.push(" ? ");
                self.node(then, own.saturating_add(1));
                self.push(" : ");
                self.node(otherwise, own.saturating_add(1));
            }
            Node::Call(target, function, args) => self.function(target.as_deref(), function, args),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Loop(node) => self.comprehension(node),
            Node::Bind(depth, nodes) => {
                let [value, body] = &**nodes;
                self.push("cel.bind(");
                self.local(*depth);
                self.push(", ");
                self.node(value, LOWEST);
                self.push(", ");
                self.node(body, LOWEST);
                self.push(")");
            }
            Node::OptMap(depth, nodes, flat) => {
                let [target, body] = &**nodes;
                self.node(target, MEMBER);
                self.push(if *flat { ".optFlatMap(" } else { ".optMap(" });
                self.local(*depth);
                self.push(", ");
                self.node(body, LOWEST);
                self.push(")");
            }
        }
    }

    fn local(&mut self, depth: usize) {
        let _ = write!(self.out, "x{depth}");
    }

    fn joined(&mut self, nodes: &[Node], between: &str, level: u8) {
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                self.push(between);
            }
            self.node(node, level);
        }
    }

    fn negated(&mut self, inner: &Node) {
        match inner {
            Node::In(value, constants) if constants.len() == 1 => {
                self.equals_one(value, constants, ["!=", "in"]);
            }
            Node::Binary(BinaryOp::Eq, nodes) => self.binary(BinaryOp::Ne, nodes, RELATION),
            inner => {
                self.push("!");
                self.node(inner, MEMBER);
            }
        }
    }

    fn equals_one(&mut self, value: &Node, constants: &[Constant], [one, several]: [&str; 2]) {
        self.node(value, RELATION.saturating_add(1));
        // Without the constants both are one shape: `x == 1` and `x in [1, 2]`.
        let word = if self.holes.is_some() || constants.len() != 1 { several } else { one };
        self.push(&format!(" {word} "));
        match constants {
            [only] if self.holes.is_none() => self.push(only.text()),
            constants => {
                let texts: Vec<&str> = constants.iter().map(Constant::text).collect();
                self.constant(&format!("[{}]", texts.join(", ")));
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, [left, right]: &[Node; 2], own: u8) {
        let above = own.saturating_add(1);
        let (op, left, right) = match (op, left) {
            (BinaryOp::Lt, Node::Constant(_)) => (BinaryOp::Gt, right, left),
            (BinaryOp::Le, Node::Constant(_)) => (BinaryOp::Ge, right, left),
            _ => (op, left, right),
        };
        self.node(left, if own == RELATION { above } else { own });
        self.push(&format!(" {} ", op.text()));
        self.node(right, above);
    }

    fn field(&mut self, field: &str, optional: bool) {
        self.push(if optional { ".?" } else { "." });
        if is_name(field) {
            self.push(field);
        } else {
            self.push(&format!("`{field}`"));
        }
    }

    fn call<'n>(&mut self, name: &str, args: impl IntoIterator<Item = &'n Node>) {
        self.push(name);
        self.push("(");
        for (at, arg) in args.into_iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.node(arg, LOWEST);
        }
        self.push(")");
    }

    fn function(&mut self, target: Option<&Node>, function: &str, args: &[Node]) {
        if let Some(target) = target {
            self.node(target, MEMBER);
            self.push(".");
        }
        let name = match function {
            "math.@max" => "math.greatest",
            "math.@min" => "math.least",
            name => name,
        };
        self.call(name, args);
    }

    fn list(&mut self, elements: &[(Node, bool)]) {
        self.push("[");
        for (at, (node, optional)) in elements.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.push(if *optional { "?" } else { "" });
            self.node(node, LOWEST);
        }
        self.push("]");
    }

    fn map(&mut self, entries: &[([Node; 2], bool)]) {
        self.push("{");
        for (at, ([key, value], optional)) in entries.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            self.push(if *optional { "?" } else { "" });
            self.node(key, LOWEST);
            self.push(": ");
            self.node(value, LOWEST);
        }
        self.push("}");
    }

    fn comprehension(&mut self, node: &LoopNode) {
        self.node(&node.range, MEMBER);
        let name = match (node.kind, node.names) {
            (Loop::All, _) => ".all(",
            (Loop::Exists, _) => ".exists(",
            (Loop::ExistsOne, _) => ".exists_one(",
            (Loop::List, 1) => ".map(",
            (Loop::List, _) => ".transformList(",
            (Loop::Filter, _) => ".filter(",
            (Loop::Map, _) => ".transformMap(",
            (Loop::MapEntry, _) => ".transformMapEntry(",
            (Loop::SortBy, _) => ".sortBy(",
        };
        self.push(name);
        for name in 0..node.names {
            self.local(node.depth.saturating_add(name));
            self.push(", ");
        }
        if let Some(filter) = &node.filter {
            self.node(filter, LOWEST);
            self.push(", ");
        }
        self.node(&node.body, LOWEST);
        self.push(")");
    }
}

fn precedence(node: &Node) -> u8 {
    match node {
        Node::Conditional(_) => LOWEST,
        Node::Or(_) => BinaryOp::Or.precedence(),
        Node::And(_) => BinaryOp::And.precedence(),
        Node::In(..) => RELATION,
        Node::Binary(op, _) => op.precedence(),
        Node::Not(inner) => match &**inner {
            Node::In(_, constants) if constants.len() == 1 => RELATION,
            Node::Binary(BinaryOp::Eq, _) => RELATION,
            _ => UNARY,
        },
        Node::Negative(_) => UNARY,
        // A number with a sign is no operand of a dot.
        Node::Constant(constant) if constant.text().starts_with('-') => UNARY,
        _ => MEMBER,
    }
}

const LOWEST: u8 = 0;
const RELATION: u8 = BinaryOp::Eq.precedence();
const UNARY: u8 = BinaryOp::Mul.precedence() + 1;
const MEMBER: u8 = UNARY + 1;

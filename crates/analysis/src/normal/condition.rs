//! Conditions in normal form: `all`, `any` and `none` in the order of evaluation.
//!
//! A `none` is an `any` whose verdict is turned, and turns are moved down to the expressions:
//! verdicts obey De Morgan's laws in their order, failures included. An expression whose verdict is
//! turned is its negation only if it is a boolean that cannot fail: in a lenient table the verdict
//! of a failed expression is false, turned or not.

use wardgate_compiler::policy::model::Condition;

use super::node::Node;
use super::scope::Scope;

/// A condition in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normal {
    /// An expression must be true.
    Is(Node),
    /// The verdict of an expression must be false.
    IsNot(Node),
    /// All must hold, judged in this order.
    All(Vec<Normal>),
    /// One must hold, judged in this order.
    Any(Vec<Normal>),
}

impl Normal {
    /// Returns the normal form of a condition.
    #[must_use]
    pub fn of(condition: &Condition, scope: &Scope<'_>) -> Self {
        Self::turned(condition, scope, false)
    }

    fn turned(condition: &Condition, scope: &Scope<'_>, is_turned: bool) -> Self {
        let each = |parts: &[Condition], is_turned: bool| {
            parts.iter().map(|part| Self::turned(part, scope, is_turned)).collect()
        };
        match (condition, is_turned) {
            (Condition::Expr(expr), false) => Self::Is(scope.normal(&expr.text)),
            (Condition::Expr(expr), true) => Self::is_not(scope.normal(&expr.text)),
            (Condition::All(parts), false) => Self::joined(each(parts, false), true),
            (Condition::All(parts), true) => Self::joined(each(parts, true), false),
            (Condition::Any(parts), false) => Self::joined(each(parts, false), false),
            (Condition::Any(parts), true) => Self::joined(each(parts, true), true),
            (Condition::None(parts), false) => Self::joined(each(parts, true), true),
            (Condition::None(parts), true) => Self::joined(each(parts, false), false),
        }
    }

    fn is_not(node: Node) -> Self {
        if node.is_boolean() && node.is_safe() {
            return Self::Is(node.negated());
        }
        Self::IsNot(node)
    }

    /// Joins parts: those that cannot fail, and the one after them, become one expression.
    fn joined(parts: Vec<Self>, is_all: bool) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match (part, is_all) {
                (Self::All(inner), true) | (Self::Any(inner), false) => flat.extend(inner),
                (part, _) => flat.push(part),
            }
        }
        let mut parts: Vec<Self> = Vec::new();
        let mut open: Vec<Node> = Vec::new();
        for part in flat {
            match part {
                Self::Is(node) if node.is_boolean() => {
                    let is_safe = node.is_safe();
                    open.push(node);
                    if !is_safe {
                        let node = join(std::mem::take(&mut open), is_all);
                        // Behind its guard it cannot fail, and more parts may be joined.
                        match node.is_safe() {
                            true => open.push(node),
                            false => parts.push(Self::Is(node)),
                        }
                    }
                }
                part => {
                    close(&mut open, &mut parts, is_all);
                    parts.push(part);
                }
            }
        }
        close(&mut open, &mut parts, is_all);
        match parts.len() {
            1 => parts.remove(0),
            _ if is_all => Self::All(parts),
            _ => Self::Any(parts),
        }
    }

    /// Calls `visit` with the text of each part that must hold: all hold where the condition holds, and nowhere else.
    pub(crate) fn each_conjunct(&self, visit: &mut dyn FnMut(String)) {
        match self {
            Self::All(parts) => parts.iter().for_each(|part| part.each_conjunct(visit)),
            Self::Is(Node::And(nodes)) => nodes.iter().for_each(|node| visit(node.text())),
            Self::Is(node) => visit(node.text()),
            part => visit(part.text()),
        }
    }

    /// Returns the condition as text; two that differ have different texts.
    #[must_use]
    pub fn text(&self) -> String {
        self.written(&|node| node.text())
    }

    /// Returns the text with `_` for each constant.
    #[must_use]
    pub fn shape(&self) -> String {
        self.written(&|node| node.shape())
    }

    fn written(&self, expression: &dyn Fn(&Node) -> String) -> String {
        let each = |parts: &[Self]| {
            let parts: Vec<String> = parts.iter().map(|part| part.written(expression)).collect();
            parts.join("; ")
        };
        match self {
            Self::Is(node) => expression(node),
            Self::IsNot(node) => format!("none {{{}}}", expression(node)),
            Self::All(parts) => format!("all {{{}}}", each(parts)),
            Self::Any(parts) => format!("any {{{}}}", each(parts)),
        }
    }

    /// Calls `visit` with each expression of the condition.
    pub(crate) fn each(&self, visit: &mut dyn FnMut(&Node)) {
        match self {
            Self::Is(node) | Self::IsNot(node) => visit(node),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each(visit)),
        }
    }
}

fn close(open: &mut Vec<Node>, parts: &mut Vec<Normal>, is_all: bool) {
    if !open.is_empty() {
        parts.push(Normal::Is(join(std::mem::take(open), is_all)));
    }
}

fn join(nodes: Vec<Node>, is_all: bool) -> Node {
    if is_all { Node::and(nodes) } else { Node::or(nodes) }
}

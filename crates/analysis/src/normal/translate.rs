//! From parsed expressions to normal forms.

use std::sync::Arc;

use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, Comprehension, ExprKind, UnaryOp};

use super::constant::Constant;
use super::node::{LoopNode, Node};
use super::path::Read;
use super::scope::{Scope, mentions_spiffe};

impl Scope<'_> {
    /// Returns the normal form of an expression of the policy.
    pub(crate) fn normal(&self, text: &Arc<str>) -> Node {
        self.refuel();
        let may_turn = self.may_turn.get();
        self.may_turn.set(may_turn && !mentions_spiffe(text));
        let node = self.parsed.tree(text).and_then(|tree| self.node(&tree, &mut Vec::new()));
        self.may_turn.set(may_turn);
        node.unwrap_or_else(|| {
            self.is_own.set(true);
            Node::Raw(text.as_ref().into())
        })
    }

    /// Returns the normal form where macros have declared `locals`; nothing if it has none.
    fn node<'e>(&self, expr: &'e Expr, locals: &mut Vec<&'e str>) -> Option<Node> {
        if !self.burn() {
            return None;
        }
        if let Some(found) = self.read(expr, locals) {
            return found;
        }
        match &expr.kind {
            ExprKind::Literal(literal) => Some(Node::Constant(Constant::literal(literal))),
            ExprKind::Ident(name) => Some(match local(name, locals) {
                Some(depth) => Node::Local(depth),
                None => Node::Name(name.as_str().into()),
            }),
            ExprKind::Select { operand, field, optional } => {
                let value = self.node(operand, locals)?;
                Some(Node::Select(Box::new(value), field.as_str().into(), *optional))
            }
            ExprKind::Has { operand, field } => self.has(operand, field, locals),
            ExprKind::Index { operand, index, optional } => {
                Some(Node::Index(Box::new(self.two([operand, index], locals)?), *optional))
            }
            ExprKind::Unary(UnaryOp::Not, inner) => Some(self.node(inner, locals)?.negated()),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let inner = self.node(inner, locals)?;
                Some(match &inner {
                    Node::Constant(constant) => constant
                        .negative()
                        .map_or_else(|| Node::Negative(Box::new(inner.clone())), Node::Constant),
                    _ => Node::Negative(Box::new(inner)),
                })
            }
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, [left, right], locals),
            ExprKind::Conditional(condition, then, otherwise) => {
                let [condition, then] = self.two([condition, then], locals)?;
                let otherwise = self.node(otherwise, locals)?;
                Some(Node::Conditional(Box::new([condition, then, otherwise])))
            }
            ExprKind::Call { target, function, args } => {
                let target = match target {
                    Some(target) => Some(Box::new(self.node(target, locals)?)),
                    None => None,
                };
                let args = args.iter().map(|arg| self.node(arg, locals));
                let args = args.collect::<Option<Vec<_>>>()?;
                Some(Node::Call(target, function.as_str().into(), args))
            }
            ExprKind::List(elements) => {
                let nodes = elements
                    .iter()
                    .map(|element| Some((self.node(&element.value, locals)?, element.optional)));
                Some(list(nodes.collect::<Option<_>>()?))
            }
            ExprKind::Map(entries) => {
                let nodes = entries.iter().map(|entry| {
                    Some((self.two([&entry.key, &entry.value], locals)?, entry.optional))
                });
                Some(Node::Map(nodes.collect::<Option<_>>()?))
            }
            ExprKind::Comprehension(node) => self.comprehension(node, locals),
            ExprKind::Bind { name, value, body } => {
                let value = self.node(value, locals)?;
                let (depth, body) = self.within(&[name], body, locals)?;
                Some(Node::Bind(depth, Box::new([value, body])))
            }
            ExprKind::OptMap { target, name, body, flat } => {
                let target = self.node(target, locals)?;
                let (depth, body) = self.within(&[name], body, locals)?;
                Some(Node::OptMap(depth, Box::new([target, body]), *flat))
            }
            ExprKind::Message { .. }
            | ExprKind::Block { .. }
            | ExprKind::Global(_)
            | ExprKind::TypeName(_) => None,
        }
    }

    fn two<'e>(
        &self,
        [left, right]: [&'e Expr; 2],
        locals: &mut Vec<&'e str>,
    ) -> Option<[Node; 2]> {
        Some([self.node(left, locals)?, self.node(right, locals)?])
    }

    /// Returns the depth of the first of `names`, and the normal form of `body` below them.
    fn within<'e>(
        &self,
        names: &[&'e str],
        body: &'e Expr,
        locals: &mut Vec<&'e str>,
    ) -> Option<(usize, Node)> {
        let depth = locals.len();
        locals.extend(names);
        let body = self.node(body, locals);
        locals.truncate(depth);
        Some((depth, body?))
    }

    fn comprehension<'e>(
        &self,
        node: &'e Comprehension,
        locals: &mut Vec<&'e str>,
    ) -> Option<Node> {
        let range = self.node(&node.range, locals)?;
        let names: Vec<&str> = node.names.iter().map(String::as_str).collect();
        let filter = match &node.filter {
            Some(filter) => Some(self.within(&names, filter, locals)?.1),
            None => None,
        };
        let (depth, body) = self.within(&names, &node.body, locals)?;
        let names = names.len();
        Some(Node::Loop(Box::new(LoopNode { kind: node.kind, names, depth, range, filter, body })))
    }

    /// Returns the normal form of a read from outside of the expression: nothing if `expr` is none,
    /// `Some(None)` if it has no normal form.
    fn read(&self, expr: &Expr, locals: &[&str]) -> Option<Option<Node>> {
        let read = Read::of(expr)?;
        if !read.is_absolute && local(read.root, locals).is_some() {
            return None;
        }
        match read.root {
            "V" | "variables" | "C" | "constants" => match read.only_field() {
                Some(name) if read.root.starts_with(['V', 'v']) => Some(self.variable(name)),
                Some(name) => Some(self.constants.get(name).map(attr)),
                // The value itself has no normal form; a field of its field is found below.
                None => matches!(expr.kind, ExprKind::Ident(_)).then_some(None),
            },
            _ => {
                let spelled = read.spelled()?;
                if spelled.starts_with("runtime") {
                    self.is_own.set(true);
                }
                Some(Some(Node::Path(spelled.into())))
            }
        }
    }

    fn variable(&self, name: &str) -> Option<Node> {
        let variable = self.variables.get(name)?;
        let tree = self.parsed.tree(&variable.expr.text)?;
        let node = self.node(&tree, &mut Vec::new())?;
        // A variable that fails reads as `null` in a derived role of a lenient table.
        let is_exact = !self.is_of_derived_role || node.is_safe();
        Some(if is_exact { node } else { Node::OrNull(Box::new(node)) })
    }

    fn has<'e>(&self, operand: &'e Expr, field: &str, locals: &mut Vec<&'e str>) -> Option<Node> {
        if let Some(Read { root, is_absolute, .. }) = Read::of(operand)
            && matches!(operand.kind, ExprKind::Ident(_))
            && (is_absolute || local(root, locals).is_none())
        {
            match root {
                "V" | "variables" => {
                    let variable = self.variables.get(field)?;
                    let tree = self.parsed.tree(&variable.expr.text)?;
                    let node = self.node(&tree, &mut Vec::new())?;
                    return Some(Node::Defined(Box::new(node)));
                }
                "C" | "constants" => return Some(Node::truth(self.constants.contains_key(field))),
                _ => {}
            }
        }
        Some(Node::Has(Box::new(self.node(operand, locals)?), field.into()))
    }

    fn binary<'e>(
        &self,
        expr: &'e Expr,
        op: BinaryOp,
        sides: [&'e Expr; 2],
        locals: &mut Vec<&'e str>,
    ) -> Option<Node> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let mut operands = Vec::new();
            flatten(expr, op, &mut operands);
            let operands = operands.into_iter().map(|operand| self.node(operand, locals));
            let operands = operands.collect::<Option<Vec<_>>>()?;
            return Some(if op == BinaryOp::And {
                Node::and(operands)
            } else {
                Node::or(operands)
            });
        }
        let [left, right] = self.two(sides, locals)?;
        Some(match op {
            BinaryOp::Eq => self.equal(left, right),
            BinaryOp::Ne => self.equal(left, right).negated(),
            BinaryOp::In => match &right {
                Node::Constant(constant) if constant.elements().is_some() => {
                    let elements = constant.elements().unwrap_or_default();
                    Node::equals_one(left, elements.iter().map(Constant::compared).collect())
                }
                _ => Node::Binary(op, Box::new([left, right])),
            },
            BinaryOp::Lt | BinaryOp::Le => {
                Node::Binary(op, Box::new([compared(left), compared(right)]))
            }
            BinaryOp::Gt => Node::Binary(BinaryOp::Lt, Box::new([compared(right), compared(left)])),
            BinaryOp::Ge => Node::Binary(BinaryOp::Le, Box::new([compared(right), compared(left)])),
            op => Node::Binary(op, Box::new([left, right])),
        })
    }

    fn equal(&self, left: Node, right: Node) -> Node {
        match (left, right) {
            (Node::Constant(left), Node::Constant(right)) => {
                let sides = [left.compared(), right.compared()].map(Node::Constant);
                Node::Binary(BinaryOp::Eq, Box::new(sides))
            }
            (value, Node::Constant(constant)) => Node::equals_one(value, vec![constant.compared()]),
            (Node::Constant(constant), value) if self.may_turn.get() => {
                Node::equals_one(value, vec![constant.compared()])
            }
            (left, right) => {
                let key = |node: &Node| (node.shape(), node.text());
                let is_turned = self.may_turn.get() && key(&left) < key(&right);
                let sides = if is_turned { [right, left] } else { [left, right] };
                Node::Binary(BinaryOp::Eq, Box::new(sides))
            }
        }
    }
}

/// Returns the depth of a name that a macro has declared.
fn local(name: &str, locals: &[&str]) -> Option<usize> {
    locals.iter().rposition(|local| *local == name)
}

fn attr(attr: &wardgate_engine::attr::Attr) -> Node {
    Node::Constant(Constant::attr(attr))
}

fn compared(node: Node) -> Node {
    match node {
        Node::Constant(constant) => Node::Constant(constant.compared()),
        node => node,
    }
}

/// Returns a list, which is a constant if its elements are.
fn list(elements: Vec<(Node, bool)>) -> Node {
    let constants = elements.iter().map(|(node, optional)| match node {
        Node::Constant(constant) if !optional => Some(constant.clone()),
        _ => None,
    });
    match constants.collect::<Option<Vec<_>>>() {
        Some(constants) => Node::Constant(Constant::list(constants)),
        None => Node::List(elements),
    }
}

/// Collects the operands of a chain of one operator, in order.
fn flatten<'e>(expr: &'e Expr, op: BinaryOp, operands: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(found, left, right) if *found == op => {
            flatten(left, op, operands);
            flatten(right, op, operands);
        }
        _ => operands.push(expr),
    }
}

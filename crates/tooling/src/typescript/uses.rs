//! Attributes by their use: what the expressions of rules compare them with, and pass them to.
//!
//! A use that has a meaning for several types says nothing. So a value is excluded only if every
//! rule that reads its attribute would fail or find it unequal.

use std::collections::BTreeSet;

use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, Comprehension, ExprKind, Loop, UnaryOp};

use super::attributes::Attributes;
use super::places::{Locals, Named, Names, Place};
use super::shape::{Scalar, Shape};
use super::values::{argument, scalars, value};

/// Reads expressions of one policy into attributes.
pub(super) struct Uses<'u, 'p> {
    pub(super) names: &'u Names<'p>,
    pub(super) found: &'u mut Attributes,
    /// The variables that were read already.
    read: BTreeSet<String>,
}

impl<'u, 'p> Uses<'u, 'p> {
    pub(super) fn new(names: &'u Names<'p>, found: &'u mut Attributes) -> Self {
        Self { names, found, read: BTreeSet::new() }
    }

    /// Reads a condition.
    pub(super) fn condition(&mut self, expr: &Expr) {
        self.expects(expr, &Shape::of(Scalar::Bool), &Vec::new());
        self.visit(expr, &mut Vec::new());
    }

    /// Reads an expression of any value.
    pub(super) fn expression(&mut self, expr: &Expr) {
        self.visit(expr, &mut Vec::new());
    }

    fn visit<'e>(&mut self, expr: &'e Expr, locals: &mut Locals<'e>) {
        self.touch(expr, locals);
        self.operands(expr, locals);
        let depth = locals.len();
        match &expr.kind {
            ExprKind::Comprehension(node) => return self.comprehension(node, locals),
            ExprKind::Bind { name, value: bound, body }
            | ExprKind::OptMap { target: bound, name, body, .. } => {
                self.visit(bound, locals);
                let place = self.place(bound, locals);
                locals.push((name, place));
                self.visit(body, locals);
            }
            kind => kind.children().into_iter().for_each(|child| self.visit(child, locals)),
        }
        locals.truncate(depth);
    }

    /// Notes what the operands of `expr` have to be.
    fn operands(&mut self, expr: &Expr, locals: &Locals<'_>) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.is(operand, Scalar::Bool, locals),
            ExprKind::Unary(UnaryOp::Neg, operand) => self.is(operand, Scalar::Number, locals),
            ExprKind::Conditional(condition, ..) => self.is(condition, Scalar::Bool, locals),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, locals),
            ExprKind::Call { target, function, args } => {
                let count = args.len().saturating_add(usize::from(target.is_some()));
                let operands = target.iter().map(AsRef::as_ref).chain(args);
                for (at, operand) in operands.enumerate() {
                    let shape = argument(function, target.is_some(), count, at);
                    self.expects(operand, &shape, locals);
                }
                if let ("orValue", Some(target), [default]) =
                    (function.as_str(), target, args.as_slice())
                {
                    let shape = value(default, self.names, locals, 0);
                    self.expects(target, &shape, locals);
                }
            }
            // A computed key: an object or a list.
            ExprKind::Index { operand, .. } if self.place(expr, locals).is_none() => {
                self.expects(operand, &Shape::any(), locals);
            }
            _ => {}
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, locals: &Locals<'_>) {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.is(left, Scalar::Bool, locals);
                self.is(right, Scalar::Bool, locals);
            }
            BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
                self.is(left, Scalar::Number, locals);
                self.is(right, Scalar::Number, locals);
            }
            BinaryOp::In => {
                let listed = value(right, self.names, locals, 0).element.unwrap_or_default();
                self.expects(left, &listed, locals);
                let element = scalars(value(left, self.names, locals, 0));
                self.expects(right, &Shape::list(element), locals);
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                self.expects(left, &value(right, self.names, locals, 0), locals);
                self.expects(right, &value(left, self.names, locals, 0), locals);
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Add => {
                self.expects(left, &scalars(value(right, self.names, locals, 0)), locals);
                self.expects(right, &scalars(value(left, self.names, locals, 0)), locals);
            }
        }
    }

    fn comprehension<'e>(&mut self, node: &'e Comprehension, locals: &mut Locals<'e>) {
        let depth = locals.len();
        self.visit(&node.range, locals);
        let range = self.place(&node.range, locals);
        match (range, node.names.as_slice()) {
            (Some(place), [name]) => {
                self.found.at(&place).elements();
                locals.push((name, Some(place.element())));
            }
            (place, names) => {
                // With two names it may be a list or an object.
                if let Some(place) = place {
                    self.found.at(&place).is_any = true;
                }
                locals.extend(names.iter().map(|name| (name.as_str(), None)));
            }
        }
        let is_test =
            matches!(node.kind, Loop::All | Loop::Exists | Loop::ExistsOne | Loop::Filter);
        if is_test {
            self.is(&node.body, Scalar::Bool, locals);
        }
        node.filter.iter().chain([&node.body]).for_each(|part| self.visit(part, locals));
        locals.truncate(depth);
    }

    fn is(&mut self, expr: &Expr, scalar: Scalar, locals: &Locals<'_>) {
        self.expects(expr, &Shape::of(scalar), locals);
    }

    /// Notes that the value of `expr` is expected to have a shape.
    fn expects(&mut self, expr: &Expr, shape: &Shape, locals: &Locals<'_>) {
        if let Some(place) = self.place(expr, locals) {
            self.found.at(&place).add(shape);
        }
    }

    /// Returns the place that `expr` reads, through variables too.
    fn place(&self, expr: &Expr, locals: &Locals<'_>) -> Option<Place> {
        let mut named = self.names.named(expr, locals)?;
        for _ in 0..=self.names.variables.len() {
            match named {
                Named::Place(place) => return Some(place),
                Named::Variable(_, tree) => match self.names.named(&tree, &Vec::new())? {
                    Named::Variable(_, next) => named = Named::Variable("", next),
                    Named::Place(place) => return Some(place),
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    /// Notes the place that `expr` reads, and reads the variable that it names.
    fn touch(&mut self, expr: &Expr, locals: &Locals<'_>) {
        if let ExprKind::Has { operand, field } = &expr.kind {
            if let Some(place) = self.place(operand, locals) {
                self.found.at(&place).member(field);
            }
            return;
        }
        match self.names.named(expr, locals) {
            Some(Named::Place(place)) => {
                self.found.at(&place);
            }
            Some(Named::Variable(name, tree)) if self.read.insert(name.to_owned()) => {
                self.visit(&tree, &mut Vec::new());
            }
            _ => {}
        }
    }
}

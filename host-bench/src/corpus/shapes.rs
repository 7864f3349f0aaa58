//! The attributes that expressions read, and values near those that they are compared with.
//!
//! Only the generator of requests uses it. What it does not understand it leaves out: the
//! attributes then get any value.

use std::collections::BTreeMap;

use wardgate_compiler::cel::ast::{BinaryOp, Comprehension, Expr, ExprKind, Literal, UnaryOp};
use wardgate_engine::attr::Attr;

/// The beginning of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Principal,
    Resource,
    /// The claims of the token.
    Token,
}

/// A value that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An attribute or claim, or a part of one.
    Path(Origin, Vec<Step>),
    /// An id, the kind, or a list of roles: each request has them.
    Given,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Element,
}

/// The values that an attribute may have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Values that it is compared with, and some beside them.
    pub(crate) values: Vec<Attr>,
    /// True if it is compared with a value of the request.
    pub(crate) is_name: bool,
    /// The elements, if it is a list.
    pub(crate) element: Option<Box<Shape>>,
    /// The members, if it is a map.
    pub(crate) members: BTreeMap<String, Shape>,
}

/// The shapes of the attributes that some expressions read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    pub(crate) principal: Shape,
    pub(crate) resource: Shape,
    pub(crate) token: Shape,
}

/// The definitions that expressions may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) variables: BTreeMap<String, Expr>,
    pub(crate) constants: BTreeMap<String, Attr>,
}

/// Names that macros declare, and what they stand for.
type Scope = Vec<(String, Option<Place>)>;

impl Shapes {
    /// Adds what a condition reads.
    pub(crate) fn condition(&mut self, expr: &Expr, names: &Names) {
        let mut reader = Reader { shapes: self, names, scope: Vec::new(), depth: 0 };
        reader.truth(expr);
    }

    fn at(&mut self, origin: Origin, steps: &[Step]) -> &mut Shape {
        let root = match origin {
            Origin::Principal => &mut self.principal,
            Origin::Resource => &mut self.resource,
            Origin::Token => &mut self.token,
        };
        steps.iter().fold(root, |shape, step| match step {
            Step::Member(name) => shape.members.entry(name.clone()).or_default(),
            Step::Element => &mut **shape.element.get_or_insert_default(),
        })
    }
}

struct Reader<'s, 'n> {
    shapes: &'s mut Shapes,
    names: &'n Names,
    scope: Scope,
    depth: usize,
}

impl<'n> Reader<'_, 'n> {
    /// Reads an expression whose value is a truth.
    fn truth(&mut self, expr: &Expr) {
        self.values(expr, &[Attr::Bool(true), Attr::Bool(false)]);
        self.read(expr);
    }

    fn read(&mut self, expr: &Expr) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.truth(left);
                self.truth(right);
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.truth(inner),
            ExprKind::Binary(BinaryOp::In, item, list) => self.membership(item, list),
            ExprKind::Binary(_, left, right) => {
                self.relation(left, right);
                self.relation(right, left);
                self.read(left);
                self.read(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.truth(condition);
                self.read(then);
                self.read(otherwise);
            }
            ExprKind::Call { target, function, args } => {
                self.call(target.as_deref(), function, args);
            }
            ExprKind::Comprehension(node) => self.comprehension(node),
            ExprKind::Bind { name, value, body } => {
                self.read(value);
                let place = self.place(value);
                self.scope.push((name.clone(), place));
                self.read(body);
                self.scope.pop();
            }
            ExprKind::Has { operand, field } => {
                if let Some(Place::Path(origin, mut steps)) = self.place(operand) {
                    steps.push(Step::Member(field.clone()));
                    self.shapes.at(origin, &steps);
                }
            }
            _ => self.reference(expr),
        }
        self.depth -= 1;
    }

    /// Reads a path, a variable, or the operands of anything else.
    fn reference(&mut self, expr: &Expr) {
        if let Some(Place::Path(origin, steps)) = self.place(expr) {
            self.shapes.at(origin, &steps);
        } else if let Some(variable) = self.variable(expr) {
            self.read(variable);
        } else {
            expr.kind.children().into_iter().for_each(|child| self.read(child));
        }
    }

    fn comprehension(&mut self, node: &Comprehension) {
        self.read(&node.range);
        let element = self.place(&node.range).map(|place| self.element(place));
        let declared = self.scope.len();
        // Of two names the second is the value.
        let last = node.names.len().saturating_sub(1);
        for (number, name) in node.names.iter().enumerate() {
            self.scope.push((name.clone(), element.clone().filter(|_| number == last)));
        }
        node.filter.iter().for_each(|filter| self.truth(filter));
        self.truth(&node.body);
        self.scope.truncate(declared);
    }

    /// Returns the place of the elements of a list.
    fn element(&mut self, list: Place) -> Place {
        let Place::Path(origin, mut steps) = list else { return Place::Given };
        steps.push(Step::Element);
        self.shapes.at(origin, &steps);
        Place::Path(origin, steps)
    }

    fn membership(&mut self, item: &Expr, list: &Expr) {
        if let Some(place) = self.place(list) {
            let element = self.element(place);
            match self.constants(item) {
                values if !values.is_empty() => self.values_at(&element, &values),
                _ => self.name(&element),
            }
        }
        let (members, is_path) = (self.constants(list), self.place(list).is_some());
        self.values(item, &members);
        if let Some(place) = self.place(item).filter(|_| is_path) {
            self.name(&place);
        }
        self.read(item);
        self.read(list);
    }

    /// Notes that `left` is compared with `right`.
    fn relation(&mut self, left: &Expr, right: &Expr) {
        if let ExprKind::Call { target, function, args } = &left.kind {
            let of = target.as_deref().or(args.first());
            let list = of.and_then(|of| self.place(of)).filter(|_| function == "size");
            list.into_iter().for_each(|list| drop(self.element(list)));
        }
        let Some(place) = self.place(left) else { return };
        let constants = self.constants(right);
        if constants.is_empty() && self.place(right).is_some() {
            self.name(&place);
        }
        self.values_at(&place, &constants.iter().flat_map(near).collect::<Vec<_>>());
    }

    fn call(&mut self, target: Option<&Expr>, function: &str, args: &[Expr]) {
        let of = target.or(args.first());
        let text = args.iter().rev().find_map(literal_text);
        let texts =
            |shown: &[&str]| shown.iter().map(|text| Attr::String((*text).into())).collect();
        let values: Vec<Attr> = match (function, text) {
            ("startsWith", Some(text)) => texts(&[text, &format!("{text}more"), "other"]),
            ("endsWith", Some(text)) => texts(&[text, &format!("more{text}"), "other"]),
            ("contains" | "matches", Some(text)) => {
                let plain: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
                texts(&[text, &format!("a{plain}b"), "other"])
            }
            ("timestamp", _) => {
                texts(&["2024-05-01T00:00:00Z", "2024-05-07T00:00:00Z", "2030-01-01T00:00:00Z"])
            }
            ("duration", _) => texts(&["1h", "90m", "240h"]),
            ("inIPAddrRange", Some(text)) => {
                let network = text.split('/').next().unwrap_or(text);
                texts(&[network, "192.168.7.7", "127.0.0.1"])
            }
            ("lowerAscii" | "upperAscii" | "trim" | "split" | "substring", _) => {
                texts(&["a-b", "Other"])
            }
            _ => Vec::new(),
        };
        if let Some(of) = of {
            self.values(of, &values);
        }
        if INTERSECTIONS.contains(&function) {
            self.intersection(target, args);
        }
        target.into_iter().chain(args).for_each(|operand| self.read(operand));
    }

    fn intersection(&mut self, target: Option<&Expr>, args: &[Expr]) {
        let operands: Vec<&Expr> = target.into_iter().chain(args).collect();
        let constants: Vec<Attr> = operands.iter().flat_map(|one| self.constants(one)).collect();
        for place in operands.iter().filter_map(|one| self.place(one)).collect::<Vec<_>>() {
            let element = self.element(place);
            match constants.is_empty() {
                true => self.name(&element),
                false => self.values_at(&element, &constants),
            }
        }
    }

    fn values(&mut self, expr: &Expr, values: &[Attr]) {
        if let Some(place) = self.place(expr) {
            self.values_at(&place, values);
        }
    }

    fn values_at(&mut self, place: &Place, values: &[Attr]) {
        let Place::Path(origin, steps) = place else { return };
        let shape = self.shapes.at(*origin, steps);
        for value in values {
            if !shape.values.contains(value) && shape.values.len() < MAX_VALUES {
                shape.values.push(value.clone());
            }
        }
    }

    fn name(&mut self, place: &Place) {
        if let Place::Path(origin, steps) = place {
            self.shapes.at(*origin, steps).is_name = true;
        }
    }

    /// Returns the place that an expression reads, if it is a path.
    fn place(&self, expr: &Expr) -> Option<Place> {
        match &expr.kind {
            ExprKind::Ident(name) => {
                let declared = self.scope.iter().rev().find(|(known, _)| known == name);
                declared.and_then(|(_, place)| place.clone())
            }
            ExprKind::Select { operand, field, .. } => {
                let below = self.place(operand).and_then(|place| below(place, Some(field)));
                below.or_else(|| root(expr)).or_else(|| self.place(self.variable(expr)?))
            }
            ExprKind::Index { operand, index, .. } => {
                below(self.place(operand)?, literal_text(index))
            }
            _ => None,
        }
    }

    fn variable(&self, expr: &Expr) -> Option<&'n Expr> {
        let names = self.names;
        names.variables.get(named(expr, &["V", "variables"])?)
    }

    /// Returns the values of a literal, of the literals of a list, or of a constant.
    fn constants(&self, expr: &Expr) -> Vec<Attr> {
        match &expr.kind {
            ExprKind::Literal(literal) => value(literal).into_iter().collect(),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let negated = self.constants(inner).into_iter();
                negated
                    .filter_map(|one| {
                        if let Attr::Number(n) = one { Some(Attr::Number(-n)) } else { None }
                    })
                    .collect()
            }
            ExprKind::List(elements) => {
                elements.iter().flat_map(|element| self.constants(&element.value)).collect()
            }
            _ => match named(expr, &["C", "constants"])
                .and_then(|name| self.names.constants.get(name))
            {
                Some(Attr::List(items)) => items.clone(),
                found => found.cloned().into_iter().collect(),
            },
        }
    }
}

/// Returns `name` of `V.name`.
fn named<'e>(expr: &'e Expr, of: &[&str]) -> Option<&'e str> {
    let ExprKind::Select { operand, field, .. } = &expr.kind else { return None };
    let ExprKind::Ident(owner) = &operand.kind else { return None };
    of.contains(&owner.as_str()).then_some(field)
}

/// Returns the place of the root of a path, such as `request.resource.attr` or `P.id`.
fn root(expr: &Expr) -> Option<Place> {
    let mut names = Vec::new();
    let mut expr = expr;
    while let ExprKind::Select { operand, field, .. } = &expr.kind {
        names.insert(0, field.as_str());
        expr = operand;
    }
    let ExprKind::Ident(first) = &expr.kind else { return None };
    names.insert(0, first);
    let path = |origin| Some(Place::Path(origin, Vec::new()));
    match names.as_slice() {
        ["P", "attr"] | ["request", "principal", "attr"] => path(Origin::Principal),
        ["R", "attr"] | ["request", "resource", "attr"] => path(Origin::Resource),
        ["request", "auxData" | "aux_data", "jwt"] => path(Origin::Token),
        ["P" | "R", "id" | "kind" | "roles"]
        | ["request", "principal" | "resource", "id" | "kind" | "roles"] => Some(Place::Given),
        _ => None,
    }
}

fn below(place: Place, name: Option<&str>) -> Option<Place> {
    let Place::Path(origin, mut steps) = place else { return None };
    steps.push(name.map_or(Step::Element, |name| Step::Member(name.to_owned())));
    Some(Place::Path(origin, steps))
}

fn value(literal: &Literal) -> Option<Attr> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::as_conversions,
        reason = "a number near it will do"
    )]
    let number = |number: i64| number as f64;
    Some(match literal {
        Literal::Null => Attr::Null,
        Literal::Bool(value) => Attr::Bool(*value),
        Literal::Int(value) => Attr::Number(number(*value)),
        Literal::Uint(value) => Attr::Number(number(i64::try_from(*value).unwrap_or(i64::MAX))),
        Literal::Double(value) => Attr::Number(*value),
        Literal::String(text) => Attr::String(text.as_str().into()),
        Literal::Bytes(_) => return None,
    })
}

fn literal_text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns a value and its neighbours.
fn near(value: &Attr) -> Vec<Attr> {
    match value {
        Attr::Number(number) => [*number, number - 1.0, number + 1.0].map(Attr::Number).into(),
        Attr::Bool(_) => [true, false].map(Attr::Bool).into(),
        other => vec![other.clone()],
    }
}

const INTERSECTIONS: &[&str] = &["hasIntersection", "intersect", "isSubset", "except"];

/// Bounds on what is read: variables may name each other, and tables of constants may be long.
const MAX_DEPTH: usize = 64;
const MAX_VALUES: usize = 24;

#[cfg(test)]
mod tests;

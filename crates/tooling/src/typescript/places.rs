//! The places in the attributes of a request that expressions read.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use wardgate_compiler::cel::ast::{ExprKind, Literal};
use wardgate_compiler::cel::{self, Expr};
use wardgate_compiler::resolve::model::Variable;
use wardgate_engine::attr::Attr;

/// A place in the attributes of the principal or of the resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) whose: Whose,
    pub(super) steps: Vec<Step>,
}

/// The holder of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Principal,
    Resource,
}

/// A step down into a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Member(String),
    Element,
}

impl Place {
    /// Returns the place of the elements of the list at this one.
    pub(super) fn element(self) -> Self {
        self.below(Step::Element)
    }

    fn below(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// The meaning of an expression that only names something.
#[derive(Clone, Debug)]
pub(super) enum Named<'e> {
    Place(Place),
    /// A variable of the policy: its name and expression.
    Variable(&'e str, Rc<Expr>),
    /// A member of `P` or `R` beside the attributes.
    Field(&'e str),
    Constant(Attr),
}

/// The names that expressions of one policy can use.
pub(super) struct Names<'p> {
    pub(super) constants: &'p BTreeMap<String, Attr>,
    pub(super) globals: &'p BTreeMap<String, Attr>,
    pub(super) variables: BTreeMap<&'p str, Rc<Expr>>,
}

impl<'p> Names<'p> {
    pub(super) fn new(
        trees: &mut Trees,
        constants: &'p BTreeMap<String, Attr>,
        globals: &'p BTreeMap<String, Attr>,
        variables: &'p [Variable],
    ) -> Self {
        let mut known = BTreeMap::new();
        for variable in variables {
            if let Some(tree) = trees.tree(&variable.expr.text) {
                known.insert(variable.name.as_str(), tree);
            }
        }
        Self { constants, globals, variables: known }
    }

    /// Returns what `expr` names. `locals` are the names that macros declare, innermost last, and the
    /// places of their values where they are known.
    pub(super) fn named<'e>(&self, expr: &'e Expr, locals: &Locals<'_>) -> Option<Named<'e>> {
        let (operand, step) = match &expr.kind {
            ExprKind::Ident(name) => {
                let (_, place) = locals.iter().rev().find(|(local, _)| local == name)?;
                return place.clone().map(Named::Place);
            }
            ExprKind::Select { operand, field, .. } => (operand, Step::Member(field.clone())),
            ExprKind::Index { operand, index, .. } => match &index.kind {
                ExprKind::Literal(Literal::String(key)) => (operand, Step::Member(key.clone())),
                ExprKind::Literal(Literal::Int(_) | Literal::Uint(_)) => (operand, Step::Element),
                _ => return None,
            },
            _ => return None,
        };
        if let (Some(root), Step::Member(field)) = (root(operand, locals), &step) {
            return self.member(root, field, expr);
        }
        match self.named(operand, locals)? {
            Named::Place(place) => Some(Named::Place(place.below(step))),
            Named::Variable(_, tree) => match self.named(&tree, &Vec::new())? {
                Named::Place(place) => Some(Named::Place(place.below(step))),
                _ => None,
            },
            Named::Constant(Attr::Map(members)) => match step {
                Step::Member(name) => members.get(&name).cloned().map(Named::Constant),
                Step::Element => None,
            },
            _ => None,
        }
    }

    fn member<'e>(&self, root: Root, field: &str, expr: &'e Expr) -> Option<Named<'e>> {
        match root {
            Root::Variables => {
                let tree = Rc::clone(self.variables.get(field)?);
                Some(Named::Variable(last_name(expr), tree))
            }
            Root::Constants => self.constants.get(field).cloned().map(Named::Constant),
            Root::Globals => self.globals.get(field).cloned().map(Named::Constant),
            Root::Request => None,
            Root::Holder(whose) if field == "attr" => {
                Some(Named::Place(Place { whose, steps: Vec::new() }))
            }
            Root::Holder(_) => Some(Named::Field(last_name(expr))),
        }
    }
}

/// The names that macros declare, with the places of their values.
pub(super) type Locals<'e> = Vec<(&'e str, Option<Place>)>;

/// A name of the environment of conditions.
enum Root {
    Request,
    Holder(Whose),
    Variables,
    Constants,
    Globals,
}

fn root(expr: &Expr, locals: &Locals<'_>) -> Option<Root> {
    match &expr.kind {
        ExprKind::Ident(name) if locals.iter().all(|(local, _)| local != name) => {
            Some(match name.trim_start_matches('.') {
                "P" => Root::Holder(Whose::Principal),
                "R" => Root::Holder(Whose::Resource),
                "request" => Root::Request,
                "V" | "variables" => Root::Variables,
                "C" | "constants" => Root::Constants,
                "G" | "globals" => Root::Globals,
                _ => return None,
            })
        }
        ExprKind::Select { operand, field, .. } => match (root(operand, locals)?, field.as_str()) {
            (Root::Request, "principal") => Some(Root::Holder(Whose::Principal)),
            (Root::Request, "resource") => Some(Root::Holder(Whose::Resource)),
            _ => None,
        },
        _ => None,
    }
}

fn last_name(expr: &Expr) -> &str {
    match &expr.kind {
        ExprKind::Select { field, .. } => field,
        ExprKind::Index { index, .. } => match &index.kind {
            ExprKind::Literal(Literal::String(key)) => key,
            _ => "",
        },
        _ => "",
    }
}

/// The expressions that were parsed already: conditions recur in many policies.
#[derive(Default)]
pub(super) struct Trees(HashMap<Arc<str>, Option<Rc<Expr>>>);

impl Trees {
    pub(super) fn tree(&mut self, text: &Arc<str>) -> Option<Rc<Expr>> {
        let parse = || cel::parse(text).ok().map(Rc::new);
        self.0.entry(Arc::clone(text)).or_insert_with(parse).clone()
    }
}

//! The possible outcomes of a condition, over all requests.
//!
//! An expression is not evaluated but judged: the result is the set of possible outcomes among
//! true, false, another value and an error. The set may hold too many outcomes and never too few,
//! so an outcome outside of it cannot happen. Constants are computed by the machine itself; a fact
//! that one part of a conjunction proves holds in the others, as in `has(R.attr.a) && R.attr.a ==
//! 1`.

mod contradiction;
mod facts;
mod fails;
mod folded;
mod key;
pub(super) mod path;
#[cfg(test)]
mod tests;
mod tree;
mod types;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use wardgate_engine::attr::Attr;
use wardgate_engine::table::Evaluation;

pub(super) use facts::Facts;
use folded::Folded;
use path::Path;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, Literal, UnaryOp};
use wardgate_compiler::cel::{self, Env, Expr};
use wardgate_compiler::resolve::model::Variable;

/// The possible outcomes of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcomes {
    pub(super) yes: bool,
    pub(super) no: bool,
    /// A value that is no boolean.
    pub(super) other: bool,
    pub(super) fails: Fails,
}

/// The ways in which an expression can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fails {
    /// It reads an attribute that may not be there.
    pub(super) missing: bool,
    /// A value may be of the wrong type, or anything else.
    pub(super) broken: bool,
}

impl Fails {
    pub(super) const NONE: Self = Self { missing: false, broken: false };
    pub(super) const BROKEN: Self = Self { missing: false, broken: true };
    pub(super) const MISSING: Self = Self { missing: true, broken: false };

    pub(super) const fn any(self) -> bool {
        self.missing || self.broken
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self { missing: self.missing || other.missing, broken: self.broken || other.broken }
    }
}

impl Outcomes {
    const UNKNOWN: Self =
        Self { yes: true, no: true, other: true, fails: Fails { missing: true, broken: true } };

    pub(super) const fn known(value: bool) -> Self {
        Self { yes: value, no: !value, other: false, fails: Fails::NONE }
    }

    const fn boolean(fails: Fails) -> Self {
        Self { yes: true, no: true, other: false, fails }
    }

    /// Returns true if it is true if it is anything.
    pub(super) const fn is_always(self) -> bool {
        self.yes && !self.no && !self.other
    }

    pub(super) const fn is_never(self) -> bool {
        !self.yes
    }

    const fn negated(self) -> Self {
        Self { yes: self.no, no: self.yes, ..self.as_operand() }
    }

    /// Returns the outcomes as an operand of `&&`, `||` or `!`, where another value is an error.
    const fn as_operand(self) -> Self {
        let fails = Fails { missing: self.fails.missing, broken: self.fails.broken || self.other };
        Self { other: false, fails, ..self }
    }
}

/// The expressions that were parsed already: conditions recur in many policies.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The meaning of their names.
    env: Env,
    known: RefCell<HashMap<Arc<str>, Option<Rc<Expr>>>>,
}

impl Parsed {
    pub(super) fn new() -> Self {
        Self { env: Env::cerbos(), known: RefCell::default() }
    }

    pub(super) fn tree(&self, text: &Arc<str>) -> Option<Rc<Expr>> {
        let mut known = self.known.borrow_mut();
        let parse = || cel::parse(text).ok().map(Rc::new);
        known.entry(Arc::clone(text)).or_insert_with(parse).clone()
    }
}

/// Judges the expressions of one policy.
pub(super) struct Logic<'p> {
    parsed: &'p Parsed,
    constants: &'p BTreeMap<String, Attr>,
    globals: &'p BTreeMap<String, Attr>,
    variables: BTreeMap<&'p str, Rc<Expr>>,
    pub(super) evaluation: Evaluation,
    fuel: Cell<u32>,
}

impl<'p> Logic<'p> {
    pub(super) fn new(
        parsed: &'p Parsed,
        constants: &'p BTreeMap<String, Attr>,
        variables: &'p [Variable],
        options: &'p wardgate_compiler::Options,
    ) -> Self {
        let tree = |variable: &'p Variable| {
            Some((variable.name.as_str(), parsed.tree(&variable.expr.text)?))
        };
        Self {
            parsed,
            constants,
            globals: &options.globals,
            variables: variables.iter().filter_map(tree).collect(),
            evaluation: options.evaluation,
            fuel: Cell::new(FUEL),
        }
    }

    pub(super) fn tree(&self, text: &Arc<str>) -> Option<Rc<Expr>> {
        self.parsed.tree(text)
    }

    /// Returns the possible outcomes of `expr` where the `facts` hold.
    pub(super) fn outcomes(&self, expr: &Expr, facts: &Facts) -> Outcomes {
        if !self.burn() {
            return Outcomes::UNKNOWN;
        }
        if let ExprKind::Literal(literal) = &expr.kind {
            return match literal {
                Literal::Bool(value) => Outcomes::known(*value),
                _ => Outcomes { other: true, ..Outcomes::default() },
            };
        }
        if let Some(known) = self.constant(expr, facts) {
            return known.map_or(BROKEN, |value| value.outcomes());
        }
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.outcomes(inner, facts).negated(),
            ExprKind::Binary(BinaryOp::And, ..) => self.conjunction(expr, facts),
            ExprKind::Binary(BinaryOp::Or, ..) => self.disjunction(expr, facts),
            ExprKind::Binary(BinaryOp::Eq, left, right) if self.is_same(left, right, facts) => {
                Outcomes::known(true)
            }
            ExprKind::Binary(BinaryOp::Ne, left, right) if self.is_same(left, right, facts) => {
                Outcomes::known(false)
            }
            ExprKind::Binary(op, ..) if is_comparison(*op) => {
                Outcomes::boolean(self.fails(expr, facts))
            }
            ExprKind::Has { .. } => Outcomes::boolean(self.fails(expr, facts)),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, [then, otherwise], facts)
            }
            _ => match self.variable(expr, facts) {
                Some(inner) if self.fails(expr, facts) == Fails::NONE => {
                    Outcomes { fails: Fails::NONE, ..self.outcomes(&inner, facts) }
                }
                Some(inner) => self.outcomes(&inner, facts),
                None => {
                    let is_open = self.other_type(expr).is_none();
                    let fails = self.fails(expr, facts);
                    Outcomes { yes: is_open, no: is_open, other: true, fails }
                }
            },
        }
    }

    /// Returns the expression of the variable that `expr` is.
    pub(super) fn variable(&self, expr: &Expr, facts: &Facts) -> Option<Rc<Expr>> {
        match Path::of(expr, facts)?.keys() {
            ["V", name] => self.variables.get(name).cloned(),
            _ => None,
        }
    }

    /// Returns the value of an expression that reads nothing; `Some(None)` if it always fails.
    fn constant(&self, expr: &Expr, facts: &Facts) -> Option<Option<Folded>> {
        self.is_closed(expr, facts).then(|| Folded::of(expr, self.constants))
    }

    fn is_closed(&self, expr: &Expr, facts: &Facts) -> bool {
        if let Some(path) = Path::of(expr, facts) {
            return matches!(path.keys(), ["C", name, ..] if self.constants.contains_key(*name));
        }
        match &expr.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Call { function, .. } if matches!(function.as_str(), "now" | "timeSince") => {
                false
            }
            ExprKind::Select { .. }
            | ExprKind::Has { .. }
            | ExprKind::Index { .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Call { .. }
            | ExprKind::List(_)
            | ExprKind::Map(_) => {
                expr.kind.children().into_iter().all(|child| self.is_closed(child, facts))
            }
            _ => false,
        }
    }

    /// Returns true if both are the same part of the request, of those that are always there.
    fn is_same(&self, left: &Expr, right: &Expr, facts: &Facts) -> bool {
        let both = (Path::of(left, facts), Path::of(right, facts));
        let (Some(left), Some(right)) = both else { return false };
        left == right && left.is_certain()
    }

    fn conditional(
        &self,
        condition: &Expr,
        [then, otherwise]: [&Expr; 2],
        facts: &Facts,
    ) -> Outcomes {
        let outcomes = self.outcomes(condition, facts).as_operand();
        let mut all = Outcomes { fails: outcomes.fails, ..Outcomes::default() };
        for (possible, truth, branch) in
            [(outcomes.yes, true, then), (outcomes.no, false, otherwise)]
        {
            if possible {
                let branch = self.outcomes(branch, &self.with(facts, condition, truth));
                all = Outcomes {
                    yes: all.yes || branch.yes,
                    no: all.no || branch.no,
                    other: all.other || branch.other,
                    fails: all.fails.or(branch.fails),
                };
            }
        }
        all
    }

    fn conjunction(&self, expr: &Expr, facts: &Facts) -> Outcomes {
        let mut operands = Vec::new();
        flatten(expr, BinaryOp::And, &mut operands);
        let judge = |operand: &Expr, facts: &Facts| self.outcomes(operand, facts).as_operand();
        let mut all = self.joined(&operands, facts, true, judge);
        all.yes &= !self.contradicts(expr, true, facts);
        all
    }

    /// Returns the outcomes of a disjunction: `a || b` is `!(!a && !b)`, errors included.
    fn disjunction(&self, expr: &Expr, facts: &Facts) -> Outcomes {
        let mut operands = Vec::new();
        flatten(expr, BinaryOp::Or, &mut operands);
        let judge = |operand: &Expr, facts: &Facts| self.outcomes(operand, facts).negated();
        let mut none = self.joined(&operands, facts, false, judge);
        none.yes &= !self.contradicts(expr, false, facts);
        none.negated()
    }

    /// Joins operands of which a single false one decides. An operand that is neither true nor
    /// false is an error anyhow, so where it matters that another one lacks an attribute, the facts
    /// of this one hold.
    fn joined(
        &self,
        operands: &[&Expr],
        facts: &Facts,
        truth: bool,
        judge: impl Fn(&Expr, &Facts) -> Outcomes,
    ) -> Outcomes {
        let mut known = facts.clone();
        let mut open: Vec<&Expr> = operands.to_vec();
        let mut all = Outcomes { yes: true, ..Outcomes::default() };
        loop {
            let before = open.len();
            let mut certain_no = false;
            open.retain(|operand| {
                let found = judge(operand, &known);
                if found.fails.missing {
                    return true;
                }
                certain_no |= !found.yes && !found.fails.any();
                all.yes &= found.yes;
                all.no |= found.no;
                all.fails = all.fails.or(found.fails);
                self.learn(&mut known, operand, truth);
                false
            });
            if certain_no {
                return Outcomes::known(false);
            }
            if open.len() == before {
                break;
            }
        }
        for operand in open {
            let found = judge(operand, &known);
            all.yes &= found.yes;
            all.no |= found.no;
            all.fails = all.fails.or(found.fails);
        }
        all
    }

    fn burn(&self) -> bool {
        self.fuel.set(self.fuel.get().saturating_sub(1));
        self.fuel.get() > 0
    }

    /// Returns true if a condition took more than its share of work, so that nothing is known of
    /// it.
    pub(super) fn is_spent(&self) -> bool {
        self.fuel.get() == 0
    }

    /// Gives the next condition its own share of work.
    pub(super) fn refuel(&self) {
        self.fuel.set(FUEL);
    }
}

/// Collects the operands of a chain of one operator, in order.
pub(super) fn flatten<'e>(expr: &'e Expr, op: BinaryOp, operands: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(found, left, right) if *found == op => {
            flatten(left, op, operands);
            flatten(right, op, operands);
        }
        _ => operands.push(expr),
    }
}

const fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::In
    )
}

const BROKEN: Outcomes = Outcomes { yes: false, no: false, other: false, fails: Fails::BROKEN };

/// The largest number of nodes of one condition, those of its variables counted each time. A larger
/// one may have any outcome.
const FUEL: u32 = 20_000;

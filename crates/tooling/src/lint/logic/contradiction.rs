//! Demands on one value that no value meets: `a == "x" && a == "y"`.
//!
//! A requirement of an expression is taken apart into demands on the values that it compares with
//! constants. Numbers, texts and booleans of one value exclude each other, so one empty choice is
//! enough.

use std::collections::BTreeMap;

use super::{Facts, Folded, Logic};
use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, ExprKind, UnaryOp};
use wardgate_compiler::policy::model::Condition;

/// The demands on one value.
#[derive(Debug, Default)]
struct Demand {
    /// It is one of these.
    one_of: Option<Vec<Folded>>,
    /// It is none of these, or is not there.
    none_of: Vec<Folded>,
    /// It is at least this, or more if marked.
    least: Option<(f64, bool)>,
    most: Option<(f64, bool)>,
}

/// The demands by the key of the value.
#[derive(Debug, Default)]
pub(super) struct Demands(BTreeMap<String, Demand>);

/// A requirement of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Requirement {
    BeTrue,
    BeFalse,
    /// It is false or no boolean, or fails.
    NotBeTrue,
}

impl Logic<'_> {
    /// Returns true if `expr` cannot come to `truth` because that would contradict itself.
    pub(super) fn contradicts(&self, expr: &Expr, truth: bool, facts: &Facts) -> bool {
        let mut demands = Demands::default();
        let requirement = if truth { Requirement::BeTrue } else { Requirement::BeFalse };
        self.demand(expr, requirement, facts, &mut demands);
        demands.are_impossible()
    }

    /// Returns true if the parts of `condition` cannot hold together.
    pub(super) fn contradicts_itself(&self, condition: &Condition) -> bool {
        let mut demands = Demands::default();
        self.each_implied(condition, true, &mut |tree, holds| {
            let requirement = if holds { Requirement::BeTrue } else { Requirement::NotBeTrue };
            self.demand(tree, requirement, &Facts::default(), &mut demands);
        });
        demands.are_impossible()
    }

    fn demand(&self, expr: &Expr, requirement: Requirement, facts: &Facts, demands: &mut Demands) {
        if !self.burn() {
            return;
        }
        match (&expr.kind, requirement) {
            (ExprKind::Binary(BinaryOp::And, left, right), Requirement::BeTrue)
            | (
                ExprKind::Binary(BinaryOp::Or, left, right),
                Requirement::BeFalse | Requirement::NotBeTrue,
            ) => {
                self.demand(left, requirement, facts, demands);
                self.demand(right, requirement, facts, demands);
            }
            (ExprKind::Unary(UnaryOp::Not, inner), Requirement::BeTrue) => {
                self.demand(inner, Requirement::BeFalse, facts, demands);
            }
            (ExprKind::Unary(UnaryOp::Not, inner), Requirement::BeFalse) => {
                self.demand(inner, Requirement::BeTrue, facts, demands);
            }
            (ExprKind::Binary(op, left, right), _) => {
                self.demand_comparison(expr, (*op, left, right), requirement, facts, demands);
            }
            _ => match self.variable(expr, facts) {
                Some(inner) => self.demand(&inner, requirement, facts, demands),
                None => self.demand_truth(expr, requirement, demands),
            },
        }
    }

    fn demand_comparison(
        &self,
        expr: &Expr,
        (op, left, right): (BinaryOp, &Expr, &Expr),
        requirement: Requirement,
        facts: &Facts,
        demands: &mut Demands,
    ) {
        let (value, constant, op) = match (self.constant(left, facts), self.constant(right, facts))
        {
            (None, Some(Some(constant))) => (left, constant, op),
            (Some(Some(constant)), None) if op != BinaryOp::In => (right, constant, turned(op)),
            _ => return self.demand_truth(expr, requirement, demands),
        };
        let Some(key) = self.key(value) else { return };
        let demand = demands.0.entry(key).or_default();
        match (op, requirement, constant) {
            (_, _, Folded::Opaque) => {}
            (BinaryOp::Eq, Requirement::BeTrue, only)
            | (BinaryOp::Ne, Requirement::BeFalse, only) => {
                demand.choose(vec![only]);
            }
            (BinaryOp::Eq, _, other) | (BinaryOp::Ne, Requirement::BeTrue, other) => {
                demand.exclude([other]);
            }
            (BinaryOp::In, Requirement::BeTrue, Folded::List(items))
                if !items.contains(&Folded::Opaque) =>
            {
                demand.choose(items);
            }
            (BinaryOp::In, Requirement::BeFalse | Requirement::NotBeTrue, Folded::List(items)) => {
                demand.exclude(items.into_iter().filter(|item| *item != Folded::Opaque));
            }
            (BinaryOp::Lt, Requirement::BeTrue, Folded::Number(n)) => demand.at_most(n, true),
            (BinaryOp::Le, Requirement::BeTrue, Folded::Number(n)) => demand.at_most(n, false),
            (BinaryOp::Gt, Requirement::BeTrue, Folded::Number(n)) => demand.at_least(n, true),
            (BinaryOp::Ge, Requirement::BeTrue, Folded::Number(n)) => demand.at_least(n, false),
            _ => {}
        }
    }

    /// Demands a truth of a boolean value; `a != b` counts as the opposite of `a == b`.
    fn demand_truth(&self, expr: &Expr, requirement: Requirement, demands: &mut Demands) {
        let (expr, requirement) = match &expr.kind {
            ExprKind::Binary(BinaryOp::Ne, left, right) => {
                let kind = ExprKind::Binary(BinaryOp::Eq, left.clone(), right.clone());
                let requirement = match requirement {
                    Requirement::BeTrue => Requirement::BeFalse,
                    Requirement::BeFalse => Requirement::BeTrue,
                    Requirement::NotBeTrue => return,
                };
                (&Expr::new(kind, expr.span), requirement)
            }
            _ => (expr, requirement),
        };
        let Some(key) = self.key(expr) else { return };
        let demand = demands.0.entry(key).or_default();
        match requirement {
            Requirement::BeTrue => demand.choose(vec![Folded::Bool(true)]),
            Requirement::BeFalse => demand.choose(vec![Folded::Bool(false)]),
            Requirement::NotBeTrue => demand.exclude([Folded::Bool(true)]),
        }
    }
}

impl Demands {
    fn are_impossible(&self) -> bool {
        self.0.values().any(Demand::is_impossible)
    }
}

impl Demand {
    fn choose(&mut self, among: Vec<Folded>) {
        match &mut self.one_of {
            Some(known) => known.retain(|value| among.contains(value)),
            None => self.one_of = Some(among),
        }
    }

    /// Excludes values, within the bound: a demand less makes nothing impossible.
    fn exclude(&mut self, values: impl IntoIterator<Item = Folded>) {
        let room = MAX_EXCLUDED.saturating_sub(self.none_of.len());
        self.none_of.extend(values.into_iter().take(room));
    }

    fn at_least(&mut self, bound: f64, exclusive: bool) {
        let tighter = self.least.is_none_or(|(known, _)| bound >= known);
        if tighter {
            let same = self.least.is_some_and(|(known, more)| more && known == bound);
            self.least = Some((bound, exclusive || same));
        }
    }

    fn at_most(&mut self, bound: f64, exclusive: bool) {
        let tighter = self.most.is_none_or(|(known, _)| bound <= known);
        if tighter {
            let same = self.most.is_some_and(|(known, less)| less && known == bound);
            self.most = Some((bound, exclusive || same));
        }
    }

    fn is_impossible(&self) -> bool {
        if let Some(choice) = &self.one_of {
            return choice.iter().all(|value| self.none_of.contains(value) || !self.fits(value));
        }
        match (self.least, self.most) {
            (Some((least, more)), Some((most, less))) => {
                least > most || (least == most && (more || less))
            }
            _ => false,
        }
    }

    /// Returns true if a value is within the bounds. A value that is no number cannot be compared
    /// with one.
    fn fits(&self, value: &Folded) -> bool {
        if self.least.is_none() && self.most.is_none() {
            return true;
        }
        let Folded::Number(n) = value else { return false };
        let above = self.least.is_none_or(|(least, more)| *n > least || (*n == least && !more));
        let below = self.most.is_none_or(|(most, less)| *n < most || (*n == most && !less));
        above && below
    }
}

/// Returns the comparison with its sides exchanged.
const fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// The largest number of excluded values of one value. Each remaining choice is compared with all
/// of them.
const MAX_EXCLUDED: usize = 10_000;

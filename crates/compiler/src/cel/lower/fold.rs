//! Subtrees that read nothing become constants.
//!
//! The machine itself computes them, in a pool of their own, so folding cannot disagree with
//! evaluation. It is bounded by one budget per program and by the size of the result.

use wardgate_engine::cel::eval;

use super::super::ast::{Expr, ExprKind};
use super::super::standalone::NoBindings;
use super::paths::Member;
use super::{Lowerer, constants};
use crate::pool::PoolBuilder;

impl Lowerer<'_, '_, '_> {
    /// Returns the constant that `expr` always is, if it is one and more than a literal.
    pub(super) fn folded(&mut self, expr: &Expr) -> Option<u32> {
        let worthwhile = !matches!(
            expr.kind,
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Global(_) | ExprKind::TypeName(_)
        );
        if !self.folds || !worthwhile || !self.is_closed(expr, &mut Vec::new()) {
            return None;
        }
        let mut scratch = PoolBuilder::default();
        let mut lowerer = Lowerer::new(self.is_cerbos, self.scope, &mut scratch, self.fold_budget);
        lowerer.folds = false;
        let program = lowerer.program(expr, "").ok()?;
        let pool = scratch.view();
        let found = eval(&pool, program, &NoBindings, self.fold_budget);
        if found.error().is_some() {
            return None;
        }
        let mut room = MAX_FOLDED;
        // A value that does not fit leaves parts in the pool, which are harmless and unused.
        constants::value(&found, self.pool, &mut room)
    }

    /// Returns true if `expr` reads nothing but constants and names that it declares itself
    /// (`own`).
    fn is_closed<'e>(&self, expr: &'e Expr, own: &mut Vec<&'e str>) -> bool {
        match &expr.kind {
            ExprKind::Ident(name) => own.contains(&name.as_str()),
            ExprKind::Global(_) => false,
            ExprKind::Call { target: None, function, .. } if function == "now" => false,
            ExprKind::Call { function, .. } if function == "timeSince" => false,
            ExprKind::Select { operand, field, .. } | ExprKind::Has { operand, field } => {
                match self.member(operand, field) {
                    Some(member) => !matches!(member, Member::Variable(_)),
                    None => self.is_closed(operand, own),
                }
            }
            kind => {
                let depth = own.len();
                own.extend(kind.declared());
                let closed = kind.children().into_iter().all(|child| self.is_closed(child, own));
                own.truncate(depth);
                closed
            }
        }
    }
}

/// Values and bytes of text in the largest constant that folding makes. More than an author writes
/// by hand, less than would be felt in a policy table.
const MAX_FOLDED: usize = 4096;

//! The value of an expression that reads nothing but constants, computed by the machine itself.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::{Value, eval};
use wardgate_engine::limits::MAX_STEPS;

use super::ast::Expr;
use super::check::check;
use super::env::Env;
use super::lower::{Scope, lower};
use super::standalone::NoBindings;
use crate::pool::PoolBuilder;

/// Evaluates `expr`, which may name these constants, and hands the value to `read`, errors
/// included. Returns `None` if the expression is not well formed.
pub fn constant<R>(
    expr: &Expr,
    constants: &BTreeMap<String, Attr>,
    read: impl FnOnce(Value<'_>) -> R,
) -> Option<R> {
    let checked = check(expr, &Env::cerbos()).ok()?;
    let (no_globals, no_variables) = (BTreeMap::new(), BTreeMap::new());
    let scope = Scope { constants, globals: &no_globals, variables: &no_variables };
    let mut pool = PoolBuilder::default();
    let program = lower(&checked, &scope, &mut pool).ok()?;
    Some(read(eval(&pool.view(), program, &NoBindings, &Cell::new(MAX_STEPS))))
}

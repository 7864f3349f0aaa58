//! Expressions and conditions: compiled to programs and nodes, with every error located.

use std::collections::BTreeMap;
use std::sync::Arc;

use wardgate_engine::attr::Attr;
use wardgate_engine::limits::MAX_CONDITION_DEPTH;
use wardgate_engine::table::layout::Junction;

use super::Emitter;
use crate::cel::{self, CelError, Checked, Env, Scope};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::policy::model::Condition;
use crate::resolve::model::Variable;

/// The names that the expressions of one policy can use.
pub(super) struct Names {
    constants: BTreeMap<String, Attr>,
    variables: BTreeMap<String, u32>,
    /// The set of all variables, if there are any.
    pub(super) set: Option<u32>,
}

impl Emitter<'_> {
    /// Compiles the variables of a policy, each of which may use those before it.
    pub(super) fn names(
        &mut self,
        constants: &BTreeMap<String, Attr>,
        variables: &[Variable],
    ) -> Names {
        let mut names =
            Names { constants: constants.clone(), variables: BTreeMap::new(), set: None };
        let mut ids = Vec::new();
        for variable in variables {
            let Some(program) = self.program(&variable.expr, &names) else { continue };
            let id = self.assembly.pool.variable(&variable.name, program);
            names.variables.insert(variable.name.clone(), id);
            ids.push(id);
        }
        names.set = (!ids.is_empty()).then(|| self.assembly.set(&ids));
        names
    }

    /// Compiles one expression, or adds its errors to the report.
    pub(super) fn program(&mut self, expr: &ExprSource, names: &Names) -> Option<u32> {
        let checked = self.checked(expr)?;
        let scope = Scope {
            constants: &names.constants,
            globals: &self.options.globals,
            variables: &names.variables,
        };
        match cel::lower(&checked, &scope, &mut self.assembly.pool) {
            Ok(program) => Some(program),
            Err(errors) => self.refuse(expr, &errors),
        }
    }

    /// Checks an expression that no rule uses.
    pub(super) fn check_only(&mut self, expr: &ExprSource) {
        self.checked(expr);
    }

    fn checked(&mut self, expr: &ExprSource) -> Option<Checked> {
        let text: Arc<str> = Arc::clone(&expr.text);
        let checked = cel::parse(&text).and_then(|parsed| cel::check(&parsed, &Env::cerbos()));
        match checked {
            Ok(checked) => Some(checked.with_source(&text)),
            Err(errors) => self.refuse(expr, &errors),
        }
    }

    fn refuse<T>(&mut self, expr: &ExprSource, errors: &[CelError]) -> Option<T> {
        for error in errors {
            let found = Diagnostic::error(Code::InvalidExpression, &expr.at, &error.message)
                .at(expr.locate(error.span.start))
                .with(error.found.clone(), error.expected.clone());
            self.errors.push(found);
        }
        None
    }

    /// Compiles a condition and returns its node.
    pub(super) fn condition(&mut self, condition: &Condition, names: &Names) -> Option<u32> {
        self.condition_within(condition, names, MAX_CONDITION_DEPTH - 1)
    }

    /// Compiles a condition. One level is left for the negation that a role policy or a scope may
    /// add.
    fn condition_within(
        &mut self,
        condition: &Condition,
        names: &Names,
        levels: usize,
    ) -> Option<u32> {
        let Some(levels) = levels.checked_sub(1) else { return self.too_deep(condition) };
        let (junction, parts) = match condition {
            Condition::Expr(expr) => {
                let program = self.program(expr, names)?;
                return Some(self.assembly.condition(Junction::Expr, &[program]));
            }
            Condition::All(parts) => (Junction::All, parts),
            Condition::Any(parts) => (Junction::Any, parts),
            Condition::None(parts) => (Junction::None, parts),
        };
        let nodes: Vec<Option<u32>> =
            parts.iter().map(|part| self.condition_within(part, names, levels)).collect();
        let nodes: Option<Vec<u32>> = nodes.into_iter().collect();
        Some(self.assembly.condition(junction, &nodes?))
    }

    fn too_deep(&mut self, condition: &Condition) -> Option<u32> {
        if let Some(expr) = first_expression(condition) {
            let message = format!("a condition nests at most {} levels", MAX_CONDITION_DEPTH - 1);
            self.errors.push(Diagnostic::error(Code::Limit, &expr.at, message));
        }
        None
    }
}

fn first_expression(mut condition: &Condition) -> Option<&ExprSource> {
    loop {
        match condition {
            Condition::Expr(expr) => return Some(expr),
            Condition::All(parts) | Condition::Any(parts) | Condition::None(parts) => {
                condition = parts.first()?;
            }
        }
    }
}

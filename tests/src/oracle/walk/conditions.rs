//! Derived roles, variables and conditions of one walk.

use std::collections::BTreeMap;

use wardgate_compiler::policy::model::Condition;
use wardgate_compiler::resolve::model::Variable;
use wardgate_engine::attr::Attr;
use wardgate_engine::table::Evaluation;

use super::Walk;
use crate::oracle::cel::{Surroundings, evaluate};
use crate::oracle::policies::{self, with_ancestors};
use crate::oracle::value::{Failed, Value};

impl Walk<'_> {
    /// Works out the derived roles of the policy in `scope`. Their conditions see no derived roles.
    pub(super) fn gain_derived_roles(&mut self, scope: &str) {
        self.roles = Ok(Vec::new());
        let policies = self.policies;
        let policy = policies::resource(policies, &self.kind, &self.resource_version, scope);
        let scope = &self.request.resource.scope;
        let roles: Vec<String> = self
            .request
            .principal
            .roles
            .iter()
            .flat_map(|role| with_ancestors(policies, role, scope))
            .collect();
        let lenient = self.options.evaluation == Evaluation::Lenient;
        let mut gained = Vec::new();
        let mut failed = false;
        for (name, role) in policy.into_iter().flat_map(|policy| &policy.derived_roles) {
            if !role.parent_roles.iter().any(|parent| parent == "*" || roles.contains(parent)) {
                continue;
            }
            let instead = lenient.then_some(Value::Null);
            let variables = self.variables(&role.constants, &role.variables, instead);
            let condition = role.condition.as_ref();
            match condition.map_or(Ok(true), |at| self.holds(at, &role.constants, &variables)) {
                Ok(true) => gained.push(name.clone()),
                Ok(false) => {}
                Err(Failed) => failed = true,
            }
        }
        self.report.derived_roles.extend(gained.iter().cloned());
        self.roles = if failed { Err(Failed) } else { Ok(gained) };
    }

    /// Evaluates variables in order. One that fails is reported, and is missing for the next ones,
    /// or is replaced by `instead`.
    pub(super) fn variables(
        &mut self,
        constants: &BTreeMap<String, Attr>,
        variables: &[Variable],
        instead: Option<Value>,
    ) -> BTreeMap<String, Value> {
        let mut values = BTreeMap::new();
        for variable in variables {
            let value = match self.evaluate(&variable.expr.text, constants, &values) {
                Ok(value) => Some(value),
                Err(Failed) => {
                    self.report.errors.insert(variable.expr.text.to_string());
                    instead.clone()
                }
            };
            values.extend(value.map(|value| (variable.name.clone(), value)));
        }
        values
    }

    /// Evaluates a condition up to the first part that decides it. A part that fails ends it in a
    /// strict table and is false in a lenient one; a value that is no boolean is treated so in
    /// both.
    pub(super) fn holds(
        &mut self,
        condition: &Condition,
        constants: &BTreeMap<String, Attr>,
        variables: &BTreeMap<String, Value>,
    ) -> Result<bool, Failed> {
        let (parts, wanted, then) = match condition {
            Condition::Expr(expression) => {
                return match self.evaluate(&expression.text, constants, variables) {
                    Ok(value) => Ok(value.is_true()),
                    Err(Failed) => {
                        self.report.errors.insert(expression.text.to_string());
                        let strict = self.options.evaluation == Evaluation::Strict;
                        if strict { Err(Failed) } else { Ok(false) }
                    }
                };
            }
            Condition::All(parts) => (parts, false, false),
            Condition::Any(parts) => (parts, true, true),
            Condition::None(parts) => (parts, true, false),
        };
        for part in parts {
            if self.holds(part, constants, variables)? == wanted {
                return Ok(then);
            }
        }
        Ok(!then)
    }

    pub(super) fn evaluate(
        &self,
        expression: &str,
        constants: &BTreeMap<String, Attr>,
        variables: &BTreeMap<String, Value>,
    ) -> Result<Value, Failed> {
        let surroundings = Surroundings {
            request: self.request,
            now: self.now,
            globals: &self.options.globals,
            constants,
            variables,
            roles: &self.roles,
        };
        let tree = self.trees.tree(expression).ok_or(Failed)?;
        evaluate(&tree, &surroundings)
    }
}

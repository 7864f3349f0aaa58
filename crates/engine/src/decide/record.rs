//! The record of a decision in progress.
//!
//! A record never changes the effect. Without one only the effect is wanted, and the walk leaves
//! out the variables and outputs that it does not need. This is a value and no type parameter
//! because a copy of the walk for each kind of record made the runtime module a tenth larger.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::cel::Value;
use crate::decision::{Effect, EvaluationError, Output};
use crate::limits::MAX_EXPLANATION_BYTES;
use crate::table::Rule;

/// The parts of the decision that are collected.
#[derive(Debug, Default)]
pub(crate) struct Record<'a> {
    pub(crate) derived_roles: Vec<&'a str>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) errors: Vec<EvaluationError>,
    /// The rules that were considered, if they are wanted.
    pub(crate) trace: Option<Trace>,
}

/// The rules and expressions on the way to the decision.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<Step>,
    /// The expressions evaluated since the last step.
    leaves: Vec<Leaf>,
    /// The bytes that may still be recorded: a request with many roles and actions meets every rule
    /// many times.
    bytes_left: usize,
}

impl Default for Trace {
    fn default() -> Self {
        Self { steps: Vec::new(), leaves: Vec::new(), bytes_left: MAX_EXPLANATION_BYTES }
    }
}

impl<'a> Record<'a> {
    /// Notes derived roles, each name once, sorted.
    pub(crate) fn derived_roles(&mut self, names: &[&'a str]) {
        for name in names {
            if let Err(at) = self.derived_roles.binary_search(name) {
                self.derived_roles.insert(at, *name);
            }
        }
    }

    /// Notes an error, each once, sorted.
    pub(crate) fn error(&mut self, error: EvaluationError) {
        if let Err(at) = self.errors.binary_search(&error) {
            self.errors.insert(at, error);
        }
    }
}

impl Trace {
    /// Notes an expression of a condition and its value.
    pub(crate) fn leaf(&mut self, expression: &str, value: &Value<'_>) {
        let value = describe(value);
        if self.pays(expression.len().saturating_add(value.len())) {
            self.leaves.push(Leaf { expression: expression.to_string(), value });
        }
    }

    /// Notes a rule that was considered.
    pub(crate) fn step(&mut self, position: WalkPosition<'_>, rule: &Rule<'_>, outcome: Outcome) {
        let (file, line) = rule.file();
        let texts =
            [position.action, position.role, position.scope, rule.policy(), rule.name(), file];
        if !self.pays(texts.iter().map(|text| text.len()).sum()) {
            return;
        }
        self.steps.push(Step {
            action: position.action.to_string(),
            role: position.role.to_string(),
            scope: position.scope.to_string(),
            policy: rule.policy().to_string(),
            rule: rule.name().to_string(),
            derived_role: rule.derived_role().map(ToString::to_string),
            effect: if rule.is_negated() { Some(Effect::Allow) } else { rule.effect() },
            narrows: rule.is_from_role_policy() || rule.is_negated(),
            file: file.to_string(),
            line,
            outcome,
            leaves: core::mem::take(&mut self.leaves),
        });
    }

    /// Returns true if an entry with so many bytes of text still fits. Once one does not, none
    /// does.
    fn pays(&mut self, text: usize) -> bool {
        let left = self.bytes_left.checked_sub(size_of::<Step>().saturating_add(text));
        self.bytes_left = left.unwrap_or(0);
        left.is_some()
    }
}

/// The position of the walk at a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkPosition<'a> {
    pub(crate) action: &'a str,
    pub(crate) role: &'a str,
    pub(crate) scope: &'a str,
}

fn describe(value: &Value<'_>) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Error(error) if error.is_partly() => error.to_string(),
        Value::Error(error) => alloc::format!("error: {error}"),
        _ => String::from("not a boolean"),
    }
}

/// One rule that was considered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The action being decided.
    pub action: String,
    /// The role being tried; empty in principal policies.
    pub role: String,
    /// The scope being searched.
    pub scope: String,
    /// Key of the rule's policy.
    pub policy: String,
    /// Name of the rule.
    pub rule: String,
    /// The derived role through which the rule names the role.
    pub derived_role: Option<String>,
    /// The effect of the rule in its source; `None` if it only emits outputs.
    pub effect: Option<Effect>,
    /// True if the rule denies when its condition fails: it belongs to a role policy, or its scope
    /// needs the consent of the parent scope.
    pub narrows: bool,
    /// Source file of the rule.
    pub file: String,
    /// Line of the rule in that file, 1-based.
    pub line: u32,
    /// The result.
    pub outcome: Outcome,
    /// The expressions that were evaluated.
    pub leaves: Vec<Leaf>,
}

/// The result of considering a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It applied.
    Applied,
    /// Its condition is not met.
    ConditionNotMet,
    /// The condition of the derived role is not met.
    DerivedRoleNotMet,
    /// Its conditions are met for a part of the topics that the request asks about. A rule that
    /// allows does not apply then, and one that denies does.
    PartlyMet,
    /// A condition could not be evaluated, and the table is strict, or a limit was reached.
    Failed,
    /// It does not name the action.
    OtherAction,
    /// It does not name the role.
    OtherRole,
    /// It does not name the kind of resource.
    OtherResource,
}

/// One expression of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The expression as its author wrote it.
    pub expression: String,
    /// `true`, `false`, `error: ...`, or that it depends on the topic.
    pub value: String,
}

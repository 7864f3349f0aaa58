//! Who watches a decision being made: nobody, a recorder for the answer, a tracer for explanations.
//!
//! An observer never changes the effect. Only a full one makes the walk evaluate variables and
//! outputs that the effect does not need.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::cel::Value;
use crate::decision::{Effect, EvaluationError, Output};
use crate::table::Rule;

/// What a full observer has collected for the decision.
#[derive(Debug, Default)]
pub(crate) struct Record<'a> {
    pub(crate) derived_roles: BTreeSet<&'a str>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) errors: BTreeSet<EvaluationError>,
}

/// Watches a walk over the rules.
pub(crate) trait Observer<'a> {
    /// Whether variables and outputs that the effect does not need are evaluated too.
    const FULL: bool;
    /// Whether rules that are no candidates are reported too.
    const TRACE: bool = false;

    /// Returns where a full observer collects.
    fn record(&mut self) -> Option<&mut Record<'a>> {
        None
    }

    /// An expression of a condition was evaluated.
    fn leaf(&mut self, _expression: &'a str, _value: &Value<'a>) {}

    /// A rule was considered.
    fn step(&mut self, _place: Place<'a>, _rule: &Rule<'a>, _outcome: Outcome) {}

    /// Hands over what was collected.
    fn take_record(&mut self) -> Record<'a> {
        self.record().map(core::mem::take).unwrap_or_default()
    }
}

/// Where in the walk a rule was considered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) action: &'a str,
    pub(crate) role: &'a str,
    pub(crate) scope: &'a str,
}

/// Only the effect is wanted.
pub(crate) struct Silent;

impl<'a> Observer<'a> for Silent {
    const FULL: bool = false;
}

/// The whole decision is wanted.
#[derive(Default)]
pub(crate) struct Recorder<'a> {
    record: Record<'a>,
}

impl<'a> Observer<'a> for Recorder<'a> {
    const FULL: bool = true;

    fn record(&mut self) -> Option<&mut Record<'a>> {
        Some(&mut self.record)
    }
}

/// The way to the decision is wanted.
#[derive(Default)]
pub(crate) struct Tracer<'a> {
    record: Record<'a>,
    leaves: Vec<Leaf>,
    steps: Vec<Step>,
}

impl Tracer<'_> {
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

impl<'a> Observer<'a> for Tracer<'a> {
    const FULL: bool = true;
    const TRACE: bool = true;

    fn record(&mut self) -> Option<&mut Record<'a>> {
        Some(&mut self.record)
    }

    fn leaf(&mut self, expression: &'a str, value: &Value<'a>) {
        self.leaves.push(Leaf { expression: expression.to_string(), value: describe(value) });
    }

    fn step(&mut self, place: Place<'a>, rule: &Rule<'a>, outcome: Outcome) {
        let (file, line) = rule.file();
        self.steps.push(Step {
            action: place.action.to_string(),
            role: place.role.to_string(),
            scope: place.scope.to_string(),
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
}

fn describe(value: &Value<'_>) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
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
    /// What the rule says, as its author wrote it; nothing if it only emits outputs.
    pub effect: Option<Effect>,
    /// Whether the rule denies where its condition fails: it belongs to a role policy, or its scope
    /// needs the consent of the parent scope.
    pub narrows: bool,
    /// Source file of the rule.
    pub file: String,
    /// Line of the rule in that file, 1-based.
    pub line: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// The expressions that were looked at.
    pub leaves: Vec<Leaf>,
}

/// What came of considering a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It applied.
    Applied,
    /// Its condition is not met.
    ConditionNotMet,
    /// The condition of the derived role is not met.
    DerivedRoleNotMet,
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
    /// `true`, `false`, or `error: ...`.
    pub value: String,
}

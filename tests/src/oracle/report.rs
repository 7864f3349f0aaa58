//! The oracle's answer, in a form in which a decision of the engine can be compared with it.
//!
//! Of errors only the expression is compared, and of an output that failed only the failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Value as Json, json};
use wardgate_engine::attr::Attr;
use wardgate_engine::decision::{Decision, Effect};

use crate::generate::with;

/// The decision on one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The effect.
    pub effect: Effect,
    /// The key of the policy that decided, or `NO_MATCH`.
    pub policy: String,
    /// The scope in which the decision fell.
    pub scope: String,
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// The rule, as `policy#rule`.
    pub source: String,
    /// The action.
    pub action: String,
    /// The value; `None` if it failed.
    pub value: Option<Attr>,
}

/// The answer to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// By action.
    pub actions: BTreeMap<String, Decided>,
    /// The derived roles that the principal gained.
    pub derived_roles: BTreeSet<String>,
    /// In the order in which they were emitted.
    pub outputs: Vec<Emitted>,
    /// The expressions that failed.
    pub errors: BTreeSet<String>,
}

impl From<&Decision> for Report {
    fn from(decision: &Decision) -> Self {
        let actions = decision.actions.iter().map(|one| {
            let decided = Decided {
                effect: one.effect,
                policy: one.policy.clone(),
                scope: one.scope.clone(),
            };
            (one.action.clone(), decided)
        });
        let outputs = decision.outputs.iter().map(|output| Emitted {
            source: output.source.clone(),
            action: output.action.clone(),
            value: output.value.clone().ok(),
        });
        let errors = decision.evaluation_errors.iter().map(|error| error.expression.clone());
        Self {
            actions: actions.collect(),
            derived_roles: decision.effective_derived_roles.iter().cloned().collect(),
            outputs: outputs.collect(),
            errors: errors.collect(),
        }
    }
}

impl Report {
    /// Returns the differences from `found`.
    #[must_use]
    pub fn differences(&self, found: &Self) -> String {
        let mut lines = Vec::new();
        let mut compare = |what: &str, expected: &dyn fmt::Debug, found: &dyn fmt::Debug| {
            let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
            if expected != found {
                lines.push(format!("{what}:\n  expected {expected}\n  found    {found}"));
            }
        };
        compare("actions", &self.actions, &found.actions);
        compare("derived roles", &self.derived_roles, &found.derived_roles);
        compare("outputs", &self.outputs, &found.outputs);
        compare("errors", &self.errors, &found.errors);
        lines.join("\n")
    }

    /// Returns `request` as a check of a case that expects this report.
    #[must_use]
    pub fn as_check(&self, request: &Json) -> Json {
        let check = with(request, "expect", self.expect());
        let check = with(&check, "derivedRoles", json!(self.derived_roles));
        let check = with(&check, "outputs", self.sorted_outputs());
        with(&check, "errors", json!(self.errors))
    }

    fn expect(&self) -> Json {
        let expected = |(action, decided): (&String, &Decided)| {
            let effect = if decided.effect == Effect::Allow { "allow" } else { "deny" };
            let rest = json!({"effect": effect, "policy": decided.policy, "scope": decided.scope});
            (action.clone(), rest)
        };
        self.actions.iter().map(expected).collect()
    }

    fn sorted_outputs(&self) -> Json {
        let mut sorted: Vec<&Emitted> = self.outputs.iter().collect();
        sorted.sort_by(|a, b| (&a.source, &a.action).cmp(&(&b.source, &b.action)));
        let one = |output: &&Emitted| {
            let head = json!({"src": output.source, "action": output.action});
            let value = output.value.as_ref().map(wardgate_engine::wire::attr_json);
            match value.and_then(|text| serde_json::from_str(&text).ok()) {
                Some(value) => with(&head, "val", value),
                None => with(&head, "error", true.into()),
            }
        };
        sorted.iter().map(one).collect()
    }
}

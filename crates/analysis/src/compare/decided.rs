//! One decision in a few words, with the place of its rule.

use wardgate_engine::decide::{Explanation, Outcome};
use wardgate_engine::decision::{Effect, Reason};

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decided {
    /// True if the action is allowed.
    pub is_allowed: bool,
    /// The reason in a few words: `rule`, `no rule applied`, and so on.
    pub reason: String,
    /// The rule that decided, if one did.
    pub rule: Option<RulePlace>,
}

/// The place of a rule in the policies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulePlace {
    /// The key of the policy.
    pub policy: String,
    /// The name of the rule.
    pub name: String,
    /// The file, which is empty in a table without explanations.
    pub file: String,
    /// The line, 1-based.
    pub line: u32,
}

impl Decided {
    /// Returns the decision about the first action of an explanation.
    #[must_use]
    pub fn of(explanation: &Explanation) -> Self {
        let Some(decision) = explanation.decision.actions.first() else {
            return Self { is_allowed: false, reason: "no decision".to_owned(), rule: None };
        };
        let (reason, source) = match &decision.reason {
            Reason::Rule(rule) => ("rule", Some(rule)),
            Reason::NotInRolePolicy => ("not listed in a role policy", None),
            Reason::NoRuleApplied => ("no rule applied", None),
            Reason::NoPolicy => ("no policy", None),
            Reason::ConditionError(rule) => ("condition failed", Some(rule)),
            Reason::SchemaViolation => ("attributes do not fit the schema", None),
            Reason::Expired => ("the policies have expired", None),
            _ => ("limit reached", None),
        };
        let step = source.and_then(|source| {
            explanation.steps.iter().rev().find(|step| {
                let decides = matches!(step.outcome, Outcome::Applied | Outcome::Failed);
                decides && format!("{}#{}", step.policy, step.rule) == **source
            })
        });
        Self {
            is_allowed: decision.effect == Effect::Allow,
            reason: reason.to_owned(),
            rule: step.map(|step| RulePlace {
                policy: step.policy.clone(),
                name: step.rule.clone(),
                file: step.file.clone(),
                line: step.line,
            }),
        }
    }
}

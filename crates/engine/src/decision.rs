//! The answer of the PDP: a decision for each action, with reasons, outputs and errors.

use alloc::string::String;
use alloc::vec::Vec;

use crate::attr::Attr;

/// The effect of a rule or of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The action may be performed.
    Allow,
    /// The action may not be performed.
    Deny,
}

/// The answer to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The id of the request.
    pub request_id: String,
    /// The id of the resource.
    pub resource_id: String,
    /// One entry for each distinct action, in the order of the request.
    pub actions: Vec<ActionDecision>,
    /// The derived roles that the principal gained, sorted.
    pub effective_derived_roles: Vec<String>,
    /// Outputs of the rules that were evaluated, in order of evaluation.
    pub outputs: Vec<Output>,
    /// The violations of the policy's schemas by the attributes.
    pub validation_errors: Vec<ValidationError>,
    /// Conditions and variables that failed, sorted by expression and message, each once.
    pub evaluation_errors: Vec<EvaluationError>,
}

/// The decision on one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDecision {
    /// The action.
    pub action: String,
    /// Allow or deny.
    pub effect: Effect,
    /// Key of the policy that decided, such as `resource.leave_request.vdefault/acme`, or
    /// `NO_MATCH`.
    pub policy: String,
    /// The scope in which the search decided.
    pub scope: String,
    /// The reason of the effect.
    pub reason: Reason,
}

/// The reason why an action was allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This rule (`policy#rule`) applied.
    Rule(String),
    /// A role policy does not list the action.
    NotInRolePolicy,
    /// Policies exist, but none of their rules applied.
    NoRuleApplied,
    /// No policy matches the request.
    NoPolicy,
    /// A condition of this rule could not be evaluated, and the table is strict.
    ConditionError(String),
    /// Evaluating this rule hit a resource limit.
    LimitReached(String),
    /// The request as a whole hit a resource limit.
    RequestLimitReached,
    /// The attributes do not fit the schema, and the table rejects that.
    SchemaViolation,
    /// The time of the decision is past the end of the policies' validity.
    Expired,
    /// The rate limit of this name has too few tokens. Hosts that charge limits say so; the engine
    /// itself does not.
    #[cfg(feature = "ratelimit")]
    Limited(String),
    /// The charge of the rate limit of this name is unknown, since an expression of it failed. The
    /// name is empty if the request reached a limit of the evaluation before any.
    #[cfg(feature = "ratelimit")]
    LimitError(String),
    /// The store of the rate limit of this name is away, and the limit denies then.
    #[cfg(feature = "ratelimit")]
    StoreAway(String),
}

/// A value that a rule returns to the PEP.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The rule, as `policy#rule`.
    pub source: String,
    /// The action for which it was evaluated.
    pub action: String,
    /// The value, or the text of the error.
    pub value: Result<Attr, String>,
}

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// JSON pointer to the offending attribute.
    pub path: String,
    /// The fault, in words.
    pub message: String,
    /// The owner of the attribute.
    pub source: ValidationSource,
}

/// The owner of validated attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationSource {
    /// The principal.
    Principal,
    /// The resource.
    Resource,
}

/// An expression that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvaluationError {
    /// The source text of the expression.
    pub expression: String,
    /// The error, in words.
    pub message: String,
}

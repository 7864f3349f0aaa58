//! What the PDP answers: a decision for each action, and everything that led to it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::attr::Attr;

/// What a rule says, and what a decision comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The action may be performed.
    Allow,
    /// It may not.
    Deny,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The id that the request carried.
    pub request_id: String,
    /// The id of the resource that was asked about.
    pub resource_id: String,
    /// One entry for each distinct action, in the order of the request.
    pub actions: Vec<ActionDecision>,
    /// The derived roles that the principal gained, sorted.
    pub effective_derived_roles: Vec<String>,
    /// Outputs of the rules that were evaluated, in order of evaluation.
    pub outputs: Vec<Output>,
    /// Where the attributes do not fit the schemas of the policy.
    pub validation_errors: Vec<ValidationError>,
    /// Conditions and variables that failed, sorted by expression and message, each once.
    pub evaluation_errors: Vec<EvaluationError>,
}

/// The decision on one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDecision {
    /// The action.
    pub action: String,
    /// May it be performed?
    pub effect: Effect,
    /// Key of the policy that decided, such as `resource.leave_request.vdefault/acme`, or `NO_MATCH`.
    pub policy: String,
    /// Scope in which the decision fell.
    pub scope: String,
    /// Why.
    pub reason: Reason,
}

/// Why an action was allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This rule (`policy#rule`) applied.
    Rule(String),
    /// A role policy does not list the action.
    NotInRolePolicy,
    /// Policies exist, but none of their rules applied.
    NoRuleApplied,
    /// There is no policy for this request.
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
}

/// A value that a rule hands back to the PEP.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The rule, as `policy#rule`.
    pub source: String,
    /// The action that it was evaluated for.
    pub action: String,
    /// The value, or why there is none.
    pub value: Result<Attr, String>,
}

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// JSON pointer to the offending attribute.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Whose attributes.
    pub source: ValidationSource,
}

/// Whose attributes were validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationSource {
    /// The principal's.
    Principal,
    /// The resource's.
    Resource,
}

/// An expression that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvaluationError {
    /// The expression as its author wrote it.
    pub expression: String,
    /// What went wrong.
    pub message: String,
}

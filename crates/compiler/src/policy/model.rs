//! The parsed policy: the fields of one document, before imports are looked up.
//!
//! Validation happens once: a name in these types has the shape of its kind, and every target of a
//! later message carries its [`Location`].

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::table::limit::{Charged, Consistency, Failure, Mode};
use wardgate_ratelimit::{Algorithm, Window};

use super::name::{DERIVED_ROLES, EXPORT_CONSTANTS, EXPORT_VARIABLES, LIMIT, policy_key, set_key};
use crate::diagnostics::Diagnostic;
use crate::expression::ExprSource;
use crate::source::{Location, Position};

/// One policy document.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The start of the document.
    pub location: Location,
    /// True if the document is to be left out.
    pub disabled: bool,
    /// True if it was read without an error.
    pub sound: bool,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// The body, by the kind of the policy.
    pub body: Body,
    /// Errors that are reported if the policy is used: Cerbos loads such a document, but refuses to
    /// compile it.
    pub deferred: Vec<Diagnostic>,
}

impl Policy {
    /// Returns the key that the policy goes by, such as `resource.album.vdefault/acme`.
    #[must_use]
    pub fn key(&self) -> String {
        let of =
            |kind, common: &Common| policy_key(kind, &common.name, &common.version, &common.scope);
        match &self.body {
            Body::Resource(body) => of("resource", &body.common),
            Body::Principal(body) => of("principal", &body.common),
            Body::Role(body) => of("role", &body.common),
            Body::DerivedRoles(body) => set_key(DERIVED_ROLES, &body.name),
            Body::ExportVariables(set) => set_key(EXPORT_VARIABLES, &set.name),
            Body::ExportConstants(set) => set_key(EXPORT_CONSTANTS, &set.name),
            Body::Limit(body) => format!("{LIMIT}.{}", body.name),
        }
    }

    /// Returns true if it is a set that other policies import.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        use Body::{DerivedRoles, ExportConstants, ExportVariables};
        matches!(self.body, DerivedRoles(_) | ExportVariables(_) | ExportConstants(_))
    }
}

/// The kinds of policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `resourcePolicy`.
    Resource(ResourceBody),
    /// `principalPolicy`.
    Principal(PrincipalBody),
    /// `rolePolicy`.
    Role(RoleBody),
    /// `derivedRoles`.
    DerivedRoles(DerivedRolesBody),
    /// `exportVariables`.
    ExportVariables(Export<ExprSource>),
    /// `exportConstants`.
    ExportConstants(Export<Attr>),
    /// `wardgateLimit`.
    Limit(Box<LimitBody>),
}

/// A rate limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitBody {
    /// Its name.
    pub name: String,
    /// The pattern of the resource kind.
    pub resource: String,
    /// Action patterns.
    pub actions: Vec<String>,
    /// When it applies; `None` is always.
    pub condition: Option<Condition>,
    /// The parts of the key; none is one key for all requests.
    pub key: Vec<ExprSource>,
    /// The tokens that a request takes; `None` is one.
    pub cost: Option<ExprSource>,
    /// The tokens of a window.
    pub quota: ExprSource,
    /// The window.
    pub window: Window,
    /// The algorithm, with the burst of GCRA.
    pub algorithm: Algorithm,
    /// The actions that it charges.
    pub charged: Charged,
    /// The place of its states.
    pub consistency: Consistency,
    /// The treatment while its store is away.
    pub failure: Failure,
    /// Its effect.
    pub mode: Mode,
    /// Variables that its expressions may use.
    pub variables: Definitions<ExprSource>,
    /// Constants that its expressions may use.
    pub constants: Definitions<Attr>,
}

impl LimitBody {
    /// Returns the tokens of a full key that the limit states, of GCRA alone.
    #[must_use]
    pub const fn burst(&self) -> Option<u64> {
        match self.algorithm {
            Algorithm::Gcra { burst } => burst,
            Algorithm::Fixed | Algorithm::Sliding => None,
        }
    }

    /// Returns all expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &ExprSource> {
        let condition = self.condition.iter().flat_map(Condition::expressions);
        condition.chain(&self.key).chain(&self.cost).chain([&self.quota])
    }
}

/// A name that the author wrote, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Its location.
    pub location: Location,
}

/// Names that the expressions of a policy can use: imported sets and its own definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions<T> {
    /// The names of the imported sets.
    pub imports: Vec<Named>,
    /// The policy's own definitions.
    pub local: Vec<Definition<T>>,
}

/// One named variable or constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition<T> {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: T,
    /// The location of the value.
    pub location: Location,
    /// The position of the name.
    pub key: Position,
    /// The list that holds it, for messages.
    pub origin: Origin,
}

/// The list that holds a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `variables.local` or `constants.local` of the policy.
    Local,
    /// The deprecated `variables` at the top of the document.
    TopLevel,
    /// An exported set.
    Exported,
}

/// A named set of definitions that other policies import.
#[derive(Clone, Debug, PartialEq)]
pub struct Export<T> {
    /// The name of the set.
    pub name: String,
    /// The exported definitions.
    pub definitions: Vec<Definition<T>>,
}

/// The effect that a scope permits to the rules of its policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopePermissions {
    /// The scope's rules win over those of its parents.
    #[default]
    OverrideParent,
    /// An allow counts only if a parent scope allows as well.
    RequireParentalConsentForAllows,
}

/// Name, version, scope and definitions, which resource, principal and role policies share.
#[derive(Clone, Debug, PartialEq)]
pub struct Common {
    /// The resource kind, the principal's id, or the role.
    pub name: String,
    /// The version.
    pub version: String,
    /// The scope; empty is the root.
    pub scope: String,
    /// `None` if the document has no such field.
    pub scope_permissions: Option<ScopePermissions>,
    /// The location of `scopePermissions`, or of the document if it has no such field.
    pub scope_permissions_location: Location,
    /// Its variables.
    pub variables: Definitions<ExprSource>,
    /// Its constants.
    pub constants: Definitions<Attr>,
}

/// A resource policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceBody {
    /// The part that all kinds share.
    pub common: Common,
    /// The sets of derived roles that its rules may name.
    pub import_derived_roles: Vec<Named>,
    /// Its schema references.
    pub schemas: Schemas,
    /// Its rules, in order.
    pub rules: Vec<ResourceRule>,
}

/// A principal policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalBody {
    /// The part that all kinds share.
    pub common: Common,
    /// Its rules, each resource pattern once.
    pub rules: Vec<PrincipalRule>,
}

/// A role policy.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleBody {
    /// The part that all kinds share.
    pub common: Common,
    /// The roles that this role narrows.
    pub parent_roles: Vec<String>,
    /// Its rules, in order.
    pub rules: Vec<RoleRule>,
}

/// A set of derived roles.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedRolesBody {
    /// The name of the set.
    pub name: String,
    /// Variables that the conditions may use.
    pub variables: Definitions<ExprSource>,
    /// Constants that the conditions may use.
    pub constants: Definitions<Attr>,
    /// The roles, each name once.
    pub definitions: Vec<RoleDefinition>,
}

/// One derived role as its set defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleDefinition {
    /// Its name.
    pub name: String,
    /// The roles that may gain it; `*` is any role.
    pub parent_roles: Vec<String>,
    /// When they gain it; `None` is always.
    pub condition: Option<Condition>,
    /// The location of the definition.
    pub location: Location,
}

/// The schemas that attributes must satisfy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schemas {
    /// For the principal's attributes.
    pub principal: Option<SchemaRef>,
    /// For the resource's attributes.
    pub resource: Option<SchemaRef>,
}

/// A reference to one schema.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaRef {
    /// The reference as written.
    pub reference: String,
    /// Action patterns for which the schema is not consulted.
    pub ignore_when_actions: Vec<String>,
    /// The location of the reference.
    pub location: Location,
}

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// `EFFECT_ALLOW`.
    Allow,
    /// `EFFECT_DENY`.
    Deny,
}

/// One rule of a resource policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceRule {
    /// Its name; `rule-001` and so on where the author gave none.
    pub name: String,
    /// Action patterns.
    pub actions: Vec<String>,
    /// Roles; exactly `["*"]` if any role will do.
    pub roles: Vec<String>,
    /// Derived roles, as named by the author.
    pub derived_roles: Vec<Named>,
    /// The effect.
    pub effect: Effect,
    /// When it applies; `None` is always.
    pub condition: Option<Condition>,
    /// The outputs.
    pub output: Output,
    /// The location of the rule.
    pub location: Location,
}

/// The rules of a principal policy for one resource pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalRule {
    /// The pattern of the resource kind.
    pub resource: String,
    /// One rule per action pattern, in order.
    pub actions: Vec<ActionRule>,
}

/// One action rule of a principal policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRule {
    /// Its name; `RESOURCE_rule-001` and so on where the author gave none.
    pub name: String,
    /// The action pattern.
    pub action: String,
    /// The effect.
    pub effect: Effect,
    /// When it applies; `None` is always.
    pub condition: Option<Condition>,
    /// The outputs.
    pub output: Output,
    /// The location of the rule.
    pub location: Location,
}

/// One rule of a role policy.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleRule {
    /// Its name; empty where the author gave none.
    pub name: String,
    /// The pattern of the resource kind.
    pub resource: String,
    /// The patterns of the actions that the role may perform.
    pub allow_actions: Vec<String>,
    /// When it applies; `None` is always.
    pub condition: Option<Condition>,
    /// The outputs.
    pub output: Output,
    /// The location of the rule.
    pub location: Location,
}

/// When a rule applies.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// One expression must be true.
    Expr(ExprSource),
    /// All must hold.
    All(Vec<Condition>),
    /// At least one must hold.
    Any(Vec<Condition>),
    /// None may hold.
    None(Vec<Condition>),
}

/// The outputs of a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// When the rule applied (`when.ruleActivated`, or the deprecated `expr`).
    pub activated: Option<ExprSource>,
    /// When everything but its condition matched (`when.conditionNotMet`).
    pub condition_not_met: Option<ExprSource>,
}

impl Condition {
    /// Returns its expressions in the order in which they are written.
    #[must_use]
    pub fn expressions(&self) -> Vec<&ExprSource> {
        match self {
            Self::Expr(expression) => vec![expression],
            Self::All(parts) | Self::Any(parts) | Self::None(parts) => {
                parts.iter().flat_map(Self::expressions).collect()
            }
        }
    }
}

impl Output {
    /// Returns its expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &ExprSource> {
        self.activated.iter().chain(&self.condition_not_met)
    }
}

//! The resolved policies, from which the table is written.
//!
//! Every list is in a fixed order: policies by name, version and scope, rules as written, variables
//! so that each comes after those it names.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;

use crate::expression::ExprSource;
use crate::policy::model::{
    Condition, LimitBody, PrincipalRule, ResourceRule, RoleRule, Schemas, ScopePermissions,
};
use crate::source::Location;

/// All policies of a repository with their imports looked up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// Resource policies.
    pub resource: Vec<ResourcePolicy>,
    /// Principal policies.
    pub principal: Vec<PrincipalPolicy>,
    /// Role policies.
    pub role: Vec<RolePolicy>,
    /// Rate limits.
    pub limit: Vec<Limit>,
    /// Expressions that must be well formed though no rule may use them.
    pub unused: Vec<ExprSource>,
}

impl Resolved {
    /// Returns the keys of all policies with rules.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let resource = self.resource.iter().map(|policy| &policy.head);
        let principal = self.principal.iter().map(|policy| &policy.head);
        let role = self.role.iter().map(|policy| &policy.head);
        resource.chain(principal).chain(role).map(|head| head.key.as_str())
    }
}

/// The part that resource, principal and role policies share.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The resource kind, the principal's id, or the role.
    pub name: String,
    /// The version.
    pub version: String,
    /// The scope; empty is the root.
    pub scope: String,
    /// The key that decisions name, such as `resource.album.vdefault/acme`.
    pub key: String,
    /// The effect that the scope permits to the rules.
    pub scope_permissions: ScopePermissions,
    /// The constants that its expressions use.
    pub constants: BTreeMap<String, Attr>,
    /// The variables that its expressions use, each after those it names.
    pub variables: Vec<Variable>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// The start of the document.
    pub location: Location,
}

impl Head {
    /// Compares policies by name, version and scope.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let key = |head: &Self| (head.name.clone(), head.version.clone(), head.scope.clone());
        key(self).cmp(&key(other))
    }
}

/// A variable to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The expression.
    pub expr: ExprSource,
}

/// A resource policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourcePolicy {
    /// The part that all kinds share.
    pub head: Head,
    /// Its schemas. Only those of the root scope's policy are in effect.
    pub schemas: Schemas,
    /// The derived roles that its rules name.
    pub derived_roles: BTreeMap<String, DerivedRole>,
    /// Its rules, in order.
    pub rules: Vec<ResourceRule>,
}

/// A derived role that a rule names.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedRole {
    /// Its name.
    pub name: String,
    /// The set that defines it, such as `derived_roles.staff`.
    pub origin: String,
    /// The roles that may gain it; exactly `["*"]` if any role will do.
    pub parent_roles: Vec<String>,
    /// When they gain it; `None` is always.
    pub condition: Option<Condition>,
    /// The constants that its condition uses.
    pub constants: BTreeMap<String, Attr>,
    /// The variables that its condition uses, each after those it names.
    pub variables: Vec<Variable>,
}

/// A principal policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalPolicy {
    /// The part that all kinds share.
    pub head: Head,
    /// Its rules, each resource pattern once.
    pub rules: Vec<PrincipalRule>,
}

/// A role policy.
#[derive(Clone, Debug, PartialEq)]
pub struct RolePolicy {
    /// The part that all kinds share.
    pub head: Head,
    /// The roles that this role narrows.
    pub parent_roles: Vec<String>,
    /// Its rules, in order.
    pub rules: Vec<RoleRule>,
}

/// A rate limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The limit as written.
    pub body: LimitBody,
    /// The constants that its expressions use.
    pub constants: BTreeMap<String, Attr>,
    /// The variables that its expressions use, each after those it names.
    pub variables: Vec<Variable>,
    /// The start of the document.
    pub location: Location,
}

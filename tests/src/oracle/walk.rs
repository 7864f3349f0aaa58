//! The decision algorithm over rules as they were written.
//!
//! Principal policies first, then the roles of the principal one by one, each from the most
//! specific scope to the root. In a strict table the first condition that fails ends the search
//! with a deny.

mod conditions;

use wardgate_compiler::Options;
use wardgate_compiler::policy::model::{Condition, Effect as Says, Output};
use wardgate_compiler::resolve::model::{DerivedRole, Head, Resolved, RolePolicy};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::names::sanitized;
use wardgate_engine::request::Request;

use super::pattern::fits;
use super::policies::{self, needs_consent, with_ancestors};
use super::report::{Decided, Emitted, Report};
use super::trees::Trees;
use super::value::{Failed, Value};
use super::{Oracle, schema};

pub(super) struct Walk<'w> {
    trees: &'w Trees,
    policies: &'w Resolved,
    options: &'w Options,
    request: &'w Request,
    now: Timestamp,
    kind: String,
    resource_version: String,
    principal_scopes: Vec<String>,
    resource_scopes: Vec<String>,
    /// True if the attributes of the request do not fit their schema.
    is_rejected: bool,
    /// The current value of `runtime.effectiveDerivedRoles`.
    roles: Result<Vec<String>, Failed>,
    pub(super) report: Report,
}

/// One rule of any kind of policy.
struct Rule<'w> {
    head: &'w Head,
    name: &'w str,
    says: Option<Says>,
    condition: Option<Condition>,
    output: Output,
}

/// The outcome of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Applied,
    ConditionNotMet,
    RoleMissing,
}

/// A decision that ends the search in a scope.
struct Ended {
    effect: Effect,
    /// The policy; `None` means the most specific policy that was searched.
    policy: Option<String>,
    scope: String,
    /// True if no other role is searched.
    is_final: bool,
}

impl<'w> Walk<'w> {
    pub(super) fn new(oracle: &'w Oracle, request: &'w Request, now: Timestamp) -> Self {
        let Oracle { policies, options, trees } = oracle;
        let lenient = options.lenient_scope_search;
        let kind = sanitized(&request.resource.kind).into_owned();
        let resource_version = version(options, &request.resource.policy_version);
        let resource_scopes = policies::scopes(&request.resource.scope, lenient, |scope| {
            policies::is_resource_scope(policies, scope)
        });
        let named = (kind.as_str(), resource_version.as_str());
        Self {
            principal_scopes: policies::scopes(&request.principal.scope, lenient, |scope| {
                policies::is_principal_scope(policies, scope)
            }),
            is_rejected: schema::rejects(oracle, request, named, &resource_scopes),
            resource_scopes,
            kind,
            resource_version,
            trees,
            roles: Ok(Vec::new()),
            report: Report::default(),
            policies,
            options,
            request,
            now,
        }
    }

    /// Decides on one action and writes the answer into the report.
    pub(super) fn action(&mut self, action: &str) {
        let decided = self.decide(action);
        self.report.actions.insert(action.to_owned(), decided);
    }

    fn decide(&mut self, action: &str) -> Decided {
        let (by_principal, by_resource) = (self.principal_policy_key(), self.resource_policy_key());
        if self.is_rejected {
            return denied(by_resource);
        }
        if by_principal.is_none() && by_resource.is_none() {
            return denied(None);
        }
        if let Some(ended) = self.principal_outcome(action) {
            return decided(ended, by_principal);
        }
        let mut first = None;
        for role in &self.request.principal.roles {
            let Some(ended) = self.role_outcome(role, action) else { continue };
            if ended.is_final {
                return decided(ended, by_resource);
            }
            first = first.or(Some(ended));
        }
        match first {
            Some(ended) => decided(ended, by_resource),
            None => denied(by_resource),
        }
    }

    /// Returns the key of decisions of principal policies, if there is such a policy.
    fn principal_policy_key(&self) -> Option<String> {
        let principal = &self.request.principal;
        let version = version(self.options, &principal.policy_version);
        let searched =
            |head: &Head| head.version == version && self.principal_scopes.contains(&head.scope);
        let exists = self.policies.principal.iter().any(|policy| searched(&policy.head));
        let first = self.principal_scopes.first().filter(|_| exists)?;
        Some(key("principal", &sanitized(&principal.id), &version, first))
    }

    /// Returns the key of decisions of resource policies, if there is a policy about the kind.
    fn resource_policy_key(&self) -> Option<String> {
        let version = &self.resource_version;
        let named = |scope: &String| {
            policies::resource(self.policies, &self.kind, version, scope).is_some()
                || self.policies.role.iter().any(|policy| {
                    policy.head.version == *version
                        && policy.head.scope == *scope
                        && policy.rules.iter().any(|rule| fits(&rule.resource, &self.kind))
                })
        };
        let exists = self.resource_scopes.iter().any(named);
        let first = self.resource_scopes.first().filter(|_| exists)?;
        Some(key("resource", &self.kind, version, first))
    }

    fn principal_outcome(&mut self, action: &str) -> Option<Ended> {
        // As in Cerbos, a principal without roles gets no decision from its own policies.
        self.request.principal.roles.first()?;
        self.roles = Ok(Vec::new());
        for scope in self.principal_scopes.clone() {
            let id = &self.request.principal.id;
            let found = policies::principal(self.policies, id, &self.resource_version, &scope);
            let Some(policy) = found else { continue };
            let mut allowed = false;
            for rule in &policy.rules {
                if !fits(&sanitized(&rule.resource), &self.kind) {
                    continue;
                }
                for own in rule.actions.iter().filter(|own| fits(&own.action, action)) {
                    let rule =
                        Rule::new(&policy.head, &own.name, own.effect, &own.condition, &own.output);
                    match self.consider(&rule, &[None], action) {
                        Err(Failed) => return Some(failed(&policy.head)),
                        Ok(false) => {}
                        Ok(true) if rule.says == Some(Says::Deny) => {
                            return Some(ended(Effect::Deny, &scope));
                        }
                        Ok(true) => allowed = true,
                    }
                }
            }
            if allowed && !needs_consent(self.policies, &scope) {
                return Some(ended(Effect::Allow, &scope));
            }
        }
        None
    }

    fn role_outcome(&mut self, role: &str, action: &str) -> Option<Ended> {
        let roles = with_ancestors(self.policies, role, &self.request.resource.scope);
        for scope in self.resource_scopes.clone() {
            self.gain_derived_roles(&scope);
            for role in &roles {
                let version = &self.resource_version;
                let policy = policies::role(self.policies, role, version, &scope);
                if let Some(ended) = policy.and_then(|policy| self.narrow(policy, action)) {
                    return Some(ended);
                }
            }
            if let Some(ended) = self.resource_policy_outcome(&roles, &scope, action) {
                return Some(ended);
            }
        }
        None
    }

    /// Narrows by a role policy: it denies an action that none of its rules lists, or that a rule
    /// lists under a condition that does not hold.
    fn narrow(&mut self, policy: &RolePolicy, action: &str) -> Option<Ended> {
        if policy.rules.is_empty() {
            return None;
        }
        let denied = Ended {
            effect: Effect::Deny,
            policy: Some(policy.head.key.clone()),
            scope: policy.head.scope.clone(),
            is_final: false,
        };
        let mut listed = false;
        for rule in &policy.rules {
            let lists = rule.allow_actions.iter().any(|pattern| fits(pattern, action));
            if !lists || !fits(&rule.resource, &self.kind) {
                continue;
            }
            listed = true;
            let mut own = Rule {
                head: &policy.head,
                name: &rule.name,
                says: None,
                condition: None,
                output: rule.output.clone(),
            };
            if let Some(condition) = &rule.condition {
                own.says = Some(Says::Deny);
                own.condition = Some(Condition::None(vec![condition.clone()]));
                std::mem::swap(&mut own.output.activated, &mut own.output.condition_not_met);
            } else if rule.output == Output::default() {
                continue;
            }
            match self.consider(&own, &[None], action) {
                Err(Failed) => return Some(failed(&policy.head)),
                Ok(true) if own.says == Some(Says::Deny) => return Some(denied),
                Ok(_) => {}
            }
        }
        (!listed).then_some(denied)
    }

    fn resource_policy_outcome(
        &mut self,
        roles: &[String],
        scope: &str,
        action: &str,
    ) -> Option<Ended> {
        let policies = self.policies;
        let policy = policies::resource(policies, &self.kind, &self.resource_version, scope)?;
        let mut allowed = false;
        let any = |patterns: &[String]| {
            patterns.iter().any(|pattern| roles.iter().any(|role| fits(pattern, role)))
        };
        for rule in &policy.rules {
            if !rule.actions.iter().any(|pattern| fits(pattern, action)) {
                continue;
            }
            let mut ways: Vec<Option<&DerivedRole>> = Vec::new();
            ways.extend(any(&rule.roles).then_some(None));
            let derived =
                rule.derived_roles.iter().filter_map(|named| policy.derived_roles.get(&named.name));
            ways.extend(derived.filter(|role| any(&role.parent_roles)).map(Some));
            let rule =
                Rule::new(&policy.head, &rule.name, rule.effect, &rule.condition, &rule.output);
            match self.consider(&rule, &ways, action) {
                Err(Failed) => return Some(failed(&policy.head)),
                Ok(false) => {}
                Ok(true) if rule.says == Some(Says::Deny) => {
                    return Some(ended(Effect::Deny, scope));
                }
                Ok(true) => allowed = true,
            }
        }
        (allowed && !needs_consent(self.policies, scope)).then(|| ended(Effect::Allow, scope))
    }

    /// Returns the outcome of a rule for an action in one of these ways: by a role, or by a derived
    /// role. A deny ends with the first way in which it applies.
    fn consider(
        &mut self,
        rule: &Rule<'_>,
        ways: &[Option<&DerivedRole>],
        action: &str,
    ) -> Result<bool, Failed> {
        let mut applied = false;
        let mut emitted = false;
        for way in ways {
            let outcome = self.outcome(rule, *way)?;
            if !emitted {
                emitted = self.emit(rule, outcome, action);
            }
            applied |= outcome == Outcome::Applied;
            if applied && rule.says == Some(Says::Deny) {
                break;
            }
        }
        Ok(applied)
    }

    fn outcome(&mut self, rule: &Rule<'_>, way: Option<&DerivedRole>) -> Result<Outcome, Failed> {
        let variables = self.variables(&rule.head.constants, &rule.head.variables, None);
        if let Some((role, condition)) = way.and_then(|role| Some((role, role.condition.as_ref()?)))
        {
            let variables = self.variables(&role.constants, &role.variables, None);
            if !self.holds(condition, &role.constants, &variables)? {
                return Ok(Outcome::RoleMissing);
            }
        }
        let Some(condition) = &rule.condition else { return Ok(Outcome::Applied) };
        let holds = self.holds(condition, &rule.head.constants, &variables)?;
        Ok(if holds { Outcome::Applied } else { Outcome::ConditionNotMet })
    }

    fn emit(&mut self, rule: &Rule<'_>, outcome: Outcome, action: &str) -> bool {
        let expression = match outcome {
            Outcome::Applied => rule.output.activated.as_ref(),
            Outcome::ConditionNotMet => rule.output.condition_not_met.as_ref(),
            Outcome::RoleMissing => None,
        };
        let Some(expression) = expression else { return false };
        let variables = self.variables(&rule.head.constants, &rule.head.variables, None);
        let value = self.evaluate(&expression.text, &rule.head.constants, &variables);
        self.report.outputs.push(Emitted {
            source: format!("{}#{}", rule.head.key, rule.name),
            action: action.to_owned(),
            value: value.and_then(Value::into_attr).ok(),
        });
        true
    }
}

impl<'w> Rule<'w> {
    /// Makes a rule. Where an allow needs consent, its condition is inverted: if it does not hold,
    /// that is a deny, and if it holds, the rule decides nothing.
    fn new(
        head: &'w Head,
        name: &'w str,
        effect: Says,
        condition: &Option<Condition>,
        output: &Output,
    ) -> Self {
        let consents = head.scope_permissions
            == wardgate_compiler::policy::model::ScopePermissions::RequireParentalConsentForAllows;
        let (says, condition) = match condition {
            Some(condition) if consents && effect == Says::Allow => {
                (Says::Deny, Some(Condition::None(vec![condition.clone()])))
            }
            condition => (effect, condition.clone()),
        };
        Self { head, name, says: Some(says), condition, output: output.clone() }
    }
}

fn version(options: &Options, requested: &str) -> String {
    if requested.is_empty() { options.default_version.clone() } else { requested.to_owned() }
}

fn key(kind: &str, name: &str, version: &str, scope: &str) -> String {
    let key = format!("{kind}.{name}.v{}", sanitized(version));
    if scope.is_empty() { key } else { format!("{key}/{scope}") }
}

fn ended(effect: Effect, scope: &str) -> Ended {
    let is_final = effect == Effect::Allow;
    Ended { effect, policy: None, scope: scope.to_owned(), is_final }
}

fn failed(head: &Head) -> Ended {
    let (policy, scope) = (Some(head.key.clone()), head.scope.clone());
    Ended { effect: Effect::Deny, policy, scope, is_final: true }
}

fn decided(ended: Ended, searched: Option<String>) -> Decided {
    let policy = ended.policy.or(searched).unwrap_or_else(no_match);
    Decided { effect: ended.effect, policy, scope: ended.scope }
}

fn denied(searched: Option<String>) -> Decided {
    Decided {
        effect: Effect::Deny,
        policy: searched.unwrap_or_else(no_match),
        scope: String::new(),
    }
}

fn no_match() -> String {
    "NO_MATCH".to_owned()
}

//! Writes a policy table from resolved policies.
//!
//! Everything gets its id in the order in which the resolved policies name it, so that the same
//! policies always give the same words. See `wardgate_engine::table::layout` for the layout.

mod assemble;
mod blocks;
mod expressions;
mod limit;
mod options;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::names::sanitized;
use wardgate_engine::table::Parts;
use wardgate_engine::table::layout::{Key, PolicyKind};

use crate::diagnostics::{self, Diagnostic};
use crate::policy::model::{Condition, Effect, Output, ScopePermissions};
use crate::resolve::model::{Head, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy};
use crate::schema::Load;
use crate::words::index;
use assemble::Assembly;
use blocks::{Block, Row};
use expressions::Names;
pub use options::{Enforcement, Options};

/// Writes the table.
///
/// # Errors
/// Every expression and schema that does not compile, in the order of the report.
pub fn table(
    resolved: &Resolved,
    options: &Options,
    load: &Load<'_>,
) -> Result<Parts, Vec<Diagnostic>> {
    let mut emitter = Emitter { options, assembly: Assembly::default(), errors: Vec::new() };
    for policy in &resolved.resource {
        emitter.resource_policy(policy);
    }
    for policy in &resolved.principal {
        emitter.principal_policy(policy);
    }
    emitter.role_policies(&resolved.role);
    emitter.limits(&resolved.limit);
    for expr in &resolved.unused {
        emitter.check_only(expr);
    }
    if options.schema_enforcement != Enforcement::None {
        emitter.schemas(&resolved.resource, load);
    }
    if emitter.errors.is_empty() {
        return Ok(emitter.assembly.finish(options));
    }
    diagnostics::sort(&mut emitter.errors);
    Err(emitter.errors)
}

struct Emitter<'o> {
    options: &'o Options,
    assembly: Assembly,
    errors: Vec<Diagnostic>,
}

/// The part of a rule that all kinds of policy share.
struct Body<'r> {
    effect: Option<Effect>,
    condition: Option<&'r Condition>,
    output: &'r Output,
    negate: bool,
}

impl Emitter<'_> {
    fn resource_policy(&mut self, policy: &ResourcePolicy) {
        let names = self.names(&policy.head.constants, &policy.head.variables);
        let mut block = Block::new(&policy.head.key, &policy.head.location.file.path);
        let mut granted = BTreeMap::new();
        for (name, role) in &policy.derived_roles {
            let own = self.names(&role.constants, &role.variables);
            let condition = role.condition.as_ref().and_then(|at| self.condition(at, &own));
            block.derived_role(name, condition, own.set, &role.parent_roles);
            granted.insert(name.as_str(), (condition, own.set, &role.parent_roles));
        }
        for rule in &policy.rules {
            let row = self.row(
                &rule.name,
                rule.location.position.line,
                &names,
                &Body {
                    effect: Some(rule.effect),
                    condition: rule.condition.as_ref(),
                    output: &rule.output,
                    negate: needs_consent(&policy.head),
                },
            );
            let actions = rule.actions.as_slice();
            if !rule.roles.is_empty() {
                block.row(row.clone(), Some(actions), Some(&rule.roles), None);
            }
            for named in &rule.derived_roles {
                let Some((condition, set, parents)) = granted.get(named.name.as_str()) else {
                    continue;
                };
                let derived_role = Some(self.assembly.pool.string(&named.name));
                let row = Row {
                    role_condition: *condition,
                    role_variables: condition.and(*set),
                    derived_role,
                    ..row.clone()
                };
                block.row(row, Some(actions), Some(parents), None);
            }
        }
        let kind = sanitized(&policy.head.name);
        let at = block.put(&mut self.assembly);
        let key = self.assembly.ids([&kind, &policy.head.version, &policy.head.scope]);
        self.assembly.name(Key::Resource, key, at);
        self.register(PolicyKind::Resource, &policy.head, policy.rules.len());
    }

    fn principal_policy(&mut self, policy: &PrincipalPolicy) {
        let names = self.names(&policy.head.constants, &policy.head.variables);
        let mut block = Block::new(&policy.head.key, &policy.head.location.file.path);
        let mut count = 0;
        for rule in &policy.rules {
            let resource = sanitized(&rule.resource).into_owned();
            for action in &rule.actions {
                let row = self.row(
                    &action.name,
                    action.location.position.line,
                    &names,
                    &Body {
                        effect: Some(action.effect),
                        condition: action.condition.as_ref(),
                        output: &action.output,
                        negate: needs_consent(&policy.head),
                    },
                );
                let actions = std::slice::from_ref(&action.action);
                block.row(row, Some(actions), None, Some(&resource));
                count += 1;
            }
        }
        let at = block.put(&mut self.assembly);
        let head = &policy.head;
        let key = self.assembly.ids([&head.name, &head.version, &head.scope]);
        self.assembly.name(Key::Principal, key, at);
        let key = self.assembly.ids([&head.version, &head.scope, ""]);
        self.assembly.name(Key::PrincipalVersion, [key[0], key[1], 0], 0);
        self.register(PolicyKind::Principal, head, count);
    }

    /// Writes the role policies. Those of one version and scope share a block. A role policy
    /// without rules has no effect beyond its parent roles.
    fn role_policies(&mut self, policies: &[RolePolicy]) {
        let mut blocks: BTreeMap<(&str, &str), Block> = BTreeMap::new();
        for policy in policies {
            let names = self.names(&policy.head.constants, &policy.head.variables);
            let version_and_scope = (policy.head.version.as_str(), policy.head.scope.as_str());
            if policy.rules.is_empty() {
                self.policy_record(PolicyKind::Role, &policy.head, 0);
                continue;
            }
            let block = blocks.entry(version_and_scope).or_insert_with(|| Block::new("", ""));
            let number = block.role_policy(&policy.head);
            for rule in &policy.rules {
                let row = Row { role_policy: Some(number), ..self.role_row(rule, &names) };
                let role = std::slice::from_ref(&policy.head.name);
                block.row(row, Some(&rule.allow_actions), Some(role), Some(&rule.resource));
            }
            let count = policy.rules.len();
            self.policy_record(PolicyKind::Role, &policy.head, count);
        }
        for ((version, scope), block) in blocks {
            let at = block.put(&mut self.assembly);
            let key = self.assembly.ids([version, scope, ""]);
            self.assembly.name(Key::Roles, [key[0], key[1], 0], at);
            self.assembly.name(Key::ResourceScope, [key[1], 0, 0], 0);
        }
        self.parent_roles(policies);
    }

    /// Returns the row of a rule of a role policy. A role policy denies unless its condition holds,
    /// so the outputs are exchanged.
    fn role_row(&mut self, rule: &crate::policy::model::RoleRule, names: &Names) -> Row {
        let line = rule.location.position.line;
        let mut row = self.row(
            &rule.name,
            line,
            names,
            &Body {
                effect: rule.condition.is_some().then_some(Effect::Deny),
                condition: rule.condition.as_ref(),
                output: &rule.output,
                negate: false,
            },
        );
        if let Some(condition) = row.condition {
            row.condition = Some(self.assembly.negation(condition));
            std::mem::swap(&mut row.output_activated, &mut row.output_not_met);
        }
        if row.condition.or(row.output_activated).or(row.output_not_met).is_none() {
            // A bare list of actions evaluates nothing, so its variables cannot fail.
            row.variables = None;
        }
        row
    }

    /// Writes down all ancestors of each role, nearest first.
    fn parent_roles(&mut self, policies: &[RolePolicy]) {
        let mut parents: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for policy in policies {
            let own = parents.entry((&policy.head.scope, &policy.head.name)).or_default();
            own.extend(policy.parent_roles.iter().map(String::as_str));
        }
        for (scope, role) in parents.keys() {
            let ancestors = ancestors(&parents, scope, role);
            let at = self.assembly.names(ancestors.iter().copied());
            let key = self.assembly.ids([scope, role, ""]);
            self.assembly.name(Key::ParentRoles, [key[0], key[1], 0], at);
        }
    }

    fn row(&mut self, name: &str, line: u32, names: &Names, body: &Body<'_>) -> Row {
        let condition = body.condition.and_then(|condition| self.condition(condition, names));
        let negate = body.negate && body.effect == Some(Effect::Allow) && condition.is_some();
        let pool = &mut self.assembly.pool;
        let mut row = Row {
            effect: if negate { Some(Effect::Deny) } else { body.effect },
            name: pool.string(name),
            line,
            condition,
            variables: names.set,
            negated: negate,
            ..Row::default()
        };
        if let Some(condition) = condition.filter(|_| negate) {
            row.condition = Some(self.assembly.negation(condition));
        }
        let output = body.output;
        row.output_activated = output.activated.as_ref().and_then(|e| self.program(e, names));
        row.output_not_met = output.condition_not_met.as_ref().and_then(|e| self.program(e, names));
        row
    }

    /// Registers a resource or principal policy in its scope, with the permissions of the scope.
    fn register(&mut self, kind: PolicyKind, head: &Head, rules: usize) {
        let scope = self.assembly.pool.string(&head.scope);
        let key = match kind {
            PolicyKind::Principal => Key::PrincipalScope,
            PolicyKind::Resource | PolicyKind::Role => Key::ResourceScope,
        };
        self.assembly.name(key, [scope, 0, 0], 0);
        let consent = u32::from(needs_consent(head));
        self.assembly.name(Key::ScopePermissions, [scope, 0, 0], consent);
        self.policy_record(kind, head, rules);
    }

    fn policy_record(&mut self, kind: PolicyKind, head: &Head, rules: usize) {
        let pool = &mut self.assembly.pool;
        let record = [
            kind.code(),
            pool.string(&head.key),
            pool.explanation(&head.location.file.path),
            index(rules),
            pool.string(&head.name),
            pool.string(&head.version),
            pool.string(&head.scope),
        ];
        self.assembly.policies.extend(record);
    }
}

fn needs_consent(head: &Head) -> bool {
    head.scope_permissions == ScopePermissions::RequireParentalConsentForAllows
}

/// Returns every role that `role` inherits from in `scope`, in the order of a walk in depth.
fn ancestors<'p>(
    parents: &BTreeMap<(&'p str, &'p str), Vec<&'p str>>,
    scope: &'p str,
    role: &'p str,
) -> Vec<&'p str> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let of = |role| parents.get(&(scope, role)).into_iter().flatten().rev().copied();
    let mut open: Vec<&str> = of(role).collect();
    while let Some(role) = open.pop() {
        if seen.insert(role) {
            found.push(role);
            open.extend(of(role));
        }
    }
    found
}

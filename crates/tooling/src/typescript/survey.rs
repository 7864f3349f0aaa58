//! What policies name and read: kinds, actions, roles, attributes and outputs.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_compiler::Options;
use wardgate_compiler::policy::model::{Condition, Output};
use wardgate_compiler::resolve::model::{
    DerivedRole, Head, Limit, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy,
};
use wardgate_compiler::schema::Load;
use wardgate_engine::glob;
use wardgate_engine::names::sanitized;

use super::attributes::Attributes;
use super::output;
use super::places::{Names, Trees};
use super::schemas::{Described, Schemas};
use super::shape::Shape;
use super::uses::Uses;

/// The content of the interface.
#[derive(Default)]
pub(super) struct Survey {
    /// The patterns of the roles.
    pub(super) roles: BTreeSet<String>,
    /// The attributes of the principal.
    pub(super) principal: Shape,
    /// The kinds with resource policies, and those that other policies name.
    pub(super) kinds: BTreeMap<String, Kind>,
    /// The patterns of further kinds, and what is known of all of them.
    pub(super) patterns: BTreeSet<String>,
    pub(super) others: Kind,
    /// The values of outputs, by the rule that emits them.
    pub(super) outputs: BTreeMap<String, Shape>,
}

/// A kind of resources.
#[derive(Clone, Default)]
pub(super) struct Kind {
    /// The patterns of the actions.
    pub(super) actions: BTreeSet<String>,
    pub(super) attributes: Shape,
    /// The rules that emit outputs.
    pub(super) outputs: BTreeSet<String>,
    /// The versions and scopes of its policies; none if any will do.
    pub(super) versions: BTreeSet<String>,
    pub(super) scopes: BTreeSet<String>,
}

impl Survey {
    pub(super) fn of(resolved: &Resolved, options: &Options, load: &Load<'_>) -> Self {
        let mut surveyor = Surveyor {
            survey: Self::default(),
            trees: Trees::default(),
            options,
            used: Shape::default(),
        };
        surveyor.name_kinds(resolved);
        resolved.resource.iter().for_each(|policy| surveyor.resource(policy));
        resolved.principal.iter().for_each(|policy| surveyor.principal(policy));
        resolved.role.iter().for_each(|policy| surveyor.role(policy));
        resolved.limit.iter().for_each(|limit| surveyor.limit(limit));
        surveyor.finished(&Schemas::new(load).of(resolved))
    }
}

struct Surveyor<'s> {
    survey: Survey,
    trees: Trees,
    options: &'s Options,
    /// The attributes of the principal by their use.
    used: Shape,
}

/// The expressions of a rule.
type Rule<'r> = (&'r Option<Condition>, &'r Output);

impl Surveyor<'_> {
    /// Notes the kinds first, since patterns are about those that have a name.
    fn name_kinds(&mut self, resolved: &Resolved) {
        for policy in &resolved.resource {
            let kind = self.survey.kinds.entry(policy.head.name.clone()).or_default();
            kind.versions.insert(policy.head.version.clone());
            kind.scopes.insert(policy.head.scope.clone());
        }
        let principal = resolved.principal.iter().flat_map(|policy| &policy.rules);
        let role = resolved.role.iter().flat_map(|policy| &policy.rules);
        let patterns = principal.map(|rule| &rule.resource).chain(role.map(|rule| &rule.resource));
        for pattern in patterns {
            if glob::is_glob(pattern) {
                self.survey.patterns.insert(pattern.clone());
            } else if !self.survey.kinds.keys().any(|kind| is_about(pattern, kind)) {
                self.survey.kinds.insert(pattern.clone(), Kind::default());
            }
        }
    }

    fn resource(&mut self, policy: &ResourcePolicy) {
        let options = self.options;
        let head = &policy.head;
        let mut found = Attributes::default();
        let names = Names::new(&mut self.trees, &head.constants, &options.globals, &head.variables);
        for rule in &policy.rules {
            self.survey.roles.extend(rule.roles.iter().cloned());
            let kind = self.survey.kinds.entry(head.name.clone()).or_default();
            kind.actions.extend(rule.actions.iter().cloned());
            self.expressions(&names, (&rule.condition, &rule.output), &mut found);
            self.output(&head.name, (head, &rule.name), &rule.output);
        }
        for role in policy.derived_roles.values() {
            self.derived_role(role, &mut found);
        }
        self.add(&head.name, &found);
    }

    fn derived_role(&mut self, role: &DerivedRole, found: &mut Attributes) {
        let options = self.options;
        self.survey.roles.extend(role.parent_roles.iter().cloned());
        let names = Names::new(&mut self.trees, &role.constants, &options.globals, &role.variables);
        self.expressions(&names, (&role.condition, &Output::default()), found);
    }

    fn principal(&mut self, policy: &PrincipalPolicy) {
        let (options, head) = (self.options, &policy.head);
        let names = Names::new(&mut self.trees, &head.constants, &options.globals, &head.variables);
        for rule in &policy.rules {
            let mut found = Attributes::default();
            for action in &rule.actions {
                self.action(&rule.resource, &action.action);
                self.expressions(&names, (&action.condition, &action.output), &mut found);
                self.output(&rule.resource, (head, &action.name), &action.output);
            }
            self.add(&rule.resource, &found);
        }
    }

    fn role(&mut self, policy: &RolePolicy) {
        let (options, head) = (self.options, &policy.head);
        self.survey.roles.insert(head.name.clone());
        self.survey.roles.extend(policy.parent_roles.iter().cloned());
        let names = Names::new(&mut self.trees, &head.constants, &options.globals, &head.variables);
        for rule in &policy.rules {
            let mut found = Attributes::default();
            for action in &rule.allow_actions {
                self.action(&rule.resource, action);
            }
            self.expressions(&names, (&rule.condition, &rule.output), &mut found);
            self.output(&rule.resource, (head, &rule.name), &rule.output);
            self.add(&rule.resource, &found);
        }
    }

    /// Limits name no action that a rule would not name, but they read attributes.
    fn limit(&mut self, limit: &Limit) {
        let options = self.options;
        let mut found = Attributes::default();
        let names =
            Names::new(&mut self.trees, &limit.constants, &options.globals, &limit.variables);
        let body = &limit.body;
        self.expressions(&names, (&body.condition, &Output::default()), &mut found);
        let mut uses = Uses::new(&names, &mut found);
        for expression in body.key.iter().chain(&body.cost).chain([&body.quota]) {
            if let Some(tree) = self.trees.tree(&expression.text) {
                uses.expression(&tree);
            }
        }
        self.add(&body.resource, &found);
    }

    fn expressions(&mut self, names: &Names<'_>, rule: Rule<'_>, found: &mut Attributes) {
        let mut uses = Uses::new(names, found);
        for expression in rule.0.iter().flat_map(Condition::expressions) {
            if let Some(tree) = self.trees.tree(&expression.text) {
                uses.condition(&tree);
            }
        }
        for expression in rule.1.expressions() {
            if let Some(tree) = self.trees.tree(&expression.text) {
                uses.expression(&tree);
            }
        }
    }

    /// Adds an action to every kind that `pattern` is about.
    fn action(&mut self, pattern: &str, action: &str) {
        for kind in self.about(pattern) {
            kind.actions.insert(action.to_owned());
        }
    }

    /// Adds attributes to the principal, and to every kind that `pattern` is about.
    fn add(&mut self, pattern: &str, found: &Attributes) {
        self.used.add(&found.principal);
        for kind in self.about(pattern) {
            kind.attributes.add(&found.resource);
        }
    }

    fn about(&mut self, pattern: &str) -> impl Iterator<Item = &mut Kind> {
        let Survey { kinds, others, .. } = &mut self.survey;
        let others = Some(others).filter(|_| glob::is_glob(pattern));
        let named = kinds.iter_mut().filter(move |(kind, _)| is_about(pattern, kind));
        named.map(|(_, kind)| kind).chain(others)
    }

    /// Adds the outputs of a rule to every kind that `pattern` is about.
    fn output(&mut self, pattern: &str, (head, rule): (&Head, &str), written: &Output) {
        let source = format!("{}#{rule}", head.key);
        for expression in written.expressions() {
            for kind in self.about(pattern) {
                kind.outputs.insert(source.clone());
            }
            if let Some(tree) = self.trees.tree(&expression.text) {
                self.survey.outputs.entry(source.clone()).or_default().add(&output::value(&tree));
            }
        }
    }

    /// Replaces what is known from uses by what schemas describe, and completes the other kinds.
    fn finished(mut self, described: &Described) -> Survey {
        let survey = &mut self.survey;
        for (name, kind) in &mut survey.kinds {
            let used = std::mem::take(&mut kind.attributes).with_null();
            kind.attributes = described.resource(name, used);
        }
        survey.principal = described.principal(self.used.with_null());
        // The type of an index must accept what the members have that it stands for.
        let actions = survey.kinds.values().flat_map(|kind| kind.actions.iter().cloned());
        survey.others.actions.extend(actions);
        let outputs = survey.kinds.values().flat_map(|kind| kind.outputs.iter().cloned());
        survey.others.outputs.extend(outputs);
        survey.others.attributes = Shape::default();
        self.survey
    }
}

/// Returns true if rules for `pattern` can decide about resources of `kind`.
fn is_about(pattern: &str, kind: &str) -> bool {
    match glob::is_glob(pattern) {
        true => glob::matches(pattern, &sanitized(kind)),
        false => sanitized(pattern) == sanitized(kind),
    }
}

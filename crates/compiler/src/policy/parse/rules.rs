//! Rules: actions, roles, effects, conditions and outputs.

use std::collections::HashMap;
use std::hash::Hash;

use super::reader::{Object, Reader, Value};
use crate::diagnostics::{Code, Diagnostic};
use crate::policy::model::{
    ActionRule, Condition, Effect, Named, Output, PrincipalRule, ResourceRule, RoleDefinition,
    RoleRule,
};
use crate::policy::name::Shape;
use crate::source::Location;
use crate::yaml::Kind;

impl Reader<'_> {
    pub(super) fn resource_rules(&mut self, object: &Object<'_>) -> Vec<ResourceRule> {
        let rules = self.items(object, "rules", Self::resource_rule);
        let named =
            rules.iter().map(|(rule, named)| (*named).then_some((&rule.name, &rule.location)));
        self.unique_names("rule", named);
        rules.into_iter().map(|(rule, _)| rule).collect()
    }

    fn resource_rule(&mut self, value: &Value<'_>, number: usize) -> Option<(ResourceRule, bool)> {
        let fields = &["actions", "derivedRoles", "roles", "condition", "effect", "name", "output"];
        let object = self.object(value, fields)?;
        let name = self.name(&object, "name", Shape::Rule);
        let named = !name.is_empty();
        let rule = ResourceRule {
            name: if named { name } else { format!("rule-{number:03}") },
            actions: self.required_names(&object, "actions"),
            roles: any_or_all(self.names(&object, "roles", Shape::Any)),
            derived_roles: self.names(&object, "derivedRoles", Shape::Identifier),
            effect: self.effect(&object)?,
            condition: self.condition(&object),
            output: self.output(&object),
            location: value.location.clone(),
        };
        if rule.roles.is_empty() && rule.derived_roles.is_empty() {
            let message = format!("rule `{}` names no role and no derived role", rule.name);
            self.missing_check(&value.location, message);
        }
        Some((rule, named))
    }

    pub(super) fn principal_rules(&mut self, object: &Object<'_>) -> Vec<PrincipalRule> {
        let rules = self.items(object, "rules", Self::principal_rule);
        let named = rules.iter().map(|(rule, location)| Some((&rule.resource, location)));
        self.unique_names("resource", named);
        rules.into_iter().map(|(rule, _)| rule).collect()
    }

    fn principal_rule(&mut self, value: &Value<'_>, _: usize) -> Option<(PrincipalRule, Location)> {
        let object = self.object(value, &["resource", "actions"])?;
        let resource = self.required_name(&object, "resource", Shape::Any);
        self.require_items(&object, "actions");
        let actions = self.items(&object, "actions", |reader, value, number| {
            reader.action_rule(value, number, &resource)
        });
        let named =
            actions.iter().map(|(rule, named)| named.then_some((&rule.name, &rule.location)));
        self.unique_names("action rule", named);
        let actions = actions.into_iter().map(|(rule, _)| rule).collect();
        Some((PrincipalRule { resource, actions }, value.location.clone()))
    }

    fn action_rule(
        &mut self,
        value: &Value<'_>,
        number: usize,
        resource: &str,
    ) -> Option<(ActionRule, bool)> {
        let object = self.object(value, &["action", "condition", "effect", "name", "output"])?;
        let name = self.name(&object, "name", Shape::Rule);
        let named = !name.is_empty();
        let rule = ActionRule {
            name: if named { name } else { format!("{resource}_rule-{number:03}") },
            action: self.required_name(&object, "action", Shape::Any),
            effect: self.effect(&object)?,
            condition: self.condition(&object),
            output: self.output(&object),
            location: value.location.clone(),
        };
        Some((rule, named))
    }

    pub(super) fn role_rules(&mut self, object: &Object<'_>) -> Vec<RoleRule> {
        self.items(object, "rules", Self::role_rule)
    }

    fn role_rule(&mut self, value: &Value<'_>, _: usize) -> Option<RoleRule> {
        let fields = &["resource", "allowActions", "condition", "name", "output"];
        let object = self.object(value, fields)?;
        Some(RoleRule {
            name: self.name(&object, "name", Shape::Rule),
            resource: self.required_name(&object, "resource", Shape::Any),
            allow_actions: self.required_names(&object, "allowActions"),
            condition: self.condition(&object),
            output: self.output(&object),
            location: value.location.clone(),
        })
    }

    pub(super) fn role_definitions(&mut self, object: &Object<'_>) -> Vec<RoleDefinition> {
        self.require_items(object, "definitions");
        let roles = self.items(object, "definitions", Self::role_definition);
        let named = roles.iter().map(|(role, location)| Some((&role.name, location)));
        self.unique_names("derived role", named);
        roles.into_iter().map(|(role, _)| role).collect()
    }

    fn role_definition(
        &mut self,
        value: &Value<'_>,
        _: usize,
    ) -> Option<(RoleDefinition, Location)> {
        let object = self.object(value, &["name", "parentRoles", "condition"])?;
        let role = RoleDefinition {
            name: self.required_name(&object, "name", Shape::Identifier),
            parent_roles: any_or_all_names(self.required_names(&object, "parentRoles")),
            condition: self.condition(&object),
            location: value.location.clone(),
        };
        Some((role, value.location.clone()))
    }

    /// Reads the items of a list, numbered from 1.
    fn items<T>(
        &mut self,
        object: &Object<'_>,
        field: &str,
        mut read: impl FnMut(&mut Self, &Value<'_>, usize) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = object.get(field) else { return Vec::new() };
        let items = self.list(value).unwrap_or_default();
        items.iter().zip(1..).filter_map(|(item, number)| read(self, item, number)).collect()
    }

    fn unique_names<'r, N: Eq + Hash + std::fmt::Display + 'r>(
        &mut self,
        what: &str,
        names: impl Iterator<Item = Option<(&'r N, &'r Location)>>,
    ) {
        let mut first: HashMap<&N, (usize, &Location)> = HashMap::new();
        for (number, (name, location)) in (1..).zip(names).filter_map(|(i, name)| Some((i, name?)))
        {
            let Some((earlier, at)) = first.get(name) else {
                first.insert(name, (number, location));
                continue;
            };
            let at = at.position;
            let message = format!(
                "{what} `{name}`, number {number} in the list, has the name of number {earlier} at {}:{}",
                at.line, at.column
            );
            self.checks.push(Diagnostic::error(Code::DuplicateName, location, message));
        }
    }

    /// Reads the effect; a rule without one is dropped.
    fn effect(&mut self, object: &Object<'_>) -> Option<Effect> {
        let Some(value) = object.get("effect") else {
            self.missing(&object.missing("effect"), "`effect` is required");
            return None;
        };
        let words = &["EFFECT_UNSPECIFIED", "EFFECT_ALLOW", "EFFECT_DENY"];
        match self.word(value, words)? {
            1 => Some(Effect::Allow),
            2 => Some(Effect::Deny),
            _ => {
                self.invalid(
                    &value.location.clone(),
                    "`effect` must be `EFFECT_ALLOW` or `EFFECT_DENY`",
                );
                None
            }
        }
    }

    pub(super) fn condition(&mut self, object: &Object<'_>) -> Option<Condition> {
        let value = object.get("condition")?;
        let object = self.object(value, &["match", "script"])?;
        match self.one_of(&object, &["match", "script"])? {
            ("match", matcher) => self.matcher(&matcher),
            (_, script) => {
                self.text(&script)?;
                let message = "a condition cannot be a script: use `match`";
                self.deferred.push(Diagnostic::error(
                    Code::ScriptUnsupported,
                    &value.location,
                    message,
                ));
                None
            }
        }
    }

    /// Reads a match. The depth of the tree bounds how deep matches nest.
    fn matcher(&mut self, value: &Value<'_>) -> Option<Condition> {
        let operators = &["all", "any", "none", "expr"];
        let object = self.object(value, operators)?;
        let (operator, value) = self.one_of(&object, operators)?;
        if operator == "expr" {
            return self.expression(&value).map(Condition::Expr);
        }
        if matches!(value.node.kind, Kind::Seq(_)) {
            return self.mismatch(&value, "a map with the list under `of`");
        }
        let list = self.object(&value, &["of"])?;
        self.require_items(&list, "of");
        let parts = self.items(&list, "of", |reader, value, _| reader.matcher(value));
        Some(match operator {
            "all" => Condition::All(parts),
            "any" => Condition::Any(parts),
            _ => Condition::None(parts),
        })
    }

    fn output(&mut self, object: &Object<'_>) -> Output {
        let Some(value) = object.get("output") else { return Output::default() };
        let Some(object) = self.object(value, &["expr", "when"]) else { return Output::default() };
        let when = object
            .get("when")
            .and_then(|when| self.object(when, &["ruleActivated", "conditionNotMet"]));
        let mut field = |object: &Object<'_>, name| {
            let expression = object.get(name).and_then(|value| self.expression(value));
            expression.filter(|expression| !expression.text.is_empty())
        };
        let deprecated = field(&object, "expr");
        let activated = when.as_ref().and_then(|when| field(when, "ruleActivated"));
        let condition_not_met = when.as_ref().and_then(|when| field(when, "conditionNotMet"));
        let output = Output { activated: activated.or(deprecated), condition_not_met };
        if output == Output::default() {
            let message = "the output has no expression";
            self.deferred.push(Diagnostic::error(Code::EmptyOutput, &value.location, message));
        }
        output
    }
}

fn any_or_all(roles: Vec<Named>) -> Vec<String> {
    any_or_all_names(roles.into_iter().map(|named| named.name).collect())
}

/// Returns the roles of a list, or `*` alone if it is one of them.
fn any_or_all_names(roles: Vec<String>) -> Vec<String> {
    match roles.iter().any(|role| role == ANY_ROLE) {
        true => vec![ANY_ROLE.to_owned()],
        false => roles,
    }
}

const ANY_ROLE: &str = "*";

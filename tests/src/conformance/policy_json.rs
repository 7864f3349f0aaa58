//! Writes parsed policies as protobuf's JSON, the form of the corpora.
//!
//! The compiler's model has one form for things that a policy may write in several: `*` stands for
//! all roles of its list, an unnamed rule has the name of its number, the deprecated `output.expr`
//! is `when.ruleActivated`. [`normal`] brings the other side into the same shape.

use serde_json::{Map, Value as Json, json};
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{
    ActionRule, Body, Common, Condition, Definition, Definitions, Effect, Named, Origin, Output,
    Policy, ResourceRule, RoleDefinition, RoleRule, SchemaRef, ScopePermissions,
};
use wardgate_engine::attr::Attr;

use super::tree::{put, without_empties};

/// Writes a policy down.
#[must_use]
pub fn policy(policy: &Policy) -> Json {
    let mut top_level = Json::Null;
    let (kind, body) = match &policy.body {
        Body::Resource(body) => {
            let mut json = common(&body.common, "resource", &mut top_level);
            put(&mut json, "importDerivedRoles", names(&body.import_derived_roles));
            put(
                &mut json,
                "schemas",
                json!({
                    "principalSchema": body.schemas.principal.as_ref().map(schema),
                    "resourceSchema": body.schemas.resource.as_ref().map(schema),
                }),
            );
            put(&mut json, "rules", body.rules.iter().zip(1..).map(resource_rule).collect());
            ("resourcePolicy", json)
        }
        Body::Principal(body) => {
            let mut json = common(&body.common, "principal", &mut top_level);
            let rules = body.rules.iter().map(|rule| {
                let action = |(one, number)| action_rule(one, &rule.resource, number);
                let actions: Json = rule.actions.iter().zip(1..).map(action).collect();
                json!({"resource": rule.resource, "actions": actions})
            });
            put(&mut json, "rules", rules.collect());
            ("principalPolicy", json)
        }
        Body::Role(body) => {
            let mut json = common(&body.common, "role", &mut top_level);
            put(&mut json, "parentRoles", json!(body.parent_roles));
            put(&mut json, "rules", body.rules.iter().map(role_rule).collect());
            ("rolePolicy", json)
        }
        Body::DerivedRoles(body) => {
            let json = json!({
                "name": body.name,
                "variables": definitions(&body.variables, text, &mut top_level),
                "constants": definitions(&body.constants, attribute, &mut Json::Null),
                "definitions": body.definitions.iter().map(role_definition).collect::<Json>(),
            });
            ("derivedRoles", json)
        }
        Body::ExportVariables(set) => {
            ("exportVariables", export(&set.name, &set.definitions, text))
        }
        Body::ExportConstants(set) => {
            ("exportConstants", export(&set.name, &set.definitions, attribute))
        }
        // Cerbos has no such policy.
        Body::Limit(_) => return Json::Null,
    };
    without_empties(&json!({
        "apiVersion": "api.cerbos.dev/v1",
        "disabled": if policy.disabled { json!(true) } else { Json::Null },
        "metadata": {"annotations": policy.annotations},
        "variables": top_level,
        kind: body,
    }))
}

/// Brings a policy that a corpus gives as JSON into the shape of [`policy`].
#[must_use]
pub fn normal(message: &Json) -> Json {
    let mut message = message.clone();
    let Some(fields) = message.as_object_mut() else { return message };
    for unread in ["description", "$schema"] {
        fields.remove(unread);
    }
    for (kind, body) in fields.iter_mut() {
        if let ("rolePolicy", Some(body)) = (kind.as_str(), body.as_object_mut()) {
            body.entry("version").or_insert_with(|| json!("default"));
        }
        for (list, roles) in [("rules", "roles"), ("definitions", "parentRoles")] {
            let rules = body.get_mut(list).and_then(Json::as_array_mut);
            for (rule, number) in rules.into_iter().flatten().zip(1..) {
                all_roles(rule, roles);
                unnamed(rule, &format!("rule-{number:03}"));
                let resource = rule.get("resource").and_then(Json::as_str).unwrap_or_default();
                let default = format!("{resource}_rule");
                let actions = rule.get_mut("actions").and_then(Json::as_array_mut);
                for (action, number) in actions.into_iter().flatten().zip(1..) {
                    unnamed(action, &format!("{default}-{number:03}"));
                }
            }
        }
    }
    without_empties(&message)
}

fn all_roles(rule: &mut Json, field: &str) {
    if rule.get(field).and_then(Json::as_array).is_some_and(|roles| roles.contains(&json!("*"))) {
        put(rule, field, json!(["*"]));
    }
}

/// Drops a name that holds no more than its number, and the old spelling of an output.
fn unnamed(rule: &mut Json, default: &str) {
    let Some(rule) = rule.as_object_mut() else { return };
    if rule.get("name").and_then(Json::as_str) == Some(default) {
        rule.remove("name");
    }
    let output = rule.get_mut("output").and_then(Json::as_object_mut);
    if let Some(output) = output
        && let Some(old) = output.remove("expr")
    {
        let when = output.entry("when").or_insert_with(|| json!({}));
        if when.get("ruleActivated").is_none() {
            put(when, "ruleActivated", old);
        }
    }
}

fn common(common: &Common, kind: &str, top_level: &mut Json) -> Json {
    let permissions = common.scope_permissions.map(|permissions| match permissions {
        ScopePermissions::OverrideParent => "SCOPE_PERMISSIONS_OVERRIDE_PARENT",
        ScopePermissions::RequireParentalConsentForAllows => {
            "SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS"
        }
    });
    json!({
        kind: common.name,
        "version": common.version,
        "scope": common.scope,
        "scopePermissions": permissions,
        "variables": definitions(&common.variables, text, top_level),
        "constants": definitions(&common.constants, attribute, &mut Json::Null),
    })
}

fn definitions<T>(all: &Definitions<T>, write: impl Fn(&T) -> Json, top_level: &mut Json) -> Json {
    let of = |origin: Origin| {
        let ours = all.local.iter().filter(|one| one.origin == origin);
        ours.map(|one| (one.name.clone(), write(&one.value))).collect::<Map<_, _>>()
    };
    let top = of(Origin::TopLevel);
    if !top.is_empty() {
        *top_level = Json::Object(top);
    }
    json!({"import": names(&all.imports), "local": of(Origin::Local)})
}

fn export<T>(name: &str, all: &[Definition<T>], write: impl Fn(&T) -> Json) -> Json {
    let all: Map<_, _> = all.iter().map(|one| (one.name.clone(), write(&one.value))).collect();
    json!({"name": name, "definitions": all})
}

fn resource_rule((rule, number): (&ResourceRule, usize)) -> Json {
    json!({
        "actions": rule.actions,
        "roles": rule.roles,
        "derivedRoles": names(&rule.derived_roles),
        "name": if rule.name == format!("rule-{number:03}") { "" } else { &rule.name },
        "effect": effect(rule.effect),
        "condition": rule.condition.as_ref().map(condition),
        "output": output(&rule.output),
    })
}

fn action_rule(rule: &ActionRule, resource: &str, number: usize) -> Json {
    json!({
        "action": rule.action,
        "name": if rule.name == format!("{resource}_rule-{number:03}") { "" } else { &rule.name },
        "effect": effect(rule.effect),
        "condition": rule.condition.as_ref().map(condition),
        "output": output(&rule.output),
    })
}

fn role_rule(rule: &RoleRule) -> Json {
    json!({
        "name": rule.name,
        "resource": rule.resource,
        "allowActions": rule.allow_actions,
        "condition": rule.condition.as_ref().map(condition),
        "output": output(&rule.output),
    })
}

fn role_definition(role: &RoleDefinition) -> Json {
    json!({
        "name": role.name,
        "parentRoles": role.parent_roles,
        "condition": role.condition.as_ref().map(condition),
    })
}

fn schema(schema: &SchemaRef) -> Json {
    json!({"ref": schema.reference, "ignoreWhen": {"actions": schema.ignore_when_actions}})
}

fn condition(condition: &Condition) -> Json {
    json!({"match": matcher(condition)})
}

fn matcher(condition: &Condition) -> Json {
    let of = |parts: &[Condition]| json!({"of": parts.iter().map(matcher).collect::<Json>()});
    match condition {
        Condition::Expr(expression) => json!({"expr": text(expression)}),
        Condition::All(parts) => json!({"all": of(parts)}),
        Condition::Any(parts) => json!({"any": of(parts)}),
        Condition::None(parts) => json!({"none": of(parts)}),
    }
}

fn output(output: &Output) -> Json {
    json!({"when": {
        "ruleActivated": output.activated.as_ref().map(text),
        "conditionNotMet": output.condition_not_met.as_ref().map(text),
    }})
}

fn names(names: &[Named]) -> Json {
    names.iter().map(|named| json!(named.name)).collect()
}

fn text(expression: &ExprSource) -> Json {
    json!(expression.text.as_ref())
}

/// Returns an effect as protobuf's JSON writes it.
#[must_use]
pub fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "EFFECT_ALLOW",
        Effect::Deny => "EFFECT_DENY",
    }
}

/// Returns a value of any shape as protobuf's JSON writes it.
#[must_use]
pub fn attribute(value: &Attr) -> Json {
    match value {
        Attr::Null => Json::Null,
        Attr::Bool(value) => json!(value),
        Attr::Number(value) => json!(value),
        Attr::String(text) => json!(text.as_ref()),
        Attr::List(items) => items.iter().map(attribute).collect(),
        Attr::Map(entries) => {
            let entries = entries.entries().iter();
            Json::Object(entries.map(|(key, value)| (key.to_string(), attribute(value))).collect())
        }
    }
}

//! Writes resolved policies as Cerbos writes its compiled ones, without the trees of expressions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::policy::model::{
    Body, Common, Condition, Output, Policy, SchemaRef, Schemas, ScopePermissions,
};
use wardgate_compiler::policy::name::ancestors;
use wardgate_compiler::resolve::model::{
    DerivedRole, Head, PrincipalPolicy, Resolved, ResourcePolicy, RolePolicy, Variable,
};
use wardgate_engine::attr::Attr;

use crate::conformance::Failure;
use crate::conformance::policy_json::{attribute, effect};
use crate::conformance::tree::{self, put, without_empties};
use crate::conformance::vectors::{items, word};

/// Writes the main policy down, with those above it.
pub(super) fn written(main: &Policy, resolved: &Resolved) -> Json {
    let fqn = fqn(&main.key());
    let (kind, set) = match &main.body {
        Body::Resource(body) => ("resourcePolicy", resource_set(&body.common, resolved)),
        Body::Principal(body) => ("principalPolicy", principal_set(&body.common, resolved)),
        Body::Role(body) => ("rolePolicy", role_set(&body.common, resolved)),
        _ => return Json::Null,
    };
    let mut set = set;
    if let Some(meta) = set.get_mut("meta") {
        put(meta, "fqn", json!(fqn));
        put(meta, "annotations", json!(main.annotations));
    }
    filled(&json!({"fqn": fqn, kind: set}))
}

/// Brings the output of Cerbos into the same shape.
pub(super) fn normal(golden: &Json) -> Json {
    let mut golden = stripped(golden);
    let fields = golden.as_object_mut();
    fields.map(|fields| fields.remove("compilerVersion"));
    filled(&golden)
}

/// Compares the names of variables and constants, which the corpus lists by scope.
pub(super) fn names(wanted: &[Json], found: &Json) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let lists = ["/resourcePolicy/policies", "/principalPolicy/policies"];
    let found = lists.iter().find_map(|list| found.pointer(list)?.as_array());
    let of = |json: &Json, scope: &str| word(json, "scope") == scope;
    for one in wanted {
        let scope = word(one, "scope");
        let policy = found.into_iter().flatten().find(|policy| of(policy, scope));
        let policy = policy.unwrap_or(&Json::Null);
        named(&format!("scope `{scope}`"), one, policy)?;
        let roles = policy.get("derivedRoles").and_then(Json::as_object);
        let wanted: BTreeMap<_, _> =
            items(one, "derivedRoles").iter().map(|role| (word(role, "name"), role)).collect();
        for (name, role) in &wanted {
            let found = roles.and_then(|roles| roles.get(*name)).unwrap_or(&Json::Null);
            named(&format!("derived role `{name}`"), role, found)?;
        }
        let known: BTreeSet<&str> = wanted.keys().copied().collect();
        let found: BTreeSet<&str> =
            roles.into_iter().flat_map(|roles| roles.keys().map(String::as_str)).collect();
        tree::same(&json!(known), &json!(found))?;
    }
    tree::same(&json!(wanted.len()), &json!(found.map_or(0, Vec::len)))
}

fn named(what: &str, wanted: &Json, found: &Json) -> Result<(), Failure> {
    let texts = |list: &[Json]| -> BTreeSet<String> {
        list.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let constants = found.get("constants").and_then(Json::as_object);
    let constants: BTreeSet<_> =
        constants.into_iter().flat_map(|all| all.keys().cloned()).collect();
    let variables = items(found, "orderedVariables").iter();
    let variables: BTreeSet<_> = variables.map(|one| word(one, "name").to_owned()).collect();
    for (field, found) in [("constants", constants), ("variables", variables)] {
        let wanted = texts(items(wanted, field));
        Failure::unless_equal(&wanted, &found, |names| format!("{field} of {what}: {names:?}"))?;
    }
    Ok(())
}

fn resource_set(main: &Common, resolved: &Resolved) -> Json {
    let chain = chain(main, &resolved.resource, |policy| &policy.head);
    let root = chain.last().map(|policy| schemas(&policy.schemas));
    json!({
        "meta": {"resource": main.name, "version": main.version},
        "policies": chain.into_iter().map(resource_policy).collect::<Json>(),
        "schemas": root,
    })
}

fn resource_policy(policy: &ResourcePolicy) -> Json {
    let rules = policy.rules.iter().map(|rule| {
        json!({
            "name": rule.name,
            "actions": set(&rule.actions),
            "roles": set(&rule.roles),
            "derivedRoles": set(rule.derived_roles.iter().map(|role| &role.name)),
            "effect": effect(rule.effect),
            "condition": rule.condition.as_ref().map(condition),
            "emitOutput": output(&rule.output),
        })
    });
    let roles = policy.derived_roles.iter();
    let roles: Map<_, _> = roles.map(|(name, role)| (name.clone(), derived_role(role))).collect();
    let mut json = json!({
        "derivedRoles": roles,
        "rules": rules.collect::<Json>(),
        "schemas": schemas(&policy.schemas),
    });
    head(&policy.head, &mut json);
    json
}

fn derived_role(role: &DerivedRole) -> Json {
    json!({
        "name": role.name,
        "parentRoles": set(&role.parent_roles),
        "condition": role.condition.as_ref().map(condition),
        "originFqn": fqn(&role.origin),
        "orderedVariables": variables(&role.variables),
        "constants": constants(&role.constants),
    })
}

fn principal_set(main: &Common, resolved: &Resolved) -> Json {
    let chain = chain(main, &resolved.principal, |policy| &policy.head);
    json!({
        "meta": {"principal": main.name, "version": main.version},
        "policies": chain.into_iter().map(principal_policy).collect::<Json>(),
    })
}

fn principal_policy(policy: &PrincipalPolicy) -> Json {
    let rules = policy.rules.iter().map(|rule| {
        let actions = rule.actions.iter().map(|action| {
            json!({
                "action": action.action,
                "name": action.name,
                "effect": effect(action.effect),
                "condition": action.condition.as_ref().map(condition),
                "emitOutput": output(&action.output),
            })
        });
        (rule.resource.clone(), json!({"actionRules": actions.collect::<Json>()}))
    });
    let mut json = json!({"resourceRules": rules.collect::<Map<_, _>>()});
    head(&policy.head, &mut json);
    json
}

fn role_set(main: &Common, resolved: &Resolved) -> Json {
    let policies = chain(main, &resolved.role, |policy| &policy.head);
    policies.first().map_or(Json::Null, |policy| role_policy(policy))
}

fn role_policy(policy: &RolePolicy) -> Json {
    let mut resources = Map::new();
    for rule in &policy.rules {
        let rules = resources.entry(&rule.resource).or_insert_with(|| json!({"rules": []}));
        if let Some(rules) = rules.get_mut("rules").and_then(Json::as_array_mut) {
            rules.push(json!({
                "resource": rule.resource,
                "name": rule.name,
                "allowActions": set(&rule.allow_actions),
                "condition": rule.condition.as_ref().map(condition),
                "emitOutput": output(&rule.output),
            }));
        }
    }
    json!({
        "meta": {"version": policy.head.version},
        "role": policy.head.name,
        "parentRoles": policy.parent_roles,
        "scope": policy.head.scope,
        "resources": resources,
        "orderedVariables": variables(&policy.head.variables),
        "constants": constants(&policy.head.constants),
    })
}

/// Returns the policy called `main`, and those in the scopes above it.
fn chain<'r, T>(main: &Common, all: &'r [T], head: impl Fn(&T) -> &Head) -> Vec<&'r T> {
    let scopes = std::iter::once(main.scope.as_str()).chain(ancestors(&main.scope));
    let find = |scope: &str| {
        all.iter().find(|policy| {
            let head = head(policy);
            head.name == main.name && head.version == main.version && head.scope == scope
        })
    };
    scopes.filter_map(find).collect()
}

fn head(head: &Head, json: &mut Json) {
    put(json, "scope", json!(head.scope));
    put(
        json,
        "scopePermissions",
        json!(match head.scope_permissions {
            ScopePermissions::OverrideParent => "SCOPE_PERMISSIONS_OVERRIDE_PARENT",
            ScopePermissions::RequireParentalConsentForAllows => {
                "SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS"
            }
        }),
    );
    put(json, "orderedVariables", variables(&head.variables));
    put(json, "constants", constants(&head.constants));
}

fn variables(variables: &[Variable]) -> Json {
    let one = |one: &Variable| json!({"name": one.name, "expr": expression(&one.expr)});
    variables.iter().map(one).collect()
}

fn constants(constants: &BTreeMap<String, Attr>) -> Json {
    Json::Object(constants.iter().map(|(name, value)| (name.clone(), attribute(value))).collect())
}

fn condition(one: &Condition) -> Json {
    let list = |parts: &[Condition]| json!({"expr": parts.iter().map(condition).collect::<Json>()});
    match one {
        Condition::Expr(text) => json!({"expr": expression(text)}),
        Condition::All(parts) => json!({"all": list(parts)}),
        Condition::Any(parts) => json!({"any": list(parts)}),
        Condition::None(parts) => json!({"none": list(parts)}),
    }
}

fn output(output: &Output) -> Json {
    json!({"when": {
        "ruleActivated": output.activated.as_ref().map(expression),
        "conditionNotMet": output.condition_not_met.as_ref().map(expression),
    }})
}

fn expression(source: &ExprSource) -> Json {
    json!({"original": source.text.as_ref()})
}

fn schemas(schemas: &Schemas) -> Json {
    let one = |schema: &SchemaRef| json!({"ref": schema.reference, "ignoreWhen": {"actions": schema.ignore_when_actions}});
    json!({
        "principalSchema": schemas.principal.as_ref().map(one),
        "resourceSchema": schemas.resource.as_ref().map(one),
    })
}

/// Writes a set as an object without values; its members are recognised by a value that is not
/// empty.
fn set<'n>(names: impl IntoIterator<Item = &'n String>) -> Json {
    names.into_iter().map(|name| (name.clone(), json!({}))).collect::<Map<_, _>>().into()
}

fn fqn(key: &str) -> String {
    format!("cerbos.{key}")
}

/// Drops the parts that only Cerbos writes: trees of expressions, the origin of a policy, and the
/// variables a second time, without order.
fn stripped(json: &Json) -> Json {
    match json {
        Json::Object(fields) => {
            let ours = fields.iter().filter(|(key, _)| !UNREAD.contains(&key.as_str()));
            ours.map(|(key, value)| (key.clone(), stripped(value))).collect()
        }
        Json::Array(items) => items.iter().map(stripped).collect(),
        other => other.clone(),
    }
}

/// Drops empty values, but for the members of sets.
fn filled(json: &Json) -> Json {
    without_empties(&members(json))
}

fn members(json: &Json) -> Json {
    match json {
        Json::Object(fields) => {
            let member = |(key, value): (&String, &Json)| {
                let is_set = SETS.contains(&key.as_str());
                (key.clone(), if is_set { listed(value) } else { members(value) })
            };
            fields.iter().map(member).collect()
        }
        Json::Array(items) => items.iter().map(members).collect(),
        other => other.clone(),
    }
}

/// Writes a set as the list of its members; derived roles are a set in a rule and a map in a
/// policy.
fn listed(json: &Json) -> Json {
    match json {
        Json::Object(fields) if fields.values().all(|value| *value == json!({})) => {
            fields.keys().map(|key| json!(key)).collect()
        }
        other => members(other),
    }
}

const UNREAD: [&str; 3] = ["checked", "sourceAttributes", "variables"];
const SETS: [&str; 5] = ["actions", "roles", "derivedRoles", "parentRoles", "allowActions"];

//! The description for programs: complete, and true of the bodies that documents and tests have.

use serde_json::{Value, json};

use crate::running::{KEEPER, OPEN, POLICY, Running, bearer};

fn document() -> Value {
    serde_json::from_str(include_str!("../../src/http/openapi.json")).unwrap()
}

/// Returns true if a value fits a schema, as far as this document uses schemas.
fn fits(document: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(path) = schema["$ref"].as_str() {
        let found = document.pointer(path.trim_start_matches('#'));
        return fits(document, found.unwrap_or_else(|| panic!("{path}")), value);
    }
    if let Some(all) = schema["oneOf"].as_array() {
        return all.iter().filter(|one| fits(document, one, value)).count() == 1;
    }
    if let Some(all) = schema["enum"].as_array() {
        return all.contains(value);
    }
    match schema["type"].as_str() {
        Some("object") => value.as_object().is_some_and(|members| {
            let required = schema["required"].as_array().into_iter().flatten();
            required.into_iter().all(|name| members.contains_key(name.as_str().unwrap()))
                && members.iter().all(|(name, value)| {
                    let rest = &schema["additionalProperties"];
                    let of = schema["properties"].get(name).unwrap_or(rest);
                    // A member that the document does not name is an error of the document here.
                    *of == json!(true) || (!of.is_null() && fits(document, of, value))
                })
        }),
        Some("array") => value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(document, &schema["items"], item))),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        other => other.is_none(),
    }
}

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    for path in found {
        assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
    }
}

#[test]
fn every_call_has_its_bodies() {
    let document = document();
    let schema = |of: &Value| of["content"]["application/json"]["schema"]["$ref"].is_string();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(post) = methods.get("post") else { continue };
        assert!(schema(&post["responses"]["200"]), "{path}");
        assert!(schema(&post["requestBody"]) || path == "/admin/reload", "{path}");
    }
}

#[test]
fn bodies_are_as_they_are_described() {
    let document = document();
    let config =
        format!("{OPEN}[[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n");
    let server = Running::start(POLICY, &config);
    let schema = |of: &Value| of["content"]["application/json"]["schema"].clone();
    let check = |path: &str, body: Value| {
        let post = &document["paths"][path]["post"];
        assert!(fits(&document, &schema(&post["requestBody"]), &body), "{path} {body}");
        let (status, text) = server.post(path, &bearer(KEEPER), &body.to_string());
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(status, 200, "{path} {answer}");
        assert!(fits(&document, &schema(&post["responses"]["200"]), &answer), "{path} {answer}");
    };
    check(
        "/mqtt/authorize/emqx",
        json!({ "clientid": "c", "username": "ada", "action": "publish", "topic": "a", "qos": 1, "retain": false }),
    );
    let topics = json!([{ "topic": "a", "qos": 1 }]);
    check(
        "/mqtt/authorize/vernemq",
        json!({ "client_id": "c", "username": "ada", "topics": topics }),
    );
    check(
        "/mqtt/authorize/vernemq",
        json!({ "client_id": "c", "username": "ada", "topic": "a", "payload": "" }),
    );
    let principal = json!({ "id": "ada", "roles": ["user"], "attr": { "team": "red" } });
    check("/mqtt/grants", json!({ "principal": principal, "actions": ["publish"] }));
    check(
        "/mqtt/grants",
        json!({ "principal": principal, "resource": { "attr": {} }, "for": "emqx" }),
    );
    let album = json!({ "kind": "album", "id": "a", "attr": { "owner": "ada" }, "scope": "" });
    let call = json!({
        "requestId": "r", "includeMeta": true, "principal": principal,
        "resources": [{ "actions": ["view", "edit"], "resource": album }],
    });
    check("/api/check/resources", call.clone());
    check("/admin/explain", call.clone());
    check("/api/check_resource_batch", call);
    check(
        "/api/check/resources",
        json!({ "principal": principal, "resource": album, "actions": ["view"] }),
    );
    check(
        "/api/check",
        json!({
            "includeMeta": true, "actions": ["view"], "principal": principal,
            "resource": { "kind": "album", "instances": { "a": { "attr": { "owner": "ada" } } } },
        }),
    );
    let (subject, resource) =
        (json!({ "type": "user", "id": "ada" }), json!({ "type": "album", "id": "a" }));
    let reply = json!({ "cerbos.includeMeta": true });
    for context in [json!({}), reply] {
        check(
            "/access/v1/evaluation",
            json!({ "subject": subject, "action": { "name": "view" }, "resource": resource, "context": context }),
        );
        check(
            "/access/v1/evaluations",
            json!({
                "subject": subject, "action": { "name": "view" }, "context": context,
                "evaluations": [{ "resource": resource }, {}],
                "options": { "evaluations_semantic": "execute_all" },
            }),
        );
    }
    check(
        "/access/v1/search/subject",
        json!({
            "subject": { "type": "user" }, "action": { "name": "view" }, "resource": resource,
            "candidates": [{ "id": "ada" }], "page": { "limit": 1 },
        }),
    );
    check("/access/v1/search/action", json!({ "subject": subject, "resource": resource }));
    let metadata =
        &document["paths"]["/.well-known/authzen-configuration"]["get"]["responses"]["200"];
    let known = server.get("/.well-known/authzen-configuration", "").1;
    assert!(fits(&document, &schema(metadata), &serde_json::from_str(&known).unwrap()), "{known}");
}

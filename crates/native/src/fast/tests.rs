//! Requests that fast paths decide, about the policies of `npm/fixtures/covered`: the answers are
//! those of the general path.

use std::sync::Arc;

use serde_json::{Value, json};
use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Coverage;

use super::decide::decide;
use super::index::Target;
use super::json;
use super::request::RequestInput;
use crate::policies::Policies;
use crate::value::ValueInput;

fn policies() -> Policies {
    let file = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    let files: Vec<_> = COVERED.iter().map(file).collect();
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let opened = open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()).unwrap();
    Policies::new(opened.table, 0, 0)
}

macro_rules! covered {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../npm/fixtures/covered/", $name)))),*]
    };
}

/// The policies by file.
const COVERED: &[(&str, &str)] = covered!(
    "boss.acme.yaml" "boss.yaml" "claims.yaml" "clerk.acme.yaml" "clerk.yaml" "emits.yaml" "glob.yaml"
    "plain.acme.yaml" "plain.v2.yaml" "plain.yaml" "text.yaml"
);

/// Asserts that a fast path decides this request, in each form.
fn check(policies: &Policies, request: &Value, expected: bool) {
    let now = Timestamp::default();
    let text = request.to_string();
    let read = json::request(text.as_bytes()).unwrap();
    let action = request["action"].as_str().unwrap();
    let input = RequestInput { request: &read, action };
    let table = policies.table();
    assert_eq!(table.is_allowed(&read, action, now), expected, "{request}");
    assert_eq!(decide(table, policies.index(), &input, &now), Some(expected), "{request}");
    let from_text =
        json::with_input(text.as_bytes(), |input| decide(table, policies.index(), input, &now));
    assert_eq!(from_text.unwrap(), Some(expected), "{request}");
    let input = ValueInput::read(request).unwrap();
    assert_eq!(decide(table, policies.index(), &input, &now), Some(expected), "{request}");
}

#[test]
fn a_scope_has_the_fast_paths_of_the_nearest_scope_above_with_a_policy() {
    let mut level = 0;
    let mut file = |kind: &str, version: &str, scope: &str| {
        level += 1;
        let text = format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: {kind}\n  version: {version}\n  scope: \"{scope}\"\n  \
             rules:\n    - {{ actions: [view], roles: [user], effect: EFFECT_ALLOW, condition: {{ match: {{ expr: P.attr.level > {level} }} }} }}\n"
        );
        (format!("{kind}.{version}.{scope}.yaml"), text.into_bytes())
    };
    let kinds = ["doc", "mail", "mqtt:topic", "note"];
    let mut files: Vec<_> = kinds.iter().map(|kind| file(kind, "default", "")).collect();
    for (kind, version, scope) in [
        ("doc", "default", "a"),
        ("doc", "default", "a.b"),
        ("doc", "default", "a.b.c"),
        ("doc", "v2", ""),
        ("doc", "v2", "a"),
        ("mqtt:topic", "default", "a"),
        ("note", "default", "z"),
    ] {
        files.push(file(kind, version, scope));
    }
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let opened = open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()).unwrap();
    let policies = Policies::new(opened.table, 0, 0);
    let (table, index) = (policies.table(), policies.index());
    for kind in kinds.into_iter().chain(["mqtt_topic", "other"]) {
        for policy_version in ["", "default", "v2", "v3"] {
            for scope in ["", "a", "a.b", ".a.b", "a.b.c", "a.c", "a.b.c.d", "z", "z.a", "q"] {
                let target = Target { kind, action: "view", policy_version, scope };
                let names = [kind, policy_version, scope];
                let list = match table.coverage(names, || table.has_role_policies()) {
                    Coverage::List(offset) => table.fast_paths().list(offset),
                    Coverage::NoPolicy | Coverage::General => None,
                };
                let id = list.and_then(|list| table.fast_path_of_action(list, "view"));
                let expected = id.and_then(|id| index.path(id)).map(std::ptr::from_ref);
                let found = index.fast_path(table, target).map(Arc::as_ptr);
                assert_eq!(found, expected, "{target:?}");
            }
        }
    }
}

fn asking(kind: &str, action: &str, resource: &Value, principal: &Value) -> Value {
    let mut request = json!({
        "principal": {"id": "ada", "roles": ["user"]},
        "action": action,
        "resource": {"kind": kind, "id": "t1"},
    });
    for (part, more) in [("resource", resource), ("principal", principal)] {
        for (name, value) in more.as_object().unwrap() {
            request[part][name] = value.clone();
        }
    }
    request
}

#[test]
fn many_texts_are_distinguished() {
    let policies = policies();
    let mine = json!({"attr": {"a": "1", "b": "2"}});
    let attr = |d: &str| json!({"attr": {"a": "1", "b": "2", "c": "3", "d": d}});
    check(&policies, &asking("text", "pairs", &attr("4"), &mine), true);
    check(&policies, &asking("text", "pairs", &attr("2"), &mine), false);
    check(&policies, &asking("text", "constants", &attr("4"), &mine), true);
    check(&policies, &asking("text", "constants", &attr("hidden"), &mine), false);
}

#[test]
fn absent_attributes_are_none() {
    let policies = policies();
    check(&policies, &asking("plain", "own", &json!({}), &json!({})), false);
    check(&policies, &asking("plain", "open", &json!({}), &json!({})), true);
    check(&policies, &asking("plain", "team", &json!({}), &json!({})), true);
}

#[test]
fn tokens_of_the_auxiliary_data_are_read() {
    let policies = policies();
    let check = |action: &str, attr: Value, aux_data: Value, expected: bool| {
        let mut request = asking("claims", action, &json!({"attr": attr}), &json!({}));
        if !aux_data.is_null() {
            request["auxData"] = aux_data;
        }
        check(&policies, &request, expected);
    };
    check("own", json!({"owner": "u1"}), json!({"jwt": {"sub": "u1"}}), true);
    check("own", json!({"owner": "u1"}), json!({"jwt": {"sub": "u2"}}), false);
    check("own", json!({"owner": "u1"}), json!({}), false);
    check("own", json!({"owner": "u1"}), Value::Null, false);
    check("group", json!({}), json!({"jwt": {"groups": ["a", "staff"]}}), true);
    check("group", json!({}), json!({"jwt": {"groups": []}}), false);
    check("anonymous", json!({}), Value::Null, true);
    check("anonymous", json!({}), json!({"jwts": {}}), true);
    check("anonymous", json!({}), json!({"jwt": {"sub": null}}), false);
    let context = |claims: Value| json!({"jwts": {"context": claims}});
    check("local", json!({}), context(json!({"claims": {"ip": "10.0.0.1"}})), true);
    check("local", json!({}), context(json!({"claims": {"ip": "10.0.0.2"}})), false);
    check("local", json!({}), context(json!({})), false);
    check("local", json!({}), context(json!(1)), false);
    check("local", json!({}), json!({}), false);
    check("mail", json!({"email": "a@b.c"}), json!({"jwt": {"email": "A@b.c"}}), true);
}

#[test]
fn a_kind_that_no_policy_is_about_is_denied() {
    let policies = policies();
    for resource in [
        json!({}),
        json!({"scope": "acme"}),
        json!({"scope": "none"}),
        json!({"policyVersion": "v2"}),
        json!({"policyVersion": "none"}),
    ] {
        check(&policies, &asking("unknown", "own", &resource, &json!({})), false);
    }
    check(&policies, &asking("plain", "own", &json!({"scope": "none"}), &json!({})), false);
}

#[test]
fn a_scope_without_a_policy_about_the_kind_has_the_fast_paths_above() {
    let policies = policies();
    let resource = json!({"scope": "acme", "attr": {"a": true, "b": null}});
    check(&policies, &asking("text", "flags", &resource, &json!({})), true);
    let resource = json!({"scope": "acme", "policyVersion": "v2"});
    check(&policies, &asking("plain", "own", &resource, &json!({})), true);
}

#[test]
fn actions_are_decided_by_the_patterns_that_match_them() {
    let policies = policies();
    for (action, owner, roles, expected) in [
        ("open", "eve", "user", true),
        ("view:public", "ada", "user", true),
        ("view:public", "eve", "user", false),
        ("view:private", "ada", "user", true),
        ("view:private:all", "eve", "admin", false),
        ("view:private:all", "ada", "admin", false),
        ("edit:all", "eve", "admin", true),
        ("edit:all", "eve", "user", false),
        ("edit", "eve", "root", true),
        ("edit", "eve", "admin", false),
    ] {
        let (resource, principal) = (json!({"attr": {"owner": owner}}), json!({"roles": [roles]}));
        check(&policies, &asking("glob", action, &resource, &principal), expected);
    }
}

#[test]
fn a_principal_with_policies_of_its_own_is_decided_by_them_first() {
    let policies = policies();
    let boss = |more: Value| {
        let mut principal = json!({"id": "boss"});
        for (name, value) in more.as_object().unwrap() {
            principal[name] = value.clone();
        }
        principal
    };
    let check = |kind: &str, action: &str, resource: Value, principal: Value, expected: bool| {
        check(&policies, &asking(kind, action, &resource, &boss(principal)), expected);
    };
    check("plain", "own", json!({"attr": {"owner": "eve", "locked": false}}), json!({}), true);
    check("plain", "own", json!({"attr": {"owner": "eve", "locked": true}}), json!({}), false);
    check("plain", "own", json!({}), json!({}), false);
    check("plain", "open", json!({}), json!({"attr": {"level": 2}}), false);
    check("plain", "open", json!({}), json!({"attr": {"level": 3}}), true);
    check("plain", "see:all", json!({}), json!({}), true);
    check("plain", "see:all", json!({}), json!({"roles": []}), false);
    check("plain", "see:all", json!({"scope": "acme"}), json!({}), true);
    check("plain", "see:all", json!({"policyVersion": "v2"}), json!({}), false);
    check("text", "flags", json!({"attr": {"a": true, "b": null}}), json!({}), false);
    check("glob", "open", json!({}), json!({}), true);
    check("unknown", "open", json!({}), json!({}), false);
}

#[test]
fn a_principal_with_a_scope_and_policies_of_its_own_has_no_fast_path() {
    let policies = policies();
    for (kind, action, scope, expected) in [
        ("glob", "open", "acme", false),
        ("plain", "see:all", "acme", true),
        ("secret", "read", "", true),
    ] {
        let principal = json!({"id": "boss", "scope": scope});
        let request = asking(kind, action, &json!({}), &principal);
        let read = json::request(request.to_string().as_bytes()).unwrap();
        let input = RequestInput { request: &read, action };
        let now = Timestamp::default();
        assert_eq!(decide(policies.table(), policies.index(), &input, &now), None, "{request}");
        assert_eq!(policies.is_allowed(&read, action, now), expected, "{request}");
    }
}

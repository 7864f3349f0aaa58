//! Generated requests: attributes that are present, missing, or of another type than expected.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value as Json, json};

use super::{ACTIONS, KINDS, PRINCIPALS, ROLES};

pub(super) fn request() -> impl Strategy<Value = Json> {
    let claims = weighted(0.3, value(TEXTS));
    (principal(), resource(), actions(), claims).prop_map(|(principal, resource, actions, sub)| {
        let mut request = json!({"principal": principal, "resource": resource, "actions": actions});
        if let (Some(sub), Some(fields)) = (sub, request.as_object_mut()) {
            fields.insert("auxData".to_owned(), json!({"jwt": {"sub": sub}}));
        }
        request
    })
}

fn actions() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(select(ACTIONS.to_vec()), 1..4)
}

fn principal() -> impl Strategy<Value = Json> {
    let roles = subsequence(ROLES.to_vec(), 1..=3).prop_shuffle();
    let attr = attributes(vec![
        ("dept", value(TEXTS)),
        ("level", value(NUMBERS)),
        ("teams", value(LISTS)),
        ("profile", value(MAPS)),
    ]);
    (select(PRINCIPALS.to_vec()), roles, attr, version(), scope()).prop_map(
        |(id, roles, attr, version, scope)| {
            common(json!({"id": id, "roles": roles, "attr": attr}), version, scope)
        },
    )
}

fn resource() -> impl Strategy<Value = Json> {
    let attr = attributes(vec![
        ("owner", value(TEXTS)),
        ("count", value(NUMBERS)),
        ("tags", value(LISTS)),
        ("meta", value(MAPS)),
        ("locked", value(FLAGS)),
        ("at", value(TIMES)),
    ]);
    let kind = prop_oneof![6 => Just("doc"), 3 => select(KINDS.to_vec()), 1 => Just("vault")];
    (kind, attr, version(), scope()).prop_map(|(kind, attr, version, scope)| {
        common(json!({"kind": kind, "id": "r1", "attr": attr}), version, scope)
    })
}

fn common(mut of: Json, version: Option<&str>, scope: Option<&str>) -> Json {
    if let Some(fields) = of.as_object_mut() {
        fields.extend(version.map(|version| ("policyVersion".to_owned(), version.into())));
        fields.extend(scope.map(|scope| ("scope".to_owned(), scope.into())));
    }
    of
}

fn version() -> impl Strategy<Value = Option<&'static str>> {
    let named = select(vec!["default", "v2", "v3"]);
    prop_oneof![8 => Just(None), 1 => named.prop_map(Some)]
}

fn scope() -> impl Strategy<Value = Option<&'static str>> {
    let named = select(vec!["acme", "acme.hr", "acme.hr", ".acme", "acme.ops", "globex"]);
    prop_oneof![1 => Just(None), 1 => named.prop_map(Some)]
}

fn attributes(
    named: Vec<(&'static str, BoxedStrategy<Json>)>,
) -> impl Strategy<Value = Map<String, Json>> {
    let one = |(name, value): (&'static str, BoxedStrategy<Json>)| {
        weighted(0.8, value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let all: Vec<_> = named.into_iter().map(one).collect();
    all.prop_map(|found| found.into_iter().flatten().collect())
}

/// One of `usual`, written as JSON, or now and then something of another type.
fn value(usual: &'static [&'static str]) -> BoxedStrategy<Json> {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or(Json::Null);
    let odd = [TEXTS, NUMBERS, LISTS, MAPS, FLAGS, &["null"]].concat();
    prop_oneof![7 => select(usual.to_vec()), 1 => select(odd)].prop_map(parse).boxed()
}

const TEXTS: &[&str] = &[r#""sam""#, r#""kim""#, r#""red""#, r#""blue""#, r#""RED""#, r#""""#];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "2.5", "-1"];
const LISTS: &[&str] = &[
    "[]",
    r#"["red"]"#,
    r#"["sam", "blue"]"#,
    r#"["kim", 2]"#,
    r#"[1, 2, 3]"#,
    r#"[true, "red"]"#,
];
const MAPS: &[&str] = &["{}", r#"{"a": "sam"}"#, r#"{"a": 2, "b": {"c": true}}"#, r#"{"sam": 1}"#];
const FLAGS: &[&str] = &["true", "false"];
const TIMES: &[&str] = &[
    r#""2024-05-06T07:08:09Z""#,
    r#""2024-05-06T00:00:00+02:00""#,
    r#""2023-12-31T23:59:59.5Z""#,
    r#""2030-01-01T00:00:00Z""#,
    r#""yesterday""#,
];

//! Generated requests: few principals and resources, known and unknown, in every combination.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value as Json, json};

use super::values::{address, attributes, flag, list, map, number, status, text, time};
use super::{ACTIONS, CROWD, KINDS, PRINCIPALS, ROLES, crowd_role};

pub(super) fn request() -> BoxedStrategy<Json> {
    let claims = proptest::option::weighted(0.1, text());
    (principal(), resource(), actions(), claims)
        .prop_map(|(principal, resource, actions, sub)| {
            let mut request =
                json!({"principal": principal, "resource": resource, "actions": actions});
            if let (Some(sub), Some(fields)) = (sub, request.as_object_mut()) {
                fields.insert("auxData".to_owned(), json!({"jwt": {"sub": sub}}));
            }
            request
        })
        .boxed()
}

fn actions() -> impl Strategy<Value = Vec<&'static str>> {
    let action = prop_oneof![
        12 => select(ACTIONS.to_vec()),
        1 => select(vec!["unknown", "edit:", "constructor", "__proto__", "", "*"]),
    ];
    proptest::collection::vec(action, 1..4)
}

fn principal() -> BoxedStrategy<Json> {
    let attr = attributes(vec![
        ("dept", text()),
        ("level", number()),
        ("teams", list()),
        ("profile", map()),
        ("ip", address()),
    ]);
    let id = prop_oneof![
        2 => select(PRINCIPALS.to_vec()),
        6 => select(vec!["ada", "eve", "red"]),
        1 => select(vec!["", "__proto__", "constructor", "ключ", "sam "]),
    ];
    let placed = (version(), scope());
    (id, roles(), without_some(attr), placed)
        .prop_map(|(id, roles, attr, (version, scope))| {
            let fields = [
                ("attr", attr),
                ("policyVersion", version.map(Json::from)),
                ("scope", scope.map(Json::from)),
            ];
            common(json!({"id": id, "roles": roles}), fields)
        })
        .boxed()
}

/// Returns roles in any order, some unknown, some twice, now and then none.
fn roles() -> BoxedStrategy<Vec<String>> {
    let known = subsequence(ROLES.to_vec(), 1..=3).prop_shuffle();
    let crowd = proptest::collection::vec(0..CROWD, 1..6)
        .prop_map(|numbers| numbers.into_iter().map(crowd_role).collect::<Vec<_>>());
    let unusual = select(vec!["nobody", "constructor", "*", "", "member", "Member", "boss"]);
    let unusual = proptest::collection::vec(unusual, 1..3);
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let known = known.prop_map(owned).boxed();
    let unusual = unusual.prop_map(owned).boxed();
    let mixed = (unusual, known.clone()).prop_map(|(mut unusual, known)| {
        unusual.extend(known);
        unusual
    });
    let of_crowd = (crowd, known.clone()).prop_map(|(mut crowd, known)| {
        crowd.extend(known);
        crowd
    });
    prop_oneof![30 => known, 4 => mixed, 4 => of_crowd, 1 => Just(Vec::new())].boxed()
}

fn resource() -> BoxedStrategy<Json> {
    let attr = attributes(vec![
        ("owner", text()),
        ("status", status()),
        ("count", number()),
        ("tags", list()),
        ("meta", map()),
        ("locked", flag()),
        ("public", flag()),
        ("at", time()),
        ("dept", text()),
    ]);
    let kind = prop_oneof![
        20 => Just("doc"),
        4 => select(KINDS.to_vec()),
        1 => select(vec!["vault", "constructor", "", "Doc", "doc:*", "*"]),
    ];
    let id = prop_oneof![4 => Just("r1"), 1 => select(vec!["sam", "red", ""])];
    let placed = (version(), scope());
    (kind, id, without_some(attr), placed)
        .prop_map(|(kind, id, attr, (version, scope))| {
            let fields = [
                ("attr", attr),
                ("policyVersion", version.map(Json::from)),
                ("scope", scope.map(Json::from)),
            ];
            common(json!({"kind": kind, "id": id}), fields)
        })
        .boxed()
}

/// Leaves out all attributes now and then.
fn without_some(attr: BoxedStrategy<Json>) -> impl Strategy<Value = Option<Json>> {
    proptest::option::weighted(0.97, attr)
}

fn common<const N: usize>(mut of: Json, fields: [(&str, Option<Json>); N]) -> Json {
    if let Some(object) = of.as_object_mut() {
        let present =
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        object.extend(present.collect::<Map<_, _>>());
    }
    of
}

fn version() -> impl Strategy<Value = Option<&'static str>> {
    let named = select(vec!["default", "v2", "v3", ""]);
    prop_oneof![12 => Just(None), 1 => named.prop_map(Some)]
}

fn scope() -> impl Strategy<Value = Option<&'static str>> {
    let known = select(vec!["acme", "acme.hr", ".acme", ""]);
    let unknown = select(vec!["acme.ops", "globex", "."]);
    let named = prop_oneof![4 => known, 1 => unknown];
    prop_oneof![2 => Just(None), 1 => named.prop_map(Some)]
}

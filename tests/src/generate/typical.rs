//! Generated conditions of the kind that most policies consist of.
//!
//! Fast paths are made for them, so they must be many: a comparison with a constant or with another
//! attribute, a flag, membership, presence, and the few functions in common use. Conditions that no
//! fast path can hold are rare among them, because one such condition takes the fast path from an
//! action.

use proptest::prelude::*;
use proptest::sample::select;

use super::expressions::{pattern, range};

pub(super) fn leaf(variables: &[&'static str]) -> BoxedStrategy<String> {
    let compare = select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let equal = select(vec!["==", "==", "!="]);
    let flags = [FLAGS, variables].concat();
    prop_oneof![
        5 => (path(), equal.clone(), path()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        5 => (path(), equal.clone(), constant()).prop_map(|(a, op, b)| format!("dyn({a}) {op} {b}")),
        2 => (constant(), equal, attribute()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        4 => select(flags).prop_map(str::to_owned),
        3 => (number(), compare.clone(), bound()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => (number(), compare, number()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        3 => (path(), set()).prop_map(|(a, set)| format!("{a} in {set}")),
        3 => (element(), list()).prop_map(|(a, list)| format!("{a} in {list}")),
        2 => (attribute(), constant()).prop_map(|(a, b)| format!("has({a}) && {a} == {b}")),
        2 => attribute().prop_map(|a| format!("has({a})")),
        1 => attribute().prop_map(|a| format!("!has({a}) || {a} == P.id")),
        1 => (attribute(), prefix()).prop_map(|(a, call)| format!("{a}.{call}")),
        1 => (attribute(), pattern()).prop_map(|(a, pattern)| format!("{a}.matches({pattern})")),
        1 => range().prop_map(|range| format!("P.attr.ip.inIPAddrRange({range})")),
        1 => (list(), bound()).prop_map(|(list, bound)| format!("size({list}) >= {bound}")),
        1 => (list(), element()).prop_map(|(list, a)| format!("{list}.exists(t, t == {a})")),
        1 => (list(), list()).prop_map(|(a, b)| format!("hasIntersection({a}, {b})")),
        1 => select(TIMES.to_vec()).prop_map(str::to_owned),
1 => Just("P.id in G.names".to_owned()),
    ]
    .boxed()
}

/// Returns the attributes that the request may hold under one or more names.
fn attribute() -> BoxedStrategy<&'static str> {
    let usual = vec![
        "R.attr.owner",
        "R.attr.status",
        "R.attr.dept",
        "P.attr.dept",
        "R.attr.meta.a",
        "R.attr.public",
        "R.attr.count",
    ];
    let deep = vec!["R.attr.meta.b.c", "P.attr.profile.a", "request.resource.attr.owner"];
    prop_oneof![120 => select(usual), 20 => select(deep), 1 => Just("R.attr.constructor")].boxed()
}

fn path() -> BoxedStrategy<&'static str> {
    prop_oneof![3 => attribute(), 1 => Just("P.id"), 1 => select(vec!["R.id", "R.kind", "P.id"])]
        .boxed()
}

fn element() -> BoxedStrategy<&'static str> {
    prop_oneof![2 => Just("P.id"), 1 => Just("\"red\""), 1 => attribute()].boxed()
}

fn number() -> BoxedStrategy<&'static str> {
    select(vec!["R.attr.count", "P.attr.level", "R.attr.meta.a"]).boxed()
}

fn bound() -> BoxedStrategy<&'static str> {
    let unusual = vec!["-0.0", "9007199254740993", "9007199254740992.0", "1e308", "5e-324", "0.1"];
    prop_oneof![4 => select(vec!["0", "1", "2", "2.5", "-1", "1.0"]), 1 => select(unusual)].boxed()
}

fn constant() -> BoxedStrategy<&'static str> {
    let texts = vec!["\"sam\"", "\"red\"", "\"open\"", "\"draft\"", "\"\"", "\"ключ\"", "C.team"];
    let others = vec!["true", "false", "null", "1", "2.0", "C.limit", "G.env"];
    prop_oneof![3 => select(texts), 1 => select(others)].boxed()
}

fn set() -> BoxedStrategy<&'static str> {
    select(vec![
        "[\"open\", \"draft\"]",
        "[\"sam\", \"red\", \"\"]",
        "C.names",
        "G.names",
        "[\"red\"]",
        "[\"doc\", \"album\", \"sam\", \"kim\", \"ключ\", \"a.b\", \"qu\\\"ote\", \"constructor\"]",
        "R.attr.tags",
    ])
    .boxed()
}

fn list() -> BoxedStrategy<&'static str> {
    select(vec!["R.attr.tags", "P.attr.teams", "P.roles", "R.attr.meta.a"]).boxed()
}

fn prefix() -> BoxedStrategy<&'static str> {
    select(vec!["startsWith(\"s\")", "startsWith(P.id)", "endsWith(\"d\")", "contains(\"e\")"])
        .boxed()
}

const FLAGS: &[&str] = &[
    "true",
    "R.attr.public",
    "!R.attr.locked",
    "R.attr.public == true",
    "R.attr.locked != true",
    "R.attr.owner == P.id",
    "R.attr.owner == P.id",
    "P.attr.dept == R.attr.dept",
    "R.attr.status == \"open\"",
];
const TIMES: &[&str] = &[
    "now() > timestamp(R.attr.at)",
    "timestamp(R.attr.at).timeSince() < duration(\"24h\")",
    "now() < timestamp(\"2025-01-01T00:00:00Z\")",
];

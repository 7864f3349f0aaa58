//! Generated conditions and requests, and what the engine says of them.

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};

/// Returns a policy with a rule for each condition: that at `n` allows the action `a` and `n`.
pub(crate) fn policy(conditions: &[Json]) -> Vec<(String, Vec<u8>)> {
    let rule = |(at, condition): (usize, &Json)| {
        json!({
            "actions": [format!("a{at}")],
            "roles": ["*"],
            "effect": "EFFECT_ALLOW",
            "condition": { "match": condition },
        })
    };
    let rules: Vec<Json> = conditions.iter().enumerate().map(rule).collect();
    let policy = json!({
        "apiVersion": "api.cerbos.dev/v1",
        "resourcePolicy": {
            "resource": "doc",
            "version": "default",
            "constants": { "local": { "five": 5, "name": "x", "names": ["x", "y"] } },
            "variables": { "local": {
                "is_owner": "R.attr.a == P.id",
                "both": "V.is_owner && has(R.attr.b)",
                "count": "size(R.attr.l)",
            } },
            "rules": rules,
        },
    });
    vec![("doc.json".to_owned(), policy.to_string().into_bytes())]
}

/// Compiles that policy.
pub(crate) fn table(conditions: &[Json], evaluation: Evaluation) -> PolicyTable {
    let options = Options { evaluation, ..Options::default() };
    let compiled = compile_files(&policy(conditions), &options)
        .unwrap_or_else(|why| panic!("{}", why[0].message));
    PolicyTable::from_parts(compiled.parts).unwrap()
}

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Yes,
    No,
    Fails,
}

/// Returns the verdicts of conditions for each request.
pub(crate) fn verdicts(
    conditions: &[Json],
    requests: &[Request],
    evaluation: Evaluation,
) -> Vec<Vec<Verdict>> {
    let table = table(conditions, evaluation);
    let actions: Vec<String> = (0..conditions.len()).map(|at| format!("a{at}")).collect();
    let decide = |request: &Request| {
        let request = Request { actions: actions.clone(), ..request.clone() };
        let decision = table.check(&request, Timestamp::default());
        let verdict = |action: &wardgate_engine::decision::ActionDecision| match (
            action.effect,
            &action.reason,
        ) {
            (Effect::Allow, _) => Verdict::Yes,
            (Effect::Deny, Reason::ConditionError(_)) => Verdict::Fails,
            (Effect::Deny, Reason::NoRuleApplied) => Verdict::No,
            (_, reason) => panic!("{reason:?}"),
        };
        decision.actions.iter().map(verdict).collect()
    };
    requests.iter().map(decide).collect()
}

pub(crate) fn request(rng: &mut Rng) -> Request {
    let mut request = Request::default();
    request.principal.id = pick(rng, &["sam", "x", "ann"]).to_owned();
    request.principal.roles = vec![pick(rng, &["user", "admin", "x"]).to_owned()];
    request.resource.kind = "doc".to_owned();
    request.resource.id = "1".to_owned();
    request.resource.attr = attributes(rng);
    request.principal.attr = attributes(rng);
    request
}

fn attributes(rng: &mut Rng) -> AttrMap {
    let mut attributes = Vec::new();
    for key in ["a", "b", "c", "l", "m", "n"] {
        if rng.u8(..4) > 0 {
            attributes.push((Box::from(key), value(rng, key)));
        }
    }
    attributes.into_iter().collect()
}

fn value(rng: &mut Rng, key: &str) -> Attr {
    let text = |text: &str| Attr::String(text.into());
    match (key, rng.u8(..12)) {
        (_, 0) => Attr::Null,
        (_, 1) => Attr::Bool(rng.bool()),
        (_, 2) => Attr::Number(f64::from(rng.i8(-1..7))),
        (_, 3) => text(pick(rng, &["x", "sam", ""])),
        (_, 4) => Attr::List(vec![text("x"), Attr::Number(5.0)]),
        ("a" | "c", _) => text(pick(rng, &["x", "y", "sam"])),
        ("b", _) => Attr::Bool(rng.bool()),
        ("l", _) => Attr::List(vec![text(pick(rng, &["x", "sam"])), text("y")]),
        ("m", _) => Attr::Map(attributes_of_map(rng)),
        _ => Attr::Number(f64::from(rng.i8(-1..7))),
    }
}

fn attributes_of_map(rng: &mut Rng) -> AttrMap {
    let key = pick(rng, &["k", "other"]);
    [(Box::from(key), value(rng, "a"))].into_iter().collect()
}

pub(crate) fn pick<'t>(rng: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len())]
}

/// Returns a condition of a policy.
pub(crate) fn condition(rng: &mut Rng, depth: usize) -> Json {
    if depth == 0 || rng.u8(..3) == 0 {
        return json!({ "expr": logic(rng, 2) });
    }
    let parts: Vec<Json> = (0..rng.usize(1..4)).map(|_| condition(rng, depth - 1)).collect();
    json!({ pick(rng, &["all", "any", "none"]): { "of": parts } })
}

fn logic(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.u8(..3) == 0 {
        return atom(rng);
    }
    let (left, right) = (logic(rng, depth - 1), logic(rng, depth - 1));
    match rng.u8(..8) {
        0 | 1 => format!("!({left})"),
        2..=4 => format!("({left}) && ({right})"),
        5 | 6 => format!("({left}) || ({right})"),
        _ => format!("(({left}) ? ({right}) : ({}))", atom(rng)),
    }
}

fn atom(rng: &mut Rng) -> String {
    let read = |rng: &mut Rng| {
        pick(rng, &["R.attr.a", "R.attr.c", "P.attr.a", "request.resource.attr.a", "R.attr[\"n\"]"])
    };
    let always = |rng: &mut Rng| pick(rng, &["P.id", "R.kind", "R.id", "request.principal.id"]);
    let constant = |rng: &mut Rng| {
        pick(rng, &["\"x\"", "'sam'", "5", "5.0", "5u", "-1", "true", "null", "C.name", "C.five"])
    };
    let order = |rng: &mut Rng| pick(rng, &["<", "<=", ">", ">="]);
    match rng.u8(..21) {
        0 => format!("{} == {}", read(rng), constant(rng)),
        1 => format!("{} == {}", constant(rng), read(rng)),
        2 => format!("{} != {}", read(rng), constant(rng)),
        3 => format!("{} == {}", read(rng), always(rng)),
        4 => format!("{} == {}", always(rng), pick(rng, &["\"sam\"", "\"doc\"", "\"x\""])),
        5 => format!("{} in [{}, {}]", read(rng), constant(rng), constant(rng)),
        6 => format!("{} in C.names", read(rng)),
        7 => format!("R.attr.n {} {}", order(rng), pick(rng, &["5", "5.0", "2u", "C.five"])),
        8 => format!("{} {} R.attr.n", pick(rng, &["5", "0"]), order(rng)),
        9 => format!("R.attr.n {} P.attr.n", order(rng)),
        10 => format!("has(R.attr.{})", pick(rng, &["a", "b", "c"])),
        11 => format!("has(R.attr.a) && R.attr.a == {}", constant(rng)),
        12 => pick(rng, &["R.attr.b", "R.attr[\"b\"]", "P.attr.b", "true", "false"]).to_owned(),
        13 => format!("{} in {}", always(rng), pick(rng, &["P.roles", "R.attr.l", "P.attr"])),
        14 => pick(rng, &["V.is_owner", "V.both", "V.count > 1", "has(R.attr.l) && V.count == 2"])
            .to_owned(),
        15 => format!("R.attr.l.{}(x, x == {})", pick(rng, &["exists", "all"]), read(rng)),
        16 => format!("R.attr.a.{}(\"s\")", pick(rng, &["startsWith", "contains"])),
        17 => format!("R.attr.l.filter(r, r != {}).size() == 1", constant(rng)),
        18 => match rng.u8(..3) {
            0 => "has(R.attr.m.k)".to_owned(),
            1 => format!("R.attr.m.k == {}", constant(rng)),
            _ => format!("R.attr.m.k in [{}]", constant(rng)),
        },
        19 => format!("dyn(R.attr.n + 1.0) == {}", pick(rng, &["5", "6.0", "C.five"])),
        _ => format!("\"{}\" in P.roles", pick(rng, &["user", "admin"])),
    }
}

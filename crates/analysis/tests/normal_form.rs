//! A condition and its normal form have one verdict: true, false or an error, in strict and in
//! lenient tables; and what an author may spell in several ways has one normal form.
#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_analysis::normal::{Normal, Parsed, Scope};
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::policy::model::Condition;
use wardgate_compiler::resolve::model::ResourcePolicy;
use wardgate_compiler::resolve::resolve;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};

/// Conditions that are compiled together.
const TOGETHER: usize = 25;

fn pairs() -> usize {
    if std::env::var_os("SLOW_TESTS").is_some() { 100_000 } else { 2_000 }
}

#[test]
fn a_condition_and_its_normal_form_have_one_verdict() {
    let mut rng = Rng::with_seed(23);
    for round in 0..pairs() / TOGETHER {
        let conditions: Vec<Json> = (0..TOGETHER).map(|_| condition(&mut rng, 2)).collect();
        let normal = normal_forms(&conditions);
        let both: Vec<Json> =
            conditions.iter().cloned().chain(normal.iter().map(spelled)).collect();
        let requests: Vec<Request> = (0..12).map(|_| request(&mut rng)).collect();
        for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
            let verdicts = verdicts(&both, &requests, evaluation);
            for (at, of_request) in verdicts.iter().enumerate() {
                let (written, normal) = of_request.split_at(TOGETHER);
                for (which, (written, normal)) in written.iter().zip(normal).enumerate() {
                    assert_eq!(
                        written,
                        normal,
                        "round {round}, {evaluation:?}:\n{}\n{}\n{:#?}",
                        conditions[which],
                        both[TOGETHER + which],
                        requests[at]
                    );
                }
            }
        }
    }
}

#[test]
fn equal_normal_forms_have_one_verdict() {
    let mut rng = Rng::with_seed(24);
    let mut equal = 0;
    for _ in 0..pairs() / TOGETHER {
        let conditions: Vec<Json> = (0..TOGETHER).map(|_| condition(&mut rng, 2)).collect();
        let edited: Vec<Json> =
            conditions.iter().map(|condition| respelled(condition, &mut rng)).collect();
        let (before, after) = (normal_forms(&conditions), normal_forms(&edited));
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(before.text(), after.text(), "{}\n{}", conditions[at], edited[at]);
            equal += 1;
        }
        let both: Vec<Json> = conditions.iter().cloned().chain(edited).collect();
        let requests: Vec<Request> = (0..6).map(|_| request(&mut rng)).collect();
        for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
            for of_request in verdicts(&both, &requests, evaluation) {
                let (written, edited) = of_request.split_at(TOGETHER);
                assert_eq!(written, edited, "{evaluation:?}");
            }
        }
    }
    assert!(equal >= pairs() / 2);
}

#[test]
fn spellings_have_one_normal_form() {
    let one = |spellings: &[&str]| {
        let conditions: Vec<Json> = spellings.iter().map(|text| json!({ "expr": text })).collect();
        let normal = normal_forms(&conditions);
        for (spelling, normal_form) in spellings.iter().zip(&normal) {
            assert_eq!(normal_form.text(), spellings[0], "{spelling}");
        }
    };
    one(&[
        "R.attr.a == P.id",
        "request.resource.attr[\"a\"] == request.principal.id",
        "P.id == R.attr.a",
    ]);
    one(&[
        "R.attr.a in [\"x\", \"y\"]",
        "R.attr.a == 'y' || \"x\" == R.attr.a",
        "R.attr.a in ['y', 'x', 'y']",
    ]);
    one(&["R.attr.a != \"x\"", "!(R.attr.a == 'x')", "!(R.attr.a in ['x'])"]);
    one(&["!(R.attr.a in [\"x\", \"y\"])", "R.attr.a != 'x' && R.attr.a != 'y'"]);
    one(&["R.attr.n > 5", "5 < R.attr.n", "5.0 < R.attr.n", "R.attr.n > C.five"]);
    one(&["R.attr.a != P.id || R.attr.n > 5", "!(P.id == R.attr.a && !(5 < R.attr.n))"]);
    one(&["R.attr.b && true", "!(!R.attr.b)", "R.attr.b && R.attr.b"]);
    one(&["R.attr.a == P.id", "V.is_owner", "variables.is_owner"]);
    one(&["R.attr.l.exists(x0, x0 == P.id)", "R.attr.l.exists(r, r == P.id)"]);
    one(&["false", "R.attr.a && false", "false"]);
}

#[test]
fn spellings_that_differ_in_an_error_stay_apart() {
    let apart = |left: Json, right: Json| {
        let normal = normal_forms(&[left, right]);
        assert_ne!(normal[0].text(), normal[1].text());
    };
    let expr = |text: &str| json!({ "expr": text });
    // The first part that fails ends a strict condition; `&&` looks past it.
    let (fails, no) = ("R.attr.a == 1", "R.attr.c == 2");
    apart(
        json!({ "all": { "of": [expr(fails), expr(no)] } }),
        expr("R.attr.a == 1 && R.attr.c == 2"),
    );
    // In a lenient table a failed part is false, and so `none` holds.
    apart(json!({ "none": { "of": [expr(fails)] } }), expr("R.attr.a != 1"));
    // Another value than a boolean does not hold, and its negation is an error.
    apart(expr("R.attr.b"), expr("!(!R.attr.b)"));
    apart(expr("!(R.attr.n < 5)"), expr("R.attr.n >= 5"));
    apart(expr("R.attr.n + 1 == 2"), expr("R.attr.n + 1.0 == 2"));
}

#[test]
fn parts_that_cannot_fail_are_joined() {
    let same = |left: Json, right: &str| {
        let normal = normal_forms(&[left, json!({ "expr": right })]);
        assert_eq!(normal[0].text(), normal[1].text());
    };
    let expr = |text: &str| json!({ "expr": text });
    let (kind, id) = ("R.kind == \"doc\"", "P.id == \"sam\"");
    same(
        json!({ "all": { "of": [expr(kind), expr(id)] } }),
        "P.id == \"sam\" && R.kind == \"doc\"",
    );
    same(
        json!({ "any": { "of": [expr(kind), expr("R.attr.a == 1")] } }),
        "R.attr.a == 1 || R.kind == \"doc\"",
    );
    same(
        json!({ "none": { "of": [expr(kind), expr(id)] } }),
        "R.kind != \"doc\" && P.id != \"sam\"",
    );
    let guarded = expr("has(R.attr.a) && R.attr.a == P.id");
    same(
        json!({ "all": { "of": [guarded, expr("R.attr.c == 2")] } }),
        "has(R.attr.a) && R.attr.a == P.id && R.attr.c == 2",
    );
}

fn policy(conditions: &[Json]) -> Vec<(String, Vec<u8>)> {
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

fn normal_forms(conditions: &[Json]) -> Vec<Normal> {
    let files = policy(conditions);
    let repository = FilesByPath::of(&files).repository();
    let (resolved, errors) = resolve(&repository);
    assert!(errors.is_empty() && repository.errors.is_empty(), "{errors:?} {conditions:#?}");
    let ResourcePolicy { head, rules, .. } = &resolved.resource[0];
    let parsed = Parsed::default();
    let scope = Scope::new(&parsed, &head.constants, &head.variables);
    let normal = |condition: &Condition| Normal::of(condition, &scope);
    rules.iter().filter_map(|rule| rule.condition.as_ref().map(normal)).collect()
}

/// Returns a normal form as a condition of a policy.
fn spelled(normal: &Normal) -> Json {
    let each = |parts: &[Normal]| json!({ "of": parts.iter().map(spelled).collect::<Vec<_>>() });
    match normal {
        Normal::Is(node) => json!({ "expr": node.text() }),
        Normal::IsNot(node) => json!({ "none": { "of": [{ "expr": node.text() }] } }),
        Normal::All(parts) => json!({ "all": each(parts) }),
        Normal::Any(parts) => json!({ "any": each(parts) }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Yes,
    No,
    Fails,
}

fn verdicts(
    conditions: &[Json],
    requests: &[Request],
    evaluation: Evaluation,
) -> Vec<Vec<Verdict>> {
    let options = Options { evaluation, ..Options::default() };
    let compiled = compile_files(&policy(conditions), &options)
        .unwrap_or_else(|why| panic!("{}", why[0].message));
    let table = PolicyTable::from_parts(compiled.parts).unwrap();
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

fn request(rng: &mut Rng) -> Request {
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
    for key in ["a", "b", "c", "l", "n"] {
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
        _ => Attr::Number(f64::from(rng.i8(-1..7))),
    }
}

fn pick<'t>(rng: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len())]
}

/// Returns a condition of a policy.
fn condition(rng: &mut Rng, depth: usize) -> Json {
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
    match rng.u8(..20) {
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
        18 => format!("dyn(R.attr.n + 1.0) == {}", pick(rng, &["5", "6.0", "C.five"])),
        _ => format!("\"{}\" in P.roles", pick(rng, &["user", "admin"])),
    }
}

/// Returns the condition in other words that mean the same.
fn respelled(condition: &Json, rng: &mut Rng) -> Json {
    if let Some(text) = condition["expr"].as_str() {
        let text = match rng.u8(..4) {
            0 => text.replace("R.attr", "request.resource.attr"),
            1 => text.replace("P.id", "request.principal.id"),
            2 => format!(" {} ", text.replace(" == ", "==").replace('\'', "\"")),
            _ => text.replace("V.is_owner", "(P.id == R.attr.a)").replace("C.five", "5.0"),
        };
        return json!({ "expr": text });
    }
    let (word, parts) = condition.as_object().and_then(|map| map.iter().next()).unwrap();
    let parts: Vec<Json> =
        parts["of"].as_array().unwrap().iter().map(|part| respelled(part, rng)).collect();
    match (word.as_str(), parts.as_slice()) {
        // The first part as a group of its own.
        ("all" | "any", [first, rest @ ..]) if rng.bool() => {
            let group = json!({ word: { "of": [first] } });
            let parts: Vec<Json> = [group].into_iter().chain(rest.iter().cloned()).collect();
            json!({ word: { "of": parts } })
        }
        ("none", parts) if rng.bool() => {
            let turned: Vec<Json> =
                parts.iter().map(|part| json!({ "none": { "of": [part] } })).collect();
            json!({ "all": { "of": turned } })
        }
        _ => json!({ word: { "of": parts } }),
    }
}

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

mod generated;

use fastrand::Rng;
use generated::{condition, policy, request, verdicts};
use serde_json::{Value as Json, json};
use wardgate_analysis::normal::{Normal, Parsed, Scope};
use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::policy::model::Condition;
use wardgate_compiler::resolve::model::ResourcePolicy;
use wardgate_compiler::resolve::resolve;
use wardgate_engine::request::Request;
use wardgate_engine::table::Evaluation;

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

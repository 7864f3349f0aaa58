//! Every operation that a fast path can hold, on every pair of values, compared with the general
//! path.

use serde_json::{Value as Json, json};
use wardgate_compiler::Options;
use wardgate_engine::table::Evaluation;
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::World;
use wardgate_tests::items::items;
use wardgate_tests::tally::Tally;

#[test]
fn every_operation_agrees_on_every_pair_of_values() {
    let now = World::now().unwrap();
    for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
        let options = Options { evaluation, ..Options::default() };
        let files = [("all.yaml".to_owned(), operations().into_bytes())];
        let table = Compiled::new(&files, &options).unwrap().table;
        let values = items(VALUES).into_iter().map(|text| serde_json::from_str(text).unwrap());
        let values: Vec<Json> = values.collect();
        let tally = Tally::default();
        let actions = 2 * WRAPPED.len() * (items(OPERATIONS).len() + 2);
        for (number, a) in values.iter().enumerate() {
            for b in &values {
                let roles = [vec!["user"], vec!["user", "free"], vec!["free", "user"]];
                let mut json = json!({
                    "principal": {"id": "x", "roles": roles[number % 3]},
                    "resource": {"kind": "all", "id": "x", "attr": {"a": a, "b": b}},
                    "actions": (0..actions).map(|at| format!("do{at}")).collect::<Vec<_>>(),
                });
                // The first value is a missing attribute.
                for (name, value) in [("a", a), ("b", b)] {
                    if *value == values[0] {
                        json["resource"]["attr"].as_object_mut().unwrap().remove(name);
                    }
                }
                tally.compare(&table, &check::request(&json).unwrap(), now).unwrap();
            }
        }
        tally.report("operations");
        assert_eq!(tally.covered.get(), tally.questions.get());
        assert!(tally.answered.get() * 3 > tally.questions.get() * 2);
    }
}

/// Returns a policy with two actions for each operation: one that it allows, and one that it denies
/// to those who were allowed. This distinguishes an error from `false`.
fn operations() -> String {
    let mut text = HEAD.to_owned();
    let operations = items(OPERATIONS).into_iter().map(str::to_owned).chain([deep(20), deep(70)]);
    let wrapped = operations.flat_map(|operation| {
        WRAPPED.iter().map(move |wrapped| wrapped.replace("EXPR", &format!("{operation:?}")))
    });
    for (number, condition) in wrapped.enumerate() {
        let (allowed, denied) = (2 * number, 2 * number + 1);
        text.push_str(&rule(allowed, "EFFECT_ALLOW", &condition));
        text.push_str(&rule(denied, "EFFECT_ALLOW", "{ expr: 'true' }"));
        text.push_str(&rule(denied, "EFFECT_DENY", &condition));
        text.push_str(
            &rule(allowed, "EFFECT_ALLOW", "{ expr: 'true' }").replace("[user]", "[free]"),
        );
    }
    text
}

/// Returns an expression with this many unfinished operations.
fn deep(levels: usize) -> String {
    (0..levels).fold("R.attr.b".to_owned(), |inner, level| match level % 2 {
        0 => format!("R.attr.a == {level} || ({inner})"),
        _ => format!("R.attr.b != 'x' && ({inner})"),
    })
}

fn rule(action: usize, effect: &str, condition: &str) -> String {
    format!(
        "    - {{ actions: [do{action}], effect: {effect}, roles: [user], condition: {{ match: {condition} }} }}\n"
    )
}

const HEAD: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: all
  variables:
    local:
      same: R.attr.a == R.attr.b
      twice: V.same || V.same
      text: dyn(R.attr.a)
      far: '[R.attr.b].exists(x, x == R.attr.a)'
  rules:
";

const WRAPPED: &[&str] = &[
    "{ expr: EXPR }",
    "{ none: { of: [{ expr: EXPR }] } }",
    "{ any: { of: [{ expr: R.attr.b == 1 }, { expr: EXPR }] } }",
    "{ all: { of: [{ none: { of: [{ expr: R.attr.b == 1 }, { expr: EXPR }] } }, { expr: has(R.attr.b) }] } }",
];

/// The first value is a missing attribute.
const VALUES: &str = r#"
    "missing"; null; true; false; 0; -0.0; 1; 2.5; 1e300; ""; "x"; "y"; "user"; []; [1]; ["x"];
    {}; {"c": "x"}; {"c": {"d": 1}}; {"c": []}
"#;

const OPERATIONS: &str = "
    R.attr.a; !R.attr.a; R.attr.a == R.attr.b; R.attr.a != R.attr.b; R.attr.a < R.attr.b;
    R.attr.a <= R.attr.b; R.attr.a > R.attr.b; R.attr.a >= R.attr.b; R.attr.a == 'x';
    'x' != R.attr.a; R.attr.a == 1; 1 == R.attr.a; R.attr.a != 1; R.attr.a == 0; R.attr.a < 2;
    2 < R.attr.a; 2.5 <= R.attr.a; 1 > R.attr.a; 1u >= R.attr.a; R.attr.a < 'xx';
    R.attr.a == 9007199254740993; R.attr.a == null; R.attr.a == true; R.attr.a == false;
    R.attr.a in ['x', 'y']; R.attr.a in [1, 2.5]; R.attr.a in ['x', 1, null, true];
    R.attr.a in []; R.attr.a in [[1]]; has(R.attr.a); has(R.attr.a.c); has(R.attr.a.c.d);
    has(R.attr.a) == false; R.attr.a.c == 'x'; R.attr.a.c.d == 1; (R.attr.a == 'x') == true;
    (R.attr.a == R.attr.b) != (R.attr.a == 'x'); R.attr.a && R.attr.b; R.attr.a || R.attr.b;
    !(R.attr.a && R.attr.b) || R.attr.a == R.attr.b; R.attr.a == 'x' || R.attr.b == 'x';
    R.attr.a == 'x' && R.attr.b == 'x'; R.attr.a == R.attr.b && R.attr.a == 'x';
    R.attr.a == P.id || R.attr.b == R.id && R.id == P.id;
    R.kind == R.attr.a || R.kind == 'all' && R.attr.b; has(R.attr.a) && R.attr.a == P.id;
    !has(R.attr.a) || R.attr.a > 1; V.same; !V.same; V.twice && V.same; V.same == true;
    V.text.startsWith('x'); V.text == 'x'; V.far; !V.far || R.attr.a == 1; V.far == true;
    has(V.far) && V.far; R.attr.a ? R.attr.b : true; size(R.attr.a) > 0; R.attr.a.startsWith('x');
    R.attr.a in P.roles; 'x' in R.attr.a; R.attr.a == [1]; {'c': 'x'} == R.attr.a;
    R.attr.a + R.attr.b == 'xy'
";

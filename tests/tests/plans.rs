//! Plans against the general path: where a plan answers, it answers the same.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use std::cell::Cell;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use wardgate_bundle::{Trust, open, seal};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::plans::{Answer, BY_CLASS};
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, Parts, PolicyTable, Section};
use wardgate_tests::generate::{World, world};
use wardgate_tests::{cases, check};

#[test]
fn cases_are_decided_as_the_general_path_does() {
    let cases = cases::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")).unwrap();
    let tally = Tally::default();
    for case in &cases {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let table = open(&seal(&compiled.parts), Trust::Unsigned).unwrap();
        for check in &case.checks {
            if let Err(difference) = tally.compare(&table, &check.request, case.now) {
                panic!("{}: {difference}", case.name);
            }
        }
    }
    tally.report("cases");
    assert!(tally.answered.get() * 3 > tally.asked.get(), "plans answer less than a third");
}

#[test]
fn generated_worlds_are_decided_as_the_general_path_does() {
    let tally = run(|world| world);
    tally.report("worlds");
    assert!(tally.answered.get() * 10 > tally.asked.get(), "plans answer less than a tenth");
}

#[test]
fn worlds_of_plain_names_are_decided_as_the_general_path_does() {
    let tally = run(plain);
    tally.report("plain worlds");
    assert!(tally.answered.get() * 5 > tally.asked.get(), "plans answer less than a fifth");
}

#[test]
fn every_operation_agrees_on_every_pair_of_values() {
    for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
        let options = Options { evaluation, ..Options::default() };
        let files = [("all.yaml".to_owned(), operations().into_bytes())];
        let table =
            PolicyTable::from_parts(compile_files(&files, &options).unwrap().parts).unwrap();
        let values: Vec<Json> =
            VALUES.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let tally = Tally::default();
        let actions = 2 * WRAPPED.len() * (OPERATIONS.len() + 2);
        for (number, a) in values.iter().enumerate() {
            for b in &values {
                let roles = [vec!["user"], vec!["user", "free"], vec!["free", "user"]];
                let mut json = json!({
                    "principal": {"id": "x", "roles": roles[number % 3]},
                    "resource": {"kind": "all", "id": "x", "attr": {"a": a, "b": b}},
                    "actions": (0..actions).map(|at| format!("do{at}")).collect::<Vec<_>>(),
                });
                // The first value stands for none at all.
                for (name, value) in [("a", a), ("b", b)] {
                    if *value == values[0] {
                        json["resource"]["attr"].as_object_mut().unwrap().remove(name);
                    }
                }
                tally.compare(&table, &check::request(&json).unwrap(), now()).unwrap();
            }
        }
        tally.report("operations");
        assert_eq!(tally.planned.get(), tally.asked.get());
        assert!(tally.answered.get() * 3 > tally.asked.get() * 2);
    }
}

#[test]
fn what_is_too_much_for_a_plan_has_none() {
    let many = |count: usize| {
        let reads: Vec<String> = (0..count).map(|at| format!("R.attr.a{at} == 1")).collect();
        rule(0, "EFFECT_ALLOW", &format!("{{ expr: {:?} }}", reads.join(" || ")))
    };
    let planned = |rules: &str| {
        let files = [("all.yaml".to_owned(), format!("{HEAD}{rules}").into_bytes())];
        let parts = compile_files(&files, &Options::default()).unwrap().parts;
        let table = PolicyTable::from_parts(parts).unwrap();
        let list = table.plan_list("all", "", "");
        list.is_some_and(|list| list.plan(table.string_id("do0")).is_some())
    };
    assert!(planned(&many(32)));
    assert!(!planned(&many(33)));
    for expr in ["R.scope == 'a'", "P.attr == R.attr", "request.auxData.jwt.sub == 'a'"] {
        assert!(!planned(&rule(0, "EFFECT_ALLOW", &format!("{{ expr: {expr:?} }}"))), "{expr}");
    }
    let derived = "'owner' in runtime.effectiveDerivedRoles";
    assert!(!planned(&rule(0, "EFFECT_ALLOW", &format!("{{ expr: {derived:?} }}"))));
    let pattern = rule(0, "EFFECT_ALLOW", "{ expr: 'true' }").replace("[user]", "['us*']");
    assert!(!planned(&pattern));
}

#[test]
fn unsound_plans_are_refused() {
    let parts = five_rules(1);
    let start = section(&parts, Section::Plans).0;
    // The first plan, of unknown actions, has no entries.
    let plan = start + usize::try_from(parts.words[start + 2]).unwrap();
    let check = |at: usize, word: u32| {
        let mut parts = parts.clone();
        assert_ne!(parts.words[at], word);
        parts.words[at] = word;
        assert!(PolicyTable::from_parts(parts).is_err(), "word {} became {word}", at - start);
    };
    check(start, u32::MAX);
    check(start + 1, 0);
    check(plan, 64);
    check(plan + 1, 33);
    check(plan + 2, 1 << 20);
    check(plan + 3, 1 << 20);
    check(plan + 5, u32::MAX);
    check(plan + 7, 1 << 20);
}

#[test]
fn tampered_plans_are_refused_or_harmless() {
    let parts = five_rules(1);
    let (start, length) = section(&parts, Section::Plans);
    for at in start..start + length {
        for bit in [0, 1, 5, 8, 16, 24, 31] {
            let mut parts = parts.clone();
            parts.words[at] ^= 1 << bit;
            if let Ok(table) = PolicyTable::from_parts(parts) {
                let _ = table.decide_request(&Request::default(), "view", now());
            }
        }
    }
}

#[test]
fn the_five_rules_are_decided_by_plans_alone() {
    let parts = five_rules(200);
    let (_, plans) = section(&parts, Section::Plans);
    let index = section(&parts, Section::Index).1;
    let all = parts.words.len() + parts.text.len() / 4;
    println!(
        "200 kinds: {} bytes of plans in {} of table, index {}",
        4 * plans,
        4 * all,
        4 * index
    );
    let table = PolicyTable::from_parts(parts).unwrap();
    assert_eq!(table.plans().len(), 6);
    let tally = Tally::default();
    for json in requests() {
        tally.compare(&table, &check::request(&json).unwrap(), now()).unwrap();
    }
    assert_eq!(tally.answered.get(), tally.asked.get());
    assert!(tally.allowed.get() > 50);
}

#[test]
fn many_classes_of_roles_are_tried_in_their_order() {
    let rule = |number: usize| {
        let effect = if number.is_multiple_of(5) { "EFFECT_DENY" } else { "EFFECT_ALLOW" };
        let (level, next) = (number % 4, (number * 7 + 1) % 40);
        format!(
            "    - {{ actions: [view, act_{level}], effect: {effect}, roles: [r{number}, r{next}], condition: {{ match: {{ expr: R.attr.a{level} == P.attr.b || R.attr.n == {number} }} }} }}\n"
        )
    };
    let everyone = "    - { actions: [view], effect: EFFECT_DENY, roles: ['*'], condition: { match: { expr: R.attr.closed } } }\n";
    let rules: String = (0..40).map(rule).collect();
    let text = format!("{HEAD}{everyone}{rules}");
    let files = [("all.yaml".to_owned(), text.into_bytes())];
    let parts = compile_files(&files, &Options::default()).unwrap().parts;
    let table = PolicyTable::from_parts(parts).unwrap();
    let list = table.plan_list("all", "", "").unwrap();
    let plan = table.plan(list.plan(table.string_id("view")).unwrap()).unwrap();
    assert!(plan.flags() & BY_CLASS != 0);
    let tally = Tally::default();
    for number in 0..4000_usize {
        let role = |by: usize| format!("r{}", number * by % 43);
        let roles: Vec<String> = [1, 3, 7, 11].into_iter().take(number % 5).map(role).collect();
        let attr = json!({"a1": "x", "a2": number % 2, "a3": [1], "n": number % 60});
        let mut attr = attr.as_object().unwrap().clone();
        attr.retain(|name, _| number / 5 % 7 != name.len() * 2);
        if number % 3 != 0 {
            attr.insert("closed".to_owned(), (number % 9 == 1).into());
        }
        let json = json!({
            "principal": {"id": "p", "roles": roles, "attr": {"b": if number % 2 == 0 { "x" } else { "y" }}},
            "resource": {"kind": "all", "id": "w", "attr": attr},
            "actions": ["view", "act_1", "act_2", "act_3"],
        });
        tally.compare(&table, &check::request(&json).unwrap(), now()).unwrap();
    }
    tally.report("many classes");
    assert!(tally.answered.get() * 2 > tally.asked.get());
}

/// What was asked, and how often a plan answered.
#[derive(Default)]
struct Tally {
    asked: Cell<u32>,
    answered: Cell<u32>,
    allowed: Cell<u32>,
    /// Asked where a plan exists for the action.
    planned: Cell<u32>,
}

impl Tally {
    fn compare(
        &self,
        table: &PolicyTable,
        request: &Request,
        now: Timestamp,
    ) -> Result<(), String> {
        for action in &request.actions {
            let expected = table.is_allowed(request, action, now);
            let answer = table.decide_request(request, action, now);
            let resource = &request.resource;
            let list = table.plan_list(&resource.kind, &resource.policy_version, &resource.scope);
            let planned = list.is_some_and(|list| list.plan(table.string_id(action)).is_some());
            add(&self.asked, 1);
            add(&self.planned, planned.into());
            add(&self.answered, (answer != Answer::Unsure).into());
            add(&self.allowed, expected.into());
            let differs = match answer {
                Answer::Unsure => false,
                Answer::Allow => !expected,
                Answer::Deny => expected,
            };
            if differs {
                return Err(format!("{action}: {answer:?}, expected {expected}: {request:?}"));
            }
        }
        Ok(())
    }

    fn report(&self, what: &str) {
        let [asked, planned, answered, allowed] =
            [&self.asked, &self.planned, &self.answered, &self.allowed].map(Cell::get);
        println!(
            "{what}: {asked} asked, {planned} planned, {answered} answered, {allowed} allowed"
        );
    }
}

fn add(count: &Cell<u32>, more: u32) {
    count.set(count.get() + more);
}

/// Compares generated worlds, changed by `change`.
fn run(change: impl Fn(World) -> World) -> Tally {
    let tally = Tally::default();
    let result = runner().run(&world(4), |world| {
        let world = change(world);
        let options = world.table_options().map_err(TestCaseError::fail)?;
        let now = World::now().map_err(TestCaseError::fail)?;
        let Ok(compiled) = compile_files(&world.files(), &options) else {
            return Err(TestCaseError::reject("the policies do not compile"));
        };
        let table = open(&seal(&compiled.parts), Trust::Unsigned);
        let table = table.map_err(|error| TestCaseError::fail(error.to_string()))?;
        for json in &world.requests {
            let request = check::request(json).map_err(TestCaseError::fail)?;
            let compared = tally.compare(&table, &request, now);
            compared
                .map_err(|difference| TestCaseError::fail(format!("{difference}\n\n{world:?}")))?;
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    tally
}

/// The usual worlds are the same in each run; the slow ones are new each time.
fn runner() -> TestRunner {
    let slow = std::env::var_os("SLOW_TESTS").is_some();
    let config = Config {
        cases: if slow { 30_000 } else { 512 },
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_global_rejects: 100_000,
        ..Config::default()
    };
    if slow {
        return TestRunner::new(config);
    }
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Spells a world with what plans can hold, so that most of it is planned.
fn plain(world: World) -> World {
    let change =
        |text: String| PLAIN.iter().fold(text, |text, (rare, usual)| text.replace(rare, usual));
    let policies = world.policies.into_iter().map(|(name, document)| {
        let text = change(document.to_string());
        (name, serde_json::from_str(&text).unwrap())
    });
    World { policies: policies.collect(), ..world }
}

/// A table of the same five rules for so many kinds.
fn five_rules(kinds: usize) -> Parts {
    let file = |number: usize| {
        let kind = format!("kind_{number}");
        (format!("{kind}.yaml"), FIVE_RULES.replace("KIND", &kind).into_bytes())
    };
    let files: Vec<_> = (0..kinds).map(file).collect();
    compile_files(&files, &Options::default()).unwrap().parts
}

fn requests() -> impl Iterator<Item = Json> {
    let roles = [vec!["viewer"], vec!["editor", "viewer"], vec!["member"], vec![]];
    let truths = [Some(true), Some(false), None];
    roles.into_iter().flat_map(move |roles| {
        truths.into_iter().flat_map(move |public| {
            let roles = roles.clone();
            truths.into_iter().flat_map(move |locked| {
                let roles = roles.clone();
                ["sam", "kim"].into_iter().map(move |owner| {
                    json!({
                        "principal": {"id": "sam", "roles": roles},
                        "resource": {"kind": "kind_7", "id": "r", "attr": {
                            "owner": owner, "public": public, "locked": locked}},
                        "actions": ["view", "list", "edit", "delete", "share", "print"],
                    })
                })
            })
        })
    })
}

/// Returns where a section begins among the words, and its length.
fn section(parts: &Parts, section: Section) -> (usize, usize) {
    let at = Section::ALL.iter().position(|known| *known == section).unwrap();
    let word = |at: usize| usize::try_from(parts.words[at]).unwrap();
    (word(4 + 2 * at), word(5 + 2 * at))
}

fn now() -> Timestamp {
    World::now().unwrap()
}

const PLAIN: &[(&str, &str)] = &[
    ("R.scope", "R.id"),
    ("P.scope", "P.attr.dept"),
    ("request.resource.policyVersion", "R.kind"),
    ("request.auxData.jwt.sub", "R.attr.meta.a"),
    ("runtime.effectiveDerivedRoles", "R.attr.tags"),
    ("in R.attr\"", "in R.attr.tags\""),
    ("P.attr == R.attr", "P.attr.dept == R.attr.meta"),
    ("e*", "edit"),
    ("edit:**", "edit:draft"),
    ("edit:*", "edit"),
    ("*:draft", "edit:draft"),
    ("dr*p", "drop"),
];

/// A policy with two actions for each operation: one that it allows, and one that it denies to those
/// who were allowed. So an error is told from `false`.
fn operations() -> String {
    let mut text = HEAD.to_owned();
    let operations = OPERATIONS.iter().map(ToString::to_string).chain([deep(20), deep(70)]);
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

/// An expression that keeps so many truths waiting.
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

/// The first one stands for a missing attribute.
const VALUES: &[&str] = &[
    "\"missing\"",
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "2.5",
    "1e300",
    "\"\"",
    "\"x\"",
    "\"y\"",
    "\"user\"",
    "[]",
    "[1]",
    "[\"x\"]",
    "{}",
    "{\"c\": \"x\"}",
    "{\"c\": {\"d\": 1}}",
    "{\"c\": []}",
];

const OPERATIONS: &[&str] = &[
    "R.attr.a",
    "!R.attr.a",
    "R.attr.a == R.attr.b",
    "R.attr.a != R.attr.b",
    "R.attr.a < R.attr.b",
    "R.attr.a <= R.attr.b",
    "R.attr.a > R.attr.b",
    "R.attr.a >= R.attr.b",
    "R.attr.a == 'x'",
    "'x' != R.attr.a",
    "R.attr.a == 1",
    "1 == R.attr.a",
    "R.attr.a != 1",
    "R.attr.a == 0",
    "R.attr.a < 2",
    "2 < R.attr.a",
    "2.5 <= R.attr.a",
    "1 > R.attr.a",
    "1u >= R.attr.a",
    "R.attr.a < 'xx'",
    "R.attr.a == 9007199254740993",
    "R.attr.a == null",
    "R.attr.a == true",
    "R.attr.a == false",
    "R.attr.a in ['x', 'y']",
    "R.attr.a in [1, 2.5]",
    "R.attr.a in ['x', 1, null, true]",
    "R.attr.a in []",
    "R.attr.a in [[1]]",
    "has(R.attr.a)",
    "has(R.attr.a.c)",
    "has(R.attr.a.c.d)",
    "has(R.attr.a) == false",
    "R.attr.a.c == 'x'",
    "R.attr.a.c.d == 1",
    "(R.attr.a == 'x') == true",
    "(R.attr.a == R.attr.b) != (R.attr.a == 'x')",
    "R.attr.a && R.attr.b",
    "R.attr.a || R.attr.b",
    "!(R.attr.a && R.attr.b) || R.attr.a == R.attr.b",
    "R.attr.a == 'x' || R.attr.b == 'x'",
    "R.attr.a == 'x' && R.attr.b == 'x'",
    "R.attr.a == R.attr.b && R.attr.a == 'x'",
    "R.attr.a == P.id || R.attr.b == R.id && R.id == P.id",
    "R.kind == R.attr.a || R.kind == 'all' && R.attr.b",
    "has(R.attr.a) && R.attr.a == P.id",
    "!has(R.attr.a) || R.attr.a > 1",
    "V.same",
    "!V.same",
    "V.twice && V.same",
    "V.same == true",
    "V.text.startsWith('x')",
    "V.text == 'x'",
    "V.far",
    "!V.far || R.attr.a == 1",
    "V.far == true",
    "has(V.far) && V.far",
    "R.attr.a ? R.attr.b : true",
    "size(R.attr.a) > 0",
    "R.attr.a.startsWith('x')",
    "R.attr.a in P.roles",
    "'x' in R.attr.a",
    "R.attr.a == [1]",
    "{'c': 'x'} == R.attr.a",
    "R.attr.a + R.attr.b == 'xy'",
];

const FIVE_RULES: &str = r#"apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: KIND
  rules:
    - { name: viewer, actions: [view, list], effect: EFFECT_ALLOW, roles: [viewer] }
    - name: public
      actions: [view]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: R.attr.public == true } }
    - { name: editor, actions: [edit], effect: EFFECT_ALLOW, roles: [editor] }
    - name: owner
      actions: [delete, share]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: R.attr.owner == P.id } }
    - name: locked
      actions: [edit, delete]
      effect: EFFECT_DENY
      roles: ["*"]
      condition: { match: { expr: R.attr.locked == true } }
"#;

//! Fast paths compared with the general path: where a fast path answers, it answers the same.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::BY_CLASS;
use wardgate_engine::limits::MAX_LISTED_KINDS;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, Parts, PolicyTable, Section};
use wardgate_engine::wire;
use wardgate_fastpath::{Programs, Truth};
use wardgate_tests::compiled::Compiled;
use wardgate_tests::generate::{World, world};
use wardgate_tests::tally::Tally;
use wardgate_tests::{cases, check, fill, property};

#[test]
fn cases_are_decided_as_the_general_path_does() {
    let tally = Tally::default();
    for case in cases::all().unwrap() {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let Compiled { table, .. } = Compiled::opened(pack(&compiled.parts)).unwrap();
        for check in &case.checks {
            if let Err(difference) = tally.compare(&table, &check.request, case.now) {
                panic!("{}: {difference}", case.name);
            }
        }
    }
    tally.report("cases");
    assert_answered(&tally, 3);
}

#[test]
fn generated_worlds_are_decided_as_the_general_path_does() {
    let tally = run(|world| world);
    tally.report("worlds");
    assert_answered(&tally, 10);
}

#[test]
fn worlds_of_plain_names_are_decided_as_the_general_path_does() {
    let tally = run(World::plain);
    tally.report("plain worlds");
    assert_answered(&tally, 5);
}

#[test]
fn conditions_beyond_the_bounds_have_no_fast_path() {
    let has_fast_path = |rules: &str| {
        let table = Compiled::of_texts(&[("all.yaml", &format!("{HEAD}{rules}"))]).unwrap().table;
        let list = table.fast_path_list("all", "", "");
        list.is_some_and(|list| table.fast_path_of_action(list, "view").is_some())
    };
    let many = |count: usize| {
        let reads: Vec<String> = (0..count).map(|at| format!("R.attr.a{at} == 1")).collect();
        rule(&reads.join(" || "))
    };
    assert!(has_fast_path(&many(32)));
    assert!(!has_fast_path(&many(33)));
    assert!(!has_fast_path(&rule("R.scope == 'a'")));
    assert!(!has_fast_path(&rule("P.attr == R.attr")));
    assert!(has_fast_path(&rule("request.auxData.jwt.sub == 'a'")));
    assert!(!has_fast_path(&rule("size(request.auxData.jwt) == 1")));
    assert!(!has_fast_path(&rule("'owner' in runtime.effectiveDerivedRoles")));
    assert!(!has_fast_path(&rule("true").replace("[user]", "['us*']")));
}

#[test]
fn programs_run_only_where_the_left_side_does_not_decide() {
    let check = |condition: &str, attr: Json, expected: u32| {
        let found = programs_run(condition, &attr);
        assert_eq!(found, expected, "{condition} {attr}");
    };
    let or = "R.attr.open == true || V.named";
    check(or, json!({ "open": true }), 0);
    check(or, json!({ "open": false }), 1);
    check(or, json!({}), 1);
    let and = "R.attr.open && V.named";
    check(and, json!({ "open": false }), 0);
    check(and, json!({ "open": true }), 1);
    check(and, json!({ "open": 1 }), 1);
    let nested = "R.attr.a == 1 || R.attr.b in ['x', 'y'] || (has(R.attr.c) && !V.named)";
    check(nested, json!({ "a": 1 }), 0);
    check(nested, json!({ "a": 2, "b": "y", "c": 1 }), 0);
    check(nested, json!({ "a": 2, "b": "z" }), 0);
    check(nested, json!({ "a": 2, "b": "z", "c": 1 }), 1);
}

/// Returns the number of programs that a fast path runs for a resource with attributes; its answer,
/// in strict and lenient tables, must be that of the general path.
fn programs_run(condition: &str, attr: &Json) -> u32 {
    let head = HEAD.replace(
        "  rules:",
        "  variables: { local: { named: R.attr.name.matches('^(a|b)+c$') } }\n  rules:",
    );
    let files = [("all.yaml".to_owned(), format!("{head}{}", rule(condition)).into_bytes())];
    let mut runs = 0;
    for evaluation in [Evaluation::Lenient, Evaluation::Strict] {
        let options = Options { evaluation, ..Options::default() };
        let table = Compiled::new(&files, &options).unwrap().table;
        for name in [json!("abc"), json!("b"), json!(1), Json::Null] {
            let mut attr = attr.clone();
            attr["name"] = name;
            let resource = json!({ "kind": "all", "id": "1", "attr": attr });
            let request = json!({ "principal": { "id": "p", "roles": ["user"] }, "resource": resource, "actions": ["view"] });
            let request = check::request(&request).unwrap();
            let tally = Tally::default();
            tally.compare(&table, &request, Timestamp::default()).unwrap();
            assert_eq!(tally.answered.get(), 1, "{request:?}");
            let list = table.fast_path_list("all", "", "").unwrap();
            let id = table.fast_path_of_action(list, "view").unwrap();
            let fast_path = table.fast_path(id).unwrap();
            let filled = fill::fill(&table, &fast_path, &request, Timestamp::default()).unwrap();
            let counter = Counter::default();
            let _ = fast_path.decide(1, &filled.frame, &counter);
            runs = counter.0.get();
        }
    }
    runs
}

/// Counts the programs that run.
#[derive(Default)]
struct Counter(Cell<u32>);

impl Programs for Counter {
    fn run(&self, _: u32) -> Option<Truth> {
        self.0.set(self.0.get() + 1);
        Some(Truth::True)
    }
}

#[test]
fn kinds_are_listed_with_the_number_of_their_list() {
    let mut listed = 0;
    for case in cases::all().unwrap() {
        let Ok(compiled) = compile_files(&case.files, &case.options) else { continue };
        let Compiled { table, .. } = Compiled::opened(pack(&compiled.parts)).unwrap();
        for (kind, number) in table.kinds_with_fast_paths() {
            let [found, expected] =
                [table.fast_paths().list(number), table.fast_path_list(kind, "", "")];
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{}: {kind}", case.name);
            listed += 1;
        }
    }
    assert!(listed > 80, "only {listed} kinds are listed");
}

#[test]
fn kinds_are_listed_up_to_a_bound() {
    let kinds = |count| -> Vec<Json> {
        let table = Compiled::opened(pack(&five_rules(count))).unwrap().table;
        serde_json::from_str(&wire::fast_path_kinds_json(&table)).unwrap()
    };
    let two = kinds(2);
    let mut names = [&two[0], &two[2]].map(|name| name.as_str().unwrap());
    names.sort_unstable();
    // Equal rules have one list.
    assert_eq!((names, &two[1], two.len()), (["kind_0", "kind_1"], &two[3], 4));
    assert_eq!(kinds(MAX_LISTED_KINDS).len(), 2 * MAX_LISTED_KINDS);
    assert_eq!(kinds(MAX_LISTED_KINDS + 1), [Json::Null; 0]);
}

#[test]
fn unsound_fast_paths_are_refused() {
    let parts = five_rules(1);
    let start = section(&parts, Section::FastPaths).0;
    // The first fast path, of unknown actions, has no entries.
    let fast_path = start + usize::try_from(parts.words[start + 2]).unwrap();
    let check = |at: usize, word: u32| {
        let mut parts = parts.clone();
        assert_ne!(parts.words[at], word);
        parts.words[at] = word;
        assert!(PolicyTable::from_parts(parts).is_err(), "word {} became {word}", at - start);
    };
    check(start, u32::MAX);
    check(start + 1, 0);
    check(fast_path, 64);
    check(fast_path + 1, 33);
    check(fast_path + 2, 1 << 20);
    check(fast_path + 3, 1 << 20);
    check(fast_path + 5, u32::MAX);
    check(fast_path + 7, 1 << 20);
}

#[test]
fn tampered_fast_paths_are_refused_or_harmless() {
    let parts = five_rules(8);
    let (start, length) = section(&parts, Section::FastPaths);
    let requests: Vec<Request> =
        requests().step_by(7).map(|json| check::request(&json).unwrap()).collect();
    for at in start..start + length {
        for bit in [0, 1, 5, 8, 16, 24, 31] {
            let mut parts = parts.clone();
            parts.words[at] ^= 1 << bit;
            let Ok(table) = PolicyTable::from_parts(parts) else { continue };
            for request in &requests {
                for action in &request.actions {
                    let _ = fill::decide(&table, request, action, now());
                }
            }
        }
    }
}

#[test]
fn the_five_rules_are_decided_by_fast_paths_alone() {
    let parts = five_rules(200);
    let (_, fast_paths) = section(&parts, Section::FastPaths);
    let index = section(&parts, Section::Index).1;
    let all = parts.words.len() + parts.text.len() / 4;
    println!(
        "200 kinds: {} bytes of fast paths in {} of table, index {}",
        4 * fast_paths,
        4 * all,
        4 * index
    );
    let table = PolicyTable::from_parts(parts).unwrap();
    // Five actions and all others, each with two views.
    assert_eq!(table.fast_paths().len(), 12);
    let tally = Tally::default();
    for json in requests() {
        tally.compare(&table, &check::request(&json).unwrap(), now()).unwrap();
    }
    assert_eq!(tally.answered.get(), tally.questions.get());
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
    let table = Compiled::of_texts(&[("all.yaml", &text)]).unwrap().table;
    let list = table.fast_path_list("all", "", "").unwrap();
    let fast_path = table.fast_path(table.fast_path_of_action(list, "view").unwrap()).unwrap();
    assert!(fast_path.flags() & BY_CLASS != 0);
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
    assert_answered(&tally, 2);
}

#[test]
fn tests_of_more_roles_than_slots_are_programs() {
    let rules = |site: usize| {
        let rule = |action: &str, effect: &str, condition: &str| {
            format!(
                "    - {{ actions: [{action}], effect: {effect}, roles: [site-{site}], condition: {{ match: {{ expr: '{condition}' }} }} }}\n"
            )
        };
        let state = format!(r#"R.attr.topic.matchesTopic("site/{site}/+/state")"#);
        let own = r#"R.attr.topic.matchesTopic("devices/{}/#", [P.attr.clientId])"#;
        let secret = format!(r#"R.attr.topic.matchesTopic("site/{site}/secret/#")"#);
        let late = format!("{site} in R.attr.sites && timestamp(R.attr.until) > now()");
        [
            rule("publish", "EFFECT_ALLOW", &state),
            rule("publish", "EFFECT_ALLOW", own),
            rule("publish", "EFFECT_DENY", &secret),
            rule("keep", "EFFECT_ALLOW", &late),
        ]
        .concat()
    };
    let text = format!("{HEAD}{}", (0..40).map(rules).collect::<String>());
    let table = Compiled::of_texts(&[("all.yaml", &text)]).unwrap().table;
    let topics = [
        json!("site/7/lamp/state"),
        json!("site/7/secret/state"),
        json!("devices/c1/up"),
        json!({"filter": "site/7/lamp/state"}),
        json!({"filter": "site/7/#"}),
        json!("site/+/lamp"),
        json!(7),
        json!(null),
    ];
    let tally = Tally::default();
    for (number, topic) in (0..40).flat_map(|number| topics.iter().map(move |it| (number, it))) {
        let roles = [format!("site-{number}"), format!("site-{}", number * 7 % 43)];
        let until = ["2026-12-01T00:00:00Z", "2020-01-01T00:00:00Z", "never"][number % 3];
        let attr = json!({"topic": topic, "sites": [7, number], "until": until});
        let client = if number % 4 == 0 { json!({}) } else { json!({"clientId": "c1"}) };
        for roles in [&roles[..1], &roles[..], &[]] {
            let json = json!({
                "principal": {"id": "p", "roles": roles, "attr": client},
                "resource": {"kind": "all", "id": "w", "attr": attr},
                "actions": ["publish", "keep", "other"],
            });
            tally.compare(&table, &check::request(&json).unwrap(), now()).unwrap();
        }
    }
    tally.report("many tests");
    assert_eq!(tally.covered.get(), tally.questions.get());
    assert_answered(&tally, 2);
    assert!(tally.allowed.get() > 50, "{}", tally.allowed.get());
}

/// Fails unless fast paths answered more than one question of `of`.
fn assert_answered(tally: &Tally, of: u32) {
    let (answered, questions) = (tally.answered.get(), tally.questions.get());
    assert!(answered * of > questions, "fast paths answer {answered} of {questions} questions");
}

/// Compares generated worlds, changed by `change`.
fn run(change: impl Fn(World) -> World) -> Tally {
    let tally = Tally::default();
    property::run([512, 30_000], &world(4), |world| {
        let world = change(world);
        let Compiled { table, .. } = world.compiled()?;
        for json in &world.requests {
            let request = check::request(json).map_err(TestCaseError::fail)?;
            let compared = tally.compare(&table, &request, now());
            compared
                .map_err(|difference| TestCaseError::fail(format!("{difference}\n\n{world:?}")))?;
        }
        Ok(())
    });
    tally
}

/// Returns a table of the same five rules for this many kinds.
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

/// Returns the position of a section among the words, and its length.
fn section(parts: &Parts, section: Section) -> (usize, usize) {
    let at = Section::ALL.iter().position(|known| *known == section).unwrap();
    let word = |at: usize| usize::try_from(parts.words[at]).unwrap();
    (word(4 + 2 * at), word(5 + 2 * at))
}

fn now() -> Timestamp {
    World::now().unwrap()
}

fn rule(condition: &str) -> String {
    format!(
        "    - {{ actions: [view], effect: EFFECT_ALLOW, roles: [user], condition: {{ match: {{ expr: {condition:?} }} }} }}\n"
    )
}

const HEAD: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: all
  rules:
";

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

//! Policies about MQTT topics: what a subscription is allowed in part, and which answers depend on the
//! topic alone.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use serde_json::{Value as Json, json};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::budget::Budget;
use wardgate_engine::decision::Reason;
use wardgate_engine::request::Request;
use wardgate_engine::table::Evaluation;
use wardgate_mqtt::{Filter, Name};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::topics::{SUBSCRIPTIONS, World, names, now};

/// Returns how many sets of policies are generated.
fn policies() -> u64 {
    if std::env::var_os("SLOW_TESTS").is_some() { 100_000 } else { 1_500 }
}

#[test]
fn a_subscription_is_allowed_in_part_if_one_of_its_topics_is() {
    let names = names();
    let mut counts = Parts::default();
    for seed in 0..policies() {
        let mut world = World::new(seed);
        for _ in 0..SUBSCRIPTIONS {
            let request = world.request();
            let filter = world.pattern();
            let part = decide_part(&world, &request, &json!({ "filter": filter }));
            let asked = Filter::new(&filter).unwrap();
            let mut topics = names.iter().filter(|name| asked.matches(Name::new(name).unwrap()));
            let allowed = topics.find(|name| world.decide(&request, &json!(name)));
            let context = || format!("`{filter}`, seed {seed}\n{request}\n{}", world.text());
            if world.decide(&request, &json!({ "filter": filter })) {
                assert!(part.is_allowed, "{}", context());
            }
            match (part, allowed) {
                (Part { is_allowed: true, .. }, Some(_)) => counts.allowed += 1,
                (Part { is_allowed: false, .. }, None) => counts.denied += 1,
                // What may have failed counts as denied.
                (Part { is_allowed: false, has_failed }, Some(name)) => {
                    assert!(has_failed, "`{name}` of {}", context());
                    counts.failed += 1;
                }
                (Part { is_allowed: true, .. }, None) => {
                    assert!(asked.has_wildcard(), "{}", context());
                    counts.wider += 1;
                }
            }
        }
    }
    println!("{counts:?}");
    let enough = usize::try_from(policies()).unwrap();
    assert!(counts.allowed > enough && counts.denied > enough, "{counts:?}");
    assert!(counts.wider * 10 < counts.allowed, "{counts:?}");
}

#[derive(Debug, Default)]
struct Parts {
    allowed: usize,
    denied: usize,
    /// Subscriptions that are denied though a topic is allowed: a condition may have failed.
    failed: usize,
    /// Subscriptions that are allowed though no topic is.
    wider: usize,
}

/// What a subscription is allowed in part, and whether a condition may have failed for some topic.
#[derive(Clone, Copy)]
struct Part {
    is_allowed: bool,
    has_failed: bool,
}

#[test]
fn parts_are_granted_by_what_is_certain() {
    let table = |evaluation, rules: &str| {
        let head = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: mqtt:topic\n  version: default\n  rules:\n";
        let files = [("a.yaml".to_owned(), format!("{head}{rules}").into_bytes())];
        let options = Options { evaluation, ..Options::default() };
        let compiled = compile_files(&files, &options).unwrap();
        Compiled::opened(wardgate_bundle::pack(&compiled.parts)).unwrap().table
    };
    let rule = |effect: &str, condition: &str| {
        format!(
            "    - {{ actions: [subscribe], roles: [r], effect: EFFECT_{effect}, condition: {{ match: {{ expr: '{condition}' }} }} }}\n"
        )
    };
    let allow = rule("ALLOW", "R.attr.topic.matchesTopic(\"a/#\")");
    let all = rule("ALLOW", "true");
    let secret = rule("DENY", "R.attr.topic.matchesTopic(\"a/secret/#\")");
    let uncertain = rule("ALLOW", "R.attr.topic.matchesTopic(\"a/#\") == true");
    let missing = rule("ALLOW", "R.attr.missing");
    let missing_deny = rule("DENY", "R.attr.missing");
    for (rules, filter, strict, lenient) in [
        (vec![&allow], "#", true, true),
        (vec![&allow], "a/#", true, true),
        (vec![&allow], "+/b", true, true),
        (vec![&allow], "a", true, true),
        (vec![&allow], "b/#", false, false),
        (vec![&allow], "+", true, true),
        (vec![&allow, &secret], "#", true, true),
        (vec![&allow, &secret], "a/secret/+", false, false),
        (vec![&allow, &secret], "a/secret", false, false),
        (vec![&all, &secret], "+/secret", true, true),
        (vec![&all, &secret], "a/secret/#", false, false),
        // What may have failed is no part.
        (vec![&uncertain], "#", false, false),
        (vec![&missing], "#", false, false),
        (vec![&allow, &missing], "#", false, true),
        (vec![&allow, &missing_deny], "#", false, true),
        (vec![&missing, &allow], "a/b", false, true),
    ] {
        let text: String = rules.into_iter().map(String::as_str).collect();
        for (evaluation, expected) in [(Evaluation::Strict, strict), (Evaluation::Lenient, lenient)]
        {
            let request = json!({
                "principal": { "id": "p", "roles": ["r"] },
                "resource": { "kind": "mqtt:topic", "id": "t", "attr": { "topic": { "filter": filter } } },
            });
            let request = check::request(&request).unwrap();
            let table = table(evaluation, &text);
            let allows = |steps: &Budget| {
                table.is_allowed_in_part_within(&request, "subscribe", now(), steps)
            };
            assert_eq!(allows(&Budget::default()), expected, "{filter} {evaluation:?}\n{text}");
            // A decision that was not made to its end allows no part.
            assert!(!allows(&Budget::new(1)), "{filter}\n{text}");
        }
    }
}

fn decide_part(world: &World, request: &Json, topic: &Json) -> Part {
    let mut request = request.clone();
    request["resource"]["attr"]["topic"] = topic.clone();
    let request: Request = check::request(&request).unwrap();
    let steps = Budget::default();
    let is_allowed = world.table().is_allowed_in_part_within(&request, "subscribe", now(), &steps);
    // Every condition that came out as an error, or as one for a part of the topics.
    let request = Request { actions: vec!["subscribe".to_owned()], ..request };
    let decision = world.table().check(&request, now());
    let failed = decision.actions.iter().any(|action| {
        // A denial of the principal's own policies hides failures behind it.
        matches!(action.reason, Reason::ConditionError(_) | Reason::LimitReached(_))
            || action.policy.starts_with("principal.")
    });
    let has_failed = failed || world.table().evaluation() == Evaluation::Lenient;
    Part { is_allowed, has_failed }
}

/// Conditions about a message, and whether their answers depend on the topic alone.
#[test]
fn answers_depend_on_the_topic_alone_where_conditions_do() {
    let topic = "R.attr.topic.matchesTopic(\"a/#\")";
    for (condition, expected) in [
        (topic.to_owned(), true),
        ("true".to_owned(), true),
        (format!("{topic} && P.attr.flag"), true),
        (format!("{topic} && P.attr.missing"), true),
        (format!("{topic} && has(request.auxData.jwt.x)"), true),
        (format!("{topic} && R.kind == \"mqtt:topic\""), true),
        (format!("{topic} && V.v"), true),
        (format!("{topic} && R.attr.qos < 1"), false),
        (format!("{topic} && has(R.attr.qos)"), false),
        (format!("{topic} && R.attr[\"size\"] < 1"), false),
        (format!("{topic} && V.more"), false),
        (format!("{topic} && now() > timestamp(0)"), false),
        (format!("{topic} && timestamp(0).timeSince() > duration(\"1s\")"), false),
        (format!("{topic} && \"d\" in runtime.effectiveDerivedRoles"), false),
        // What is not reached is not read.
        (format!("!{topic} && R.attr.qos < 1"), true),
        (format!("{topic} || R.attr.qos < 1"), true),
    ] {
        let rules = format!("{READING}      condition: {{ match: {{ expr: '{condition}' }} }}\n");
        let texts = [("a.yaml", rules.as_str()), ("b.yaml", DERIVED)];
        let table = Compiled::of_texts(&texts).unwrap().table;
        let request = json!({
            "principal": { "id": "p", "roles": ["r"], "attr": { "flag": true } },
            "resource": { "kind": "mqtt:topic", "id": "a/b", "attr": { "topic": "a/b", "qos": 0, "size": 1 } },
        });
        let request = check::request(&request).unwrap();
        let steps = Budget::default();
        let sourced = table.is_allowed_by_attribute(&request, ("receive", "topic"), now(), &steps);
        assert_eq!(sourced.is_by_attribute, expected, "{condition}");
        assert_eq!(sourced.is_allowed, table.is_allowed(&request, "receive", now()), "{condition}");
    }
}

const READING: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: mqtt:topic
  version: default
  importDerivedRoles: [derived]
  variables: { local: { v: P.attr.flag, more: V.v && R.attr.qos < 1 } }
  rules:
    - actions: [receive]
      roles: [r]
      effect: EFFECT_ALLOW
"#;

const DERIVED: &str = r#"
apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: derived
  definitions:
    - { name: d, parentRoles: [r], condition: { match: { expr: R.attr.qos < 1 } } }
"#;

#[test]
fn an_answer_by_the_topic_holds_for_all_other_attributes() {
    let names = names();
    let (mut kept, mut open) = (0, 0);
    for seed in 0..policies() {
        let mut world = World::new(seed);
        for _ in 0..SUBSCRIPTIONS {
            let mut request = world.request();
            request["resource"]["attr"]["topic"] = json!(world.random().choice(&names).unwrap());
            let read = check::request(&request).unwrap();
            let of = ("subscribe", "topic");
            let sourced =
                world.table().is_allowed_by_attribute(&read, of, now(), &Budget::default());
            assert_eq!(sourced.is_allowed, world.table().is_allowed(&read, "subscribe", now()));
            if !sourced.is_by_attribute {
                open += 1;
                continue;
            }
            kept += 1;
            for qos in [json!(0), json!(1), json!(2), json!("x"), json!(null)] {
                request["resource"]["attr"]["qos"] = qos;
                let other = check::request(&request).unwrap();
                let is_allowed = world.table().is_allowed(&other, "subscribe", now());
                assert_eq!(is_allowed, sourced.is_allowed, "{request}\n{}", world.text());
            }
        }
    }
    let enough = usize::try_from(policies()).unwrap();
    assert!(kept > enough && open > enough / 10, "{kept} {open}");
}

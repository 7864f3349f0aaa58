//! Policies about MQTT topics: what a subscription is allowed, each of its topics is.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_mqtt::{Filter, Name};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::topics::{SUBSCRIPTIONS, World, names, now, pattern};

/// Returns how many sets of policies are generated.
fn policies() -> u64 {
    if std::env::var_os("SLOW_TESTS").is_some() { 100_000 } else { 1_500 }
}

#[test]
fn an_allowed_subscription_has_allowed_topics_only() {
    let names = names();
    let mut counts = Counts::default();
    for seed in 0..policies() {
        let mut world = World::new(seed);
        for _ in 0..SUBSCRIPTIONS {
            let request = world.request();
            let filter = world.pattern();
            let is_allowed = world.decide(&request, &json!({ "filter": filter }));
            let asked = Filter::new(&filter).unwrap();
            let mut topics = names.iter().filter(|name| asked.matches(Name::new(name).unwrap()));
            let refused = topics.find(|name| !world.decide(&request, &json!(name)));
            match (is_allowed, refused) {
                (true, Some(name)) => panic!(
                    "`{filter}` is allowed, and `{name}` is not, seed {seed}\n{request}\n{}",
                    world.text()
                ),
                (true, None) => counts.allowed += 1,
                (false, Some(_)) => counts.denied += 1,
                (false, None) => {
                    // What stands for one topic is decided as that topic.
                    assert!(
                        asked.has_wildcard(),
                        "`{filter}`, seed {seed}\n{request}\n{}",
                        world.text()
                    );
                    counts.narrower += 1;
                }
            }
        }
    }
    println!("{counts:?}");
    let enough = usize::try_from(policies()).unwrap();
    assert!(counts.allowed > enough && counts.denied > enough, "{counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    allowed: usize,
    denied: usize,
    /// Subscriptions that are denied though each of their topics is allowed.
    narrower: usize,
}

#[test]
fn a_topic_is_matched_as_by_its_filters() {
    let texts = [("a.yaml", ONE_RULE)];
    let table = Compiled::of_texts(&texts).unwrap().table;
    let mut random = Rng::with_seed(1);
    let names = names();
    for _ in 0..20_000 {
        let patterns: Vec<String> = (0..random.usize(0..4)).map(|_| pattern(&mut random)).collect();
        let name = random.choice(&names).unwrap();
        let filters = patterns.iter().map(|text| Filter::new(text).unwrap());
        let expected = filters.into_iter().any(|filter| filter.matches(Name::new(name).unwrap()));
        let request = json!({
            "principal": { "id": "p", "roles": ["r"], "attr": { "patterns": patterns } },
            "resource": { "kind": "mqtt:topic", "id": "t", "attr": { "topic": name } },
        });
        let request = check::request(&request).unwrap();
        assert_eq!(table.is_allowed(&request, "publish", now()), expected, "{name} {patterns:?}");
    }
}

#[test]
fn topics_and_filters_are_matched_as_by_brute_force() {
    let table = Compiled::of_texts(&[("a.yaml", TWO_EFFECTS)]).unwrap().table;
    let names = names();
    let mut random = Rng::with_seed(2);
    let mut known: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut seen = [0_usize; 3];
    let mut request = check::request(&json!({
        "principal": { "id": "p", "roles": ["r"] },
        "resource": { "kind": "mqtt:topic", "id": "t" },
    }));
    let request = request.as_mut().unwrap();
    for _ in 0..pairs() {
        let patterns: Vec<String> = (0..random.usize(0..4)).map(|_| pattern(&mut random)).collect();
        let asked = match random.bool() {
            true => pattern(&mut random),
            false => random.choice(&names).unwrap().clone(),
        };
        let mut bits = |text: &str| {
            known.entry(text.to_owned()).or_insert_with(|| matched(text, &names)).clone()
        };
        let of_asked = bits(&asked);
        let mut union = vec![0; of_asked.len()];
        for pattern in &patterns {
            union.iter_mut().zip(bits(pattern)).for_each(|(all, one)| *all |= one);
        }
        let (mut all, mut none) = (true, true);
        for (asked, union) in of_asked.iter().zip(&union) {
            all &= asked & !union == 0;
            none &= asked & union == 0;
        }
        let is_filter = Name::new(&asked).is_err();
        let topic = if is_filter { json!({ "filter": asked }) } else { json!(asked) };
        let attributes = |name: &str, value: Json| check::attributes(Some(&json!({ name: value })));
        request.principal.attr = attributes("patterns", json!(patterns));
        request.resource.attr = attributes("topic", topic);
        let found = ["subscribe", "unsubscribe"].map(|it| table.is_allowed(request, it, now()));
        assert_eq!(found, [all, none], "{asked} by {patterns:?}");
        seen[usize::from(!all) + usize::from(none && !all)] += 1;
    }
    println!("all, part, none: {seen:?}");
    assert!(seen.iter().all(|count| *count > pairs() / 100), "{seen:?}");
}

/// Returns how many pairs of a topic or filter and a union of patterns are generated.
fn pairs() -> usize {
    if std::env::var_os("SLOW_TESTS").is_some() { 10_000_000 } else { 20_000 }
}

/// Returns a bit for each name that a filter matches.
fn matched(filter: &str, names: &[String]) -> Vec<u64> {
    let filter = Filter::new(filter).unwrap();
    let mut bits = vec![0_u64; names.len().div_ceil(64)];
    for (number, name) in names.iter().enumerate() {
        if filter.matches(Name::new(name).unwrap()) {
            bits[number / 64] |= 1 << (number % 64);
        }
    }
    bits
}

const TWO_EFFECTS: &str = include_str!("../node/topics.yaml");

const ONE_RULE: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: mqtt:topic
  version: default
  rules:
    - actions: [publish]
      roles: [r]
      effect: EFFECT_ALLOW
      condition: { match: { expr: R.attr.topic.matchesTopic(P.attr.patterns) } }
";

#[test]
fn attributes_of_a_filter_are_a_map_with_one_entry() {
    let table = Compiled::of_texts(&[("a.yaml", ONE_RULE)]).unwrap().table;
    let decide = |topic: Json| {
        let request = json!({
            "principal": { "id": "p", "roles": ["r"], "attr": { "patterns": ["#"] } },
            "resource": { "kind": "mqtt:topic", "id": "t", "attr": { "topic": topic } },
        });
        table.is_allowed(&check::request(&request).unwrap(), "publish", now())
    };
    assert!(decide(json!("a")));
    assert!(decide(json!({ "filter": "a/#" })));
    let others = [
        json!({ "filter": "a/#", "more": 1 }),
        json!({ "filters": "a/#" }),
        json!({ "filter": ["a/#"] }),
        json!({ "filter": "a#" }),
        json!({ "filter": "" }),
        json!({}),
        json!(["a"]),
        json!(null),
        json!("a/#"),
        json!(""),
        json!("a\u{0}"),
    ];
    for topic in others {
        assert!(!decide(topic.clone()), "{topic}");
    }
    assert!(!decide(json!("a/".repeat(200))));
    assert!(!decide(json!({ "filter": "a".repeat(70_000) })));
}

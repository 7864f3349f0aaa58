//! Generated policies with more rules about topics than a fast path has slots: it answers as the
//! general path does.

use fastrand::Rng;
use serde_json::{Map, Value, json};
use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::budget::Budget;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::Evaluation;

use crate::fast::decide::decide;
use crate::fast::request::RequestInput;
use crate::policies::Policies;
use crate::value;

#[test]
fn many_rules_are_decided_as_by_the_general_path() {
    let (mut decided, mut allowed, mut indexed) = (0, 0, 0);
    for seed in 0..120 {
        let mut world = World::new(seed);
        indexed += usize::from(world.is_indexed());
        for _ in 0..60 {
            let request = world.request();
            let (answer, expected) = world.decide(&request);
            decided += usize::from(answer.is_some());
            allowed += usize::from(expected);
            assert!(
                answer.is_none_or(|answer| answer == expected),
                "{answer:?}, seed {seed}\n{request}\n{}",
                world.text
            );
        }
    }
    println!("{decided} are decided, {allowed} allowed, {indexed} sets of policies have an index");
    assert!(decided > 4000 && allowed > 1000 && indexed > 60, "{decided} {allowed} {indexed}");
}

/// Policies with many rules.
struct World {
    random: Rng,
    roles: usize,
    text: String,
    policies: Policies,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let roles = *random.choice(&[1, 2, 6, 40]).unwrap();
        let mut text = HEAD.to_owned();
        for _ in 0..random.usize(40..160) {
            text.push_str(&rule(&mut random, roles));
        }
        let evaluation = *random.choice(&[Evaluation::Strict, Evaluation::Lenient]).unwrap();
        let files = [("topics.yaml".to_owned(), text.clone().into_bytes())];
        let compiled = compile_files(&files, &Options { evaluation, ..Options::default() });
        let bundle = pack(&compiled.unwrap().parts);
        let opened = open(&bundle, Trust::Unsigned, &Conditions::default()).unwrap();
        Self { random, roles, text, policies: Policies::new(opened.table, 0, 0) }
    }

    fn is_indexed(&self) -> bool {
        let list = self.policies.table().fast_path_list("mqtt:topic", "", "").unwrap();
        let paths = list.actions().filter_map(|(_, id)| self.policies.index().path(id?));
        paths.into_iter().any(|path| path.topics.as_ref().is_some_and(|topics| topics.is_indexed()))
    }

    fn request(&mut self) -> Value {
        let random = &mut self.random;
        let mut attr = Map::new();
        let topic = topic(random);
        attr.extend(topic.map(|topic| ("topic".to_owned(), topic)));
        if random.u8(0..8) > 0 {
            attr.insert("qos".to_owned(), json!(random.u8(0..3)));
        }
        let words = [
            json!("a"),
            json!("b"),
            json!("$s"),
            json!("+"),
            json!(""),
            json!(3),
            json!("w".repeat(300)),
        ];
        let mut own = Map::new();
        if random.u8(0..8) > 0 {
            let of = if random.bool() { 2 } else { words.len() };
            own.insert("clientId".to_owned(), words[random.usize(0..of)].clone());
        }
        let roles: Vec<String> = (0..random.usize(0..4))
            .map(|_| format!("role-{}", random.usize(0..self.roles + 1)))
            .collect();
        json!({
            "principal": { "id": random.choice(&["a", "b/c", "x"]), "roles": roles, "attr": own },
            "action": random.choice(&["publish", "receive"]),
            "resource": { "kind": "mqtt:topic", "id": "t", "attr": attr },
        })
    }

    /// Returns the answer of the fast path, if it has one, and that of the general path.
    fn decide(&self, request: &Value) -> (Option<bool>, bool) {
        let action = request["action"].as_str().unwrap();
        let request = value::request(request).unwrap();
        let (table, now) = (self.policies.table(), Timestamp::default());
        let expected = table.is_allowed(&request, action, now);
        let (policies, budget) = (&self.policies, Budget::default());
        assert_eq!(policies.is_allowed_within(&request, action, now, &budget), expected);
        assert!(!policies.is_allowed_within(&request, action, now, &Budget::new(0)));
        let input = RequestInput { request: &request, action };
        (decide(table, self.policies.index(), &input, &now), expected)
    }
}

fn topic(random: &mut Rng) -> Option<Value> {
    Some(match random.u8(0..24) {
        0 => return None,
        1 => json!(null),
        2 => json!(7),
        3 => json!(["a"]),
        4 | 5 => json!({ "filter": pattern(random) }),
        6 => json!({ "name": "a/b" }),
        7 => json!(*random.choice(&["", "a/+", "#", "a\0"]).unwrap()),
        8 => json!(["a/b"; 8].join("/")),
        9 => json!("a/".repeat(512)),
        10 => json!("long".repeat(if random.bool() { 256 } else { 17_000 })),
        _ => json!(name(random)),
    })
}

fn name(random: &mut Rng) -> String {
    let word = |random: &mut Rng| *random.choice(&["a", "b", "c", "x", "$s"]).unwrap();
    (0..random.usize(1..5)).map(|_| word(random)).collect::<Vec<_>>().join("/")
}

fn pattern(random: &mut Rng) -> String {
    let word = |random: &mut Rng| *random.choice(&["a", "b", "c", "d", "+", "$s"]).unwrap();
    let mut words: Vec<&str> = (0..random.usize(1..5)).map(|_| word(random)).collect();
    if random.u8(0..4) == 0 {
        words.push("#");
    }
    words.join("/")
}

fn rule(random: &mut Rng, roles: usize) -> String {
    let role = match random.usize(0..roles + 8) {
        0 => "\"*\"".to_owned(),
        number => format!("role-{}", number % roles),
    };
    let effect = if random.u8(0..6) == 0 { "DENY" } else { "ALLOW" };
    let actions = random.choice(&["publish", "receive", "publish, receive"]).unwrap();
    let condition = match random.u8(0..12) {
        0 => format!("all: {{ of: [{}, {}] }}", leaf(random), leaf(random)),
        1 => format!("any: {{ of: [{}, {}] }}", leaf(random), leaf(random)),
        2 => format!("none: {{ of: [{}] }}", leaf(random)),
        3 => format!("all: {{ of: [{}, {{ expr: 'R.attr.qos < 2' }}] }}", leaf(random)),
        _ => format!("expr: '{}'", expression(random)),
    };
    format!(
        "    - {{ actions: [{actions}], effect: EFFECT_{effect}, roles: [{role}], condition: {{ match: {{ {condition} }} }} }}\n"
    )
}

fn leaf(random: &mut Rng) -> String {
    format!("{{ expr: '{}' }}", expression(random))
}

fn expression(random: &mut Rng) -> String {
    let topic = |random: &mut Rng| match random.u8(0..8) {
        0 => "R.attr.topic.matchesTopic(\"{}/#\", [P.attr.clientId])".to_owned(),
        1 => "R.attr.topic.matchesTopic(\"{}/+/{}\", [P.attr.clientId, P.id])".to_owned(),
        2 | 3 => {
            let patterns: Vec<String> =
                (0..random.usize(1..7)).map(|_| format!("\"{}\"", pattern(random))).collect();
            format!("R.attr.topic.matchesTopic([{}])", patterns.join(", "))
        }
        _ => format!("R.attr.topic.matchesTopic(\"{}\")", pattern(random)),
    };
    let first = topic(random);
    match random.u8(0..20) {
        0 => format!("!{first}"),
        1 => format!("{first} && R.attr.qos < 2"),
        2 => format!("R.attr.qos < 2 && {first}"),
        3 => format!("{first} || {}", topic(random)),
        4 => format!("{first} && {}", topic(random)),
        5 => format!("R.attr.qos == 0 || {first}"),
        6 => format!("{first} && !{}", topic(random)),
        7 => {
            format!("(R.attr.qos == 1 || {}) && {first} && P.attr.clientId == \"a\"", topic(random))
        }
        8 => format!("R.attr.qos > 1 ? {first} : {}", topic(random)),
        9 => "R.attr.qos > 1".to_owned(),
        10 => format!("({first} && R.attr.qos == 1) == true"),
        11 => format!("P.attr.clientId.lowerAscii() == \"a\" && {first}"),
        12 => format!("V.mine && {first}"),
        13 => format!("{first} && V.mine"),
        _ => first,
    }
}

const HEAD: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: "mqtt:topic"
  version: default
  variables: { local: { mine: 'R.attr.topic.matchesTopic(["a/#", "+/b"]) && R.attr.qos < 2' } }
  rules:
"#;

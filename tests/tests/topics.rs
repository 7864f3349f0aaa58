//! Policies about MQTT topics: what a subscription is allowed, each of its topics is.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_mqtt::{Filter, Name};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;

/// The words of generated topics; `x` is in no pattern.
const WORDS: [&str; 3] = ["a", "b", "x"];

/// The levels of the deepest topic, one more than those of the deepest pattern.
const LEVELS: usize = 4;

/// Subscriptions for each set of policies.
const SUBSCRIPTIONS: usize = 12;

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

fn now() -> Timestamp {
    Timestamp::new(0, 0).unwrap()
}

/// Lists all topics of the words.
fn names() -> Vec<String> {
    let mut all: Vec<String> = WORDS.map(str::to_owned).to_vec();
    let mut longest = all.clone();
    for _ in 1..LEVELS {
        longest =
            longest.iter().flat_map(|name| WORDS.map(|word| format!("{name}/{word}"))).collect();
        all.extend_from_slice(&longest);
    }
    all
}

fn pattern(random: &mut Rng) -> String {
    let levels = random.usize(1..LEVELS);
    let mut words: Vec<&str> =
        (0..levels).map(|_| *random.choice(&["a", "b", "+", "+"]).unwrap()).collect();
    if random.bool() {
        let last = words.len() - 1;
        words.splice(last.., ["#"]);
    }
    words.join("/")
}

/// Generated policies, opened.
struct World {
    random: Rng,
    files: Vec<(String, Vec<u8>)>,
    table: PolicyTable,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let files = Author(&mut random).files();
        let evaluation =
            if seed.is_multiple_of(2) { Evaluation::Strict } else { Evaluation::Lenient };
        let options = Options { evaluation, ..Options::default() };
        let compiled = compile_files(&files, &options).unwrap_or_else(|errors| {
            let errors: String = errors.iter().map(ToString::to_string).collect();
            panic!("{errors}\n{}", text(&files))
        });
        let table = Compiled::opened(wardgate_bundle::pack(&compiled.parts)).unwrap().table;
        Self { random, files, table }
    }

    fn text(&self) -> String {
        text(&self.files)
    }

    fn pattern(&mut self) -> String {
        pattern(&mut self.random)
    }

    /// Makes a request without its topic.
    fn request(&mut self) -> Json {
        let random = &mut self.random;
        let mut attr = json!({ "word": "a", "list": [pattern(random), pattern(random)] });
        for name in ["flag", "other"] {
            if random.u8(0..4) > 0 {
                attr[name] = json!(random.bool());
            }
        }
        let roles = *random.choice(&[&["r"][..], &["s"], &["r", "s"], &["s", "r"]]).unwrap();
        json!({
            "principal": { "id": random.choice(&["p", "q"]), "roles": roles, "attr": attr },
            "resource": {
                "kind": "mqtt:topic",
                "id": "t",
                "scope": random.choice(&["", "n"]),
                "attr": { "qos": random.u8(0..3) },
            },
        })
    }

    fn decide(&self, request: &Json, topic: &Json) -> bool {
        let mut request = request.clone();
        request["resource"]["attr"]["topic"] = topic.clone();
        let request: Request = check::request(&request).unwrap();
        let is_allowed = self.table.is_allowed(&request, "subscribe", now());
        let request = Request { actions: vec!["subscribe".to_owned()], ..request };
        let decision = self.table.check(&request, now());
        let checked = decision.actions.iter().all(|action| action.effect == Effect::Allow);
        assert_eq!(is_allowed, checked, "{request:?}\n{}", self.text());
        is_allowed
    }
}

fn text(files: &[(String, Vec<u8>)]) -> String {
    files
        .iter()
        .map(|(name, text)| format!("# {name}\n{}", String::from_utf8_lossy(text)))
        .collect()
}

/// Writes policies.
struct Author<'r>(&'r mut Rng);

impl Author<'_> {
    fn files(&mut self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![
            ("roles.yaml".to_owned(), self.derived_roles()),
            ("topics.yaml".to_owned(), self.resource("", false)),
        ];
        if self.0.bool() {
            let needs_consent = self.0.bool();
            files.push(("n.yaml".to_owned(), self.resource("n", needs_consent)));
        }
        if self.0.u8(0..4) == 0 {
            files.push(("principal.yaml".to_owned(), self.principal()));
        }
        if self.0.u8(0..4) == 0 {
            files.push(("role.yaml".to_owned(), self.role()));
        }
        files.into_iter().map(|(name, policy)| (name, policy.to_string().into_bytes())).collect()
    }

    fn derived_roles(&mut self) -> Json {
        let define = |author: &mut Self, name: &str| json!({ "name": name, "parentRoles": ["r"], "condition": author.condition(2) });
        let definitions = [define(self, "d"), define(self, "e")];
        json!({
            "apiVersion": "api.cerbos.dev/v1",
            "derivedRoles": {
                "name": "derived",
                "variables": { "local": self.variables() },
                "definitions": definitions,
            },
        })
    }

    fn resource(&mut self, scope: &str, needs_consent: bool) -> Json {
        let rules: Vec<Json> = (0..self.0.usize(1..5)).map(|_| self.rule()).collect();
        let mut policy = json!({
            "resource": "mqtt:topic",
            "version": "default",
            "scope": scope,
            "importDerivedRoles": ["derived"],
            "variables": { "local": self.variables() },
            "rules": rules,
        });
        if needs_consent {
            policy["scopePermissions"] =
                json!("SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS");
            for rule in policy["rules"].as_array_mut().unwrap() {
                rule["effect"] = json!("EFFECT_ALLOW");
            }
        }
        json!({ "apiVersion": "api.cerbos.dev/v1", "resourcePolicy": policy })
    }

    fn rule(&mut self) -> Json {
        let mut rule = json!({ "actions": ["subscribe"], "effect": self.effect() });
        match self.0.u8(0..4) {
            0 => rule["derivedRoles"] = json!([self.0.choice(&["d", "e"])]),
            1 => rule["roles"] = json!(["s"]),
            2 => rule["roles"] = json!(["*"]),
            _ => rule["roles"] = json!(["r"]),
        }
        if self.0.u8(0..5) > 0 {
            rule["condition"] = self.condition(3);
        }
        rule
    }

    fn effect(&mut self) -> &'static str {
        if self.0.u8(0..3) == 0 { "EFFECT_DENY" } else { "EFFECT_ALLOW" }
    }

    fn principal(&mut self) -> Json {
        let actions: Vec<Json> = (0..self.0.usize(1..3))
            .map(|_| json!({ "action": "subscribe", "effect": self.effect(), "condition": self.condition(2) }))
            .collect();
        json!({
            "apiVersion": "api.cerbos.dev/v1",
            "principalPolicy": {
                "principal": "p",
                "version": "default",
                "variables": { "local": self.variables() },
                "rules": [{ "resource": self.0.choice(&["mqtt:topic", "mqtt_*", "*"]), "actions": actions }],
            },
        })
    }

    fn role(&mut self) -> Json {
        let rules: Vec<Json> = (0..self.0.usize(1..3))
            .map(|_| json!({ "resource": "mqtt:topic", "allowActions": ["subscribe"], "condition": self.condition(2) }))
            .collect();
        json!({
            "apiVersion": "api.cerbos.dev/v1",
            "rolePolicy": {
                "role": self.0.choice(&["r", "s"]),
                "scope": "",
                "variables": { "local": self.variables() },
                "rules": rules,
            },
        })
    }

    /// Writes variables, of which the second may read the first.
    fn variables(&mut self) -> Json {
        let first = self.expression(1, false);
        json!({ "v": first, "w": if self.0.bool() { "V.v || P.attr.flag".to_owned() } else { self.expression(2, false) } })
    }

    fn condition(&mut self, depth: u8) -> Json {
        json!({ "match": self.matching(depth) })
    }

    fn matching(&mut self, depth: u8) -> Json {
        if depth == 0 || self.0.bool() {
            return json!({ "expr": self.expression(2, true) });
        }
        let parts: Vec<Json> = (0..self.0.usize(1..3)).map(|_| self.matching(depth - 1)).collect();
        let junction = *self.0.choice(&["all", "any", "none"]).unwrap();
        json!({ junction: { "of": parts } })
    }

    fn expression(&mut self, depth: u8, has_variables: bool) -> String {
        if depth == 0 || self.0.u8(0..4) == 0 {
            return self.atom(has_variables);
        }
        let mut part = || self.expression(depth - 1, has_variables);
        let (left, right) = (part(), part());
        match self.0.u8(0..9) {
            0 | 1 => format!("({left} && {right})"),
            2 | 3 => format!("({left} || {right})"),
            4 | 5 => format!("!({left})"),
            6 => format!("({left} ? {right} : P.attr.flag)"),
            7 => format!("({left} == {right})"),
            _ => format!("[{left}, {right}].exists(e, e)"),
        }
    }

    fn atom(&mut self, has_variables: bool) -> String {
        let kinds = if has_variables { 0..14_u8 } else { 0..11 };
        let random = &mut *self.0;
        let topic = match random.u8(0..3) {
            0 => "request.resource.attr.topic",
            1 => "R.attr[\"topic\"]",
            _ => "R.attr.topic",
        };
        match random.u8(kinds) {
            0..=3 => format!("{topic}.matchesTopic(\"{}\")", pattern(random)),
            4 | 5 => {
                format!("{topic}.matchesTopic([\"{}\", \"{}\"])", pattern(random), pattern(random))
            }
            6 => format!("{topic}.matchesTopic(\"{{}}/{}\", [P.attr.word])", pattern(random)),
            7 => format!("{topic}.matchesTopic(P.attr.list)"),
            8 => "P.attr.flag".to_owned(),
            9 => "P.attr.other".to_owned(),
            10 => "(R.attr.qos < 2)".to_owned(),
            11 => "V.w".to_owned(),
            12 => "has(V.v)".to_owned(),
            _ => "(\"d\" in runtime.effectiveDerivedRoles)".to_owned(),
        }
    }
}

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

//! Generated policies about MQTT topics, and the topics to try them with.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_native::Policies;

use crate::check;
use crate::compiled::Compiled;

/// The words of generated topics; `x` is in no pattern.
pub const WORDS: [&str; 3] = ["a", "b", "x"];

/// Subscriptions for each set of policies.
pub const SUBSCRIPTIONS: usize = 12;

/// The levels of the deepest topic, one more than those of the deepest pattern.
const LEVELS: usize = 4;

/// The words of the first level of patterns, without internal topics.
const FIRST: &[&str] = &["a", "b", "+", "+"];

/// The same, with an internal topic.
const FIRST_OR_INTERNAL: &[&str] = &["a", "b", "+", "+", "$s"];

/// Returns the time of decisions.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::new(0, 0).unwrap()
}

/// Lists all topics of the words.
#[must_use]
pub fn names() -> Vec<String> {
    names_of(&WORDS)
}

/// Lists all topics of the words, and those that begin with an internal word that patterns name or
/// with one that they do not name.
#[must_use]
pub fn names_with_internal() -> Vec<String> {
    names_of(&["a", "b", "x", "$s", "$x"])
}

fn names_of(first: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = first.iter().map(|word| (*word).to_owned()).collect();
    let mut longest = all.clone();
    for _ in 1..LEVELS {
        longest =
            longest.iter().flat_map(|name| WORDS.map(|word| format!("{name}/{word}"))).collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// Generates a pattern without internal topics.
pub fn pattern(random: &mut Rng) -> String {
    pattern_from(random, FIRST)
}

fn pattern_from(random: &mut Rng, first: &[&'static str]) -> String {
    let levels = random.usize(1..LEVELS);
    let mut words: Vec<&str> = (0..levels)
        .map(|level| *random.choice(if level == 0 { first } else { FIRST }).unwrap())
        .collect();
    if random.bool() {
        let last = words.len() - 1;
        words.splice(last.., ["#"]);
    }
    words.join("/")
}

/// Generated policies, opened.
pub struct World {
    random: Rng,
    first: &'static [&'static str],
    files: Vec<(String, Vec<u8>)>,
    bundle: Vec<u8>,
    policies: Policies,
}

impl World {
    /// Generates policies without patterns of internal topics.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with(seed, FIRST)
    }

    /// Generates policies of which some have patterns of internal topics.
    #[must_use]
    pub fn with_internal(seed: u64) -> Self {
        Self::with(seed, FIRST_OR_INTERNAL)
    }

    fn with(seed: u64, first: &'static [&'static str]) -> Self {
        let mut random = Rng::with_seed(seed);
        let files = Author(&mut random, first).files();
        let evaluation =
            if seed.is_multiple_of(2) { Evaluation::Strict } else { Evaluation::Lenient };
        let options = Options { evaluation, ..Options::default() };
        let compiled = compile_files(&files, &options).unwrap_or_else(|errors| {
            let errors: String = errors.iter().map(ToString::to_string).collect();
            panic!("{errors}\n{}", text(&files))
        });
        let opened = Compiled::opened(wardgate_bundle::pack(&compiled.parts)).unwrap();
        Self { random, first, files, bundle: opened.bundle, policies: Policies::of(opened.table) }
    }

    /// Opens the policies once more.
    #[must_use]
    pub fn open(&self) -> PolicyTable {
        Compiled::opened(self.bundle.clone()).unwrap().table
    }

    /// Returns the policies as a bundle.
    #[must_use]
    pub fn bundle(&self) -> &[u8] {
        &self.bundle
    }

    /// Returns the table of the policies.
    #[must_use]
    pub const fn table(&self) -> &PolicyTable {
        self.policies.table()
    }

    /// Returns the random numbers of requests.
    pub const fn random(&mut self) -> &mut Rng {
        &mut self.random
    }

    /// Returns the policies as text.
    #[must_use]
    pub fn text(&self) -> String {
        text(&self.files)
    }

    /// Generates a pattern.
    pub fn pattern(&mut self) -> String {
        pattern_from(&mut self.random, self.first)
    }

    /// Makes a request without its topic.
    pub fn request(&mut self) -> Json {
        let (random, first) = (&mut self.random, self.first);
        let mut attr = json!({ "word": "a", "list": [pattern_from(random, first), pattern_from(random, first)] });
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

    /// Decides a request, whose attribute `topic` becomes `name`.
    #[must_use]
    pub fn is_allowed(&self, request: &mut Request, name: &str) -> bool {
        *request.resource.attr.get_mut("topic").unwrap() = Attr::String(name.into());
        self.policies.is_allowed(request, "subscribe", now())
    }

    /// Decides a request about a topic, by a check, by its short form and by fast paths.
    #[must_use]
    pub fn decide(&self, request: &Json, topic: &Json) -> bool {
        let mut request = request.clone();
        request["resource"]["attr"]["topic"] = topic.clone();
        let request: Request = check::request(&request).unwrap();
        let table = self.policies.table();
        let is_allowed = table.is_allowed(&request, "subscribe", now());
        let by_fast_path = self.policies.is_allowed(&request, "subscribe", now());
        assert_eq!(by_fast_path, is_allowed, "{request:?}\n{}", self.text());
        let request = Request { actions: vec!["subscribe".to_owned()], ..request };
        let decision = table.check(&request, now());
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
struct Author<'r>(&'r mut Rng, &'static [&'static str]);

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
        let (random, first) = (&mut *self.0, self.1);
        let topic = match random.u8(0..3) {
            0 => "request.resource.attr.topic",
            1 => "R.attr[\"topic\"]",
            _ => "R.attr.topic",
        };
        match random.u8(kinds) {
            0..=3 => format!("{topic}.matchesTopic(\"{}\")", pattern_from(random, first)),
            4 | 5 => {
                format!("{topic}.matchesTopic([\"{}\", \"{}\"])", pattern_from(random, first), pattern_from(random, first))
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


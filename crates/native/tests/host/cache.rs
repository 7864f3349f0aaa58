//! A cache changes no answer: not where entries collide, not between threads, not across reloads.
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fastrand::Rng;
use serde_json::{Value, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_native::{Pdp, PrincipalRef, Question, ResourceRef, Timestamp, Trust};

/// Each request differs from the one before in one value, and all of them share a few entries.
#[test]
fn no_two_requests_share_an_answer() {
    let bundle = bundle(FIRST);
    let plain = Pdp::open(&bundle, Trust::Unsigned).unwrap();
    for entries in [1, 4, 64] {
        let cached = Pdp::open_with_cache(&bundle, Trust::Unsigned, entries).unwrap();
        let (mut random, mut parts) = (Rng::with_seed(7), RequestParts::new());
        let mut allowed = 0;
        for _ in 0..20_000 {
            parts.change(&mut random);
            let expected = parts.of(&plain);
            assert_eq!(parts.of(&cached), expected, "{entries}: {parts:?}");
            assert_eq!(parts.of(&cached), expected, "{entries}, again: {parts:?}");
            allowed += usize::from(expected[0]);
        }
        assert!((2000..18_000).contains(&allowed), "{allowed} are allowed");
    }
}

/// Within one snapshot the answers are those of its policies, for any questions of other threads
/// and any reloads in between.
#[test]
fn no_answer_outlives_a_reload() {
    let bundles = [bundle(FIRST), bundle(SECOND)];
    let plain = bundles.each_ref().map(|bundle| Pdp::open(bundle, Trust::Unsigned).unwrap());
    let cached = Pdp::open_with_cache(&bundles[0], Trust::Unsigned, 2).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let input = |seed| {
            let (mut random, mut parts, mut rounds) =
                (Rng::with_seed(seed), RequestParts::new(), 0_u32);
            while rounds < 3000 || !is_done.load(Ordering::Relaxed) && rounds < 1_000_000 {
                parts.change(&mut random);
                let snapshot = cached.snapshot();
                let first = snapshot.is_allowed_value(&marker(), now()).unwrap();
                let expected = parts.of(&plain[usize::from(!first)]);
                let document = parts.document();
                let answer = snapshot.is_allowed_value(&document, now()).unwrap();
                assert_eq!(answer, expected[0], "{parts:?}");
                let text = document.to_string();
                let answer = snapshot.is_allowed_json(text.as_bytes(), now()).unwrap();
                assert_eq!(answer, expected[0], "{parts:?}");
                rounds += 1;
            }
        };
        let askers: Vec<_> = (1..=3).map(|seed| scope.spawn(move || input(seed))).collect();
        for round in 1..=200 {
            cached.reload(&bundles[round % 2], Trust::Unsigned).unwrap();
            assert_eq!(cached.is_allowed_value(&marker(), now()), Ok(round % 2 == 0));
        }
        is_done.store(true, Ordering::Relaxed);
        askers.into_iter().for_each(|asker| asker.join().unwrap());
    });
}

/// A request, by the values that can be changed in it.
#[derive(Clone, Debug)]
struct RequestParts {
    id: usize,
    roles: usize,
    action: usize,
    kind: usize,
    scope: usize,
    principal: usize,
    resource: [usize; 2],
}

impl RequestParts {
    fn new() -> Self {
        Self { id: 0, roles: 0, action: 0, kind: 0, scope: 0, principal: 0, resource: [0, 1] }
    }

    fn change(&mut self, random: &mut Rng) {
        let values = values().len();
        match random.usize(..9) {
            0 => self.id = random.usize(..TEXTS.len()),
            1 => self.roles = random.usize(..ROLES.len()),
            2 => self.action = random.usize(..ACTIONS.len()),
            3 => self.kind = random.usize(..KINDS.len()),
            4 => self.scope = random.usize(..SCOPES.len()),
            5 => self.principal = random.usize(..values),
            6 => self.resource[0] = random.usize(..values),
            7 => self.resource[1] = random.usize(..values),
            // The same characters, split at another position.
            _ => self.resource = CUTS[random.usize(..CUTS.len())],
        }
    }

    fn document(&self) -> Value {
        let mut attributes = json!({});
        for (name, value) in ["a", "b"].iter().zip(self.resource) {
            if let Some(value) = &values()[value] {
                attributes[name] = value.clone();
            }
        }
        json!({
            "principal": { "id": TEXTS[self.id], "roles": ROLES[self.roles], "attr": self.own() },
            "action": ACTIONS[self.action],
            "resource": {
                "kind": KINDS[self.kind],
                "id": TEXTS[self.id],
                "scope": SCOPES[self.scope],
                "attr": attributes,
            },
        })
    }

    fn own(&self) -> Value {
        values()[self.principal].as_ref().map_or(json!({}), |value| json!({ "c": value }))
    }

    /// Returns the answers in three forms.
    fn of(&self, pdp: &Pdp) -> [bool; 3] {
        let document = self.document();
        let text = document.to_string();
        let (own, attributes) = (self.own(), &document["resource"]["attr"]);
        let question = Question {
            principal: PrincipalRef::new(
                TEXTS[self.id],
                ROLES[self.roles],
                own.as_object().unwrap(),
            ),
            action: ACTIONS[self.action],
            resource: ResourceRef {
                scope: SCOPES[self.scope],
                ..ResourceRef::new(
                    KINDS[self.kind],
                    TEXTS[self.id],
                    attributes.as_object().unwrap(),
                )
            },
        };
        [
            pdp.is_allowed_value(&document, now()).unwrap(),
            pdp.is_allowed_json(text.as_bytes(), now()).unwrap(),
            pdp.is_allowed_fields(&question, now()),
        ]
    }
}

/// Returns the values of an attribute; `None` is a missing attribute.
fn values() -> &'static [Option<Value>] {
    static VALUES: std::sync::OnceLock<Vec<Option<Value>>> = std::sync::OnceLock::new();
    VALUES.get_or_init(|| {
        let next_to_one = f64::from_bits(1.0_f64.to_bits() + 1);
        let values = json!([
            "ab", "c", "a", "bc", "", "abc", "x".repeat(600), null, true, false, 0.0, -0.0, 1,
            next_to_one, 2, "1", [], ["a", "b"], ["ab"], ["b", "a"], [["a"], "b"], {},
            { "a": "b" }, { "ab": "" }, { "a": null }, { "a": { "b": null } }, "a\u{5}", "\u{5}",
        ]);
        values.as_array().unwrap().iter().cloned().map(Some).chain([None]).collect()
    })
}

/// Indices of the values: `ab` and `c`, `a` and `bc`; and the same with a byte that has a meaning
/// in keys.
const CUTS: &[[usize; 2]] = &[[0, 1], [2, 3], [1, 0], [3, 2], [26, 4], [2, 27]];

/// Returns the request that differs in the two sets of policies.
fn marker() -> Value {
    json!({
        "principal": { "id": "ada", "roles": ["marker"] },
        "action": "mark",
        "resource": { "kind": "one", "id": "r", "attr": { "a": "first" } },
    })
}

fn bundle(global: &str) -> Vec<u8> {
    let policy = |kind: &str, scope: &str, more: &str| {
        let text = POLICY.replace("KIND", kind).replace("SCOPE", scope).replace("MORE", more);
        (format!("{kind}{scope}.yaml"), text.replace("WORD", global).into_bytes())
    };
    let files = [
        policy("one", "", "size(R.attr.a) > 1"),
        policy("two", "", "size(R.attr.a) > 2"),
        policy("one", "acme", "size(R.attr.a) > 0"),
    ];
    pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

fn now() -> Timestamp {
    Timestamp::default()
}

/// A constant in which two sets of policies differ.
const FIRST: &str = "first";
const SECOND: &str = "second";

const TEXTS: &[&str] = &["", "a", "ab", "ada"];
const ROLES: &[&[&str]] =
    &[&["viewer"], &["viewer", "editor"], &["editor", "viewer"], &["editor"], &["v", "iewer"], &[]];
const KINDS: &[&str] = &["one", "two", "three"];
const SCOPES: &[&str] = &["", "acme"];
const ACTIONS: &[&str] =
    &["begin", "end", "size", "sign", "in", "has", "first", "id", "own", "mark", "now", "other"];

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: KIND
  scope: "SCOPE"
  constants: { local: { word: WORD } }
  rules:
    - { actions: [begin], effect: EFFECT_ALLOW, roles: [viewer], condition: { match: { expr: 'R.attr.a.startsWith("a")' } } }
    - actions: [begin]
      effect: EFFECT_ALLOW
      roles: [editor]
      condition: { match: { expr: 'R.attr.b.startsWith("b") || MORE' } }
    - actions: [end]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: '("x" + R.attr.a).endsWith(R.attr.b)' } }
    - actions: [size]
      effect: EFFECT_ALLOW
      roles: [viewer]
      condition: { match: { expr: 'size(R.attr.a) >= size(R.attr.b) && MORE' } }
    - actions: [sign]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: '1.0 / R.attr.a > 0.0 && R.attr.b * 1.0 <= 1.0' } }
    - { actions: [in], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: '"a" in R.attr.a' } } }
    - actions: [has]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: 'has(R.attr.a) && !string(R.attr.b).startsWith("1")' } }
    - actions: [first]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: 'P.roles[0].startsWith("v") && size(P.roles) < 2' } }
    - actions: [id]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: 'P.id.startsWith("a") && R.kind.endsWith("o") || R.id.endsWith("b")' } }
    - actions: [own]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: 'P.attr.c == R.attr.a && size(P.attr.c) > 0' } }
    - { actions: [mark], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: 'R.attr.a.startsWith(C.word)' } } }
    - actions: [now]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: 'now() < timestamp("2020-01-01T00:00:00Z") && R.attr.a.startsWith("a")' } }
"#;

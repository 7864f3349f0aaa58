//! Fast paths of kinds with flat schemas, compared with the general path in every form of a
//! request.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::{Map, Value as Json, json};
use wardgate_bundle::{Trust, pack};
use wardgate_compiler::{Enforcement, Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::fastpath::Answer;
use wardgate_engine::request::Request;
use wardgate_native::{
    AsPrincipal, AsResource, CallLimits, Pdp, PrincipalRef, Question, ResourceRef, attributes,
};
use wardgate_tests::check;
use wardgate_tests::compiled::Compiled;
use wardgate_tests::fill::{self, verdicts};
use wardgate_tests::tally::Tally;

#[test]
fn generated_schemas_are_enforced_as_by_the_general_path() {
    let mut counts = Counts::default();
    for seed in 0..WORLDS {
        let mut random = Random(fastrand::Rng::with_seed(seed));
        let enforcement = if seed % 3 == 0 { Enforcement::Warn } else { Enforcement::Reject };
        let options = Options { schema_enforcement: enforcement, ..Options::default() };
        let schemas = [random.schema(), random.schema()];
        let files = files(&schemas, &random.ignored());
        let compiled = compile_files(&files, &options).unwrap();
        let world = World::new(&pack(&compiled.parts));
        for at in 0..REQUESTS {
            // Most random requests do not fit.
            let attempts = if at % 2 == 0 { 1 } else { ATTEMPTS };
            let mut requests = (0..attempts).map(|_| random.request(&schemas));
            let first = requests.next().unwrap();
            let request = requests.find(|request| world.is_fit(request)).unwrap_or(first);
            if let Err(difference) = world.compare(&request, &mut counts) {
                panic!("{difference}\nof {request}\nwith {schemas:?}");
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.answered * 10 >= counts.questions * 3, "{counts:?}");
    assert!(counts.called > 1000 && counts.evaluated > 1000, "{counts:?}");
    assert!(counts.allowed > 1000 && counts.refused > 1000 && counts.checked > 1000, "{counts:?}");
}

#[test]
fn requests_that_fit_are_decided_by_fast_paths() {
    let schemas = [
        json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string", "enum": ["x", "y"] } } }),
        json!({
            "type": "object",
            "required": ["a", "b"],
            "additionalProperties": false,
            "properties": {
                "a": { "type": "string", "minLength": 1, "maxLength": 8 },
                "b": { "type": "integer", "minimum": 0, "maximum": 9 },
                "c": { "type": ["boolean", "null"] },
                "d": { "const": 7 },
            },
        }),
    ];
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    let compiled = compile_files(&files(&schemas, "[nothing]"), &options).unwrap();
    let world = World::new(&pack(&compiled.parts));
    let mut counts = Counts::default();
    let mut decide = |principal: Json, resource: Json| {
        let before = counts.answered;
        let request = json!({
            "principal": { "id": "p", "roles": ["user"], "attr": principal },
            "resource": { "kind": "doc", "id": "d", "attr": resource },
            "actions": ["view", "edit", "other:1", "none"],
        });
        world.compare(&request, &mut counts).unwrap();
        counts.answered - before
    };
    for fits in [
        json!({ "a": "x", "b": 0 }),
        json!({ "a": "ééé", "b": 9, "c": null, "d": 7 }),
        json!({ "a": "12345678", "b": 3, "c": true }),
    ] {
        assert_eq!(decide(json!({ "a": "x" }), fits.clone()), 4, "{fits}");
        assert_eq!(decide(json!({ "a": "y", "more": [{}] }), fits.clone()), 4, "{fits}");
        assert_eq!(decide(json!({ "a": "z" }), fits.clone()), 0, "{fits}");
        assert_eq!(decide(json!({}), fits.clone()), 0, "{fits}");
    }
    for unfit in [
        json!({ "a": "x" }),
        json!({ "a": "", "b": 0 }),
        json!({ "a": "123456789", "b": 0 }),
        json!({ "a": "x", "b": 0.5 }),
        json!({ "a": "x", "b": -1 }),
        json!({ "a": "x", "b": 10 }),
        json!({ "a": "x", "b": 1, "c": 1 }),
        json!({ "a": "x", "b": 1, "d": 8 }),
        json!({ "a": "x", "b": 1, "d": null }),
        json!({ "a": "x", "b": 1, "e": null }),
        json!({ "a": ["x"], "b": 1 }),
    ] {
        assert_eq!(decide(json!({ "a": "x" }), unfit.clone()), 0, "{unfit}");
    }
    assert!(counts.allowed > 10, "{counts:?}");
}

#[test]
fn schemas_that_are_only_reported_leave_effects_alone() {
    let schemas = [json!({}), json!({ "required": ["a"] })];
    let options = Options { schema_enforcement: Enforcement::Warn, ..Options::default() };
    let compiled = compile_files(&files(&schemas, "[nothing]"), &options).unwrap();
    let table = Compiled::opened(pack(&compiled.parts)).unwrap().table;
    let decide = |attr: Json| {
        let request = json!({
            "principal": { "id": "p", "roles": ["user"], "attr": { "a": "x" } },
            "resource": { "kind": "doc", "id": "d", "attr": attr },
            "actions": ["other:1"],
        });
        let request = check::request(&request).unwrap();
        let answer = fill::decide(&table, &request, "other:1", now());
        (answer, verdicts::check(&table, &request, now()).is_ok())
    };
    assert_eq!(decide(json!({ "a": "x" })), (Answer::Allow, true));
    assert_eq!(decide(json!({ "b": "x" })), (Answer::Allow, false));
}

/// The decisions that were compared.
#[derive(Debug, Default)]
struct Counts {
    questions: u32,
    /// Those that a fast path answered, those that allow, and those that a schema refused.
    answered: u32,
    allowed: u32,
    refused: u32,
    /// Whole checks by fast paths.
    checked: u32,
    /// Messages of Cerbos and AuthZEN that were answered from their text.
    called: u32,
    evaluated: u32,
}

/// One bundle, natively.
struct World {
    pdp: Pdp,
}

impl World {
    fn new(bundle: &[u8]) -> Self {
        Self { pdp: Pdp::open(bundle, Trust::Unsigned).unwrap() }
    }

    /// Returns true if the general path finds no fault in the attributes.
    fn is_fit(&self, json: &Json) -> bool {
        let request = check::request(json).unwrap();
        self.pdp.snapshot().table().check(&request, now()).validation_errors.is_empty()
    }

    /// Decides a request in every form.
    fn compare(&self, json: &Json, counts: &mut Counts) -> Result<(), String> {
        let policies = self.pdp.snapshot();
        let table = policies.table();
        let request = check::request(json)?;
        let tally = Tally::default();
        tally.compare(table, &request, now())?;
        counts.questions += tally.questions.get();
        counts.answered += tally.answered.get();
        counts.allowed += tally.allowed.get();
        for action in &request.actions {
            let expected = table.is_allowed(&request, action, now());
            let one = Request { actions: vec![action.clone()], ..request.clone() };
            let decision = table.check(&one, now());
            counts.refused += u32::from(!decision.validation_errors.is_empty());
            if let Ok(found) = verdicts::check(table, &one, now()) {
                counts.checked += 1;
                same("check", &found, &decision)?;
            }
            same("request", &policies.is_allowed(&request, action, now()), &expected)?;
            let mut document = json.clone();
            let members = document.as_object_mut().unwrap();
            members.remove("actions");
            members.insert("action".to_owned(), action.as_str().into());
            same("value", &policies.is_allowed_value(&document, now()), &Ok(expected))?;
            let text = document.to_string();
            same("text", &policies.is_allowed_json(text.as_bytes(), now()), &Ok(expected))?;
            self.compare_typed(json, action, expected)?;
        }
        let decision = table.check(&request, now());
        if let Ok(found) = verdicts::check(table, &request, now()) {
            counts.checked += 1;
            same("check of all", &found, &decision)?;
        }
        self.compare_call(json, &decision, counts)
    }

    /// Decides messages of Cerbos and AuthZEN that are answered from their text.
    fn compare_call(
        &self,
        json: &Json,
        decision: &Decision,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let [principal, resource, actions] =
            ["principal", "resource", "actions"].map(|name| json.get(name).unwrap());
        let policies = self.pdp.snapshot();
        let call = json!({
            "principal": principal,
            "resources": [{ "actions": actions, "resource": resource }],
        });
        let limits = CallLimits { resources: 9, actions: 9, steps: 1_000_000 };
        if let Some(found) = policies.answer_call(call.to_string().as_bytes(), limits, now()) {
            counts.called += 1;
            let effects: Json = serde_json::from_str(&found.json).unwrap();
            for decided in &decision.actions {
                let all = effects.pointer("/results/0/actions").unwrap();
                let effect = all.get(decided.action.as_str());
                let is_allowed = effect == Some(&json!("EFFECT_ALLOW"));
                same("call", &is_allowed, &(decided.effect == Effect::Allow))?;
            }
            same("faults of a call", &decision.validation_errors.len(), &0)?;
        }
        let entity = |name: &str, party: &Json| {
            let (id, attr) = (party.get("id").unwrap(), party.get("attr").unwrap());
            json!({ "type": name, "id": id, "properties": attr })
        };
        let evaluation = json!({
            "subject": entity("user", principal),
            "action": { "name": "edit" },
            "resource": entity("doc", resource),
        });
        let request = check::request(json)?;
        let expected = policies.table().is_allowed(&request, "edit", now());
        if let Some(found) = policies.answer_evaluation(evaluation.to_string().as_bytes(), now()) {
            counts.evaluated += 1;
            same("evaluation", &found, &expected)?;
        }
        Ok(())
    }

    /// Decides with attributes found by name and with types of the host.
    fn compare_typed(&self, json: &Json, action: &str, expected: bool) -> Result<(), String> {
        let attributes = |party: &str| {
            let attr = json.pointer(&format!("/{party}/attr")).and_then(Json::as_object).cloned();
            attr.unwrap_or_default()
        };
        let (who, what): (Map<String, Json>, Map<String, Json>) =
            (attributes("principal"), attributes("resource"));
        let pairs: Vec<(String, Json)> = who.clone().into_iter().collect();
        let question = Question {
            principal: PrincipalRef::new("p", &["user"], &pairs),
            action,
            resource: ResourceRef::new("doc", "d", &what),
        };
        same("fields", &self.pdp.is_allowed_fields(&question, now()), &expected)?;
        let is_typed = |map: &Map<String, Json>| map.keys().all(|name| NAMES.contains(&&**name));
        if is_typed(&who) && is_typed(&what) {
            let prepared = self.pdp.prepare::<Typed, Typed>("doc", action);
            let (who, what) = (Typed::new(who), Typed::new(what));
            same("typed", &prepared.is_allowed(&who, &what, now()), &expected)?;
            let found = prepared.principal(&who).is_allowed(&what, now());
            same("prepared principal", &found, &expected)?;
        }
        Ok(())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(way: &str, found: &T, expected: &T) -> Result<(), String> {
    let message = || format!("{way}: {found:?}, expected {expected:?}");
    (found == expected).then_some(()).ok_or_else(message)
}

/// A principal or a resource of the host.
struct Typed {
    a: Option<Json>,
    b: Option<Json>,
    c: Option<Json>,
    d: Option<Json>,
}

impl Typed {
    fn new(mut map: Map<String, Json>) -> Self {
        let [a, b, c, d] = NAMES.map(|name| map.remove(name));
        Self { a, b, c, d }
    }
}

attributes! { Typed { a, b, c, d } }

impl AsPrincipal for Typed {
    fn id(&self) -> &str {
        "p"
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for Typed {
    fn id(&self) -> &str {
        "d"
    }
}

struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        let at = self.below(among.len());
        among.get(at).unwrap().clone()
    }

    /// Returns the actions that the schema of the resource ignores.
    fn ignored(&mut self) -> String {
        self.pick(&["[nothing]", "[nothing]", "[view]", "['e*']", "['other:*', view]"]).to_owned()
    }

    fn schema(&mut self) -> Json {
        let mut schema = Map::new();
        if !self.one_in(4) {
            schema.insert("type".to_owned(), json!("object"));
        }
        let mut properties = Map::new();
        for name in NAMES {
            if !self.one_in(4) {
                properties.insert(name.to_owned(), self.property());
            }
        }
        schema.insert("properties".to_owned(), properties.into());
        let required: Vec<&str> = NAMES.into_iter().filter(|_| self.one_in(4)).collect();
        schema.insert("required".to_owned(), required.into());
        if self.one_in(2) {
            let more = self.pick(&[json!(false), json!(true), json!({})]);
            schema.insert("additionalProperties".to_owned(), more);
        }
        schema.into()
    }

    fn property(&mut self) -> Json {
        let mut property = Map::new();
        if !self.one_in(4) {
            let types = ["string", "number", "integer", "boolean", "null"];
            let one = if self.one_in(40) { "array" } else { self.pick(&types) };
            let other = if self.one_in(4) { "array" } else { self.pick(&types) };
            let value =
                if self.one_in(3) && one != other { json!([one, other]) } else { json!(one) };
            property.insert("type".to_owned(), value);
        }
        let mut add = |this: &mut Self, name: &str, rarity: usize, values: &[Json]| {
            if this.one_in(rarity) {
                property.insert(name.to_owned(), this.pick(values));
            }
        };
        add(self, "enum", 5, &[json!(["x", 1, null]), json!([true, [1], "xyz", 0.5, -3])]);
        add(self, "const", 20, &[json!("x"), json!(0), json!([])]);
        add(self, "minimum", 6, &[json!(-2), json!(1), json!(0)]);
        add(self, "maximum", 6, &[json!(3), json!(0)]);
        add(self, "minLength", 6, &[json!(1), json!(2)]);
        add(self, "maxLength", 6, &[json!(1), json!(3)]);
        // Not flat.
        add(self, "minimum", 60, &[json!(0.5), json!(1e300)]);
        add(self, "minLength", 60, &[json!(4_000_000_000_u32)]);
        add(self, "pattern", 60, &[json!("^x")]);
        property.into()
    }

    /// Returns a request whose attributes mostly fit.
    fn request(&mut self, schemas: &[Json; 2]) -> Json {
        let [who, what] = schemas;
        let (who, what) = (self.attributes(who), self.attributes(what));
        json!({
            "principal": { "id": "p", "roles": ["user"], "attr": who },
            "resource": { "kind": "doc", "id": "d", "attr": what },
            "actions": ["view", "edit", "other:1", "none"],
        })
    }

    fn attributes(&mut self, schema: &Json) -> Json {
        let mut attributes = Map::new();
        for name in NAMES {
            let wanted = schema.pointer(&format!("/properties/{name}")).cloned();
            let is_required =
                schema.get("required").and_then(Json::as_array).unwrap().contains(&json!(name));
            if is_required != self.one_in(8) || wanted.is_some() && self.one_in(2) {
                let value = self.value(&wanted.unwrap_or_default());
                attributes.insert(name.to_owned(), value);
            }
        }
        if self.one_in(12) {
            attributes.insert(self.pick(&["e", "", "a'", "ä"]).to_owned(), self.any());
        }
        attributes.into()
    }

    fn value(&mut self, property: &Json) -> Json {
        if self.one_in(16) {
            return self.any();
        }
        if let Some(values) = property.get("enum").and_then(Json::as_array) {
            return self.pick(values);
        }
        match property.get("type").map(|types| types.get(0).unwrap_or(types)).and_then(Json::as_str)
        {
            Some("string") => self.pick(&[json!("x"), json!("xy"), json!("xyz")]),
            Some("number") => self.pick(&[json!(1), json!(2.5), json!(3)]),
            Some("integer") => self.pick(&[json!(1), json!(2), json!(0)]),
            Some("boolean") => self.pick(&[json!(true), json!(false)]),
            Some("null") => Json::Null,
            _ => self.any(),
        }
    }

    fn any(&mut self) -> Json {
        self.pick(&[
            json!(null),
            json!(true),
            json!("x"),
            json!(""),
            json!("\u{1f600}\u{1f600}"),
            json!("\n"),
            json!(1),
            json!(-0.0),
            json!(1e300),
            json!(0.5),
            json!([]),
            json!(["x"]),
            json!({}),
            json!({ "a": 1 }),
        ])
    }
}

fn files([principal, resource]: &[Json; 2], ignored: &str) -> Vec<(String, Vec<u8>)> {
    let policy = format!(
        "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: doc
  version: default
  schemas:
    principalSchema: {{ ref: 'cerbos:///who.json' }}
    resourceSchema: {{ ref: 'cerbos:///what.json', ignoreWhen: {{ actions: {ignored} }} }}
  rules:
    - {{ actions: [view], effect: EFFECT_ALLOW, roles: [user], condition: {{ match: {{ expr: P.attr.a == R.attr.a }} }} }}
    - {{ actions: [edit], effect: EFFECT_ALLOW, roles: [user], condition: {{ match: {{ expr: 'R.attr.b != 1 || has(R.attr.c)' }} }} }}
    - {{ actions: ['other:*'], effect: EFFECT_ALLOW, roles: [user] }}
"
    );
    [
        ("doc.yaml", policy),
        ("_schemas/who.json", principal.to_string()),
        ("_schemas/what.json", resource.to_string()),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
    .into()
}

/// The names of attributes.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

const WORLDS: u64 = 300;
const REQUESTS: usize = 40;
const ATTEMPTS: usize = 20;

fn now() -> Timestamp {
    Timestamp::default()
}

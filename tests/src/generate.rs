//! Generated worlds: a small policy set and requests over the same few words, so that rules match.
//!
//! A world is the documents as an author would write them, so parsing and resolving are under test
//! too. Everything is built from proptest's own combinators: it shrinks to a readable case, and a
//! seed always gives the same worlds.

mod expressions;
pub mod layout;
mod policies;
mod requests;
mod typical;
mod values;

use std::fmt;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::Timestamp;

use crate::cases;
use crate::compiled::Compiled;

/// One policy set, the options of its table, and its requests.
#[derive(Clone)]
pub struct World {
    /// The options, as a case writes them.
    pub options: Json,
    /// The policy documents: name of the file and contents.
    pub policies: Vec<(String, Json)>,
    /// The requests, as a case writes them.
    pub requests: Vec<Json>,
}

impl World {
    /// Returns the policy files.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let file =
            |(name, document): &(String, Json)| (name.clone(), text(name, document).into_bytes());
        self.policies.iter().map(file).collect()
    }

    /// Returns the world with the rarest constructs, which have no fast path, replaced by usual
    /// ones.
    #[must_use]
    pub fn plain(mut self) -> Self {
        for (_, document) in &mut self.policies {
            let replace = |text: String, (rare, usual): &(&str, &str)| text.replace(rare, usual);
            let text = PLAIN.iter().fold(document.to_string(), replace);
            // The replaced words stand within strings, so this is JSON again.
            *document = serde_json::from_str(&text).unwrap_or_default();
        }
        self
    }

    /// Returns the world with one rule about resources changed: it has no condition, or the other effect.
    #[must_use]
    pub fn with_changed_rule(mut self, which: usize) -> Self {
        let documents = self.policies.iter_mut().map(|(_, document)| document);
        let rules = documents.filter_map(|document| document.pointer_mut("/resourcePolicy/rules"));
        let rules = rules.filter_map(Json::as_array_mut);
        let mut rules: Vec<&mut Json> = rules.flatten().collect();
        let which = which.checked_rem(rules.len()).unwrap_or_default();
        if let Some(rule) = rules.get_mut(which).and_then(|rule| rule.as_object_mut())
            && rule.remove("condition").is_none()
        {
            let other = match rule.get("effect").and_then(Json::as_str) {
                Some("EFFECT_ALLOW") => "EFFECT_DENY",
                _ => "EFFECT_ALLOW",
            };
            rule.insert("effect".to_owned(), other.into());
        }
        self
    }

    /// Returns the options of the table.
    ///
    /// # Errors
    /// Never for a generated world.
    pub fn table_options(&self) -> Result<Options, String> {
        cases::options(&self.options)
    }

    /// Compiles the policies for a test.
    ///
    /// # Errors
    /// Rejects the world if they do not compile, and fails if their bundle does not open.
    pub fn compiled(&self) -> Result<Compiled, TestCaseError> {
        let options = self.table_options().map_err(TestCaseError::fail)?;
        let compiled = compile_files(&self.files(), &options)
            .map_err(|_| TestCaseError::reject("the policies do not compile"))?;
        Compiled::opened(pack(&compiled.parts)).map_err(TestCaseError::fail)
    }

    /// Returns the time of every check.
    ///
    /// # Errors
    /// Never: the time is a constant.
    pub fn now() -> Result<Timestamp, String> {
        cases::time(NOW)
    }

    /// Returns the world as a case file with these checks.
    #[must_use]
    pub fn case(&self, checks: &[Json]) -> String {
        let policy =
            |(name, document): &(String, Json)| json!({"file": name, "text": text(name, document)});
        yaml(&json!({
            "description": "generated",
            "options": self.options,
            "policies": self.policies.iter().map(policy).collect::<Vec<_>>(),
            "checks": checks,
        }))
    }
}

/// A world is shown as the case that one would paste.
impl fmt::Debug for World {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks: Vec<Json> =
            self.requests.iter().map(|request| with(request, "expect", json!({}))).collect();
        write!(out, "\n{}", self.case(&checks))
    }
}

/// Returns worlds with `requests` requests each, or some fewer.
pub fn world(requests: usize) -> impl Strategy<Value = World> {
    let requests = proptest::collection::vec(requests::request(), requests.div_ceil(2)..=requests);
    (policies::policies(), requests, options()).prop_map(|(policies, requests, options)| World {
        options,
        policies,
        requests,
    })
}

/// Returns the worlds of `seed`, without end; always the same ones.
pub fn worlds(seed: u8, requests: usize) -> impl Iterator<Item = World> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = world(requests);
    std::iter::from_fn(move || Some(strategy.new_tree(&mut runner).ok()?.current()))
}

fn options() -> impl Strategy<Value = Json> {
    let evaluation = select(vec!["strict", "lenient"]);
    let version = prop_oneof![19 => Just("default"), 1 => Just("v2")];
    let schemas = select(vec!["none", "warn", "reject"]);
    (evaluation, any::<bool>(), version, schemas).prop_map(
        |(evaluation, lenient, version, schemas)| {
            json!({
                "schemas": schemas,
                "evaluation": evaluation,
                "lenientScopeSearch": lenient,
                "defaultVersion": version,
                "globals": {"env": "red", "max": 3, "names": ["sam", "red"]},
                "now": NOW,
            })
        },
    )
}

/// Returns `object` with one field more.
#[must_use]
pub fn with(object: &Json, key: &str, value: Json) -> Json {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
    object
}

/// Returns a request about one action instead of a list of them.
#[must_use]
pub fn with_action(request: &Json, action: &str) -> Json {
    let mut request = with(request, "action", action.into());
    request.as_object_mut().and_then(|fields| fields.remove("actions"));
    request
}

/// Returns the text of a document under the name of its file.
fn text(name: &str, document: &Json) -> String {
    if name.ends_with(".json") { document.to_string() } else { yaml(document) }
}

fn yaml(document: &Json) -> String {
    serde_yaml_ng::to_string(document).unwrap_or_default()
}

/// Returns the schema of resources, where a world has one; the oracle has the same rule.
fn schema() -> Json {
    json!({"type": "object", "properties": {"owner": {"type": "string"}}})
}

const NOW: &str = "2024-05-06T07:08:09Z";
/// Most specific last, so that a shrinking case moves to the root.
const SCOPES: [&str; 3] = ["", "acme", "acme.hr"];
const KINDS: [&str; 4] = ["doc", "album", "doc:page", "crowd"];
const PRINCIPALS: [&str; 2] = ["sam", "kim"];
const ROLES: [&str; 4] = ["member", "editor", "boss", "guest"];
const ACTIONS: [&str; 5] = ["view", "edit", "edit:draft", "edit:draft:title", "drop"];
const DERIVED: [&str; 3] = ["owner", "lead", "anyone"];
/// The number of roles that the policy of the kind `crowd` distinguishes: more than fit one word of
/// bits.
const CROWD: usize = 40;

fn crowd_role(number: usize) -> String {
    format!("r{number}")
}

/// The constructs that have no fast path, and their replacements in a plain world.
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

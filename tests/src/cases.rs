//! The decision cases of `tests/cases`: read once, run on every host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use wardgate_compiler::{Enforcement, Options};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::decision::{Decision, Effect};
use wardgate_engine::request::Request;
use wardgate_engine::table::Evaluation;

use crate::check::attributes;
use crate::conformance::{files, stem};
use crate::program::root;
use crate::{check, yaml};

/// One file of cases: a policy set, and checks against it.
#[derive(Debug)]
pub struct Case {
    /// The name of the file, without its ending.
    pub name: String,
    /// The behaviour under test, as one sentence.
    pub description: String,
    /// The options under which the policies compile.
    pub options: Options,
    /// The time of every check.
    pub now: Timestamp,
    /// The policy files: path and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The requests and their expected decisions.
    pub checks: Vec<Check>,
}

/// One request and its expected decision.
#[derive(Debug)]
pub struct Check {
    /// The request.
    pub request: Request,
    /// The same as JSON, as a host in JavaScript takes it.
    pub json: Json,
    expect: BTreeMap<String, Expected>,
    derived_roles: Option<BTreeSet<String>>,
    outputs: Option<Json>,
    errors: Option<BTreeSet<String>>,
}

/// The expected decision on one action.
#[derive(Debug)]
struct Expected {
    effect: Effect,
    policy: Option<String>,
    scope: Option<String>,
}

impl Case {
    /// Returns the number of decisions that the case asks for.
    #[must_use]
    pub fn decisions(&self) -> usize {
        self.checks.iter().map(|check| check.expect.len()).sum()
    }
}

/// Reads the cases of `tests/cases`.
///
/// # Errors
/// If a file is no case; the message names the first of them.
pub fn all() -> Result<Vec<Case>, String> {
    load(&root().join("tests/cases"))
}

/// Reads all cases of a folder, sorted by name.
///
/// # Errors
/// If a file is no case; the message names the first of them.
pub fn load(folder: &Path) -> Result<Vec<Case>, String> {
    files(folder, "yaml")?
        .iter()
        .map(|path| case(path).map_err(|error| format!("{}: {error}", path.display())))
        .collect()
}

fn case(path: &Path) -> Result<Case, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let json = yaml::parse(&text)?;
    known(&json, "description options policies checks")?;
    let settings = json.get("options").unwrap_or(&Json::Null);
    known(settings, "evaluation lenientScopeSearch defaultVersion schemas globals now")?;
    let folder = path.parent().unwrap_or(Path::new("."));
    Ok(Case {
        name: stem(path),
        description: text_of(&json, "description").ok_or("a case needs a description")?,
        options: options(settings)?,
        now: time(&text_of(settings, "now").unwrap_or_else(|| DEFAULT_NOW.to_owned()))?,
        files: list(&json, "policies")
            .map(|entry| file(folder, entry))
            .collect::<Result<_, _>>()?,
        checks: list(&json, "checks").map(read_check).collect::<Result<_, _>>()?,
    })
}

/// Reads the options of a table from JSON.
///
/// # Errors
/// If an option has a value that it cannot have.
pub fn options(json: &Json) -> Result<Options, String> {
    let evaluation = match text_of(json, "evaluation").as_deref() {
        None | Some("strict") => Evaluation::Strict,
        Some("lenient") => Evaluation::Lenient,
        Some(other) => return Err(format!("unknown evaluation `{other}`")),
    };
    let schema_enforcement = match text_of(json, "schemas").as_deref() {
        None | Some("none") => Enforcement::None,
        Some("warn") => Enforcement::Warn,
        Some("reject") => Enforcement::Reject,
        Some(other) => return Err(format!("unknown enforcement of schemas `{other}`")),
    };
    let lenient_scope_search =
        json.get("lenientScopeSearch").and_then(Json::as_bool).unwrap_or(false);
    let default_version = text_of(json, "defaultVersion").unwrap_or_else(|| "default".to_owned());
    let globals = attributes(json.get("globals"));
    let globals = globals.entries().iter().map(|(name, value)| (name.to_string(), value.clone()));
    Ok(Options {
        evaluation,
        lenient_scope_search,
        default_version,
        schema_enforcement,
        globals: globals.collect(),
    })
}

/// Reads an RFC 3339 time.
///
/// # Errors
/// If the text is no such time.
pub fn time(text: &str) -> Result<Timestamp, String> {
    wardgate_engine::cel::time::parse_timestamp(text).map_err(|_| format!("`{text}` is no time"))
}

fn file(folder: &Path, entry: &Json) -> Result<(String, Vec<u8>), String> {
    if let Some(name) = entry.as_str() {
        let path = folder.join("policies").join(name);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok((name.to_owned(), bytes));
    }
    known(entry, "file text")?;
    let name = text_of(entry, "file").ok_or("a policy needs `file`")?;
    Ok((name, text_of(entry, "text").ok_or("a policy needs `text`")?.into_bytes()))
}

fn read_check(json: &Json) -> Result<Check, String> {
    known(json, "principal resource auxData actions expect derivedRoles outputs errors")?;
    let mut input = json.clone();
    let expect = json.get("expect").and_then(Json::as_object).ok_or("a check needs `expect`")?;
    if let Some(fields) = input.as_object_mut() {
        if !fields.contains_key("actions") {
            let actions = expect.keys().map(|action| Json::from(action.as_str())).collect();
            fields.insert("actions".to_owned(), Json::Array(actions));
        }
        fields.retain(|key, _| {
            ["principal", "resource", "auxData", "actions"].contains(&key.as_str())
        });
    }
    let expect = expect.iter().map(|(action, answer)| Ok((action.clone(), expected(answer)?)));
    Ok(Check {
        request: check::request(&input)?,
        json: input,
        expect: expect.collect::<Result<_, String>>()?,
        derived_roles: json.get("derivedRoles").map(texts),
        outputs: json.get("outputs").cloned(),
        errors: json.get("errors").map(texts),
    })
}

fn expected(json: &Json) -> Result<Expected, String> {
    let effect = json.as_str().or_else(|| json.get("effect").and_then(Json::as_str));
    if json.is_object() {
        known(json, "effect policy scope")?;
    }
    let effect = match effect {
        Some("allow") => Effect::Allow,
        Some("deny") => Effect::Deny,
        other => return Err(format!("expected `allow` or `deny`, found {other:?}")),
    };
    Ok(Expected { effect, policy: text_of(json, "policy"), scope: text_of(json, "scope") })
}

impl Check {
    /// Returns the differences from the expected decision, one line each.
    #[must_use]
    pub fn differences(&self, decision: &Decision) -> Vec<String> {
        let mut found = Vec::new();
        for (action, expected) in &self.expect {
            let Some(decided) = decision.actions.iter().find(|d| d.action == *action) else {
                found.push(format!("{action}: no decision"));
                continue;
            };
            let same = |wanted: &Option<String>, have: &str| {
                wanted.as_deref().is_none_or(|wanted| wanted == have)
            };
            let fits = expected.effect == decided.effect
                && same(&expected.policy, &decided.policy)
                && same(&expected.scope, &decided.scope);
            if !fits {
                found.push(format!("{action}: expected {expected:?}, found {decided:?}"));
            }
        }
        self.compare_rest(decision, &mut found);
        found
    }

    fn compare_rest(&self, decision: &Decision, found: &mut Vec<String>) {
        let roles: BTreeSet<String> = decision.effective_derived_roles.iter().cloned().collect();
        if self.derived_roles.as_ref().is_some_and(|expected| *expected != roles) {
            found
                .push(format!("derived roles: expected {:?}, found {roles:?}", self.derived_roles));
        }
        let errors = decision.evaluation_errors.iter().map(|e| e.expression.clone()).collect();
        if self.errors.as_ref().is_some_and(|expected| *expected != errors) {
            let full = &decision.evaluation_errors;
            found.push(format!("errors: expected {:?}, found {full:?}", self.errors));
        }
        if let Some(expected) = &self.outputs {
            let outputs = outputs(decision);
            if *expected != outputs {
                found.push(format!("outputs: expected {expected}, found {outputs}"));
            }
        }
    }
}

/// Returns the outputs sorted by source and action; an error only as the fact that there is one.
fn outputs(decision: &Decision) -> Json {
    let mut sorted: Vec<_> = decision.outputs.iter().collect();
    sorted.sort_by(|a, b| (&a.source, &a.action).cmp(&(&b.source, &b.action)));
    let entry = |output: &&wardgate_engine::decision::Output| match &output.value {
        Ok(value) => {
            serde_json::json!({"src": output.source, "action": output.action, "val": json(value)})
        }
        Err(_) => serde_json::json!({"src": output.source, "action": output.action, "error": true}),
    };
    sorted.iter().map(entry).collect()
}

/// Returns an attribute as JSON; whole numbers as integers, as a YAML file writes them.
fn json(attr: &Attr) -> Json {
    serde_json::from_str(&wardgate_engine::wire::attr_json(attr)).unwrap_or(Json::Null)
}

fn list<'j>(json: &'j Json, key: &str) -> impl Iterator<Item = &'j Json> {
    json.get(key).and_then(Json::as_array).into_iter().flatten()
}

fn texts(json: &Json) -> BTreeSet<String> {
    let items = json.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn text_of(json: &Json, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).map(str::to_owned)
}

/// Refuses keys that are not among `keys`, which spaces separate: a misspelt expectation would pass
/// unnoticed.
///
/// # Errors
/// If there is an unknown key; the message names the first.
pub fn known(json: &Json, keys: &str) -> Result<(), String> {
    let is_known = |key: &str| keys.split(' ').any(|known| known == key);
    let unknown = json.as_object().into_iter().flatten().find(|(key, _)| !is_known(key));
    unknown.map_or(Ok(()), |(key, _)| Err(format!("unknown key `{key}`")))
}

const DEFAULT_NOW: &str = "2024-05-06T07:08:09Z";

//! Suite `cerbos-server`: calls over HTTP, to a server that is configured as Cerbos configures its
//! own for them: at most five resources and five actions, schemas enforced, tokens not verified,
//! for their key is not among the corpora.

use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value as Json};
use wardgate_compiler::{Enforcement, Options};

use super::engine::compile;
use super::{Case, Failure, files, stem, yaml};
use crate::http::Running;

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not YAML, the policies do not compile, or there is no server.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata");
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    let bundle = compile(&testdata.join("store"), options)?;
    let server = Rc::new(Running::start(bundle, CONFIG, Path::new(""))?);
    let mut cases = Vec::new();
    for folder in FOLDERS {
        for path in files(&testdata.join("server").join(folder), "yaml")? {
            let test = yaml(&path)?;
            let server = Rc::clone(&server);
            let name = format!("{folder}/{}", stem(&path));
            cases.push(Case::new(name, move || run(&test, &server).into()));
        }
    }
    Ok(cases)
}

fn run(test: &Json, server: &Running) -> Result<(), Failure> {
    let call = CALLS.iter().find_map(|(name, path)| Some((test.get(name)?, *path)));
    let (call, path) = call.ok_or_else(|| Failure::new("a call that is known", "none"))?;
    let input = call.get("input").unwrap_or(&Json::Null);
    let answer = server.post(path, input).map_err(|error| Failure::new("an answer", error))?;
    let wanted = test.pointer("/wantStatus/httpStatusCode").and_then(Json::as_u64);
    if wanted != Some(u64::from(answer.status)) {
        let wanted = wanted.map_or("a status".to_owned(), |status| status.to_string());
        return Err(Failure::new(wanted, format!("{} {}", answer.status, answer.body)));
    }
    let found = answer.json().map_err(|error| Failure::new("JSON", error))?;
    if test.get("wantError") == Some(&Json::Bool(true)) {
        let wanted = test.pointer("/wantStatus/grpcStatusCode").unwrap_or(&Json::Null);
        return same(wanted, found.get("code").unwrap_or(&Json::Null));
    }
    let wanted = call.get("wantResponse").unwrap_or(&Json::Null);
    same(&sorted("", wanted), &sorted("", &found))
}

/// Sorts the lists that have no order of their own.
fn sorted(key: &str, value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| {
                let below =
                    if key == TOLD && name == "results" { "outputs" } else { name.as_str() };
                (name.clone(), sorted(below, value))
            };
            Json::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Json::Array(items) => {
            let mut items: Vec<Json> = items.iter().map(|item| sorted("", item)).collect();
            if SETS.contains(&key) {
                items.sort_by_key(Json::to_string);
            }
            Json::Array(items)
        }
        other => other.clone(),
    }
}

fn same(wanted: &Json, found: &Json) -> Result<(), Failure> {
    Failure::unless_equal(wanted, found, Json::to_string)
}

const FOLDERS: [&str; 5] = [
    "checks/check_resources",
    "checks/check_resource_set",
    "checks/check_resource_batch",
    "authzen/access_evaluation",
    "authzen/access_evaluation_batch",
];

const CALLS: [(&str, &str); 5] = [
    ("checkResources", "/api/check/resources"),
    ("checkResourceSet", "/api/check"),
    ("checkResourceBatch", "/api/check_resource_batch"),
    ("accessEvaluation", "/access/v1/evaluation"),
    ("accessEvaluationBatch", "/access/v1/evaluations"),
];

const SETS: [&str; 3] = ["effectiveDerivedRoles", "validationErrors", "outputs"];

/// The member of an AuthZEN answer that holds the full decision; its results come in any order.
const TOLD: &str = "cerbos.response";

const CONFIG: &str = "
[http]
listen = \"127.0.0.1:0\"
max-resources = 5
max-actions = 5
[auth]
anonymous-queries = true
[aux-data]
disable-verification = true
";

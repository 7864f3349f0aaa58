//! Suite `authzen`: the interoperability scenarios of AuthZEN over HTTP, with the policies and the
//! index of the edge worker, which answers the same payloads.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_dir};

use super::vectors::{items, json};
use super::{Case, Failure, stem};
use crate::http::Running;

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not JSON, the policies do not compile, or there is no server.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let interop = corpora.join("authzen/interop");
    let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../edge-worker");
    let bundle = bundle(&worker.join("policies"))?;
    let server = Rc::new(Running::start(bundle, CONFIG, &worker)?);
    let mut cases = Vec::new();
    for path in payloads(&interop)? {
        let file = json(&path)?;
        for (section, run) in SECTIONS {
            for (at, test) in items(&file, section).iter().enumerate() {
                let (test, server) = (test.clone(), Rc::clone(&server));
                let name = format!("{}/{section}/{at}", stem(&path));
                cases.push(Case::new(name, move || run(&test, &server).into()));
            }
        }
    }
    Ok(cases)
}

fn bundle(policies: &Path) -> Result<Vec<u8>, String> {
    let compiled = compile_dir(policies, &Options::default());
    let compiled = compiled.map_err(|_| format!("{} does not compile", policies.display()))?;
    Ok(pack(&compiled.parts))
}

/// Returns every file of the scenarios that has requests with expected answers.
fn payloads(interop: &Path) -> Result<Vec<PathBuf>, String> {
    let files = FOLDERS.map(|folder| super::files(&interop.join(folder), "json"));
    Ok(files.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

type Run = fn(&Json, &Running) -> Result<(), Failure>;

fn evaluation(test: &Json, server: &Running) -> Result<(), Failure> {
    same(test, "", answer("evaluation", test, server)?.get("decision"))
}

fn evaluations(test: &Json, server: &Running) -> Result<(), Failure> {
    same(test, "", answer("evaluations", test, server)?.get("evaluations"))
}

fn search(test: &Json, server: &Running) -> Result<(), Failure> {
    same(test, "/results", answer("search/resource", test, server)?.get("results"))
}

fn answer(path: &str, test: &Json, server: &Running) -> Result<Json, Failure> {
    let request = test.get("request").unwrap_or(&Json::Null);
    let answer = server.post(&format!("/access/v1/{path}"), request);
    let answer = answer.map_err(|error| Failure::new("an answer", error))?;
    if answer.status != 200 {
        return Err(Failure::new("200", format!("{} {}", answer.status, answer.body)));
    }
    answer.json().map_err(|error| Failure::new("JSON", error))
}

fn same(test: &Json, below: &str, found: Option<&Json>) -> Result<(), Failure> {
    let wanted = test.pointer(&format!("/expected{below}")).unwrap_or(&Json::Null);
    Failure::unless_equal(wanted, found.unwrap_or(&Json::Null), Json::to_string)
}

const SECTIONS: [(&str, Run); 4] = [
    ("evaluation", evaluation),
    ("decisions", evaluation),
    ("evaluations", evaluations),
    ("search", search),
];

const FOLDERS: [&str; 3] = [
    "authzen-todo-backend/test",
    "authzen-api-gateways/test-harness/test",
    "authzen-idp/test-harness/src",
];

const CONFIG: &str = "
[http]
listen = \"127.0.0.1:0\"
[auth]
anonymous-queries = true
[authzen]
index = \"index\"
";

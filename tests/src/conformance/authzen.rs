//! Suite `authzen`: the interoperability scenarios of AuthZEN over HTTP, with the policies and the
//! index of the edge worker, which answers the same payloads.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_dir};

use super::{Case, Failure, stem, text};
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
        let file: Json = serde_json::from_str(&text(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        for (section, run) in SECTIONS {
            let tests = file.get(section).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            for (at, test) in tests.iter().enumerate() {
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
    let mut found = Vec::new();
    for folder in FOLDERS {
        let mut files = super::files(&interop.join(folder), "json")?;
        files.sort();
        found.extend(files);
    }
    Ok(found)
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
    let answer = answer.map_err(|error| failure("an answer", error))?;
    if answer.status != 200 {
        return Err(failure("200", format!("{} {}", answer.status, answer.body)));
    }
    answer.json().map_err(|error| failure("JSON", error))
}

fn same(test: &Json, below: &str, found: Option<&Json>) -> Result<(), Failure> {
    let wanted = test.pointer(&format!("/expected{below}")).unwrap_or(&Json::Null);
    let found = found.unwrap_or(&Json::Null);
    if wanted == found { Ok(()) } else { Err(failure(wanted, found)) }
}

fn failure(expected: impl ToString, found: impl ToString) -> Failure {
    Failure { expected: expected.to_string(), found: found.to_string() }
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

//! Suite `cerbos-engine`: whole requests against a repository of policies, on every host.
//!
//! The settings are those of Cerbos: lenient evaluation, `globals` with the environment `test`, the
//! folder `engine` under both kinds of scope search, and schemas enforced only where the folder
//! demands it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_bundle::pack;
use wardgate_compiler::{Enforcement, Options, compile_dir};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_engine::wire::decision_json;

use super::answer::{from_cerbos, from_wire};
use super::{Case, Failure, Outcome, files, stem, yaml};
use crate::compiled::Compiled;
use crate::program::root;
use crate::{check, node};

/// Reads the cases: each file once for every host and setting.
///
/// # Errors
/// If a file is missing or is not YAML, or the policies do not compile.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata");
    let mut cases = Vec::new();
    for setting in SETTINGS {
        let mut tests = Vec::new();
        for folder in setting.folders {
            for path in files(&testdata.join(folder), "yaml")? {
                let name = format!("{folder}/{} ({})", stem(&path), setting.name);
                tests.push(Test::new(name, &yaml(&path)?));
            }
        }
        let bundle = compile(&testdata.join("store"), setting.options())?;
        cases.extend(on_every_host(bundle, tests)?);
    }
    Ok(cases)
}

/// The requests of one file, and their answers as Cerbos gives them.
struct Test {
    name: String,
    inputs: Vec<Json>,
    wanted: Vec<Json>,
}

impl Test {
    fn new(name: String, json: &Json) -> Self {
        let items = |key: &str| json.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
        let inputs = items("inputs").iter().map(check::normalised).collect();
        Self { name, inputs, wanted: items("wantOutputs") }
    }

    /// Compares the answers of a host, as it wrote them.
    fn judge(&self, found: &[String]) -> Outcome {
        if self.inputs.is_empty() || self.inputs.len() != self.wanted.len() {
            return Outcome::failed("a test that can be read", "not one answer for each request");
        }
        if found.len() != self.wanted.len() {
            let found = format!("{} answers", found.len());
            return Outcome::failed("an answer to each request", found);
        }
        let compared =
            self.wanted.iter().zip(found).try_for_each(|(wanted, found)| compare(wanted, found));
        compared.into()
    }
}

fn on_every_host(bundle: Vec<u8>, tests: Vec<Test>) -> Result<Vec<Case>, String> {
    let Compiled { bundle, table } = Compiled::opened(bundle)?;
    let table = Rc::new(table);
    let requests = tests.iter().flat_map(|test| test.inputs.clone()).collect();
    let node = Rc::new(Node { bundle, requests, answers: OnceCell::new() });
    let mut cases = Vec::new();
    let mut first = 0;
    for test in tests {
        let (test, start) = (Rc::new(test), first);
        first += test.inputs.len();
        let (native, table) = (Rc::clone(&test), Rc::clone(&table));
        cases
            .push(Case::new(format!("{}, native", test.name), move || in_process(&native, &table)));
        let node = Rc::clone(&node);
        cases.push(Case::new(format!("{}, node", test.name), move || node.judge(&test, start)));
    }
    Ok(cases)
}

fn in_process(test: &Test, table: &PolicyTable) -> Outcome {
    let decide = |input| Ok(decision_json(&table.check(&check::request(input)?, now())));
    let found: Result<Vec<_>, String> = test.inputs.iter().map(decide).collect();
    found.map_or_else(|error| Outcome::failed("a request", error), |found| test.judge(&found))
}

/// The process that decides all requests of a setting, started by the first of its cases.
struct Node {
    bundle: Vec<u8>,
    requests: Vec<Json>,
    answers: OnceCell<Result<Vec<String>, String>>,
}

impl Node {
    fn judge(&self, test: &Test, start: usize) -> Outcome {
        let root = root();
        if !root.join("npm/dist/node/index.js").is_file() {
            return Outcome::Skipped("the npm package is not built".to_owned());
        }
        match self.answers.get_or_init(|| self.decide(&root)) {
            Err(error) => Outcome::failed("answers", error),
            Ok(answers) => {
                let end = start + test.inputs.len();
                test.judge(answers.get(start..end).unwrap_or_default())
            }
        }
    }

    fn decide(&self, root: &Path) -> Result<Vec<String>, String> {
        let job = node::Job::new(self.bundle.clone(), now(), self.requests.clone());
        let answers = node::decide(root, std::iter::once(job))?;
        Ok(answers.into_iter().flat_map(|answer| answer.decisions).collect())
    }
}

/// Returns 2026-01-01T00:00:00Z: the cases hold at any time after they were written.
fn now() -> Timestamp {
    Timestamp::new(1_767_225_600, 0).unwrap_or_default()
}

/// One way to compile the policies, and the folders whose cases expect it.
struct Setting {
    name: &'static str,
    lenient_scope_search: bool,
    enforcement: Enforcement,
    folders: &'static [&'static str],
}

impl Setting {
    fn options(&self) -> Options {
        Options {
            lenient_scope_search: self.lenient_scope_search,
            schema_enforcement: self.enforcement,
            ..Options::default()
        }
    }
}

const STRICT: Setting = Setting {
    name: "strict scopes",
    lenient_scope_search: false,
    enforcement: Enforcement::None,
    folders: &["engine", "engine_strict_scope_search"],
};

const SETTINGS: &[Setting] = &[
    STRICT,
    Setting {
        name: "lenient scopes",
        lenient_scope_search: true,
        folders: &["engine", "engine_lenient_scope_search"],
        ..STRICT
    },
    Setting {
        name: "schema warnings",
        enforcement: Enforcement::Warn,
        folders: &["engine_schema_enforcement/warn"],
        ..STRICT
    },
    Setting {
        name: "schema rejections",
        enforcement: Enforcement::Reject,
        folders: &["engine_schema_enforcement/reject"],
        ..STRICT
    },
];

/// Compiles the policies of the corpus with the settings of its tests.
pub(super) fn compile(store: &Path, options: Options) -> Result<Vec<u8>, String> {
    let options = Options {
        evaluation: Evaluation::Lenient,
        globals: BTreeMap::from([("environment".to_owned(), Attr::String("test".into()))]),
        ..options
    };
    let compiled = compile_dir(store, &options).map_err(|diagnostics| {
        let lines: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        format!("{}: {}", store.display(), lines.join("\n"))
    })?;
    Ok(pack(&compiled.parts))
}

fn compare(wanted: &Json, found: &str) -> Result<(), Failure> {
    let found: Json = serde_json::from_str(found)
        .map_err(|error| Failure::new("a decision", format!("{error}: {found}")))?;
    let (wanted, found) = (from_cerbos(wanted), from_wire(&found));
    match wanted.first_difference(&found) {
        None => Ok(()),
        Some((expected, found)) => Err(Failure { expected, found }),
    }
}

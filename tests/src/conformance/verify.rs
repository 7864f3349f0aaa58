//! Suites `cerbos-verify` and `cerbos-verify-junit`: policy tests, and their results.
//!
//! The settings are those of Cerbos: lenient evaluation, no schemas, the policies of the folder
//! `store`. Results are compared in full. Of errors the stage, the code, the positions and the
//! paths are compared, and not the sentences, which are each project's own.

mod errors;
mod get_tests;
mod tree;

use std::path::Path;
use std::rc::Rc;

use serde_json::Value as Json;
use wardgate_compiler::Options;
use wardgate_engine::table::Evaluation;
use wardgate_tooling::suite::{Filter, Native, Results, Sources, files, run};

use super::{Case, Failure, Outcome, files as listed, stem, text, txtar, yaml};

/// Reads the cases whose results are JSON.
///
/// # Errors
/// If a file is missing, or the policies do not compile.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata");
    let sources = Rc::new(read(&testdata.join("store"))?);
    let mut cases = Vec::new();
    for path in listed(&testdata.join("verify/cases"), "yaml")? {
        let (given, sources) = (Given::read(&path)?, Rc::clone(&sources));
        let golden = beside(&path, "golden");
        cases.push(Case::new(stem(&path), move || match (given.run(&sources), &golden) {
            (Err(_), _) if given.wants_error => Outcome::Passed,
            (Err(error), _) => Outcome::failed("results", error),
            (Ok(_), _) if given.wants_error => Outcome::failed("an error", "results"),
            (Ok(_), Err(error)) => Outcome::failed("expected results", error),
            (Ok(results), Ok(golden)) => tree::compare(golden, &results).into(),
        }));
    }
    cases.extend(get_tests::load(&testdata.join("verify/test_suite_run_get_tests"))?);
    Ok(cases)
}

/// Reads the cases whose results are XML.
///
/// # Errors
/// If a file is missing, or the policies do not compile.
pub fn load_junit(corpora: &Path) -> Result<Vec<Case>, String> {
    let testdata = corpora.join("cerbos/testdata/verify_junit");
    let sources = Rc::new(read(&testdata.join("store"))?);
    let mut cases = Vec::new();
    for path in listed(&testdata.join("cases"), "yaml")? {
        let (given, sources) = (Given::read(&path)?, Rc::clone(&sources));
        let golden = beside(&path, "golden")?;
        cases.push(Case::new(stem(&path), move || match given.run(&sources) {
            Err(error) => Outcome::failed("results", error),
            Ok(results) => same_xml(&golden, &results.junit()),
        }));
    }
    Ok(cases)
}

/// The files of one case, and the tests to run.
struct Given {
    files: files::Files,
    config: Json,
    wants_error: bool,
}

impl Given {
    fn read(path: &Path) -> Result<Self, String> {
        let case = yaml(path)?;
        let archive = txtar::files(&beside(path, "input")?);
        Ok(Self {
            files: archive.into_iter().map(|(name, text)| (name, text.into_bytes())).collect(),
            config: case.get("config").cloned().unwrap_or_default(),
            wants_error: case.get("wantErr").and_then(Json::as_bool).unwrap_or(false),
        })
    }

    fn run(&self, sources: &Sources) -> Result<Results, String> {
        let mut filter = Filter::default();
        if let Some(pattern) = self.config.get("includedTestNamesRegexp").and_then(Json::as_str) {
            filter = filter.name(pattern)?;
        }
        filter.excluded_resources = self.keys("excludedResourcePolicyFqns");
        filter.excluded_principals = self.keys("excludedPrincipalPolicyFqns");
        let suites = files::load(&self.files);
        run(&suites, &filter, &mut Native::new(sources, options()))
    }

    /// Returns keys without the name that Cerbos puts in front of them.
    fn keys(&self, field: &str) -> Vec<String> {
        let names = self.config.get(field).and_then(Json::as_array).into_iter().flatten();
        let names = names.filter_map(Json::as_str);
        names.map(|name| name.strip_prefix("cerbos.").unwrap_or(name).to_owned()).collect()
    }
}

fn options() -> Options {
    Options { evaluation: Evaluation::Lenient, ..Options::default() }
}

fn read(store: &Path) -> Result<Sources, String> {
    Sources::read(store, &options()).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        errors.join("\n")
    })
}

fn beside(path: &Path, ending: &str) -> Result<String, String> {
    text(&path.with_extension(format!("yaml.{ending}")))
}

/// Compares XML as text, but for the sentences in `<error>`.
fn same_xml(golden: &str, found: &str) -> Outcome {
    let without_sentences = |xml: &str| {
        let parts = xml.split("</error>").map(|part| {
            match part.split_once("<error type=\"RESULT_ERRORED\">") {
                Some((before, _)) => format!("{before}<error>"),
                None => part.to_owned(),
            }
        });
        parts.collect::<Vec<_>>().join("</error>")
    };
    let (wanted, found) = (without_sentences(golden.trim_end()), without_sentences(found));
    Failure::unless_equal(&wanted, &found, String::clone).into()
}

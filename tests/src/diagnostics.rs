//! The cases of `tests/diagnostics`: policies with mistakes, and the exact report about them.
//!
//! A case is one mistake. The part that it gives instead of whole files (`condition`, `rule`,
//! `schema`) is put into the smallest policy around it, so that a case shows the mistake alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::{Options, compile_files};

use crate::{cases, conformance, yaml};

/// Paths and contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// One mistake.
#[derive(Debug)]
pub struct Case {
    /// The name of the file, and of the case in it.
    pub name: String,
    /// The files with the mistake.
    pub files: Files,
    /// The options under which the policies compile.
    pub options: Options,
    /// The report, as authors see it.
    pub report: String,
}

impl Case {
    /// Returns the diagnostics of the compiler about the files.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        compile_files(&self.files, &self.options).err().unwrap_or_default()
    }
}

/// Returns diagnostics as the command shows them.
#[must_use]
pub fn report(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

/// Reads all cases of a folder, sorted by file.
///
/// # Errors
/// If a file holds no cases; the message names the first of them.
pub fn load(folder: &Path) -> Result<Vec<Case>, String> {
    let mut all = Vec::new();
    for path in paths(folder)? {
        let cases = read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.extend(cases);
    }
    Ok(all)
}

/// Returns the files of cases in a folder, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    conformance::files(folder, "yaml")
}

/// Reads the cases of one file.
///
/// # Errors
/// If the file cannot be read or holds no cases.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    cases_of(path, read_case)
}

/// Reads the cases of one file with `read`, which takes the name of the file and a case.
///
/// # Errors
/// If the file cannot be read or holds no cases.
pub fn cases_of<T>(
    path: &Path,
    read: impl Fn(&str, &Json) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let json = yaml::parse(&text)?;
    cases::known(&json, "description cases")?;
    let stem = conformance::stem(path);
    let list = json.get("cases").and_then(Json::as_array).ok_or("expected a list of `cases`")?;
    list.iter().map(|case| read(&stem, case)).collect()
}

/// Returns the `files` of a case.
///
/// # Errors
/// If one of them is no text.
pub fn given_files(json: &Json) -> Result<Files, String> {
    let given = json.get("files").and_then(Json::as_object).into_iter().flatten();
    given
        .map(|(path, content)| {
            let content = content.as_str().ok_or("the content of a file is text")?;
            Ok((path.clone(), content.as_bytes().to_vec()))
        })
        .collect()
}

fn read_case(stem: &str, json: &Json) -> Result<Case, String> {
    cases::known(json, "name files policy rule condition schema options report")?;
    let text = |key: &str| json.get(key).and_then(Json::as_str);
    let name = text("name").ok_or("a case needs a name")?;
    let mut options = cases::options(json.get("options").unwrap_or(&Json::Null))?;
    let mut files = given_files(json)?;
    let file = |path: &str, text: String| (path.to_owned(), text.into_bytes());
    files.extend(text("policy").map(|policy| file(POLICY, policy.to_owned())));
    files.extend(text("rule").map(|rule| file(POLICY, with_rule(rule))));
    files.extend(text("condition").map(|c| file(POLICY, with_condition(c))));
    if let Some(schema) = text("schema") {
        files.push(file(POLICY, WITH_SCHEMA.to_owned()));
        files.push(file("_schemas/album.json", schema.to_owned()));
        options.schema_enforcement = wardgate_compiler::Enforcement::Reject;
    }
    Ok(Case {
        name: format!("{stem}: {name}"),
        files,
        options,
        report: text("report").unwrap_or_default().to_owned(),
    })
}

/// Returns a policy with one rule.
#[must_use]
pub fn with_rule(rule: &str) -> String {
    let mut lines = rule.lines();
    let first = lines.next().unwrap_or_default();
    let rest: String = lines.map(|line| format!("      {line}\n")).collect();
    format!("{HEAD}    - {first}\n{rest}")
}

/// Returns a policy with one rule, whose condition is an expression.
#[must_use]
pub fn with_condition(expression: &str) -> String {
    let lines: Vec<_> = expression.lines().map(|line| format!("      {line}")).collect();
    with_rule(&format!(
        "actions: [view]\nroles: [user]\neffect: EFFECT_ALLOW\ncondition:\n  match:\n    expr: |-\n{}",
        lines.join("\n")
    ))
}

/// Writes the reports anew into the text of a file of cases.
#[must_use]
pub fn with_reports(text: &str, reports: &[String]) -> String {
    let mut out = String::new();
    let mut reports = reports.iter();
    let mut in_report = false;
    for line in text.lines() {
        in_report &= line.is_empty() || line.starts_with("      ");
        if line.starts_with("    report:") {
            in_report = true;
            out.push_str("    report: |\n");
            for line in reports.next().map(String::as_str).unwrap_or_default().lines() {
                out.push_str(&format!("      {line}\n"));
            }
        } else if !in_report {
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

const POLICY: &str = "album.yaml";

const HEAD: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
";

/// A policy whose resources have a schema.
pub const WITH_SCHEMA: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  schemas:
    resourceSchema:
      ref: cerbos:///album.json
";

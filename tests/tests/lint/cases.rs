//! Cases as data: policies, and all their findings, in the words that authors read.
//!
//! `UPDATE_LINT=1` writes the findings of the cases anew; the changes are then read like any
//! others.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_tests::conformance::yaml;
use wardgate_tests::{cases, literals};
use wardgate_tooling::lint::Lint;
use wardgate_tooling::lint_files;

use crate::root;

/// Each file of `tests/lint` has the name of a code, and cases of policies and all their findings.
#[test]
fn every_case_has_the_findings_that_it_lists() {
    let mut failures = Vec::new();
    for lint in Lint::ALL {
        let (mut found, mut not_found) = (0, 0);
        let path = path(*lint);
        let cases = read(&path);
        let diagnostics: Vec<_> = cases.iter().map(lint_case).collect();
        if std::env::var_os("UPDATE_LINT").is_some() {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, with_findings(&text, &diagnostics)).unwrap();
            continue;
        }
        for (case, diagnostics) in cases.iter().zip(&diagnostics) {
            let listed = case["findings"].as_array().unwrap().iter();
            let expected: Vec<&str> = listed.map(|one| one.as_str().unwrap()).collect();
            let texts: Vec<String> = diagnostics.iter().map(shown).collect();
            let in_short: Vec<String> = diagnostics.iter().map(short).collect();
            if texts != expected && in_short != expected {
                let name = format!("{}: {}", lint.name(), case["description"]);
                failures.push(format!("{name}\nexpected {expected:#?}\nfound {texts:#?}"));
            }
            match diagnostics.iter().any(|one| one.code == Code::Lint(*lint)) {
                true => found += 1,
                false => not_found += 1,
            }
        }
        assert!(found > 0 && not_found > 0, "{} needs a case with and one without", lint.name());
    }
    let cases = std::fs::read_dir(root().join("lint")).unwrap().count();
    assert_eq!(cases, Lint::ALL.len() + 1, "a file of cases has the name of no code");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_message_of_the_linter_is_in_a_case() {
    let mut messages = literals::messages(&root().join("../crates/tooling/src/lint"), &[]).unwrap();
    // The compiler has this warning too.
    let missing = root().join("../crates/compiler/src/schema/missing.rs");
    messages.extend(literals::messages(&missing, &[]).unwrap());
    let cases = Lint::ALL.iter().flat_map(|lint| read(&path(*lint)));
    let shown: Vec<String> =
        cases.flat_map(|case| lint_case(&case)).map(|one| shown(&one)).collect();
    let is_shown = |template: &&String| shown.iter().any(|it| literals::comes_to(template, it));
    let uncovered: Vec<_> = messages.iter().filter(|template| !is_shown(template)).collect();
    assert_eq!(uncovered, [UNCOVERED], "no case of tests/lint has the texts on the left");
}

fn path(lint: Lint) -> PathBuf {
    root().join(format!("lint/{}.yaml", lint.name()))
}

fn read(path: &Path) -> Vec<Json> {
    yaml(path).unwrap().as_array().unwrap().clone()
}

fn lint_case(case: &Json) -> Vec<Diagnostic> {
    let options = cases::options(case.get("options").unwrap_or(&Json::Null)).unwrap();
    lint_files(&files(&case["files"]), &options)
}

/// Returns the line with the message; the position in the policy follows below.
fn shown(one: &Diagnostic) -> String {
    one.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Returns the position and the code only.
fn short(one: &Diagnostic) -> String {
    let at = one.position.map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
    format!("{}{at} {}", one.file, one.code.name())
}

/// Writes the findings anew into the text of a file of cases.
fn with_findings(text: &str, found: &[Vec<Diagnostic>]) -> String {
    let (mut out, mut is_old) = (String::new(), false);
    let mut found = found.iter();
    for line in text.lines() {
        is_old &= line.starts_with("    ");
        if line.starts_with("  findings:") {
            is_old = true;
            let found = found.next().unwrap();
            let quoted =
                found.iter().map(|one| format!("    - '{}'\n", shown(one).replace('\'', "''")));
            let none = if found.is_empty() { " []" } else { "" };
            out.push_str(&format!("  findings:{none}\n{}", quoted.collect::<String>()));
        } else if !is_old {
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

fn files(of: &Json) -> Vec<(String, Vec<u8>)> {
    let file = |(name, text): (&String, &Json)| (name.clone(), text.as_str().unwrap().into());
    of.as_object().unwrap().iter().map(file).collect()
}

/// A message without a known condition: a part that would cause it is a finding itself, and is
/// reported instead.
const UNCOVERED: &str = "this condition and those beside it are never false together";

//! Each code that a part can emit has a section on its page, whose heading is the code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wardgate_bundle::OpenError;
use wardgate_compiler::diagnostics::{Code, Lint};

/// Returns the headings of a page that are codes.
fn sections(page: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').trim_start();
        let code = title.strip_prefix('`')?.strip_suffix('`')?;
        (line.starts_with('#') && is_code(code)).then(|| code.to_owned())
    };
    text.lines().filter_map(heading).collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn is_code(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !text.is_empty()
}

#[track_caller]
fn all_are_explained(page: &str, codes: impl IntoIterator<Item = &'static str>) {
    let sections = sections(page);
    let missing: Vec<_> = codes.into_iter().filter(|code| !sections.contains(*code)).collect();
    assert!(missing.is_empty(), "docs/{page} has no section for {missing:?}");
}

#[test]
fn errors_and_findings_of_the_compiler_are_explained() {
    all_are_explained("errors.md", Code::ERRORS.iter().map(|code| code.name()));
    all_are_explained("lints.md", Lint::ALL.iter().map(|lint| lint.name()));
}

#[test]
fn refusals_of_bundles_are_explained() {
    all_are_explained("BUNDLE.md", OpenError::CODES.iter().copied());
    assert_eq!(sections("BUNDLE.md").len(), OpenError::CODES.len());
}

/// The codes of the server stand in its sources, behind a status or in a function `code`.
#[test]
fn codes_of_the_server_are_explained() {
    let mut codes = BTreeSet::new();
    for file in ["journal/error.rs", "rules/error.rs", "decision_log/error.rs"] {
        let text = fs::read_to_string(root().join("crates/server/src").join(file)).unwrap();
        let (_, code) = text.split_once("fn code(").unwrap();
        codes.extend(quoted(code.split("\n    }\n").next().unwrap()));
    }
    let mut pending = vec![root().join("crates/server/src/http")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if !path.ends_with("tests.rs") {
                // Its tests stand at the end of a file.
                let text = fs::read_to_string(path).unwrap();
                codes.extend(of_problems(text.split("#[cfg(test)]").next().unwrap()));
            }
        }
    }
    assert!(codes.len() > 30 && codes.contains("busy") && codes.contains("unauthorized"));
    let sections = sections("server.md");
    let missing: Vec<_> = codes.difference(&sections).collect();
    assert!(missing.is_empty(), "docs/server.md has no section for {missing:?}");
    let never: Vec<_> = sections.difference(&codes).collect();
    assert!(never.is_empty(), "docs/server.md explains what nothing emits: {never:?}");
}

/// Returns the codes of refusals in a source: the texts right behind a status or the name of a field.
fn of_problems(source: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for start in ["StatusCode::", "refuse(", "code: "] {
        for rest in source.split(start).skip(1) {
            let rest = rest.trim_start_matches(|c: char| {
                c.is_ascii_uppercase() || c.is_whitespace() || c == '_' || c == ','
            });
            let text = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
            codes.extend(text.filter(|text| is_code(text)).map(str::to_owned));
        }
    }
    codes
}

/// Returns the texts of a source that are codes.
fn quoted(source: &str) -> BTreeSet<String> {
    let texts = source.split('"').skip(1).step_by(2);
    texts.filter(|text| is_code(text)).map(str::to_owned).collect()
}

//! Compares the errors of a suite: the stage, the code, the positions and the paths.

use std::collections::BTreeSet;

use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_tooling::suite::Stage;

use crate::conformance::Failure;

/// Compares diagnostics with the text of an error.
pub(super) fn compare(wanted: &str, stage: Stage, found: &[Diagnostic]) -> Result<(), Failure> {
    let shown = || {
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        format!("{stage:?}: {}", texts.join("\n"))
    };
    let (prefix, expected) = STAGES
        .iter()
        .find(|(prefix, _)| wanted.starts_with(prefix))
        .ok_or_else(|| Failure::new(format!("an error of a known stage: {wanted}"), shown()))?;
    let rest = wanted.get(prefix.len()..).unwrap_or_default();
    let expect = |holds: bool| Failure::unless(holds, || Failure::new(wanted, shown()));
    expect(stage == *expected && !found.is_empty())?;
    if rest.contains("not valid YAML or JSON") {
        // A text instead of a tree is no document for Cerbos, and one of the wrong type here.
        return expect(found.iter().all(|it| matches!(it.code, Code::Syntax | Code::Parse)));
    }
    if let Some(code) = code(rest) {
        return expect(found.iter().all(|found| found.code == code));
    }
    let wanted_locations: BTreeSet<_> = rest.lines().filter_map(location).collect();
    let found_locations: BTreeSet<_> =
        found.iter().map(|found| our_location(found, &wanted_locations)).collect();
    let same = wanted_locations == found_locations && !wanted_locations.is_empty();
    Failure::unless(same, || {
        let wanted = format!("{wanted}\n{wanted_locations:?}");
        Failure::new(wanted, format!("{}\n{found_locations:?}", shown()))
    })
}

/// Returns the code of this project for a sentence of Cerbos, if it is about a test.
pub(super) fn code(sentence: &str) -> Option<Code> {
    let says = |words: &str| sentence.contains(words);
    if says("another test named") {
        Some(Code::DuplicateName)
    } else if says("inconsistent expectations") {
        Some(Code::ContradictoryExpectation)
    } else if says("expectations for actions") || says("found an expectation for principal") {
        Some(Code::UnreachableExpectation)
    } else if says("\" not found") || says("missing fixture") {
        Some(Code::UnknownFixture)
    } else {
        None
    }
}

/// A position and a path, as far as they are known.
type Location = (Option<String>, String);

/// Reads a line such as `20:24 tests[0].name: value is required` or `tests: value is required`.
fn location(line: &str) -> Option<Location> {
    let line = line.trim();
    let (position, rest) = match line.split_once(' ') {
        Some((first, rest)) if is_position(first) => (Some(first.to_owned()), rest),
        _ => (None, line),
    };
    if let Some((_, name)) = rest.split_once("unknown field ") {
        return Some((position, format!("unknown {}", name.trim_matches('"'))));
    }
    match rest.split_once(": ") {
        Some((path, _)) if !path.contains(' ') => Some((position, plain(path))),
        Some(_) | None => {
            (!line.is_empty() && position.is_some()).then(|| (position, String::new()))
        }
    }
}

fn is_position(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once(':').is_some_and(|(line, column)| is_number(line) && is_number(column))
}

/// Writes paths in one way: `["a"]` and `.'a'` are `.a`, and words are joined as Cerbos joins them
/// in its message about a missing value (`johnLeave`), even where they are a name that the author
/// chose.
fn plain(path: &str) -> String {
    let path = path.replace("[\"", ".").replace("\"]", "").replace('\'', "");
    let mut joins = false;
    let mut out = String::with_capacity(path.len());
    for c in path.trim_start_matches("$.").chars() {
        match c {
            '_' | '-' => joins = true,
            _ if joins => {
                out.extend(c.to_uppercase());
                joins = false;
            }
            _ => out.push(c),
        }
    }
    out
}

/// Returns the location of a diagnostic, with as much as Cerbos gives about such a location.
fn our_location(found: &Diagnostic, wanted: &BTreeSet<Location>) -> Location {
    let position = found.position.map(|at| format!("{}:{}", at.line, at.column));
    let path = plain(&found.path);
    if found.code == Code::Parse && found.message.starts_with("unknown field") {
        let name = found.message.split('`').nth(1).unwrap_or_default();
        return (position, format!("unknown {name}"));
    }
    [(None, path.clone()), (position.clone(), String::new())]
        .into_iter()
        .find(|location| wanted.contains(location))
        .unwrap_or((position, path))
}

const STAGES: &[(&str, Stage)] = &[
    ("failed to load test suite:", Stage::Suite),
    ("failed to load test fixtures", Stage::Fixtures),
    ("Invalid principal groups", Stage::Groups),
    ("Invalid resource groups", Stage::Groups),
    ("Invalid test suite", Stage::Names),
    ("Failed to load the test suite", Stage::Tests),
];

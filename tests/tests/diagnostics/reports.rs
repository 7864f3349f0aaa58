//! Every text of the reports on coverage is in a case.

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_tests::literals;

/// `crates/tooling/tests/coverage.rs` compares the reports with the expected ones of each case.
#[test]
fn every_text_of_the_coverage_reports_is_in_a_case() {
    // LCOV is for tools.
    let messages =
        literals::messages(&super::tooling_sources().join("coverage"), &["lcov"]).unwrap();
    let folder = super::cases().join("../coverage");
    let expected: Vec<String> = folders(&folder).iter().flat_map(|case| expected(case)).collect();
    literals::check_shown(&messages, &expected, &folder.join("uncovered.yaml")).unwrap();
}

/// Returns the texts of a case, line by line, and each of them as a whole.
fn expected(case: &Path) -> Vec<String> {
    let names = ["expected.txt", "expected.json", "expected.html"];
    let texts = names.iter().filter_map(|name| fs::read_to_string(case.join(name)).ok());
    let lines = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.push(text);
        lines
    };
    texts.flat_map(lines).collect()
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

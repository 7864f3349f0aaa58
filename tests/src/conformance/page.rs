//! Writes `docs/CONFORMANCE.md`, the results of the suites.
//!
//! The page is about one state of the corpora, which it names by a digest: for other corpora it is
//! neither right nor wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use wardgate_crypto::blake3;

#[cfg(feature = "policies")]
use super::cel_spec;
use super::vectors::hexadecimal;
use super::{Report, SUITES, Suite, files_below};

/// Writes the page.
///
/// # Errors
/// If the corpora cannot be read.
pub fn written(corpora: &Path, reports: &[(&Suite, Report)]) -> Result<String, String> {
    let mut page = String::from(HEAD);
    for (suite, report) in reports {
        let (source, commit) = (suite.source.project, suite.source.commit(corpora));
        let (passed, failed) = (report.passed, report.failures.len());
        let (name, skipped) = (suite.name, report.skipped.len());
        let _ =
            writeln!(page, "| `{name}` | {source} | {commit} | {passed} | {failed} | {skipped} |");
    }
    page.push_str(ABSENT);
    for (suite, report) in reports {
        for (reason, names) in reasons(report) {
            let _ = writeln!(page, "| `{}` | {} | {reason} |", suite.name, tests(&names));
        }
        #[cfg(feature = "policies")]
        if suite.name == cel_spec::NAME {
            let count = cel_spec::with_protobuf(corpora)?;
            let _ = writeln!(page, "| `{}` | {count} tests | {PROTOBUF} |", suite.name);
        }
    }
    let _ = writeln!(page, "\n{ABOUT}{}`.", digest(corpora)?);
    Ok(page)
}

/// Compares a page with the one that would be written, and returns a hint if it cannot be compared.
///
/// # Errors
/// If the page is about these corpora and differs from the one that would be written.
pub fn checked(page: &str, written: &str) -> Result<Option<&'static str>, String> {
    let state = |page: &str| page.lines().last().unwrap_or_default().to_owned();
    if page == written {
        return Ok(None);
    }
    if state(page) != state(written) {
        return Ok(Some("docs/CONFORMANCE.md is about other corpora and was not compared"));
    }
    let differs = |(old, new): &(&str, &str)| old != new;
    let (old, new) = page.lines().zip(written.lines()).find(differs).unwrap_or_default();
    Err(format!(
        "docs/CONFORMANCE.md says\n    {old}\nand would be\n    {new}\n  `cargo xtask conformance --write` writes it anew"
    ))
}

/// Returns true if the reports are those of all suites.
#[must_use]
pub fn is_whole(reports: &[(&Suite, Report)]) -> bool {
    reports.len() == SUITES.len()
}

fn reasons(report: &Report) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in &report.skipped {
        reasons.entry(reason).or_default().push(name);
    }
    reasons
}

/// Returns a few names, or their number.
fn tests(names: &[&str]) -> String {
    match names.len() {
        0..=NAMES_SHOWN => {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        count => format!(
            "{count} tests, such as `{}`",
            names.first().copied().unwrap_or_default().trim()
        ),
    }
}

/// Returns the digest of all files that suites read: of their paths and contents, in the order of
/// their paths.
fn digest(corpora: &Path) -> Result<String, String> {
    let mut folders: Vec<_> = SUITES.iter().map(|suite| suite.source.folder).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut files = Vec::new();
    for folder in folders {
        for path in files_below(&corpora.join(folder))? {
            let name = path.strip_prefix(corpora).unwrap_or(&path).to_string_lossy();
            files.push((name.replace('\\', "/"), path));
        }
    }
    files.sort();
    let mut all = Vec::new();
    for (name, path) in files {
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.extend(name.as_bytes());
        all.extend(blake3::hash(&bytes));
    }
    Ok(hexadecimal(blake3::hash(&all).get(..DIGEST_BYTES).unwrap_or_default()))
}

const HEAD: &str = "# Conformance

What `cargo xtask conformance` finds. It writes this page with `--write`, and without fails where the page is not what
it finds. The corpora are the tests of other projects; they lie beside this one and are read where they lie.

| suite | source | commit | passed | failed | skipped |
|---|---|---|---|---|---|
";

const ABSENT: &str = "
Where the words of an error are the other project's own, its kind, file, line, column and path are compared.
The suite `cerbos-engine` decides natively and in Node. A test that is named as a deviation must go on failing: one
that passes leaves the list.

## Tests that do not apply

| suite | tests | reason |
|---|---|---|
";

const ABOUT: &str = "The page is about corpora with the digest `";

#[cfg(feature = "policies")]
const PROTOBUF: &str = "about protobuf messages, which a policy cannot have";

/// Tests of one reason that are named one by one.
const NAMES_SHOWN: usize = 6;

const DIGEST_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn a_page_about_other_corpora_is_not_compared() {
        assert_eq!(checked("a\nx", "a\nx"), Ok(None));
        assert!(checked("a\nx", "b\ny").unwrap().is_some());
        assert!(checked("a\nx", "b\nx").unwrap_err().contains("    a\nand would be\n    b\n"));
    }
}

//! The suites and fixtures of a directory.
//!
//! The rules are those of Cerbos: a suite is a file whose name ends in `_test` and then `.yaml`,
//! `.yml` or `.json`, anywhere but in a directory `testdata`; its fixtures are the files
//! `principals`, `resources` and `auxdata` of the directory `testdata` beside it. Wrong fixtures
//! are an error of every suite that they belong to.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::fixtures::{self, Kind};
use super::model::{Fixtures, Suite};
use super::parse;
use wardgate_compiler::diagnostics::{Code, Diagnostic, sort};
use wardgate_compiler::limits::MAX_ENTRIES;
use wardgate_compiler::reading::unreadable;
use wardgate_compiler::repository::ignore::Ignore;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::walk::walk;
use wardgate_compiler::yaml::{self, Node};

/// A suite as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The path of its file, with `/` between the segments.
    pub file: String,
    /// Its text, if it could be read as such.
    pub source: Option<Arc<SourceFile>>,
    /// The suite, if it could be read.
    pub suite: Option<Suite>,
    /// The fixtures of its directory.
    pub fixtures: Option<Arc<Fixtures>>,
    /// The errors that keep it from being run, and the stage that found them.
    pub broken: Option<(Stage, Vec<Diagnostic>)>,
}

/// The stage that found the errors of a broken suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The file of the suite.
    Suite,
    /// The fixtures of its directory.
    Fixtures,
    /// The groups that it defines.
    Groups,
    /// Two tables with one name.
    Names,
    /// Its tests: undefined fixtures, expectations that no test can meet.
    Tests,
}

/// Files by their paths, of suites and of fixtures.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Reads the files of suites and fixtures below a directory.
///
/// # Errors
/// The files and directories that cannot be read, and the reasons.
pub fn read(root: &Path) -> Result<Files, Vec<Diagnostic>> {
    let (mut found, mut files, mut errors) = (Vec::new(), Files::new(), Vec::new());
    let ignore = Ignore::below(root, &mut errors);
    // Hidden directories are entered too, as Cerbos does.
    let unread = walk(root, &mut |entry| {
        // A name that is no text is none that a suite or fixture can have.
        let is_text = entry.name.to_str().is_some();
        let path = entry.path();
        if !is_text || ignore.leaves_out(&path, entry.kind.is_dir()) {
            return Ok(false);
        }
        if !entry.kind.is_dir() && is_suite_file(&path) {
            found.push(entry.file());
        }
        Ok(true)
    });
    errors.extend(unread.iter().map(|one| unreadable(&one.path, &one.error)));
    for one in found {
        match one.read(root) {
            Ok(bytes) => drop(files.insert(one.path, bytes)),
            Err(error) => errors.push(unreadable(&one.path, &error)),
        }
    }
    if errors.is_empty() { Ok(files) } else { Err(sorted(errors)) }
}

/// Picks the files of suites and fixtures.
#[must_use]
pub fn pick<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Files {
    let files: Vec<_> = files.into_iter().take(MAX_ENTRIES).collect();
    // Errors of the patterns are reported with the policies.
    let ignore = Ignore::among(files.iter().copied(), &mut Vec::new());
    let chosen =
        files.into_iter().filter(|(path, _)| is_suite_file(path) && !ignore.leaves_out_file(path));
    chosen.map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect()
}

/// Reads every suite among `files`, in the order of their paths.
#[must_use]
pub fn load(files: &Files) -> Vec<Loaded> {
    load_as(files, parse::suite)
}

/// Reads every suite among `files`, also those with tables that have no expectations yet.
#[must_use]
pub fn load_drafts(files: &Files) -> Vec<Loaded> {
    load_as(files, parse::draft)
}

fn load_as(files: &Files, parse: Parse) -> Vec<Loaded> {
    let mut shelves = BTreeMap::new();
    let suites = files.iter().filter(|(path, _)| is_suite(path));
    suites.map(|(path, bytes)| load_one((path, bytes), parse, files, &mut shelves)).collect()
}

/// A reader of suites.
type Parse = fn(&Arc<SourceFile>, &Node) -> Result<Suite, Vec<Diagnostic>>;

/// Fixtures of a directory, or their errors.
type Shared = Result<Option<Arc<Fixtures>>, Vec<Diagnostic>>;

fn load_one(
    (path, bytes): (&str, &[u8]),
    parse: Parse,
    files: &Files,
    shelves: &mut BTreeMap<String, Shared>,
) -> Loaded {
    let mut loaded =
        Loaded { file: path.to_owned(), source: None, suite: None, fixtures: None, broken: None };
    let read = document(path, bytes, "a test suite").and_then(|(source, root)| {
        loaded.source = Some(Arc::clone(&source));
        parse(&source, &root)
    });
    match read {
        Ok(suite) => loaded.suite = Some(suite),
        Err(errors) => {
            loaded.broken = Some((Stage::Suite, sorted(errors)));
            return loaded;
        }
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let shared =
        shelves.entry(folder.to_owned()).or_insert_with(|| directory_fixtures(folder, files));
    match shared {
        Ok(fixtures) => loaded.fixtures.clone_from(fixtures),
        Err(errors) => loaded.broken = Some((Stage::Fixtures, errors.clone())),
    }
    loaded
}

/// Reads the fixtures beside the suites of `folder`.
fn directory_fixtures(folder: &str, files: &Files) -> Shared {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let prefix = format!("{prefix}{TEST_DATA}/");
    let (mut fixtures, mut errors) = (None, Vec::new());
    for (kind, names) in FIXTURES {
        let Some((path, bytes)) = first_named(files, &prefix, names) else { continue };
        let into = fixtures.get_or_insert_with(Fixtures::default);
        let added = document(path, bytes, "fixtures")
            .and_then(|(source, root)| fixtures::add(into, *kind, &source, &root));
        if let Err(found) = added {
            errors.extend(found);
        }
    }
    if errors.is_empty() { Ok(fixtures.map(Arc::new)) } else { Err(sorted(errors)) }
}

/// Returns the first file of a directory that has one of the names, with any ending.
fn first_named<'f>(
    files: &'f Files,
    prefix: &str,
    names: &[&str],
) -> Option<(&'f String, &'f Vec<u8>)> {
    names.iter().find_map(|name| {
        let start = format!("{prefix}{name}.");
        let mut named =
            files.range(start.clone()..).take_while(|(path, _)| path.starts_with(&start));
        named.find(|(path, _)| !path.get(prefix.len()..).is_some_and(|rest| rest.contains('/')))
    })
}

/// Reads the only document of a file.
fn document(
    path: &str,
    bytes: &[u8],
    what: &str,
) -> Result<(Arc<SourceFile>, Node), Vec<Diagnostic>> {
    let source = SourceFile::new(path, bytes)
        .map_err(|error| vec![Diagnostic::refused_source(path, error)])?;
    let mut read = yaml::read(&source);
    if !read.errors.is_empty() {
        return Err(read.errors);
    }
    let found = read.documents.len();
    match read.documents.pop() {
        Some(root) if found == 1 => Ok((source, root)),
        _ => {
            let message = format!("the file must hold {what} in one document");
            let error = Diagnostic::in_file(Code::Validation, path, message);
            Err(vec![error.found(format!("{found} documents"))])
        }
    }
}

fn sorted(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    sort(&mut errors);
    errors
}

pub(crate) fn is_suite_file(path: &str) -> bool {
    is_suite(path) || is_fixture(path)
}

/// Returns true if the file at a path is a suite.
#[must_use]
pub fn is_suite(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let stem = EXTENSIONS.iter().find_map(|extension| lower.strip_suffix(extension));
    stem.is_some_and(|stem| stem.ends_with("_test"))
        && !folders(path).any(|folder| folder == TEST_DATA)
}

/// Returns true if the file at a path holds fixtures.
fn is_fixture(path: &str) -> bool {
    let mut segments = path.rsplit('/');
    let name = segments.next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let is_named = |stem: &str| name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'));
    segments.next() == Some(TEST_DATA)
        && EXTENSIONS.iter().any(|extension| lower.ends_with(extension))
        && FIXTURES.iter().any(|(_, names)| names.iter().any(|name| is_named(name)))
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/')
}

const TEST_DATA: &str = "testdata";
const EXTENSIONS: [&str; 3] = [".yaml", ".yml", ".json"];
const FIXTURES: &[(Kind, &[&str])] = &[
    (Kind::Principals, &["principals"]),
    (Kind::Resources, &["resources"]),
    (Kind::AuxData, &["auxdata", "auxData", "aux_data"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_distinguish_suites_from_fixtures() {
        let suites = ["a_test.yaml", "x/_test.yml", ".x/A_TEST.JSON", "_schemas/a_test.json"];
        for path in suites {
            assert!(is_suite(path) && !is_fixture(path), "{path}");
        }
        let fixtures =
            ["testdata/principals.yaml", "x/testdata/resources.a.yml", "testdata/auxData.json"];
        for path in fixtures {
            assert!(is_fixture(path) && !is_suite(path), "{path}");
        }
        let others = [
            "a_tests.yaml",
            "testdata/a_test.yaml",
            "testdata/x/a_test.yaml",
            "principals.yaml",
            "testdata/x/principals.yaml",
            "testdata/principals.txt",
            "testdata/principalsx.yaml",
            "a_test.yaml/b",
        ];
        for path in others {
            assert!(!is_suite_file(path), "{path}");
        }
    }

    #[test]
    fn the_first_of_several_files_holds_the_fixtures() {
        let file = |text: &str| text.as_bytes().to_vec();
        let files = Files::from([
            ("a_test.yaml".to_owned(), file("name: a\ntests: []\n")),
            ("testdata/principals.json".to_owned(), file("{\"principals\": {}}")),
            ("testdata/principals.yaml".to_owned(), file("principals: 1")),
        ]);
        assert!(directory_fixtures("", &files).unwrap().is_some());
        assert!(directory_fixtures("elsewhere", &files).unwrap().is_none());
    }
}

//! The laws of the formatter, over all policies: the cases, the demonstration, generated worlds and
//! the corpora.
//!
//! The oracle reads YAML with another reader, finds comments by lines alone, and decides.

#[path = "format/layouts.rs"]
mod layouts;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use serde_yaml_ng::Value as Yaml;
use wardgate_compiler::{Options, compile_dir, compile_files};
use wardgate_engine::table::PolicyTable;
use wardgate_tests::cases;
use wardgate_tooling::format::{Formatted, Outcome, expression, format};

#[test]
fn the_policies_of_every_case_decide_the_same() {
    for case in cases::all().unwrap() {
        let new: Vec<_> = case.files.iter().map(|(path, bytes)| laid_out(path, bytes)).collect();
        let table = |files| {
            PolicyTable::from_parts(compile_files(files, &case.options).unwrap().parts).unwrap()
        };
        let (old, new) = (table(&case.files), table(&new));
        for check in &case.checks {
            let decision = new.check(&check.request, case.now);
            assert_eq!(old.check(&check.request, case.now), decision, "{}", case.name);
        }
    }
}

/// A table holds the text of its expressions, so it is not the same to the byte.
#[test]
fn the_policies_of_the_demonstration_and_the_corpus_compile_to_the_same_programs() {
    for directory in [root().join("demo/policies"), corpora().join("cerbos/testdata/store")] {
        let Ok(old) = compile_dir(&directory, &Options::default()) else { continue };
        let files: Vec<_> = files(&directory)
            .iter()
            .map(|path| {
                let name = path.strip_prefix(&directory).unwrap().to_string_lossy().into_owned();
                let bytes = fs::read(path).unwrap();
                if is_yaml(path) { laid_out(&name, &bytes) } else { (name, bytes) }
            })
            .collect();
        let new = compile_files(&files, &Options::default()).unwrap();
        let shown = directory.display();
        assert_eq!(old.policies, new.policies, "{shown}");
        assert!(old.parts.blob == new.parts.blob, "{shown}: another table");
        assert_eq!(old.parts.words.len(), new.parts.words.len(), "{shown}: another table");
        assert_eq!(bare(&old.parts.text), bare(&new.parts.text), "{shown}");
    }
}

#[test]
fn every_file_keeps_its_values_and_its_comments() {
    let folders = [root().to_owned(), corpora().join("cerbos")];
    let mut whole = 0;
    for path in folders.iter().flat_map(|folder| files(folder)) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let shown = path.display().to_string();
        let parts = match shown.ends_with(".input") {
            true => archived(&text),
            false => vec![text.as_str()],
        };
        for text in parts.into_iter().filter(|_| is_yaml(&path) || shown.ends_with(".input")) {
            let Ok(formatted) = format("any.yaml", text.as_bytes()) else { continue };
            assert!(
                matches!(formatted.outcome, Outcome::Whole | Outcome::Json),
                "{shown}:\n{text}"
            );
            check(&shown, text, &formatted);
            whole += usize::from(formatted.outcome == Outcome::Whole);
        }
    }
    assert!(whole >= 100, "only {whole} files");
}

/// Returns the files of an archive: each follows a line `-- NAME --`.
fn archived(text: &str) -> Vec<&str> {
    let mut files = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("-- ") && line.trim_end().ends_with(" --") {
            files.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    files.push(&text[start..]);
    files
}

#[test]
fn every_expression_of_the_corpus_has_a_layout() {
    let mut count = 0;
    for path in files(&corpora().join("cel-spec/json")) {
        let tests: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        each_expression(&tests, &mut |text| {
            if wardgate_compiler::cel::parse(text).is_err() {
                return;
            }
            count += 1;
            for width in [None, Some(20), Some(80)] {
                let new = expression(text, width);
                let needs_lines = text.contains('\n') || text.contains("//");
                assert!(new.is_some() || needs_lines, "{text} in {width:?}");
                let new = new.unwrap_or_else(|| text.to_owned());
                assert_eq!(bare(text), bare(&new), "{text} in {width:?}");
                assert_eq!(expression(&new, width).unwrap_or_else(|| text.to_owned()), new);
            }
        });
    }
    assert!(count == 0 || count > 1000, "only {count} expressions");
}

fn laid_out(path: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    // A directory may hold files that are no policies, and no YAML either.
    let Ok(formatted) = format(path, bytes) else { return (path.to_owned(), bytes.to_vec()) };
    check(path, &String::from_utf8_lossy(bytes), &formatted);
    (path.to_owned(), formatted.text.into_bytes())
}

fn check(path: &str, old: &str, Formatted { text: new, .. }: &Formatted) {
    let again = format(path, new.as_bytes()).map(|again| again.text);
    assert_eq!(again.as_ref(), Ok(new), "{path}: a second time");
    assert_eq!(comment_lines(old), comment_lines(new), "{path}: comments");
    match (values(old), values(new)) {
        (Ok(old), Ok(new)) => assert_eq!(old, new, "{path}: values"),
        (old, new) => assert!(old.is_err() || new.is_ok(), "{path}: {new:?}"),
    }
}

/// Returns the lines that begin with `#`, comments or not.
fn comment_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.starts_with('#')).collect()
}

/// Returns the documents with every text stripped of the parts that a layout of an expression may
/// change.
fn values(text: &str) -> Result<Vec<Yaml>, String> {
    let read = text.split("\n---").map(|it| serde_yaml_ng::from_str(it).map(stripped));
    read.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn stripped(value: Yaml) -> Yaml {
    match value {
        Yaml::String(text) => Yaml::String(bare(&text)),
        Yaml::Sequence(items) => Yaml::Sequence(items.into_iter().map(stripped).collect()),
        Yaml::Mapping(entries) => {
            let entry = |(key, value)| (stripped(key), stripped(value));
            Yaml::Mapping(entries.into_iter().map(entry).collect())
        }
        other => other,
    }
}

/// Returns a text without spaces, parentheses, and commas that end a list.
fn bare(text: &str) -> String {
    let is_significant = |c: &char| !c.is_whitespace() && !matches!(c, '(' | ')');
    text.chars().filter(is_significant).collect::<String>().replace(",]", "]").replace(",}", "}")
}

fn each_expression(json: &Json, each: &mut impl FnMut(&str)) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| each_expression(item, each)),
        Json::Object(fields) => fields.iter().for_each(|(name, value)| match value {
            Json::String(text) if name == "expr" => each(text),
            other => each_expression(other, each),
        }),
        _ => {}
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the corpora beside the project; without them fewer files are formatted.
fn corpora() -> PathBuf {
    root().join("../../shared/corpora")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let Ok(path) = entry.map(|entry| entry.path()) else { continue };
        match path.is_dir() {
            true if path.ends_with("node_modules") => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

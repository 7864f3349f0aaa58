//! The values of `globals`: from a JSON or YAML file, or written on the command line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::limits::MAX_FILE_BYTES;
use wardgate_compiler::yaml::{self, Entry, Kind, Node};
use wardgate_engine::attr::Attr;

use crate::failure::Failure;

/// Reads what `--globals` was given: an object if it starts with a brace, else the name of a file.
pub(crate) fn read(given: &str) -> Result<BTreeMap<String, Attr>, Failure> {
    let (name, bytes) = if given.trim_start().starts_with('{') {
        ("--globals", given.as_bytes().to_vec())
    } else {
        (given, file(Path::new(given))?)
    };
    let unusable = |diagnostic: &Diagnostic| Failure::usage(format!("globals: {diagnostic}"));
    let source = SourceFile::new(name, &bytes).map_err(|diagnostic| unusable(&diagnostic))?;
    let read = yaml::read(&source);
    if let Some(diagnostic) = read.errors.first() {
        return Err(unusable(diagnostic));
    }
    let wrong = |message| Failure::usage(format!("globals: {name}: {message}"));
    match read.documents.as_slice() {
        [Node { kind: Kind::Map(entries), .. }] => map(entries).map_err(wrong),
        [node] => Err(wrong(format!("expected an object, found {}", node.describe()))),
        documents => Err(wrong(format!("expected one document, found {}", documents.len()))),
    }
}

fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &std::io::Error| Failure::reading(path, error);
    let most = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(most).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

fn map(entries: &[Entry]) -> Result<BTreeMap<String, Attr>, String> {
    let mut map = BTreeMap::new();
    for Entry { key, value } in entries {
        let line = key.position.line;
        let Kind::String(name, _) = &key.kind else {
            return Err(format!("line {line}: expected a name, found {}", key.describe()));
        };
        if map.insert(name.to_string(), attr(value)?).is_some() {
            return Err(format!("line {line}: `{name}` stands here twice"));
        }
    }
    Ok(map)
}

/// Makes an attribute of a node. The reader bounds how deep nodes nest.
fn attr(node: &Node) -> Result<Attr, String> {
    Ok(match &node.kind {
        Kind::Null => Attr::Null,
        Kind::Bool(value) => Attr::Bool(*value),
        Kind::Integer(value) => Attr::Number(nearest(*value)),
        Kind::Float(value) => Attr::Number(*value),
        Kind::String(text, _) => Attr::String(text.as_ref().into()),
        Kind::Seq(items) => Attr::List(items.iter().map(attr).collect::<Result<_, _>>()?),
        Kind::Map(entries) => {
            let entries = map(entries)?.into_iter();
            Attr::Map(entries.map(|(name, value)| (name.into_boxed_str(), value)).collect())
        }
    })
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest double, which is what is wanted")]
fn nearest(value: i128) -> f64 {
    value as f64
}

//! The values of `globals`, as a host hands them in: a JSON or YAML object.
//!
//! They become attributes, so a value that an attribute cannot hold is refused. A repeated name is
//! refused too, because one of its values would be lost.

use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;

use crate::diagnostics::Diagnostic;
use crate::source::SourceFile;
use crate::yaml::{self, Entry, Kind, Node};

/// Reads an object; messages call it `name`.
///
/// # Errors
/// The first error, with its position.
pub fn read(name: &str, bytes: &[u8]) -> Result<BTreeMap<String, Attr>, String> {
    let source = SourceFile::new(name, bytes)
        .map_err(|error| Diagnostic::refused_source(name, error).to_string())?;
    let read = yaml::read(&source);
    if let Some(diagnostic) = read.errors.first() {
        return Err(diagnostic.to_string());
    }
    let wrong = |message| format!("{name}: {message}");
    match read.documents.as_slice() {
        [Node { kind: Kind::Map(entries), .. }] => map(entries).map_err(wrong),
        [node] => Err(wrong(format!("expected an object, found {}", node.describe()))),
        documents => Err(wrong(format!("expected one document, found {}", documents.len()))),
    }
}

fn map(entries: &[Entry]) -> Result<BTreeMap<String, Attr>, String> {
    let mut map = BTreeMap::new();
    for Entry { key, value } in entries {
        let line = key.position.line;
        let Kind::String(name, _) = &key.kind else {
            return Err(format!("line {line}: expected a name, found {}", key.describe()));
        };
        if map.insert(name.to_string(), attr(value)?).is_some() {
            return Err(format!("line {line}: duplicate name `{name}`"));
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
        Kind::Float(value) if value.is_finite() => Attr::Number(*value),
        Kind::Float(value) => {
            let line = node.position.line;
            return Err(format!("line {line}: expected a finite number, found `{value}`"));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[(&str, Attr)], &str>) {
        let expected = expected.map_err(str::to_owned).map(|entries| {
            entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        });
        assert_eq!(read("g", text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn json_and_yaml_are_read_alike() {
        let open: &[(&str, Attr)] = &[("open", Attr::Bool(true))];
        check(r#"{"open": true}"#, Ok(open));
        check("open: true\n", Ok(open));
        check("{}", Ok(&[]));
        check(r#"{"n": 9007199254740993}"#, Ok(&[("n", Attr::Number(9_007_199_254_740_992.0))]));
    }

    #[test]
    fn values_that_are_no_objects_are_refused() {
        check("- 1", Err("g: expected an object, found a list"));
        check("", Err("g: expected one document, found 0"));
        check("a: 1\n---\nb: 2\n", Err("g: expected one document, found 2"));
        check("1: 2\n", Err("g: line 1: expected a name, found a number"));
        assert!(read("g", b"{\"a\": 1, \"a\": 2}").is_err());
        assert!(read("g", b"\xff").is_err());
    }
}

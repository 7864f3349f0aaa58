//! Where a schema reference leads.
//!
//! A reference is a URL. Inside a schema it is relative to the file it stands in, or to the file's
//! `$id`; what it leads to must be a file of `_schemas`.

use crate::yaml::{Kind, Node};

use super::{Fault, field, text};
use crate::source::Position;

/// One schema: a file of `_schemas`, and the JSON pointer inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) file: String,
    pub(super) pointer: String,
}

impl Target {
    /// Where the reference of a policy leads: `cerbos:///` and the path of a file.
    pub(crate) fn of_policy(reference: &str) -> Result<Self, Fault> {
        let (url, fragment) = split(reference);
        let file = in_schemas(url).ok_or_else(|| {
            let fault = Fault::new(Position::START, "this names no schema");
            fault.because(
                format!("`{reference}`"),
                "a file of `_schemas`, such as `cerbos:///album.json`",
            )
        })?;
        Ok(Self { file: normalise(&file), pointer: pointer(fragment)? })
    }

    /// Where a `$ref` leads that stands in the file of `self`, whose root is `root`.
    pub(crate) fn follow(&self, root: &Node, reference: &str) -> Result<Self, Fault> {
        let (url, fragment) = split(reference);
        let pointer = pointer(fragment)?;
        let own_id = ["$id", "id"]
            .iter()
            .find_map(|key| field(root, key).and_then(text))
            .unwrap_or_default();
        let own_id = split(own_id).0;
        let file = if url.is_empty() || url == own_id {
            self.file.clone()
        } else if let Some(file) = in_schemas(url) {
            normalise(&file)
        } else if has_scheme(url) || (has_scheme(own_id) && in_schemas(own_id).is_none()) {
            let fault = Fault::new(Position::START, "no schema is fetched");
            return Err(fault.because(format!("`{reference}`"), "a file of `_schemas`"));
        } else {
            let base = in_schemas(own_id).unwrap_or_else(|| self.file.clone());
            let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
            normalise(&if url.starts_with('/') {
                url.to_owned()
            } else {
                format!("{folder}/{url}")
            })
        };
        Ok(Self { file, pointer })
    }

    /// Returns the schema that stands below this one.
    pub(crate) fn below(&self, segments: &[&str]) -> Self {
        let mut pointer = self.pointer.clone();
        for segment in segments {
            pointer.push('/');
            pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
        }
        Self { file: self.file.clone(), pointer }
    }

    /// Finds the value in the file whose root is `root`.
    pub(crate) fn find<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        self.pointer.split('/').skip(1).try_fold(root, |node, segment| {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            match &node.kind {
                Kind::Seq(items) => items.get(segment.parse::<usize>().ok()?),
                _ => field(node, &segment),
            }
        })
    }
}

fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Returns the path of `cerbos:///path`.
fn in_schemas(url: &str) -> Option<String> {
    let path = url.strip_prefix("cerbos:")?;
    let path = path
        .strip_prefix("//")
        .map_or(path, |rest| rest.find('/').map_or("", |at| rest.get(at..).unwrap_or("")));
    (!path.trim_matches('/').is_empty()).then(|| decoded(path))
}

fn has_scheme(url: &str) -> bool {
    let end = url.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    end.is_some_and(|end| end > 0 && url.get(end..).is_some_and(|rest| rest.starts_with(':')))
}

fn pointer(fragment: &str) -> Result<String, Fault> {
    let pointer = decoded(fragment);
    if pointer.is_empty() || pointer.starts_with('/') {
        return Ok(pointer);
    }
    let fault = Fault::new(Position::START, "anchors are not supported");
    Err(fault.because(format!("`#{fragment}`"), "a JSON pointer, such as `#/$defs/name`"))
}

fn normalise(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    segments.join("/")
}

/// Resolves `%41` and its like; what is no escape stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape =
            after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Position, Target};
    use crate::expression::Style;
    use crate::yaml::{Entry, Kind, Node};

    fn node(kind: Kind) -> Node {
        Node { position: Position::START, offset: 0, kind }
    }

    fn word(text: &str) -> Node {
        node(Kind::String(text.into(), Style::Plain))
    }

    fn root(id: &str) -> Node {
        node(Kind::Map(vec![Entry { key: word("$id"), value: word(id) }]))
    }

    #[test]
    fn references_lead_into_the_folder_of_schemas_only() {
        let check = |id: &str, reference: &str, expected: Option<(&str, &str)>| {
            let here = Target { file: "a/b.json".to_owned(), pointer: String::new() };
            let found = here.follow(&root(id), reference).ok();
            let expected = expected.map(|(file, pointer)| Target {
                file: file.to_owned(),
                pointer: pointer.to_owned(),
            });
            assert_eq!(found, expected, "{reference}");
        };
        check("", "#/$defs/x%20y", Some(("a/b.json", "/$defs/x y")));
        check("", "#", Some(("a/b.json", "")));
        check("", "c.json#/x", Some(("a/c.json", "/x")));
        check("", "../c.json", Some(("c.json", "")));
        check("", "../../../c.json", Some(("c.json", "")));
        check("", "/c.json", Some(("c.json", "")));
        check("", "cerbos:///d/c.json", Some(("d/c.json", "")));
        check("", "https://example.com/c.json", None);
        check("", "#anchor", None);
        check(
            "https://example.com/b.json",
            "https://example.com/b.json#/x",
            Some(("a/b.json", "/x")),
        );
        check("https://example.com/b.json", "c.json", None);
        check("cerbos:///z/b.json", "c.json", Some(("z/c.json", "")));
    }

    #[test]
    fn policies_name_schemas_with_the_scheme() {
        assert_eq!(
            Target::of_policy("cerbos:///a/b.json").ok().map(|target| target.file),
            Some("a/b.json".to_owned())
        );
        assert!(Target::of_policy("b.json").is_err());
        assert!(Target::of_policy("file:///b.json").is_err());
        assert!(Target::of_policy("cerbos:///").is_err());
    }
}

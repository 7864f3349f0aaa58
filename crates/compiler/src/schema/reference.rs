//! The target of a schema reference.
//!
//! A reference is a URL, relative to the resource that holds it. Its target must be a resource of
//! the same file, or another file of `_schemas`.

use crate::yaml::{Kind, Node};

use super::resource::{below, resolved};
use super::{Fault, SchemaFile, field};
use crate::source::Position;

/// One schema: a file of `_schemas`, and the JSON pointer inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The path below `_schemas`.
    pub file: String,
    pub(super) pointer: String,
}

/// The target of a reference, before the file is read.
pub struct Reference {
    target: Target,
    /// The name of a schema, in the resource that the target is.
    anchor: Option<String>,
}

impl Reference {
    /// Returns the path of the target's file.
    pub fn file(&self) -> &str {
        &self.target.file
    }

    /// Returns the resource that it leads to or into.
    pub(super) fn root(self) -> Target {
        self.target
    }

    /// Returns the target schema in `file`.
    pub fn find(self, file: &SchemaFile) -> Result<Target, Fault> {
        let Some(anchor) = self.anchor else { return Ok(self.target) };
        let resource = file.resources(&self.target.file).around(&self.target.pointer);
        let pointer = resource.and_then(|resource| resource.anchors.get(&anchor));
        match pointer {
            Some(pointer) => Ok(Target { pointer: pointer.clone(), ..self.target }),
            None => {
                Err(Fault::new(Position::START, format!("the reference `#{anchor}` has no target")))
            }
        }
    }
}

impl Target {
    /// Returns the target of a policy's reference: `cerbos:///` and the path of a file.
    pub fn of_policy(reference: &str) -> Result<Self, Fault> {
        let wrong = |found: &str, expected: &str| {
            Fault::new(Position::START, "this names no schema")
                .because(format!("`{found}`"), expected)
        };
        let (url, fragment) = split(reference);
        let file = in_schemas(url).ok_or_else(|| {
            wrong(reference, "a file of `_schemas`, such as `cerbos:///album.json`")
        })?;
        let pointer = decoded(fragment);
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(wrong(reference, "a JSON pointer, such as `#/$defs/name`"));
        }
        Ok(Self { file: normalise(&file), pointer })
    }

    /// Returns the target of a reference in this schema of `file`.
    pub fn follow(&self, file: &SchemaFile, reference: &str) -> Result<Reference, Fault> {
        let (url, fragment) = split(reference);
        let resources = file.resources(&self.file);
        let base = resources.around(&self.pointer).map_or("", |resource| resource.url.as_str());
        let url = resolved(base, url);
        let (file, root) = match (resources.with_url(&url), in_schemas(&url)) {
            (Some(resource), _) => (self.file.clone(), resource.pointer.clone()),
            (None, Some(file)) => (normalise(&file), String::new()),
            (None, None) => {
                let fault = Fault::new(Position::START, "no schema is fetched");
                return Err(fault.because(format!("`{reference}`"), "a file of `_schemas`"));
            }
        };
        let fragment = decoded(if fragment == "/" { "" } else { fragment });
        let is_pointer = fragment.is_empty() || fragment.starts_with('/');
        let fragment_pointer = if is_pointer { fragment.as_str() } else { "" };
        let target = Self { file, pointer: format!("{root}{}", fragment_pointer) };
        Ok(Reference { target, anchor: (!is_pointer).then_some(fragment) })
    }

    /// Returns the schema at these segments below this one.
    pub fn below(&self, segments: &[&str]) -> Self {
        let pointer = segments.iter().fold(self.pointer.clone(), |at, name| below(&at, name));
        Self { file: self.file.clone(), pointer }
    }

    /// Returns the value at this target in the file whose root is `root`.
    pub fn find<'n>(&self, root: &'n Node) -> Option<&'n Node> {
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

/// Resolves `%41` and its like; other text stays as it is.
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

    use super::{SchemaFile, Target};
    use crate::source::SourceFile;

    fn file(text: &str) -> SchemaFile {
        let source = SourceFile::of("s.json", text);
        let root = crate::yaml::read(&source).documents.into_iter().next().unwrap();
        SchemaFile::new(source, root)
    }

    #[test]
    fn references_lead_to_files_of_schemas_only() {
        let check = |id: &str, reference: &str, expected: Option<(&str, &str)>| {
            let file = file(&format!(r#"{{"$id": "{id}"}}"#));
            let from = Target { file: "a/b.json".to_owned(), pointer: "/not".to_owned() };
            let found = from.follow(&file, reference).and_then(|found| found.find(&file)).ok();
            let found = found.as_ref().map(|to| (to.file.as_str(), to.pointer.as_str()));
            assert_eq!(found, expected, "{id} {reference}");
        };
        check("", "#", Some(("a/b.json", "")));
        check("", "#/$defs/x%20y", Some(("a/b.json", "/$defs/x y")));
        check("", "#anchor", None);
        check("", "c.json#/x", Some(("a/c.json", "/x")));
        check("", "../c.json", Some(("c.json", "")));
        check("", "/c.json", Some(("c.json", "")));
        check("", "cerbos:///d/e.json", Some(("d/e.json", "")));
        check("", "https://example.com/e.json", None);
        check("https://example.com/b.json", "#/x", Some(("a/b.json", "/x")));
        check(
            "https://example.com/b.json",
            "https://example.com/b.json#/x",
            Some(("a/b.json", "/x")),
        );
        check("https://example.com/b.json", "c.json", None);
        check("cerbos:///z/b.json", "c.json", Some(("z/c.json", "")));
    }

    #[test]
    fn references_lead_to_resources_and_anchors_of_their_file() {
        let file = file(
            r#"{"$defs": {
                "a": {"$id": "nested/a.json", "$anchor": "top", "$defs": {"b": {"$anchor": "inner"}}},
                "c": {"$anchor": "c", "const": {"$id": "data", "$anchor": "data"}},
                "d": {"$id": "urn:example:d", "not": {"$dynamicAnchor": "e"}}
            }}"#,
        );
        let check = |from: &str, reference: &str, expected: Option<&str>| {
            let from = Target { file: "a/b.json".to_owned(), pointer: from.to_owned() };
            let found = from.follow(&file, reference).and_then(|found| found.find(&file)).ok();
            assert_eq!(found.map(|found| found.pointer).as_deref(), expected, "{reference}");
        };
        check("", "#c", Some("/$defs/c"));
        check("", "#inner", None);
        check("", "#data", None);
        check("", "nested/a.json", Some("/$defs/a"));
        check("", "nested/a.json#inner", Some("/$defs/a/$defs/b"));
        check("", "cerbos:///a/nested/a.json#top", Some("/$defs/a"));
        check("/$defs/a/$defs/b", "#", Some("/$defs/a"));
        check("/$defs/a/$defs/b", "#/$defs/b", Some("/$defs/a/$defs/b"));
        check("/$defs/a/$defs/b", "../b.json#c", Some("/$defs/c"));
        check("/$defs/d/not", "#e", Some("/$defs/d/not"));
        check("", "urn:example:d#e", Some("/$defs/d/not"));
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
        assert!(Target::of_policy("cerbos:///b.json#anchor").is_err());
    }
}

//! The resources of a schema file: every schema in it that has a URL of its own, and the anchors of
//! each.
//!
//! Only positions of schemas count: `$id` in a constant or an example is data.

use std::collections::BTreeMap;

use super::{field, text};
use crate::yaml::{Kind, Node};

/// The resources of one file; the first is the file itself.
#[derive(Debug)]
pub(super) struct Resources {
    all: Vec<Resource>,
    /// The names of `$dynamicAnchor`, and an empty one for `$recursiveAnchor`, as often as they
    /// occur.
    pub(super) dynamic: Vec<String>,
    /// A URL or an anchor that two schemas have.
    pub(super) twice: Option<String>,
}

/// A schema with a URL of its own.
#[derive(Debug)]
pub(super) struct Resource {
    /// Without a fragment.
    pub(super) url: String,
    pub(super) pointer: String,
    /// The pointers of the schemas that have a name in it.
    pub(super) anchors: BTreeMap<String, String>,
}

impl Resources {
    /// Finds the resources of the file at `path`, read as `draft`.
    pub(super) fn of(path: &str, root: &Node, draft: u32) -> Self {
        let mut found = Self { all: Vec::new(), dynamic: Vec::new(), twice: None };
        found.add(format!("cerbos:///{path}"), String::new());
        found.visit(root, draft, "", 0);
        found
    }

    /// Returns the resource that the schema at `pointer` belongs to.
    pub(super) fn around(&self, pointer: &str) -> Option<&Resource> {
        let holds = |resource: &&Resource| {
            pointer
                .strip_prefix(&resource.pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.all.iter().filter(holds).max_by_key(|resource| resource.pointer.len())
    }

    /// Returns the resource with this URL.
    pub(super) fn with_url(&self, url: &str) -> Option<&Resource> {
        self.all.iter().find(|resource| resource.url == url)
    }

    fn add(&mut self, url: String, pointer: String) -> usize {
        self.all.push(Resource { url, pointer, anchors: BTreeMap::new() });
        self.all.len().saturating_sub(1)
    }

    /// Records the declarations of `node` inside resource `of`, and those of the schemas below it.
    fn visit(&mut self, node: &Node, draft: u32, pointer: &str, of: usize) {
        let Kind::Map(entries) = &node.kind else { return };
        let of = self.declared(node, draft, pointer, of);
        for entry in entries {
            let Some(name) = text(&entry.key) else { continue };
            let pointer = below(pointer, name);
            match (contents(name), &entry.value.kind) {
                (Contents::Schema | Contents::SchemaOrList, Kind::Map(_)) => {
                    self.visit(&entry.value, draft, &pointer, of);
                }
                (Contents::SchemaOrList, Kind::Seq(items)) => {
                    for (at, item) in items.iter().enumerate() {
                        self.visit(item, draft, &below(&pointer, &at.to_string()), of);
                    }
                }
                (Contents::Named, Kind::Map(named)) => {
                    for entry in named {
                        let name = text(&entry.key).unwrap_or_default();
                        self.visit(&entry.value, draft, &below(&pointer, name), of);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the resource that `node` belongs to, a new one if it has a URL.
    fn declared(&mut self, node: &Node, draft: u32, pointer: &str, of: usize) -> usize {
        let name = if draft < 6 { "id" } else { "$id" };
        let lone_reference = draft < 2019 && field(node, "$ref").is_some();
        let id = field(node, name).and_then(text).filter(|_| !lone_reference).unwrap_or_default();
        let (url, fragment) = id.split_once('#').unwrap_or((id, ""));
        let of = if url.is_empty() { of } else { self.resource(url, pointer, of) };
        let texts = |name, from| field(node, name).filter(|_| draft >= from).and_then(text);
        let dynamic = texts("$dynamicAnchor", 2020);
        self.dynamic.extend(dynamic.map(str::to_owned));
        let recursive = field(node, "$recursiveAnchor").filter(|_| draft == 2019);
        if recursive.is_some_and(|flag| flag.kind == Kind::Bool(true)) {
            self.dynamic.push(String::new());
        }
        for anchor in [Some(fragment), texts("$anchor", 2019), dynamic].into_iter().flatten() {
            self.anchor(anchor, pointer, of);
        }
        of
    }

    fn resource(&mut self, url: &str, pointer: &str, of: usize) -> usize {
        let base = self.all.get(of).map_or("", |resource| resource.url.as_str());
        let url = resolved(base, url);
        if pointer.is_empty() {
            self.all.clear();
        } else if self.with_url(&url).is_some() {
            self.twice.get_or_insert(url.clone());
        }
        self.add(url, pointer.to_owned())
    }

    fn anchor(&mut self, name: &str, pointer: &str, of: usize) {
        if name.is_empty() || name.starts_with('/') {
            return;
        }
        let Some(resource) = self.all.get_mut(of) else { return };
        let before = resource.anchors.insert(name.to_owned(), pointer.to_owned());
        if before.is_some_and(|before| before != pointer) {
            self.twice.get_or_insert(format!("#{name}"));
        }
    }
}

/// The contents of a keyword's value.
enum Contents {
    Schema,
    SchemaOrList,
    Named,
    Data,
}

fn contents(keyword: &str) -> Contents {
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "additionalProperties"
        | "propertyNames"
        | "contains"
        | "additionalItems"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "contentSchema" => Contents::Schema,
        "allOf" | "anyOf" | "oneOf" | "items" | "prefixItems" => Contents::SchemaOrList,
        "$defs" | "definitions" | "properties" | "patternProperties" | "dependentSchemas"
        | "dependencies" => Contents::Named,
        _ => Contents::Data,
    }
}

/// Returns the pointer of member `name` below `pointer`.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns a URL resolved against the one that is in force (RFC 3986, section 5.2), both without
/// fragments.
pub(super) fn resolved(base: &str, url: &str) -> String {
    if url.is_empty() {
        return base.to_owned();
    }
    if has_scheme(url) {
        return url.to_owned();
    }
    if base.starts_with("urn:") {
        return format!("{base}{url}");
    }
    let (scheme, rest) = base.split_once(':').unwrap_or(("", base));
    if url.starts_with("//") {
        return format!("{scheme}:{url}");
    }
    let (authority, path) = rest.strip_prefix("//").map_or(("", rest), |rest| {
        let end = rest.find('/').unwrap_or(rest.len());
        rest.split_at_checked(end).unwrap_or((rest, ""))
    });
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if url.starts_with('/') { url.to_owned() } else { format!("{folder}/{url}") };
    format!("{scheme}://{authority}{}", without_dots(&path))
}

fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for segment in path.trim_start_matches('/').split('/') {
        ends_in_folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            other => segments.push(other),
        }
    }
    let end = if ends_in_folder && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/"))
}

pub(super) fn has_scheme(url: &str) -> bool {
    let end = url.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    end.is_some_and(|end| end > 0 && url.get(end..).is_some_and(|rest| rest.starts_with(':')))
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn urls_are_resolved_against_the_one_in_force() {
        let check = |base: &str, url: &str, expected: &str| {
            assert_eq!(resolved(base, url), expected, "{base} {url}");
        };
        check("cerbos:///a/b.json", "", "cerbos:///a/b.json");
        check("cerbos:///a/b.json", "c.json", "cerbos:///a/c.json");
        check("cerbos:///a/b.json", "../c.json", "cerbos:///c.json");
        check("cerbos:///a/b.json", "../../../c.json", "cerbos:///c.json");
        check("cerbos:///a/b.json", "/c.json", "cerbos:///c.json");
        check("cerbos:///b.json", "folder/", "cerbos:///folder/");
        check("cerbos:///folder/", "c.json", "cerbos:///folder/c.json");
        check("cerbos:///folder/b", "./d/..", "cerbos:///folder/");
        check("cerbos:///b.json", "https://example.com/x", "https://example.com/x");
        check("https://example.com/x/y", "z", "https://example.com/x/z");
        check("https://example.com/x/y", "//other.org/z", "https://other.org/z");
        check("https://example.com", "z", "https://example.com/z");
        check("urn:uuid:1", "urn:uuid:2", "urn:uuid:2");
    }
}

//! Reads typed values out of a tree, and reports everything that does not fit.
//!
//! A field goes by its JSON name or its protobuf name (`scopePermissions`, `scope_permissions`), as
//! in protojson. A reader never gives up: a wrong value reads as absent, and reading goes on.

use std::sync::Arc;

use wardgate_engine::attr::{Attr, AttrMap};

use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::nearest::{nearest, one_of};
use crate::policy::model::Named;
use crate::policy::name::Shape;
use crate::source::{Location, SourceFile};
use crate::yaml::{Kind, Node};

/// Collects the errors of one document.
pub struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    /// The errors that keep the document from being loaded.
    pub errors: Vec<Diagnostic>,
    /// Such errors about missing fields, which are dropped if a field is misspelt: it may be the
    /// missing one.
    missing: Vec<Diagnostic>,
    /// The same, unless the document is disabled.
    missing_checks: Vec<Diagnostic>,
    /// The errors of a document that is not disabled.
    pub checks: Vec<Diagnostic>,
    /// The errors that keep the document from being compiled.
    pub deferred: Vec<Diagnostic>,
}

/// A value, and where messages about its field point.
#[derive(Clone)]
pub struct Value<'n> {
    /// The value in the tree.
    pub node: &'n Node,
    /// The position and path that a message names.
    pub location: Location,
}

/// The fields of a message, in the order in which they are written.
pub struct Object<'n> {
    fields: Vec<(&'static str, Value<'n>)>,
    location: Location,
}

impl<'n> Object<'n> {
    /// Returns a present field.
    pub fn get(&self, name: &str) -> Option<&Value<'n>> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// Returns the place that messages about a field name when it is missing.
    pub fn missing(&self, name: &str) -> Location {
        Location {
            path: Arc::from(format!("{}.{name}", self.location.path)),
            ..self.location.clone()
        }
    }
}

/// An entry of a free-form map.
pub struct Item<'n> {
    /// The key's text.
    pub name: String,
    /// The position and path of the key.
    pub key: Location,
    /// The entry's value.
    pub value: Value<'n>,
}

impl<'a> Reader<'a> {
    /// Creates a reader of one document of `file`.
    pub fn new(file: &'a Arc<SourceFile>) -> Self {
        Self {
            file,
            errors: Vec::new(),
            missing: Vec::new(),
            missing_checks: Vec::new(),
            checks: Vec::new(),
            deferred: Vec::new(),
        }
    }

    /// Returns the root of the document as a value.
    pub fn root<'n>(&self, node: &'n Node) -> Value<'n> {
        let file = Arc::clone(self.file);
        Value { node, location: Location { file, position: node.position, path: Arc::from("$") } }
    }

    /// Returns the errors that keep the document from being loaded.
    pub fn findings(self, is_disabled: bool) -> Vec<Diagnostic> {
        let mut found = self.errors;
        let is_misspelt = found.iter().any(|error| error.code == Code::Parse);
        if !is_misspelt {
            found.extend(self.missing);
        }
        if !is_disabled {
            found.extend(self.checks);
        }
        if !is_misspelt && !is_disabled {
            found.extend(self.missing_checks);
        }
        found
    }

    /// Reports a missing field, unless a misspelt one may be meant for it.
    pub fn missing(&mut self, location: &Location, message: impl Into<String>) {
        self.missing.push(Diagnostic::error(Code::Validation, location, message));
    }

    /// Reports the same of a document that is not disabled.
    pub fn missing_check(&mut self, location: &Location, message: impl Into<String>) {
        self.missing_checks.push(Diagnostic::error(Code::Validation, location, message));
    }

    /// Reports a value of the right type and the wrong shape.
    pub fn invalid(&mut self, location: &Location, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(Code::Validation, location, message));
    }

    /// Reads a message whose fields have the given JSON names.
    pub fn object<'n>(&mut self, value: &Value<'n>, names: &[&'static str]) -> Option<Object<'n>> {
        let Kind::Map(entries) = &value.node.kind else {
            return self.mismatch(value, "a map");
        };
        let location = Location { position: value.node.position, ..value.location.clone() };
        let mut object = Object { fields: Vec::new(), location };
        for entry in entries {
            let Some((key, location)) = self.key(&entry.key, &value.location) else { continue };
            let Some(name) = names.iter().find(|name| is_name_of(&key, name)) else {
                self.unknown(&key, &location, names);
                continue;
            };
            if object.get(name).is_some() {
                let message = format!("field `{name}` is given twice, under two names");
                self.errors.push(Diagnostic::error(Code::Parse, &location, message));
                continue;
            }
            object.fields.push((name, Value { node: &entry.value, location }));
        }
        Some(object)
    }

    fn unknown(&mut self, key: &str, location: &Location, names: &[&'static str]) {
        let error = Diagnostic::error(Code::Parse, location, format!("unknown field `{key}`"));
        let expected = match nearest(key, names.iter().copied()) {
            Some(name) => format!("`{name}`"),
            None => one_of(names.iter().copied()),
        };
        self.errors.push(error.expected(expected));
    }

    fn key(&mut self, key: &Node, parent: &Location) -> Option<(String, Location)> {
        let Kind::String(text, _) = &key.kind else {
            let location = Location { position: key.position, ..parent.clone() };
            let error = Diagnostic::error(Code::Parse, &location, "a key must be text");
            self.errors.push(error.found(key.describe()));
            return None;
        };
        let quote = if text.contains(['$', '*', '.', '[', ']']) { "'" } else { "" };
        let path = Arc::from(format!("{}.{quote}{text}{quote}", parent.path));
        let file = Arc::clone(self.file);
        Some((text.as_ref().to_owned(), Location { file, position: key.position, path }))
    }

    /// Returns the only field of `object` among `names`; more than one is an error.
    pub fn one_of<'n>(
        &mut self,
        object: &Object<'n>,
        names: &[&'static str],
    ) -> Option<(&'static str, Value<'n>)> {
        let mut present = object.fields.iter().filter(|(name, _)| names.contains(name));
        let first = present.next();
        for (name, value) in present {
            let other = first.map_or("", |(other, _)| other);
            let message = format!("`{name}` cannot be combined with `{other}`");
            self.errors.push(Diagnostic::error(Code::Parse, &value.location, message));
        }
        if first.is_none() {
            let message = format!("{} is required", one_of(names.iter().copied()));
            self.missing(&object.location, message);
        }
        first.cloned()
    }

    /// Reads a list.
    pub fn list<'n>(&mut self, value: &Value<'n>) -> Option<Vec<Value<'n>>> {
        let Kind::Seq(items) = &value.node.kind else {
            return self.mismatch(value, "a list");
        };
        let item = |(i, node): (usize, &'n Node)| {
            let path = Arc::from(format!("{}[{i}]", value.location.path));
            let file = Arc::clone(self.file);
            Value { node, location: Location { file, position: node.position, path } }
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// Reads a map whose keys are the author's.
    pub fn map<'n>(&mut self, value: &Value<'n>) -> Vec<Item<'n>> {
        let Kind::Map(entries) = &value.node.kind else {
            self.mismatch::<()>(value, "a map");
            return Vec::new();
        };
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some((name, key)) = self.key(&entry.key, &value.location) {
                let location = Location { position: entry.value.position, ..key.clone() };
                items.push(Item { name, key, value: Value { node: &entry.value, location } });
            }
        }
        items
    }

    /// Reads text. Integers and booleans read as they are written, and nothing as empty text.
    pub fn text(&mut self, value: &Value<'_>) -> Option<Arc<str>> {
        match &value.node.kind {
            Kind::String(text, _) => Some(Arc::clone(text)),
            Kind::Null => Some(Arc::from("")),
            Kind::Integer(number) => Some(Arc::from(number.to_string())),
            Kind::Bool(value) => Some(Arc::from(value.to_string())),
            Kind::Float(_) => {
                self.mismatch(value, "text, between quotes if it looks like a number")
            }
            Kind::Seq(_) | Kind::Map(_) => self.mismatch(value, "text"),
        }
    }

    /// Reads a CEL expression.
    pub fn expression(&mut self, value: &Value<'_>) -> Option<ExprSource> {
        let text = self.text(value)?;
        Some(ExprSource { text, at: value.location.clone(), scalar: value.node.scalar_span() })
    }

    /// Reads `true` or `false`.
    pub fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        match value.node.kind {
            Kind::Bool(value) => Some(value),
            _ => self.mismatch(value, "`true` or `false`"),
        }
    }

    /// Reads the index of a word in a protobuf enumeration.
    pub fn word(&mut self, value: &Value<'_>, words: &[&'static str]) -> Option<usize> {
        let found = match &value.node.kind {
            Kind::String(text, _) => words.iter().position(|word| *word == text.as_ref()),
            Kind::Integer(number) => usize::try_from(*number).ok().filter(|n| *n < words.len()),
            Kind::Null => Some(0),
            _ => return self.mismatch(value, "a name in capitals"),
        };
        if found.is_none() {
            let at = Location { position: value.node.position, ..value.location.clone() };
            let error = Diagnostic::error(Code::Parse, &at, "unknown name");
            let error = error.expected(one_of(words.iter().skip(1).copied()));
            self.errors.push(match &value.node.kind {
                Kind::String(text, _) => error.found(format!("`{text}`")),
                _ => error.found("a number"),
            });
        }
        found
    }

    /// Reads the name in a field; an optional one that is absent is empty.
    pub fn name(&mut self, object: &Object<'_>, field: &str, shape: Shape) -> String {
        let Some(value) = object.get(field) else { return String::new() };
        let name = self.text(value).unwrap_or_default();
        self.check(&name, shape, &value.location);
        name.as_ref().to_owned()
    }

    /// Reads the name in a field that must be there.
    pub fn required_name(&mut self, object: &Object<'_>, field: &str, shape: Shape) -> String {
        let Some(value) = object.get(field) else {
            self.missing(&object.missing(field), format!("`{field}` is required"));
            return String::new();
        };
        let Some(name) = self.text(value) else { return String::new() };
        match name.is_empty() {
            true => self.invalid(&value.location, format!("`{field}` must not be empty")),
            false => self.check(&name, shape, &value.location),
        }
        name.as_ref().to_owned()
    }

    fn check(&mut self, name: &str, shape: Shape, location: &Location) {
        if !shape.fits(name) {
            let error = Diagnostic::error(Code::Validation, location, "this is not a valid name");
            self.errors.push(error.found(format!("`{name}`")).expected(shape.describe()));
        }
    }

    /// Reads a list of names, each of them once.
    pub fn names(&mut self, object: &Object<'_>, field: &str, shape: Shape) -> Vec<Named> {
        let items = object.get(field).cloned().and_then(|value| self.list(&value));
        let mut seen = std::collections::HashSet::new();
        let mut names = Vec::new();
        for item in items.unwrap_or_default() {
            let Some(name) = self.text(&item) else { continue };
            self.check(&name, shape, &item.location);
            if !seen.insert(Arc::clone(&name)) {
                self.invalid(&item.location, format!("`{name}` is in the list twice"));
            }
            names.push(Named { name: name.as_ref().to_owned(), location: item.location });
        }
        names
    }

    /// Reads a list of names that must hold at least one.
    pub fn required_names(&mut self, object: &Object<'_>, field: &str) -> Vec<String> {
        let names = self.names(object, field, Shape::Any);
        self.require_items(object, field);
        names.into_iter().map(|named| named.name).collect()
    }

    /// Complains about a list that is absent or empty.
    pub fn require_items(&mut self, object: &Object<'_>, field: &str) {
        match object.get(field) {
            None => self.missing(&object.missing(field), format!("`{field}` is required")),
            Some(Value { node: Node { kind: Kind::Seq(items), .. }, location })
                if items.is_empty() =>
            {
                self.invalid(&location.clone(), format!("`{field}` must not be empty"));
            }
            Some(_) => {}
        }
    }

    /// Reads a value of any shape.
    pub fn attr(&mut self, value: &Value<'_>) -> Option<Attr> {
        Some(match &value.node.kind {
            Kind::Null => Attr::Null,
            Kind::Bool(value) => Attr::Bool(*value),
            Kind::String(text, _) => Attr::String(text.as_ref().into()),
            Kind::Float(number) if number.is_finite() => Attr::Number(*number),
            Kind::Float(number) => {
                let location = Location { position: value.node.position, ..value.location.clone() };
                let error = Diagnostic::error(Code::Parse, &location, "the number is not finite");
                self.errors.push(error.found(format!("`{number}`")));
                return None;
            }
            Kind::Integer(number) => Attr::Number(to_double(*number)),
            Kind::Seq(_) => {
                let items = self.list(value)?;
                Attr::List(items.iter().filter_map(|item| self.attr(item)).collect())
            }
            Kind::Map(_) => {
                let items = self.map(value);
                let entries = items
                    .iter()
                    .filter_map(|item| Some((item.name.as_str().into(), self.attr(&item.value)?)));
                Attr::Map(entries.collect::<AttrMap>())
            }
        })
    }

    /// Reports a value of the wrong type; always returns `None`.
    pub fn mismatch<T>(&mut self, value: &Value<'_>, expected: &str) -> Option<T> {
        let location = Location { position: value.node.position, ..value.location.clone() };
        let error = Diagnostic::error(Code::Parse, &location, "the value has the wrong type");
        self.errors.push(error.found(value.node.describe()).expected(expected));
        None
    }
}

#[expect(clippy::as_conversions, reason = "no other way from an integer to the nearest double")]
fn to_double(number: i128) -> f64 {
    number as f64
}

/// Returns true if `key` is `name` in either spelling.
pub fn is_name_of(key: &str, name: &str) -> bool {
    key == name || name != SCHEMA_FIELD && key == snake_case(name) || is_schema_field(key, name)
}

/// Returns true for the one field whose protobuf name has other words than its JSON name.
fn is_schema_field(key: &str, name: &str) -> bool {
    name == SCHEMA_FIELD && key == "json_schema"
}

/// The field that names a JSON schema for editors; its value is not used.
pub const SCHEMA_FIELD: &str = "$schema";

fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

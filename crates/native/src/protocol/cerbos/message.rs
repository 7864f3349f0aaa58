//! A protobuf message in its JSON form: named fields, in camel case or in snake case.
//!
//! As in protobuf, `null` counts as missing. An unknown name is an error: a misspelt `attr` that
//! passed unseen would change the decision.

use std::collections::BTreeSet;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::limits::MAX_VALUE_DEPTH;

use crate::request::word;

/// The fields of one message, and its path in the request.
#[derive(Debug)]
pub struct Message<'a> {
    path: String,
    fields: Vec<(&'static str, &'a Attr)>,
}

impl<'a> Message<'a> {
    /// Reads a message that has the fields `known`, given in camel case.
    ///
    /// # Errors
    /// The value is not an object, or has another field, or one twice.
    pub fn read(value: &'a Attr, path: String, known: &[&'static str]) -> Result<Self, String> {
        let Attr::Map(map) = value else {
            return Err(wrong_kind(&path, "an object", value));
        };
        let mut fields = Vec::new();
        for (name, value) in map.entries() {
            let is_meant = |field: &&str| **field == **name || snake_case(field) == **name;
            let Some(field) = known.iter().copied().find(is_meant) else {
                return Err(unknown(&path, name, known));
            };
            if fields.iter().any(|(other, _)| *other == field) {
                return Err(format!("{} is given twice, in two spellings", quoted(&path, field)));
            }
            fields.push((field, value));
        }
        fields.retain(|(_, value)| **value != Attr::Null);
        Ok(Self { path, fields })
    }

    /// Returns a field; `None` if it is missing or `null`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a Attr> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value)
    }

    /// Returns the path of a field, for error messages.
    #[must_use]
    pub fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Returns a required field.
    ///
    /// # Errors
    /// The field is missing.
    pub fn required(&self, name: &str) -> Result<&'a Attr, String> {
        self.field(name).ok_or_else(|| format!("`{}` is missing", self.at(name)))
    }

    /// Returns text, empty if there is none.
    ///
    /// # Errors
    /// The field holds a value of another kind.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        match self.field(name) {
            None => Ok(""),
            Some(Attr::String(text)) => Ok(text),
            Some(other) => Err(wrong_kind(&self.at(name), "text", other)),
        }
    }

    /// Returns text that is not empty.
    ///
    /// # Errors
    /// The field is missing, empty or holds a value of another kind.
    pub fn name(&self, name: &str) -> Result<String, String> {
        self.required(name)?;
        match self.text(name)? {
            "" => Err(format!("`{}` is empty", self.at(name))),
            text => Ok(text.to_owned()),
        }
    }

    /// Returns `true` or `false`; `false` if there is none.
    ///
    /// # Errors
    /// The field holds a value of another kind.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.field(name) {
            None => Ok(false),
            Some(Attr::Bool(value)) => Ok(*value),
            Some(other) => Err(wrong_kind(&self.at(name), "true or false", other)),
        }
    }

    /// Returns a list that is not empty.
    ///
    /// # Errors
    /// The field is missing, empty or holds a value of another kind.
    pub fn list(&self, name: &str) -> Result<&'a [Attr], String> {
        match self.required(name)? {
            Attr::List(items) if items.is_empty() => Err(format!("`{}` is empty", self.at(name))),
            Attr::List(items) => Ok(items),
            other => Err(wrong_kind(&self.at(name), "a list", other)),
        }
    }

    /// Returns a list of names, each once.
    ///
    /// # Errors
    /// The field is missing, empty or holds a value of another kind.
    pub fn names(&self, name: &str) -> Result<Vec<String>, String> {
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        for (index, item) in self.list(name)?.iter().enumerate() {
            let at = || format!("{}[{index}]", self.at(name));
            match item {
                Attr::String(text) if text.is_empty() => {
                    return Err(format!("`{}` is empty", at()));
                }
                Attr::String(text) if !seen.insert(text) => {
                    return Err(format!("`{}` lists `{text}` twice", self.at(name)));
                }
                Attr::String(text) => names.push(text.to_string()),
                other => return Err(wrong_kind(&at(), "text", other)),
            }
        }
        Ok(names)
    }

    /// Returns an object with names of the caller's choice, empty if there is none.
    ///
    /// # Errors
    /// The field holds a value of another kind.
    pub fn attributes(&self, name: &str) -> Result<AttrMap, String> {
        let value = match self.field(name) {
            None => return Ok(AttrMap::new()),
            Some(value) => value,
        };
        let Attr::Map(map) = value else {
            return Err(wrong_kind(&self.at(name), "an object", value));
        };
        if map.get("").is_some() {
            return Err(format!("`{}` has a member without a name", self.at(name)));
        }
        if map.entries().iter().any(|(_, value)| is_deeper(value, MAX_VALUE_DEPTH)) {
            let at = self.at(name);
            return Err(format!("`{at}` is nested more than {MAX_VALUE_DEPTH} levels deep"));
        }
        Ok(map.clone())
    }
}

/// Returns a message with the expected and the found kind.
fn wrong_kind(path: &str, expected: &str, found: &Attr) -> String {
    let found = word(found);
    if path.is_empty() {
        return format!("a request must be {expected}, found {found}");
    }
    format!("`{path}`: expected {expected}, found {found}")
}

fn unknown(path: &str, name: &str, known: &[&str]) -> String {
    // The singular of a field, or its plural.
    let is_meant = |field: &&&str| {
        field.strip_suffix('s') == Some(name) || name.strip_suffix('s') == Some(field)
    };
    let expected = match known.iter().find(is_meant) {
        Some(field) => format!("`{field}`"),
        None => {
            let known: Vec<_> = known.iter().map(|field| format!("`{field}`")).collect();
            format!("one of {}", known.join(", "))
        }
    };
    format!("unknown field {}, expected {expected}", quoted(path, name))
}

fn quoted(path: &str, name: &str) -> String {
    if path.is_empty() { format!("`{name}`") } else { format!("`{path}.{name}`") }
}

fn snake_case(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 2);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Returns true if `value` nests more than `left` levels. The reader bounds the depth, so this
/// ends.
fn is_deeper(value: &Attr, left: usize) -> bool {
    match (value, left.checked_sub(1)) {
        (Attr::List(_) | Attr::Map(_), None) => true,
        (Attr::List(items), Some(left)) => items.iter().any(|item| is_deeper(item, left)),
        (Attr::Map(map), Some(left)) => map.entries().iter().any(|(_, v)| is_deeper(v, left)),
        _ => false,
    }
}

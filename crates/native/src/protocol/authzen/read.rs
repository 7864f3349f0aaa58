//! Reads members of requests from untrusted senders. Values are bounded before they are read.

use wardgate_engine::attr::{Attr, AttrMap};

use super::limits::{MAX_DEPTH, MAX_NAME_BYTES};
use super::{AuthzenError, Result};
use crate::protocol::documents;

/// An object of the request.
pub(super) struct Object<'a> {
    pub(super) path: &'static str,
    pub(super) map: &'a AttrMap,
}

/// Reads JSON with at most `most` values.
pub(super) fn document(json: &[u8], most: usize) -> Result<Attr> {
    let document = documents::attribute(json).map_err(|error| bad(error.to_string()))?;
    bounded(&document, most)?;
    Ok(document)
}

/// Returns the request itself.
pub(super) fn root(document: &Attr) -> Result<Object<'_>> {
    Ok(Object { path: "", map: object(document, "the request")? })
}

impl<'a> Object<'a> {
    /// Returns the object `name`, which is required.
    pub(super) fn required(&self, name: &'static str) -> Result<Object<'a>> {
        let found = self.map.get(name).ok_or_else(|| self.wrong(name, "an object", None))?;
        Ok(Object { path: name, map: object(found, name)? })
    }

    /// Returns the object `name`, empty if there is none.
    pub(super) fn object(&self, name: &str) -> Result<&'a AttrMap> {
        Ok(self.given(name)?.unwrap_or(&NOTHING))
    }

    /// Returns the object `name`, or `None`.
    pub(super) fn given(&self, name: &str) -> Result<Option<&'a AttrMap>> {
        match self.member(name) {
            None => Ok(None),
            Some(Attr::Map(map)) => Ok(Some(map)),
            found => Err(self.wrong(name, "an object", found)),
        }
    }

    /// Returns the list `name`, or `None`.
    pub(super) fn list(&self, name: &str) -> Result<Option<&'a [Attr]>> {
        match self.member(name) {
            None => Ok(None),
            Some(Attr::List(items)) => Ok(Some(items)),
            found => Err(self.wrong(name, "an array", found)),
        }
    }

    /// Returns a member; `null` counts as missing.
    pub(super) fn member(&self, name: &str) -> Option<&'a Attr> {
        self.map.get(name).filter(|value| **value != Attr::Null)
    }

    /// Returns a required name: a type, an id, or that of an action.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        match self.map.get(name) {
            Some(Attr::String(text)) if text.len() > MAX_NAME_BYTES => {
                let (name, found) = (self.name(name), text.len());
                Err(bad(format!(
                    "`{name}` must have at most {MAX_NAME_BYTES} bytes, found {found}"
                )))
            }
            Some(Attr::String(text)) => Ok(text.to_string()),
            found => Err(self.wrong(name, "a string", found)),
        }
    }

    pub(super) fn name(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn wrong(&self, name: &str, expected: &str, found: Option<&Attr>) -> AuthzenError {
        let found = found.map_or("nothing", kind_of);
        bad(format!("`{}` must be {expected}, found {found}", self.name(name)))
    }
}

/// Returns the members of a value, or an error if it is not an object.
pub(super) fn object<'a>(value: &'a Attr, name: &str) -> Result<&'a AttrMap> {
    match value {
        Attr::Map(map) => Ok(map),
        other => {
            let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
            Err(bad(format!("{name} must be an object, found {}", kind_of(other))))
        }
    }
}

pub(super) fn texts(value: &Attr) -> Option<Vec<String>> {
    let text = |item: &Attr| match item {
        Attr::String(text) => Some(text.to_string()),
        _ => None,
    };
    match value {
        Attr::List(items) => items.iter().map(text).collect(),
        _ => None,
    }
}

pub(super) fn bad(message: String) -> AuthzenError {
    AuthzenError(message)
}

/// Counts values level by level, and fails above the bounds.
fn bounded(document: &Attr, most: usize) -> Result<()> {
    let (mut level, mut values) = (vec![document], 0_usize);
    for _ in 0..=MAX_DEPTH {
        values = values.saturating_add(level.len());
        if values > most {
            return Err(bad(format!("the request holds more than {most} values")));
        }
        level = level.into_iter().flat_map(inside).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(bad(format!("the request nests deeper than {MAX_DEPTH} levels")))
}

fn inside(value: &Attr) -> Vec<&Attr> {
    match value {
        Attr::List(items) => items.iter().collect(),
        Attr::Map(map) => map.entries().iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

pub(super) const fn kind_of(value: &Attr) -> &'static str {
    match value {
        Attr::Null => "null",
        Attr::Bool(_) => "a boolean",
        Attr::Number(_) => "a number",
        Attr::String(_) => "a string",
        Attr::List(_) => "an array",
        Attr::Map(_) => "an object",
    }
}

static NOTHING: AttrMap = AttrMap::new();

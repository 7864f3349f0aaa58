//! Reads attributes from JavaScript values.
//!
//! The types of JSON are read, with two additions: a `Date` becomes its ISO text and a `Map` with
//! string keys becomes an object. Any other value is an error that names its path, because an
//! attribute that silently changed its type would cause a wrong decision. `toJSON` is never called.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::limits::{MAX_REQUEST_BYTES, MAX_REQUEST_VALUES, MAX_VALUE_DEPTH};
use wardgate_engine::text::joined;
use wasm_bindgen::JsValue;

use crate::failure::{Failure, Result};
use crate::js::{self, Kind};
use crate::path::Path;

/// A reader of one request, which enforces its bounds.
///
/// The bounds on the total matter although depth is bounded too: a small graph of shared objects
/// can unfold into an endless tree.
pub(crate) struct Reader {
    values_left: usize,
    bytes_left: usize,
}

impl Reader {
    /// Makes a reader with the full bounds.
    pub(crate) const fn new() -> Self {
        Self { values_left: MAX_REQUEST_VALUES, bytes_left: MAX_REQUEST_BYTES }
    }

    /// Returns the number of values read so far.
    pub(crate) const fn values(&self) -> usize {
        MAX_REQUEST_VALUES.saturating_sub(self.values_left)
    }

    /// Reads an object of attributes; `undefined` is the empty one.
    pub(crate) fn attributes(&mut self, value: &JsValue, path: &Path<'_>) -> Result<AttrMap> {
        match js::kind(value)? {
            Kind::Undefined => Ok(AttrMap::new()),
            Kind::Object => self.object(value, path, MAX_VALUE_DEPTH),
            Kind::Map => self.map(value, path, MAX_VALUE_DEPTH),
            other => Err(wrong(path, "an object", &other)),
        }
    }

    /// Reads an array of strings.
    pub(crate) fn strings(&mut self, value: &JsValue, path: &Path<'_>) -> Result<Vec<String>> {
        let kind = js::kind(value)?;
        if !matches!(kind, Kind::List) {
            return Err(wrong(path, "an array of strings", &kind));
        }
        (0..elements(value, path)?)
            .map(|index| {
                let item = js::member(value, &index.into())?;
                self.string(&item, &path.index(index))
            })
            .collect()
    }

    /// Reads a string.
    pub(crate) fn string(&mut self, value: &JsValue, path: &Path<'_>) -> Result<String> {
        match js::kind(value)? {
            Kind::String(text) => {
                self.count(path)?;
                self.text(&text, path)
            }
            other => Err(wrong(path, "a string", &other)),
        }
    }

    /// Reads an optional string; an absent one is empty.
    pub(crate) fn optional_string(&mut self, value: &JsValue, path: &Path<'_>) -> Result<String> {
        if value.is_undefined() { Ok(String::new()) } else { self.string(value, path) }
    }

    /// Reads the members of an object that may have only the known names.
    pub(crate) fn fields(
        &mut self,
        value: &JsValue,
        path: &Path<'_>,
        known: &'static [&'static str],
    ) -> Result<Fields> {
        let kind = js::kind(value)?;
        if !matches!(kind, Kind::Object) {
            return Err(wrong(path, "an object", &kind));
        }
        let mut members = Vec::new();
        let keys = js::keys(value)?;
        for index in 0..js::length(&keys) {
            let key = js::member(&keys, &index.into())?;
            let name = self.text(&key, path)?;
            let Some(&name) = known.iter().find(|known| **known == name) else {
                return Err(unknown(path, &name, known));
            };
            members.push((name, js::member(value, &key)?));
        }
        Ok(Fields { members, absent: JsValue::UNDEFINED })
    }

    fn value(
        &mut self,
        kind: Kind,
        value: &JsValue,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<Attr> {
        self.count(path)?;
        Ok(match kind {
            Kind::Null => Attr::Null,
            Kind::Bool(known) => Attr::Bool(known),
            Kind::Number(number) if number.is_finite() => Attr::Number(number),
            Kind::String(text) => Attr::String(self.text(&text, path)?.into()),
            Kind::Date => Attr::String(self.date(value, path)?.into()),
            Kind::List => Attr::List(self.list(value, path, deeper(path, depth)?)?),
            Kind::Object => Attr::Map(self.object(value, path, deeper(path, depth)?)?),
            Kind::Map => Attr::Map(self.map(value, path, deeper(path, depth)?)?),
            Kind::Number(_) => return Err(wrong(path, "a finite number", &kind)),
            Kind::Undefined | Kind::Other(_) => return Err(wrong(path, "a JSON value", &kind)),
        })
    }

    fn list(&mut self, value: &JsValue, path: &Path<'_>, depth: usize) -> Result<Vec<Attr>> {
        let length = elements(value, path)?;
        let mut items = Vec::new();
        for index in 0..length {
            let item = js::member(value, &index.into())?;
            items.push(self.value(js::kind(&item)?, &item, &path.index(index), depth)?);
        }
        Ok(items)
    }

    fn object(&mut self, value: &JsValue, path: &Path<'_>, depth: usize) -> Result<AttrMap> {
        let mut entries = Vec::new();
        let keys = js::keys(value)?;
        for index in 0..js::length(&keys) {
            let key = js::member(&keys, &index.into())?;
            let name = self.text(&key, path)?;
            let member = js::member(value, &key)?;
            self.entry(name, &member, path, depth, &mut entries)?;
        }
        Ok(entries.into_iter().collect())
    }

    fn map(&mut self, value: &JsValue, path: &Path<'_>, depth: usize) -> Result<AttrMap> {
        let mut entries = Vec::new();
        let pairs = js::pairs(value)?;
        for index in 0..js::length(&pairs) {
            let pair = js::member(&pairs, &index.into())?;
            let (key, member) = (js::member(&pair, &0.into())?, js::member(&pair, &1.into())?);
            let Kind::String(key) = js::kind(&key)? else {
                let found = js::kind(&key)?;
                return Err(Failure::Type(format!(
                    "keys of {path} must be strings, found {}",
                    found.word()
                )));
            };
            let name = self.text(&key, path)?;
            self.entry(name, &member, path, depth, &mut entries)?;
        }
        Ok(entries.into_iter().collect())
    }

    /// Reads one member into `entries`; an undefined one is absent, as in JSON.
    fn entry(
        &mut self,
        name: String,
        member: &JsValue,
        path: &Path<'_>,
        depth: usize,
        entries: &mut Vec<(Box<str>, Attr)>,
    ) -> Result<()> {
        let kind = js::kind(member)?;
        if !matches!(kind, Kind::Undefined) {
            let value = self.value(kind, member, &path.key(&name), depth)?;
            entries.push((name.into(), value));
        }
        Ok(())
    }

    fn date(&mut self, value: &JsValue, path: &Path<'_>) -> Result<String> {
        let iso = js::iso(value)?.ok_or_else(|| {
            Failure::Type(format!("{path} must be a point in time, found an invalid Date"))
        })?;
        self.text(&iso, path)
    }

    fn text(&mut self, string: &JsValue, path: &Path<'_>) -> Result<String> {
        // A string has at least as many bytes as UTF-16 units, so the copy is refused before it is
        // made.
        let units = usize::try_from(js::length(string)).unwrap_or(usize::MAX);
        if units > self.bytes_left {
            return Err(too_long(path));
        }
        let text = js::text(string).ok_or_else(|| {
            Failure::Type(format!("{path} must be well-formed text, found half a surrogate pair"))
        })?;
        self.bytes_left = self.bytes_left.checked_sub(text.len()).ok_or_else(|| too_long(path))?;
        Ok(text)
    }

    fn count(&mut self, path: &Path<'_>) -> Result<()> {
        let left = self.values_left.checked_sub(1).ok_or_else(|| {
            Failure::Range(format!(
                "{path} is past the {MAX_REQUEST_VALUES} values that a request may hold"
            ))
        })?;
        self.values_left = left;
        Ok(())
    }
}

/// The members of an object that may have only known names.
pub(crate) struct Fields {
    members: Vec<(&'static str, JsValue)>,
    absent: JsValue,
}

impl Fields {
    /// Returns a member; `undefined` if it is absent.
    pub(crate) fn member(&self, name: &str) -> &JsValue {
        let found = self.members.iter().find(|(known, _)| *known == name);
        found.map_or(&self.absent, |(_, value)| value)
    }
}

fn elements(list: &JsValue, path: &Path<'_>) -> Result<u32> {
    let length = js::elements(list)?;
    length
        .ok_or_else(|| Failure::Type(format!("{path} must be an array, found one without length")))
}

fn deeper(path: &Path<'_>, depth: usize) -> Result<usize> {
    let left = depth.checked_sub(1).filter(|left| *left > 0);
    left.ok_or_else(|| {
        Failure::Type(format!(
            "{path} nests deeper than {MAX_VALUE_DEPTH} levels, or contains itself"
        ))
    })
}

fn wrong(path: &Path<'_>, expected: &str, found: &Kind) -> Failure {
    Failure::Type(format!("{path} must be {expected}, found {}", found.word()))
}

fn unknown(path: &Path<'_>, name: &str, known: &[&str]) -> Failure {
    let known = joined(&mut known.iter().copied(), ", ");
    Failure::Type(format!("unknown field `{name}` in {path}, expected one of {known}"))
}

fn too_long(path: &Path<'_>) -> Failure {
    Failure::Range(format!("{path} is past the {MAX_REQUEST_BYTES} bytes that a request may hold"))
}

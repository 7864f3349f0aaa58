//! A table of the configuration, read key by key.
//!
//! Every key that code reads is a known key, and any other key is an error. So no list of keys can
//! fall behind the code that reads them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::environment::Overrides;
use super::nearest::nearest;

/// A table that is being read. [`Section::finish`] must be the last call.
pub(crate) struct Section<'c> {
    source: Source<'c>,
    folder: &'c Path,
    /// Its name in the file; empty for the whole file.
    path: String,
    table: Option<&'c DeTable<'c>>,
    /// What overrides its keys. A table of a list has no keys that could be named.
    overrides: Option<&'c Overrides<'c>>,
    known: Vec<&'static str>,
    /// The first of the keys that must be there and are not.
    missing: Option<ConfigError>,
}

/// The origin of a table.
#[derive(Clone, Copy)]
enum Source<'c> {
    /// The text of the file.
    File(&'c str),
    /// A variable of the environment.
    Variable(&'c str),
}

/// The place of a value, for messages.
#[derive(Clone, Copy)]
enum Place<'c> {
    Line(usize),
    Variable(&'c str),
}

/// A value with its place and name.
struct Value<'c> {
    value: &'c DeValue<'c>,
    place: Place<'c>,
    name: String,
}

impl<'c> Section<'c> {
    pub(super) fn root(
        text: &'c str,
        folder: &'c Path,
        table: &'c DeTable<'c>,
        overrides: &'c Overrides<'c>,
    ) -> Self {
        let source = Source::File(text);
        let (path, table, overrides) = (String::new(), Some(table), Some(overrides));
        Self { source, folder, path, table, overrides, known: vec![], missing: None }
    }

    /// Returns the name of the table in the file.
    pub(crate) fn name(&self) -> &str {
        &self.path
    }

    /// Returns true if the configuration has this table, or a key of it.
    pub(crate) fn is_given(&self) -> bool {
        self.table.is_some() || self.overrides.is_some_and(|all| all.has_below(&self.path))
    }

    /// Returns true if the table has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
            || self.overrides.is_some_and(|all| all.has(&self.below(key)))
    }

    /// Returns true if this key has a table as its value.
    pub(crate) fn has_table(&self, key: &str) -> bool {
        let path = self.below(key);
        let overriding = self.overrides.and_then(|all| all.find(&path, self.folder).ok().flatten());
        let value = match overriding {
            Some((_, value)) => Some(value),
            None => self.table.and_then(|table| table.get(key)).map(toml::Spanned::get_ref),
        };
        value.is_some_and(|value| matches!(value, DeValue::Table(_)))
            || self.overrides.is_some_and(|all| all.has_below(&path))
    }

    /// Returns a table within, an empty one if the configuration has none.
    pub(crate) fn section(&mut self, key: &'static str) -> Result<Section<'c>, ConfigError> {
        let path = self.below(key);
        let found = self.take(key)?;
        let table = match found.as_ref().map(|found| found.value) {
            None => None,
            Some(DeValue::Table(table)) => Some(table),
            Some(_) => return Err(wrong(found.as_ref(), "a table")),
        };
        let source = found.map_or(self.source, |found| found.source(self.source));
        Ok(Section { source, path, table, known: vec![], missing: None, ..*self })
    }

    /// Returns the tables of a list.
    pub(crate) fn sections(&mut self, key: &'static str) -> Result<Vec<Section<'c>>, ConfigError> {
        let path = self.below(key);
        let Some(found) = self.take(key)? else { return Ok(Vec::new()) };
        let DeValue::Array(items) = found.value else {
            return Err(found.wrong("a list of tables"));
        };
        let source = found.source(self.source);
        let table = |item: &'c toml::Spanned<DeValue<'c>>| match item.get_ref() {
            DeValue::Table(table) => {
                let (path, table, overrides) = (path.clone(), Some(table), None);
                let (known, missing) = (vec![], None);
                Ok(Section { source, path, table, overrides, known, missing, ..*self })
            }
            _ => Err(found.wrong("a list of tables")),
        };
        items.iter().map(table).collect()
    }

    /// Returns text that is not empty.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<String>, ConfigError> {
        self.take(key)?.map(|found| found.text()).transpose()
    }

    /// Returns required text. If it is missing, [`Section::finish`] reports that after the unknown
    /// keys, because one of them may be this one, misspelt.
    pub(crate) fn required(&mut self, key: &'static str) -> Result<String, ConfigError> {
        let text = self.text(key)?;
        if text.is_none() && self.missing.is_none() {
            let message = format!("`{key}` is missing in `[{}]`", self.path);
            self.missing = Some(ConfigError::new(message));
        }
        Ok(text.unwrap_or_default())
    }

    /// Returns a path that must be there.
    pub(crate) fn required_path(&mut self, key: &'static str) -> Result<PathBuf, ConfigError> {
        Ok(self.folder.join(self.required(key)?))
    }

    /// Returns a path, relative to the folder of the configuration.
    pub(crate) fn path(&mut self, key: &'static str) -> Result<Option<PathBuf>, ConfigError> {
        Ok(self.text(key)?.map(|text| self.folder.join(text)))
    }

    /// Returns paths.
    pub(crate) fn paths(&mut self, key: &'static str) -> Result<Vec<PathBuf>, ConfigError> {
        Ok(self.texts(key)?.into_iter().map(|text| self.folder.join(text)).collect())
    }

    /// Returns paths; `None` if the value is the one word `word`.
    pub(crate) fn paths_or(
        &mut self,
        key: &'static str,
        word: &str,
    ) -> Result<Option<Vec<PathBuf>>, ConfigError> {
        let texts = self.texts(key)?;
        let paths = || texts.iter().map(|text| self.folder.join(text)).collect();
        Ok((texts != [word]).then(paths))
    }

    /// Returns texts; one alone needs no brackets.
    pub(crate) fn texts(&mut self, key: &'static str) -> Result<Vec<String>, ConfigError> {
        let Some(found) = self.take(key)? else { return Ok(Vec::new()) };
        let one = |value: &'c DeValue<'c>| {
            Value { value, place: found.place, name: found.name.clone() }.text()
        };
        match (found.value, found.place) {
            (DeValue::Array(items), _) => items.iter().map(|item| one(item.get_ref())).collect(),
            (DeValue::String(text), Place::Variable(_)) => {
                let texts = text.split(',').map(str::trim).map(str::to_owned);
                let texts: Vec<String> = texts.collect();
                let is_empty = texts.iter().any(String::is_empty);
                if is_empty {
                    Err(found.wrong("texts with commas between them"))
                } else {
                    Ok(texts)
                }
            }
            (value, _) => Ok(vec![one(value)?]),
        }
    }

    /// Returns texts; `None` if the file lacks the key.
    pub(crate) fn texts_if_given(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<String>>, ConfigError> {
        let is_given = self.has(key);
        let texts = self.texts(key)?;
        Ok(is_given.then_some(texts))
    }

    /// Returns `true` or `false`.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        let Some(found) = self.take(key)? else { return Ok(None) };
        match (found.value, found.word()) {
            (DeValue::Boolean(flag), _) => Ok(Some(*flag)),
            (_, Some("true")) => Ok(Some(true)),
            (_, Some("false")) => Ok(Some(false)),
            _ => Err(found.wrong("`true` or `false`")),
        }
    }

    /// Returns a whole number of a range.
    pub(crate) fn number<N>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<N>,
    ) -> Result<Option<N>, ConfigError>
    where
        N: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(found) = self.take(key)? else { return Ok(None) };
        let number = match found.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            _ => found.word().and_then(|word| word.parse().ok()),
        };
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let number = number.filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| found.wrong(&expected))
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn share(&mut self, key: &'static str) -> Result<Option<f64>, ConfigError> {
        let Some(found) = self.take(key)? else { return Ok(None) };
        let number: Option<f64> = match found.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => found.word().and_then(|word| word.parse().ok()),
        };
        let number = number.filter(|number| (0.0..=1.0).contains(number));
        number.map(Some).ok_or_else(|| found.wrong("a number from 0 to 1"))
    }

    /// Returns a whole number of seconds.
    pub(crate) fn seconds(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<Duration>, ConfigError> {
        Ok(self.number(key, range)?.map(Duration::from_secs))
    }

    /// Returns one of some words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ConfigError> {
        let Some(found) = self.take(key)? else { return Ok(None) };
        let text = found.text()?;
        let meant = words.iter().find(|(word, _)| *word == text);
        let names: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        meant.map(|(_, value)| Some(*value)).ok_or_else(|| found.wrong(&names.join(", ")))
    }

    /// Refuses unknown keys and missing required keys.
    pub(crate) fn finish(self) -> Result<(), ConfigError> {
        let keys = self.table.into_iter().flat_map(|table| table.keys());
        for key in keys {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let location = match self.path.as_str() {
                "" => String::new(),
                path => format!(" in `[{path}]`"),
            };
            let meant = match nearest(name, &self.known) {
                Some(meant) => format!("; did you mean `{meant}`?"),
                None => String::new(),
            };
            let message = format!("unknown key `{name}`{location}{meant}");
            return Err(self.place(key.span().start).error(&message));
        }
        if let Some(overrides) = self.overrides {
            overrides.must_be_known(&self.path, &self.known)?;
            if self.path.is_empty() {
                overrides.must_be_apart(&self.known)?;
            }
        }
        let is_given = self.is_given();
        self.missing.filter(|_| is_given).map_or(Ok(()), Err)
    }

    fn take(&mut self, key: &'static str) -> Result<Option<Value<'c>>, ConfigError> {
        self.known.push(key);
        let name = self.below(key);
        let overriding = self.overrides.map(|all| all.find(&name, self.folder)).transpose()?;
        if let Some((variable, value)) = overriding.flatten() {
            return Ok(Some(Value { value, place: Place::Variable(variable), name }));
        }
        let found = self.table.and_then(|table| table.get_key_value(key));
        Ok(found.map(|(at, value)| {
            let place = self.place(at.span().start);
            Value { value: value.get_ref(), place, name }
        }))
    }

    /// Returns the place of a byte of the source.
    fn place(&self, at: usize) -> Place<'c> {
        match self.source {
            Source::File(text) => Place::Line(line_at(text, at)),
            Source::Variable(name) => Place::Variable(name),
        }
    }

    fn below(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }
}

impl<'c> Value<'c> {
    fn text(&self) -> Result<String, ConfigError> {
        match self.value {
            DeValue::String(text) if !text.is_empty() => Ok(text.clone().into_owned()),
            _ => Err(self.wrong("text that is not empty")),
        }
    }

    /// Returns the text of a variable, which stands for numbers and flags too.
    fn word(&self) -> Option<&str> {
        match (self.value, self.place) {
            (DeValue::String(text), Place::Variable(_)) => Some(text),
            _ => None,
        }
    }

    /// Returns the source of a table that is this value; `file` is that of the values around it.
    const fn source(&self, file: Source<'c>) -> Source<'c> {
        match self.place {
            Place::Line(_) => file,
            Place::Variable(name) => Source::Variable(name),
        }
    }

    fn wrong(&self, expected: &str) -> ConfigError {
        match self.place {
            Place::Line(line) => {
                ConfigError::at(line, format!("`{}` must be {expected}", self.name))
            }
            Place::Variable(name) => ConfigError::new(format!("`{name}` must be {expected}")),
        }
    }
}

impl Place<'_> {
    fn error(self, message: &str) -> ConfigError {
        match self {
            Place::Line(line) => ConfigError::at(line, message),
            Place::Variable(name) => ConfigError::new(format!("`{name}`: {message}")),
        }
    }
}

fn wrong(found: Option<&Value<'_>>, expected: &str) -> ConfigError {
    found.map_or_else(|| ConfigError::new(expected), |found| found.wrong(expected))
}

/// The line of a byte, counted from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

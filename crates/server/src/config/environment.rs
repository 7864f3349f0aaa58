//! Variables of the environment that override keys of the file.
//!
//! `WARDGATE_HTTP__MAX_CONNECTIONS` is `max-connections` of `[http]`: `__` stands behind each table,
//! `_` for `-`. A name that no key has is an error, as in the file. Reading code knows nothing of it:
//! [`Section`](super::Section) finds each value here or in the file.

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use toml::de::DeValue;

use super::ConfigError;
use super::nearest::nearest;
use crate::files::secret;

/// The variables of the environment whose names begin with `WARDGATE_`.
#[derive(Default)]
pub struct Environment {
    /// Those that have `__`.
    variables: Vec<Variable>,
    /// The names of the others behind `WARDGATE_`: they may be for other purposes.
    others: Vec<String>,
}

struct Variable {
    name: String,
    /// The key that it overrides, as the file would name it: `http.max-connections`.
    path: String,
    text: String,
}

impl Environment {
    /// Takes the variables of a process; others than ours are passed over.
    ///
    /// # Errors
    /// A name has not the form of a key, or a value is not text.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let mut all = Self::default();
        for (name, value) in variables {
            let Some(name) = name.to_str() else { continue };
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            if !key.contains("__") {
                all.others.push(key.to_owned());
                continue;
            }
            let path = path_of(key).ok_or_else(|| malformed(name))?;
            let text = value.into_string();
            let text = text.map_err(|_| wrong(name, "is not text in UTF-8"))?;
            all.variables.push(Variable { name: name.to_owned(), path, text });
        }
        // The first error must not depend on the order in which the system has them.
        all.variables.sort_by(|one, other| one.name.cmp(&other.name));
        all.others.sort();
        Ok(all)
    }

    /// Returns the name of a variable that overrides a key, if there is one.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.variables.first().map(|variable| variable.name.as_str())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        f.debug_list().entries(self.variables.iter().map(|variable| &variable.name)).finish()
    }
}

/// The values of an environment, while one configuration is read.
pub(crate) struct Overrides<'e> {
    all: Vec<Override<'e>>,
    environment: &'e Environment,
}

struct Override<'e> {
    variable: &'e Variable,
    value: DeValue<'e>,
    /// The content of the file that the value names, once it was read.
    content: OnceCell<DeValue<'static>>,
    is_used: Cell<bool>,
}

/// A value, and the variable that has it.
pub(crate) type Found<'o> = (&'o str, &'o DeValue<'o>);

impl<'e> Overrides<'e> {
    pub(crate) fn new(environment: &'e Environment) -> Result<Self, ConfigError> {
        let one = |variable: &'e Variable| {
            let value = value(variable)?;
            Ok(Override { variable, value, content: OnceCell::new(), is_used: Cell::new(false) })
        };
        let all = environment.variables.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Self { all, environment })
    }

    /// Returns the value of a key. A variable of its name and `_FILE` names a file with the value;
    /// paths are relative to `folder`.
    pub(crate) fn find(&self, path: &str, folder: &Path) -> Result<Option<Found<'_>>, ConfigError> {
        let (named, in_file) = (self.of(path), self.in_file(path));
        if let (Some(one), Some(other)) = (named, in_file) {
            let (one, other) = (&one.variable.name, &other.variable.name);
            return Err(ConfigError::new(format!("`{one}` and `{other}` exclude each other")));
        }
        let Some(found) = named.or(in_file) else { return Ok(None) };
        found.is_used.set(true);
        let value: &DeValue<'_> =
            if named.is_some() { &found.value } else { found.content(folder)? };
        Ok(Some((&found.variable.name, value)))
    }

    /// Returns true if a variable overrides this key or, where it is a table, a key within it.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.of(path).is_some() || self.has_below(path)
    }

    /// Returns true if a variable overrides a key of this table.
    pub(crate) fn has_below(&self, table: &str) -> bool {
        self.all.iter().any(|one| below(&one.variable.path, table).is_some())
    }

    /// Refuses variables below a table that name none of its keys.
    pub(crate) fn must_be_known(
        &self,
        table: &str,
        known: &[&'static str],
    ) -> Result<(), ConfigError> {
        for Override { variable: Variable { name, path, .. }, .. } in &self.all {
            let Some(rest) = below(path, table) else { continue };
            let key = rest.split('.').next().unwrap_or(rest);
            let is_file = |known: &&str| key.strip_suffix("-file") == Some(*known);
            if known.contains(&key) || known.iter().any(is_file) {
                continue;
            }
            let before = name.len().saturating_sub(variable_of(rest).len());
            let meant = nearest(key, known).map_or_else(String::new, |meant| {
                let before = name.get(..before).unwrap_or_default();
                let rest = rest.get(key.len()..).unwrap_or_default();
                format!("; did you mean `{before}{}`?", variable_of(&format!("{meant}{rest}")))
            });
            return Err(ConfigError::new(format!("unknown variable `{name}`{meant}")));
        }
        Ok(())
    }

    /// Refuses variables that are a table, or begin with one and lack the `__` behind it: ours,
    /// misspelt.
    pub(crate) fn must_be_apart(&self, tables: &[&'static str]) -> Result<(), ConfigError> {
        for name in &self.environment.others {
            if tables.iter().any(|table| *name == variable_of(table)) {
                return Err(malformed(&format!("{PREFIX}{name}")));
            }
            let key = |table: &&str| {
                let key = name.strip_prefix(&variable_of(table))?.strip_prefix('_')?;
                (!is_of_service(key)).then_some(key)
            };
            // Of `decision-log` and a shorter name the longer one is meant.
            let found = tables.iter().filter_map(|table| Some((table, key(table)?)));
            if let Some((table, key)) = found.max_by_key(|(table, _)| table.len()) {
                let meant = format!("{PREFIX}{}__{key}", variable_of(table));
                return Err(ConfigError::new(format!(
                    "unknown variable `{PREFIX}{name}`; did you mean `{meant}`?"
                )));
            }
        }
        Ok(())
    }

    /// Refuses variables that no part of the configuration has read.
    pub(crate) fn must_be_used(&self) -> Result<(), ConfigError> {
        match self.all.iter().find(|one| !one.is_used.get()) {
            Some(one) => Err(wrong(&one.variable.name, "names no key of the configuration")),
            None => Ok(()),
        }
    }

    fn of(&self, path: &str) -> Option<&Override<'e>> {
        self.all.iter().find(|one| one.variable.path == path)
    }

    fn in_file(&self, path: &str) -> Option<&Override<'e>> {
        if KEYS_WITH_FILES.contains(&path) {
            return None;
        }
        self.all.iter().find(|one| one.variable.path.strip_suffix("-file") == Some(path))
    }
}

impl Override<'_> {
    /// Returns the content of the file that the value names, without the end of its last line.
    fn content(&self, folder: &Path) -> Result<&DeValue<'static>, ConfigError> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let Variable { name, text, .. } = self.variable;
        let bytes = secret(&folder.join(text));
        let bytes = bytes.map_err(|why| ConfigError::new(format!("`{name}`: {why}")))?;
        let text = String::from_utf8(bytes).map_err(|_| wrong(name, "names no file of text"))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
        Ok(self.content.get_or_init(|| DeValue::String(text.into())))
    }
}

/// Returns true for the end of a variable by which Kubernetes tells each container of a service, as
/// of one that is called `wardgate-http`.
fn is_of_service(key: &str) -> bool {
    key.split('_').any(|word| word == "SERVICE" || word == "PORT")
}

/// Returns the path of the key that a variable names; `None` if it has another form.
fn path_of(key: &str) -> Option<String> {
    let is_word = |word: &str| {
        !word.is_empty()
            && !word.starts_with('_')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let words: Vec<&str> = key.split("__").collect();
    words
        .iter()
        .all(|word| is_word(word))
        .then(|| words.join(".").to_ascii_lowercase().replace('_', "-"))
}

/// Returns the part of a path behind a table; that of the whole file is empty.
fn below<'p>(path: &'p str, table: &str) -> Option<&'p str> {
    match table {
        "" => Some(path),
        table => path.strip_prefix(table)?.strip_prefix('.'),
    }
}

/// Returns the part of a variable's name that stands for a path.
fn variable_of(path: &str) -> String {
    path.replace('.', "__").replace('-', "_").to_ascii_uppercase()
}

/// Reads a value: one in brackets or braces is TOML, any other is text.
fn value(variable: &Variable) -> Result<DeValue<'_>, ConfigError> {
    let Variable { name, text, .. } = variable;
    let is_within = |open, close| text.starts_with(open) && text.ends_with(close);
    if !is_within('[', ']') && !is_within('{', '}') {
        return Ok(DeValue::String(text.as_str().into()));
    }
    let value = DeValue::parse(text).map_err(|error| {
        ConfigError::new(format!("`{name}` is no list or table of TOML: {}", error.message()))
    })?;
    Ok(value.into_inner())
}

fn malformed(name: &str) -> ConfigError {
    ConfigError::new(format!(
        "unknown variable `{name}`: expected a name such as `WARDGATE_HTTP__MAX_CONNECTIONS`, with `__` between the table and the key"
    ))
}

fn wrong(name: &str, what: &str) -> ConfigError {
    ConfigError::new(format!("`{name}` {what}"))
}

const PREFIX: &str = "WARDGATE_";

/// Keys beside which another one names a file with the value: it is read by itself.
const KEYS_WITH_FILES: [&str; 1] = ["decision-log.ship.url"];

#[cfg(test)]
mod tests;

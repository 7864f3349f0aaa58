//! Compares the errors of a policy in a corpus with those of this project: the kind, the file, and
//! the position.
//!
//! The sentence is not compared: each project has its own.

use std::fmt;

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::{Code, Diagnostic};

use super::Failure;
use super::vectors::{items, word};

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The kind, in the words of the corpus.
    pub kind: String,
    /// The file; empty where the corpus gives none.
    pub file: String,
    /// Line and column, where the corpus gives them.
    pub at: Option<(u64, u64)>,
    /// The path inside the policy, where the corpus gives one.
    pub path: Option<String>,
    /// The names that a message must hold, such as that of another policy.
    pub names: Vec<String>,
}

impl Finding {
    /// Reads an expected error of a corpus: `position` is a field of `json`.
    #[must_use]
    pub fn wanted(kind: impl Into<String>, file: &str, json: &Json) -> Self {
        let position = json.get("position").filter(|position| position.is_object());
        let number = |field: &str| position?.get(field)?.as_u64();
        let path = position.map(|position| word(position, "path")).filter(|path| !path.is_empty());
        Self {
            kind: kind.into(),
            file: file.to_owned(),
            at: number("line").zip(number("column")),
            path: path.map(|path| path.trim().to_owned()),
            names: Vec::new(),
        }
    }

    /// Returns the finding with a name that the message must hold.
    #[must_use]
    pub fn naming(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    fn fits(&self, found: &Diagnostic, kind: impl Fn(Code) -> &'static str) -> bool {
        let at = found.field.or(found.position);
        let at = at.map(|at| (u64::from(at.line), u64::from(at.column)));
        self.kind == kind(found.code)
            && (self.file.is_empty() || self.file == found.file)
            && (self.at.is_none() || self.at == at)
            && self.path.as_ref().is_none_or(|path| *path == found.path)
            && self.names.iter().all(|name| found.message.contains(&format!("`{name}`")))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.kind, self.file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(path) = &self.path {
            write!(f, " at {path}")?;
        }
        self.names.iter().try_for_each(|name| write!(f, " about {name}"))
    }
}

/// Compares the expected errors with the found ones: all of them, and no others.
///
/// # Errors
/// If one is missing or unexpected; the failure shows the first.
pub fn compare(
    wanted: &[Finding],
    found: &[Diagnostic],
    kind: impl Fn(Code) -> &'static str,
) -> Result<(), Failure> {
    let mut rest: Vec<&Diagnostic> = found.iter().collect();
    for one in wanted {
        let Some(at) = rest.iter().position(|found| one.fits(found, &kind)) else {
            return Err(Failure::new(one, shown(found)));
        };
        rest.remove(at);
    }
    match rest.first() {
        None => Ok(()),
        Some(_) => {
            let rest: Vec<_> = rest.into_iter().cloned().collect();
            Err(Failure::new("nothing more", shown(&rest)))
        }
    }
}

/// Reads the findings of a list in a field of `json`.
pub fn list(json: &Json, field: &str, read: impl Fn(&Json) -> Finding) -> Vec<Finding> {
    items(json, field).iter().map(read).collect()
}

/// Returns the failure of a case whose policies should have no error.
#[must_use]
pub fn unsound(found: &[Diagnostic]) -> Failure {
    Failure::new("no error", shown(found))
}

/// Returns diagnostics on few lines, with the compared parts.
#[must_use]
pub fn shown(found: &[Diagnostic]) -> String {
    let one = |found: &Diagnostic| {
        let at = found.field.or(found.position);
        let at = at.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        let (code, file) = (found.code.name(), &found.file);
        format!("{code} in {file}{at} at {}: {}", found.path, found.message)
    };
    let lines: Vec<_> = found.iter().map(one).collect();
    if lines.is_empty() { "no error".to_owned() } else { lines.join("\n") }
}

//! Diagnostics: errors and warnings with their location, the text found and the text expected.
//!
//! All errors are reported, sorted by file, line, column and message, so that the same input gives
//! the same report. Messages are lower case, without a full stop, with the author's text in
//! backticks.

mod extent;
mod lint;
mod render;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::limits::MAX_FILE_BYTES;
use crate::source::{Location, Position, SourceError, SourceFile};
pub use lint::Lint;
pub use render::visible;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No table can be written.
    Error,
    /// A table can be written, but the author should look.
    Warning,
}

/// The address of the documents. They are published nowhere yet, so it is their path in the
/// repository; a release that publishes them sets it.
pub const DOCUMENTS: &str = "docs/";

/// The kinds of diagnostic. The code is stable; the wording of a message is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// The file cannot be read, or is larger than allowed.
    Unreadable,
    /// The file is not well-formed YAML or JSON.
    Syntax,
    /// A bound on the input is exceeded.
    Limit,
    /// A field has a value of the wrong type, or a name that no field has.
    Parse,
    /// A field lacks a value, or has one of the wrong shape.
    Validation,
    /// Two rules or roles of one policy have the same name.
    DuplicateName,
    /// Two documents define the same policy.
    DuplicatePolicy,
    /// A file holds more than one document.
    SeveralPolicies,
    /// A scoped policy lacks an ancestor.
    MissingAncestor,
    /// An import names nothing that exists.
    MissingImport,
    /// Policies of one scope disagree on `scopePermissions`.
    ScopePermissionsConflict,
    /// A rule names a derived role that no import defines.
    UnknownDerivedRole,
    /// A rule names a derived role that several imports define.
    AmbiguousDerivedRole,
    /// A constant is defined more than once.
    ConstantRedefined,
    /// A variable is defined more than once.
    VariableRedefined,
    /// An expression names a constant that nothing defines.
    UndefinedConstant,
    /// An expression names a variable that nothing defines.
    UndefinedVariable,
    /// Variables name each other in a circle.
    CyclicalVariables,
    /// The name of a variable is not an identifier.
    InvalidVariableName,
    /// The name of a constant is not an identifier.
    InvalidConstantName,
    /// An output has no expression.
    EmptyOutput,
    /// A condition is a script.
    ScriptUnsupported,
    /// A schema that a policy names cannot be used.
    InvalidSchema,
    /// An expression is not well formed, or its types do not fit.
    InvalidExpression,
    /// A condition about MQTT topics reads a topic as a text.
    TopicAsText,
    /// No file holds a policy.
    NoPolicies,
    /// A test names a principal, a resource, a group or data that is not defined.
    UnknownFixture,
    /// A test suite expects an action or a name that no test of it has.
    UnreachableExpectation,
    /// Two expectations of a test suite cannot both be met.
    ContradictoryExpectation,
    /// The linter found something.
    Lint(Lint),
}

impl Code {
    /// The codes of errors, each of which has a section in `docs/errors.md`.
    pub const ERRORS: &[Self] = &[
        Self::Unreadable,
        Self::Syntax,
        Self::Limit,
        Self::Parse,
        Self::Validation,
        Self::DuplicateName,
        Self::DuplicatePolicy,
        Self::SeveralPolicies,
        Self::MissingAncestor,
        Self::MissingImport,
        Self::ScopePermissionsConflict,
        Self::UnknownDerivedRole,
        Self::AmbiguousDerivedRole,
        Self::ConstantRedefined,
        Self::VariableRedefined,
        Self::UndefinedConstant,
        Self::UndefinedVariable,
        Self::CyclicalVariables,
        Self::InvalidVariableName,
        Self::InvalidConstantName,
        Self::EmptyOutput,
        Self::ScriptUnsupported,
        Self::InvalidSchema,
        Self::InvalidExpression,
        Self::TopicAsText,
        Self::NoPolicies,
        Self::UnknownFixture,
        Self::UnreachableExpectation,
        Self::ContradictoryExpectation,
    ];

    /// Returns the address of the section that explains the code, such as `docs/errors.md#syntax`.
    #[must_use]
    pub fn page(self) -> String {
        let page = if matches!(self, Self::Lint(_)) { "lints.md" } else { "errors.md" };
        format!("{DOCUMENTS}{page}#{}", self.name())
    }

    /// Returns the stable name, such as `unknown-derived-role`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Syntax => "syntax",
            Self::Limit => "limit",
            Self::Parse => "parse",
            Self::Validation => "validation",
            Self::DuplicateName => "duplicate-name",
            Self::DuplicatePolicy => "duplicate-policy",
            Self::SeveralPolicies => "several-policies",
            Self::MissingAncestor => "missing-ancestor",
            Self::MissingImport => "missing-import",
            Self::ScopePermissionsConflict => "scope-permissions-conflict",
            Self::UnknownDerivedRole => "unknown-derived-role",
            Self::AmbiguousDerivedRole => "ambiguous-derived-role",
            Self::ConstantRedefined => "constant-redefined",
            Self::VariableRedefined => "variable-redefined",
            Self::UndefinedConstant => "undefined-constant",
            Self::UndefinedVariable => "undefined-variable",
            Self::CyclicalVariables => "cyclical-variables",
            Self::InvalidVariableName => "invalid-variable-name",
            Self::InvalidConstantName => "invalid-constant-name",
            Self::EmptyOutput => "empty-output",
            Self::ScriptUnsupported => "script-unsupported",
            Self::InvalidSchema => "invalid-schema",
            Self::InvalidExpression => "invalid-expression",
            Self::TopicAsText => "topic-as-text",
            Self::NoPolicies => "no-policies",
            Self::UnknownFixture => "unknown-fixture",
            Self::UnreachableExpectation => "unreachable-expectation",
            Self::ContradictoryExpectation => "contradictory-expectation",
            Self::Lint(lint) => lint.name(),
        }
    }
}

/// One error or warning for the author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// The kind of the diagnostic.
    pub code: Code,
    /// The error or the warning, as a sentence.
    pub message: String,
    /// The path of the file.
    pub file: String,
    /// The position in the file: inside an expression, the exact character.
    pub position: Option<Position>,
    /// The position of the field that `path` names. Differs from `position` inside an expression.
    pub field: Option<Position>,
    /// The path inside the policy; empty if the trouble is the file as a whole.
    pub path: String,
    /// The text or the value found there.
    pub found: Option<String>,
    /// The text or the value expected there.
    pub expected: Option<String>,
    /// The file's contents, to show the line.
    source: Option<Arc<SourceFile>>,
}

impl Diagnostic {
    /// Makes an error at a location.
    #[must_use]
    pub fn error(code: Code, location: &Location, message: impl Into<String>) -> Self {
        Self {
            position: Some(location.position),
            field: Some(location.position),
            path: location.path.as_ref().to_owned(),
            source: Some(Arc::clone(&location.file)),
            ..Self::in_file(code, &location.file.path, message)
        }
    }

    /// Makes a warning of the linter at a location.
    #[must_use]
    pub fn lint(lint: Lint, location: &Location, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(Code::Lint(lint), location, message) }
    }

    /// Makes an error about a file as a whole.
    #[must_use]
    pub fn in_file(code: Code, file: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            file: file.to_owned(),
            position: None,
            field: None,
            path: String::new(),
            found: None,
            expected: None,
            source: None,
        }
    }

    /// Makes the diagnostic of a file that [`SourceFile::new`] refuses.
    #[must_use]
    pub fn refused_source(file: &str, error: SourceError) -> Self {
        match error {
            SourceError::TooLarge { bytes } => {
                let error = Self::in_file(Code::Limit, file, "the file is too large");
                let expected = format!("at most {MAX_FILE_BYTES} bytes");
                error.found(format!("{bytes} bytes")).expected(expected)
            }
            SourceError::NotUtf8 { at } => {
                Self::in_file(Code::Syntax, file, "the file is not UTF-8").at(at)
            }
        }
    }

    /// Makes the error of files of which none holds a policy. They compile, to a table without a
    /// use.
    #[must_use]
    pub fn no_policies() -> Self {
        let message = "there are no policies: no .yaml, .yml or .json file has one";
        Self::in_file(Code::NoPolicies, ".", message)
    }

    /// Points at another position of the same file, such as a character inside an expression.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Adds the text or the value found there.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(cut(found.into()));
        self
    }

    /// Adds the text or the value expected there.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds the text found and the text expected, as far as they are known.
    #[must_use]
    pub fn with(mut self, found: Option<String>, expected: Option<String>) -> Self {
        (self.found, self.expected) = (found.map(cut), expected);
        self
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |d: &Self| (d.position, d.severity, d.code);
        (self.file.cmp(&other.file))
            .then_with(|| key(self).cmp(&key(other)))
            .then_with(|| self.message.cmp(&other.message))
            .then_with(|| self.path.cmp(&other.path))
    }
}

/// Shortens the found text: a message is read by people.
fn cut(mut found: String) -> String {
    if let Some((end, _)) = found.char_indices().nth(MOST_FOUND) {
        let quote = if found.starts_with('`') { "...`" } else { "..." };
        found.truncate(end);
        found.push_str(quote);
    }
    found
}

/// The largest number of characters of a found text in a message.
const MOST_FOUND: usize = 120;

/// Sorts diagnostics into the order of the report and drops repetitions.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    wardgate_engine::order::sort_by(diagnostics, Diagnostic::order);
    diagnostics.dedup();
}

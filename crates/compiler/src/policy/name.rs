//! The shapes of names, and the keys of policies.
//!
//! Decisions and messages call a policy by its key, such as `resource.album.vdefault/acme`; two
//! documents with the same key define the same policy.

use wardgate_engine::names::sanitized;

pub use wardgate_engine::names::{ancestors, policy_key};

use crate::limits::MAX_SCOPE_BYTES;

/// The version of a role policy that does not name one.
pub const DEFAULT_VERSION: &str = "default";

/// The kind of a set of derived roles, as keys spell it.
pub const DERIVED_ROLES: &str = "derived_roles";

/// The kind of a set of exported variables, as keys spell it.
pub(crate) const EXPORT_VARIABLES: &str = "export_variables";

/// The kind of a set of exported constants, as keys spell it.
pub(crate) const EXPORT_CONSTANTS: &str = "export_constants";

/// The kind of a rate limit, as keys spell it.
pub(crate) const LIMIT: &str = "limit";

/// The shape of a kind of name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Anything but nothing.
    Any,
    /// The name of an imported set or a derived role.
    Identifier,
    /// A resource kind, a principal's id, or a role: no pattern characters.
    NoPattern,
    /// A version.
    Version,
    /// A scope, or nothing.
    Scope,
    /// The name of a rule, or nothing.
    Rule,
}

impl Shape {
    pub(crate) fn fits(self, name: &str) -> bool {
        match self {
            Self::Any => !name.is_empty(),
            Self::Identifier => !name.is_empty() && name.chars().all(is_name_char),
            Self::NoPattern => !name.is_empty() && !name.contains(PATTERN_CHARS),
            Self::Version => !name.is_empty() && name.chars().all(is_word_char),
            Self::Scope => name.len() <= MAX_SCOPE_BYTES && is_scope(name),
            Self::Rule => name.is_empty() || is_rule_name(name),
        }
    }

    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Any => "at least one character",
            Self::Identifier => "letters, digits, `_`, `-` and `.`",
            Self::NoPattern => "none of the characters `!*?[]{}`",
            Self::Version => "letters, digits and `_`",
            Self::Scope => {
                "dotted segments of letters, digits, `_` and `-`, in all at most 1024 bytes"
            }
            Self::Rule => "a letter, then letters, digits, `_`, `-`, `.` and `@`",
        }
    }
}

const PATTERN_CHARS: [char; 7] = ['!', '*', '?', '[', ']', '{', '}'];

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name_char(c: char) -> bool {
    is_word_char(c) || matches!(c, '-' | '.')
}

fn is_scope(name: &str) -> bool {
    let segment =
        |s: &str| s.starts_with(is_word_char) && s.chars().all(|c| is_word_char(c) || c == '-');
    matches!(name, "" | ".") || !name.starts_with('_') && name.split('.').all(segment)
}

fn is_rule_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| is_name_char(c) || c == '@')
}

/// Returns whether `name` can follow `variables.` or `constants.` in an expression.
pub(crate) fn is_identifier(name: &str) -> bool {
    let reserved = matches!(name, "false" | "in" | "null" | "true");
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    !reserved && starts_well && name.chars().all(is_word_char)
}

/// Returns the key of an exported set; `kind` is `derived_roles`, `export_variables` or
/// `export_constants`.
#[must_use]
pub fn set_key(kind: &str, name: &str) -> String {
    format!("{kind}.{}", sanitized(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: Shape, name: &str, expected: bool) {
        assert_eq!(shape.fits(name), expected, "{shape:?} {name}");
    }

    #[test]
    fn scopes_are_dotted_segments() {
        for good in ["", ".", "acme", "acme.hr.uk", "a-b.c_d", "0", "a._b"] {
            check(Shape::Scope, good, true);
        }
        check(Shape::Scope, &"a".repeat(MAX_SCOPE_BYTES), true);
        check(Shape::Scope, &"a".repeat(MAX_SCOPE_BYTES + 1), false);
        for bad in ["¬s", "acme.", ".acme", "a..b", "-a", "_a", "a b", "a.-b"] {
            check(Shape::Scope, bad, false);
        }
    }

    #[test]
    fn names_have_the_shape_of_their_kind() {
        check(Shape::NoPattern, "leave request/ü", true);
        check(Shape::NoPattern, "leave:*", false);
        check(Shape::NoPattern, "", false);
        check(Shape::Version, "20210210_a", true);
        check(Shape::Version, "1.0", false);
        check(Shape::Identifier, "a-b.c", true);
        check(Shape::Identifier, "a b", false);
        check(Shape::Rule, "", true);
        check(Shape::Rule, "a1@b-c.d", true);
        check(Shape::Rule, "1a", false);
    }
}

//! Names in the form in which policies are found by them.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::text::{has, joined};

/// Returns `name` as Cerbos writes it in policy keys and looks resources up by.
///
/// A name of the form that Cerbos imposed before its version 0.30 (letters, digits and `_@.-/` in
/// segments that start with a letter and are joined by `:`) has each run of characters other than
/// letters, digits, `_` and `.` replaced by one `_`. Any other name is unchanged.
#[must_use]
pub fn sanitized(name: &str) -> Cow<'_, str> {
    let keeps = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.bytes().all(|byte| keeps(char::from(byte))) || !has_old_form(name) {
        return Cow::Borrowed(name);
    }
    let mut clean = String::with_capacity(name.len());
    let mut replaced = false;
    for c in name.chars() {
        if keeps(c) {
            clean.push(c);
        } else if !replaced {
            clean.push('_');
        }
        replaced = !keeps(c);
    }
    Cow::Owned(clean)
}

/// Returns the key of a policy, such as `resource.album.vdefault/acme`; `kind` is `resource`,
/// `principal` or `role`.
#[must_use]
pub fn policy_key(kind: &str, name: &str, version: &str, scope: &str) -> String {
    let separator = if scope.is_empty() { "" } else { "/" };
    let parts = [kind, ".", &sanitized(name), ".v", &sanitized(version), separator, scope];
    joined(&mut parts.into_iter(), "")
}

/// Returns the scopes above `scope`, nearest first, ending with the root (the empty scope).
pub fn ancestors(scope: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(scope), |scope| {
        let dot = scope.bytes().rposition(|byte| byte == b'.');
        (!scope.is_empty()).then(|| dot.and_then(|dot| scope.get(..dot)).unwrap_or(""))
    })
    .skip(1)
}

/// Returns the scope without the leading dot that Cerbos accepts.
#[must_use]
pub fn trimmed_scope(scope: &str) -> &str {
    scope.strip_prefix('.').unwrap_or(scope)
}

fn has_old_form(name: &str) -> bool {
    name.split(':').all(|segment| {
        let inner = |c: char| c.is_ascii_alphanumeric() || has("_@.-/", c);
        segment.starts_with(|c: char| c.is_ascii_alphabetic()) && segment.chars().all(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::{ancestors, policy_key, sanitized};
    use alloc::vec::Vec;

    #[test]
    fn runs_of_other_characters_become_one_underscore() {
        let check = |name, expected: &str| assert_eq!(sanitized(name), expected);
        check("leave_request", "leave_request");
        check("the:one:ring", "the_one_ring");
        check("a-/b", "a_b");
        check("a_-b", "a__b");
        check("a.b@c", "a.b_c");
    }

    #[test]
    fn other_forms_stay() {
        let check = |name: &str| assert_eq!(sanitized(name), name);
        check("");
        check("1-2");
        check("leave request");
        check("a:1");
        check("leave_*");
        check("straße-x");
    }

    #[test]
    fn keys_hold_sanitized_names() {
        assert_eq!(policy_key("resource", "a:b", "v-1", "acme"), "resource.a_b.vv_1/acme");
        assert_eq!(policy_key("role", "1-2", "default", ""), "role.1-2.vdefault");
    }

    #[test]
    fn ancestors_end_with_the_root() {
        let check = |scope, expected: &[&str]| {
            assert_eq!(ancestors(scope).collect::<Vec<_>>(), expected, "{scope}");
        };
        check("", &[]);
        check("a", &[""]);
        check("a.b.c", &["a.b", "a", ""]);
    }
}

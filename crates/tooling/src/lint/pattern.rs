//! Relations of two patterns without a text to match.
//!
//! Both answers are cautious: `covers` is true only if every text that fits the second fits the
//! first, `disjoint` only if no text fits both.

use wardgate_engine::glob;

/// Returns true if `name` fits `pattern`, as rules have it: without a `*` a pattern is a name.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    if glob::is_glob(pattern) { glob::matches(pattern, name) } else { pattern == name }
}

/// Returns true if every text that fits `inner` fits `outer` too.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    if outer == inner || is_everything(outer) {
        return true;
    }
    if !glob::is_glob(outer) {
        return false;
    }
    if !glob::is_glob(inner) {
        return glob::matches(outer, inner);
    }
    let (literal, star) = outer.split_at_checked(head(outer).len()).unwrap_or(("", outer));
    let Some(rest) = inner.strip_prefix(literal).filter(|_| head(inner).starts_with(literal))
    else {
        return false;
    };
    match star {
        "**" => true,
        "*" => !is_everything(inner) && stays_in_segment(rest),
        _ => false,
    }
}

/// Returns true if nothing fits both.
pub(super) fn disjoint(a: &str, b: &str) -> bool {
    match (glob::is_glob(a), glob::is_glob(b)) {
        (false, false) => a != b,
        (true, false) => !glob::matches(a, b),
        (false, true) => !glob::matches(b, a),
        (true, true) => {
            let (a, b) = (head(a), head(b));
            !a.starts_with(b) && !b.starts_with(a)
        }
    }
}

fn is_everything(pattern: &str) -> bool {
    matches!(pattern, "*" | "**")
}

/// Returns the characters of a pattern before its first special one.
pub(super) fn head(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    pattern.get(..end).unwrap_or(pattern)
}

/// Returns true if the rest of a pattern matches no `:`.
fn stays_in_segment(rest: &str) -> bool {
    !rest.contains([':', '[', '{', '\\']) && !rest.contains("**")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pattern_covers_another() {
        let check =
            |outer, inner, expected| assert_eq!(covers(outer, inner), expected, "{outer} {inner}");
        check("*", "edit:draft:*", true);
        check("view", "view", true);
        check("view", "edit", false);
        check("view", "*", false);
        check("edit:*", "edit:draft", true);
        check("edit:*", "edit:draft:title", false);
        check("edit:*", "edit:d*", true);
        check("edit:*", "edit:**", false);
        check("edit:*", "edit:*:a", false);
        check("edit:**", "edit:*:a", true);
        check("edit:*", "*", false);
        check("e*", "*", false);
        check("*:a", "b:a", true);
        check("*:a", "*b:a", false);
        check("a?", "ab", false);
        check("a[b]*", "ab", true);
        check("[*", "a", false);
    }

    #[test]
    fn patterns_that_cannot_meet_are_disjoint() {
        let check = |a, b, expected| {
            assert_eq!(disjoint(a, b), expected, "{a} {b}");
            assert_eq!(disjoint(b, a), expected, "{b} {a}");
        };
        check("view", "edit", true);
        check("view", "view", false);
        check("view", "v*", false);
        check("view", "e*", true);
        check("view:*", "edit:*", true);
        check("view:*", "v*", false);
        check("*", "edit:*", false);
        check("*:a", "b*", false);
    }
}

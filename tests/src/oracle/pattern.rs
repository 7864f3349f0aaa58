//! Matches patterns of actions, roles and kinds, of which the generator writes only `*` and `**`.

/// Returns true if `name` equals the pattern as the author wrote it, or fits it.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    if pattern == "*" { true } else { glob(pattern, name) }
}

/// Matches a pattern: `**` stands for any run of characters, `*` for one without a `:`.
fn glob(pattern: &str, name: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**") {
        return tails(name).any(|tail| glob(rest, tail));
    }
    if let Some(rest) = pattern.strip_prefix('*') {
        let segment = name.find(':').unwrap_or(name.len());
        return tails(name).take(segment + 1).any(|tail| glob(rest, tail));
    }
    match (pattern.chars().next(), name.chars().next()) {
        (None, None) => true,
        (Some(wanted), Some(found)) if wanted == found => {
            let after = |text: &str| text.get(wanted.len_utf8()..).unwrap_or("").to_owned();
            glob(&after(pattern), &after(name))
        }
        _ => false,
    }
}

/// Returns `text` without its first 0, 1, 2... bytes; names are ASCII here.
fn tails(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter_map(|at| text.get(at..))
}

#[cfg(test)]
mod tests {
    #[test]
    fn stars_stop_at_colons() {
        let check = |pattern, name, expected| assert_eq!(super::fits(pattern, name), expected);
        check("*", "edit:draft", true);
        check("edit:*", "edit:draft", true);
        check("edit:*", "edit:draft:title", false);
        check("edit:**", "edit:draft:title", true);
        check("e*", "edit:draft", false);
        check("dr*p", "drop", true);
        check("view", "view", true);
        check("view", "views", false);
    }
}

//! The syntax of SPIFFE ids (SPIFFE-ID specification, sections 2.1 to 2.3).
//!
//! `spiffe://`, a trust domain in lower case, and a path of non-empty segments without `.` and
//! `..`.

/// Splits a SPIFFE id into trust domain and path.
///
/// # Errors
///
/// Names the rule that `id` breaks.
pub(in crate::cel) fn parse(id: &str) -> Result<(&str, &str), &'static str> {
    if id.is_empty() {
        return Err("cannot be empty");
    }
    let rest = id.strip_prefix(SCHEME).ok_or("scheme is missing or invalid")?;
    let (domain, path) =
        rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    check_domain(domain)?;
    check_path(path)?;
    Ok((domain, path))
}

/// Returns the trust domain that a SPIFFE id, or the text itself, names.
///
/// # Errors
///
/// Names the rule that `text` breaks.
pub(in crate::cel) fn parse_domain(text: &str) -> Result<&str, &'static str> {
    if crate::text::find(text, ":/").is_some() {
        return parse(text).map(|(domain, _)| domain);
    }
    check_domain(text).map(|()| text)
}

/// The text before the trust domain.
pub(in crate::cel) const SCHEME: &str = "spiffe://";

fn check_domain(domain: &str) -> Result<(), &'static str> {
    let allowed = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_');
    if !domain.bytes().all(allowed) {
        return Err(
            "trust domain characters are limited to lowercase letters, numbers, dots, dashes, and underscores",
        );
    }
    if domain.is_empty() { Err("trust domain is missing") } else { Ok(()) }
}

fn check_path(path: &str) -> Result<(), &'static str> {
    let Some(segments) = path.strip_prefix('/') else { return Ok(()) };
    let mut segments = segments.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        match segment {
            "" if is_last => return Err("path cannot have a trailing slash"),
            "" => return Err("path cannot contain empty segments"),
            "." | ".." => return Err("path cannot contain dot segments"),
            _ if segment.bytes().all(allowed) => {}
            _ => {
                return Err(
                    "path segment characters are limited to letters, numbers, dots, dashes, and underscores",
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_domain};

    #[test]
    fn an_id_is_a_trust_domain_and_a_path() {
        assert_eq!(parse("spiffe://a.b-c_1/x/Y.z"), Ok(("a.b-c_1", "/x/Y.z")));
        assert_eq!(parse("spiffe://a"), Ok(("a", "")));
        assert_eq!(parse_domain("a.b"), Ok("a.b"));
        assert_eq!(parse_domain("spiffe://a.b/x"), Ok("a.b"));
    }

    #[test]
    fn other_texts_break_a_rule() {
        let cases = [
            ("", "cannot be empty"),
            ("http://a", "scheme is missing or invalid"),
            ("spiffe:/a", "scheme is missing or invalid"),
            ("SPIFFE://a", "scheme is missing or invalid"),
            ("spiffe://", "trust domain is missing"),
            ("spiffe:///x", "trust domain is missing"),
            ("spiffe://A", "trust domain characters"),
            ("spiffe://a:80/x", "trust domain characters"),
            ("spiffe://a/", "path cannot have a trailing slash"),
            ("spiffe://a/x/", "path cannot have a trailing slash"),
            ("spiffe://a//x", "path cannot contain empty segments"),
            ("spiffe://a/./x", "path cannot contain dot segments"),
            ("spiffe://a/x/..", "path cannot contain dot segments"),
            ("spiffe://a/x?y", "path segment characters"),
            ("spiffe://a/é", "path segment characters"),
        ];
        for (id, rule) in cases {
            assert!(parse(id).unwrap_err().starts_with(rule), "`{id}`");
        }
        assert_eq!(parse_domain(""), Err("trust domain is missing"));
        assert!(parse_domain("a/b").unwrap_err().starts_with("trust domain characters"));
        assert!(parse_domain("http://a").unwrap_err().starts_with("scheme"));
    }
}

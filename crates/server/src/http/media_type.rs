//! The header `Content-Type`, as RFC 9110 section 8.3.1 has it.

use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;

/// Returns true if the only `Content-Type` is JSON. Its parameters have no meaning: RFC 8259 has
/// none.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    match (given.next().and_then(|value| value.to_str().ok()), given.next()) {
        (Some(value), None) => names_json(value),
        _ => false,
    }
}

fn names_json(value: &str) -> bool {
    let (essence, parameters) = value.split_once(';').unwrap_or((value, ""));
    essence.trim_matches(SPACE).eq_ignore_ascii_case("application/json")
        && are_parameters(parameters)
}

/// Returns true if the text is a list of parameters, or empty, between semicolons.
fn are_parameters(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_start_matches(SPACE);
        if let Some(after) = rest.strip_prefix(';') {
            rest = after;
            continue;
        }
        if rest.is_empty() {
            return true;
        }
        let Some((name, value)) = rest.split_once('=') else { return false };
        let Some(after) = after_value(value).filter(|_| is_token(name)) else { return false };
        let after = after.trim_start_matches(SPACE);
        if !after.is_empty() && !after.starts_with(';') {
            return false;
        }
        rest = after;
    }
}

/// Returns the text after a token or a quoted string.
fn after_value(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c| !is_token_char(c)).unwrap_or(text.len());
        return (end > 0).then(|| text.get(end..)).flatten();
    };
    let mut is_escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return quoted.get(at + 1..),
            _ => {}
        }
    }
    None
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

const SPACE: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use super::names_json;

    #[test]
    fn json_may_have_any_parameters() {
        let check =
            |value: &str, expected: bool| assert_eq!(names_json(value), expected, "{value}");
        check("application/json", true);
        check("Application/JSON", true);
        check("application/json;", true);
        check(" application/json ; ", true);
        check("application/json;charset=utf-8", true);
        check("application/json ;\tcharset=\"utf-8\" ; q=1;", true);
        check("application/json; a=\"x;\\\"y\"", true);
        check("", false);
        check("application/json5", false);
        check("application/ json", false);
        check("text/plain; a=application/json", false);
        check("application/json charset=utf-8", false);
        check("application/json; charset", false);
        check("application/json; charset =utf-8", false);
        check("application/json; charset=", false);
        check("application/json; charset=\"utf-8", false);
        check("application/json; =utf-8", false);
        check("application/json, text/plain", false);
        check("application/json; a=b, text/plain", false);
    }
}

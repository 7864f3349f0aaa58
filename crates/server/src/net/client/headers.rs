//! Headers of requests to other servers and of their answers.

use std::path::Path;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_NONE_MATCH,
    RETRY_AFTER, TRANSFER_ENCODING,
};

use crate::files;

/// When to come again, as seconds. A date would need the clocks to agree.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Reads lines of a name, `:` and a value. The value is a secret and part of no message.
pub(crate) fn read_headers(path: &Path) -> Result<HeaderMap, String> {
    let bytes = files::secret(path)?;
    let mut headers = HeaderMap::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let wrong = |what: &str| format!("line {} of `{}`: {what}", at + 1, path.display());
        let (name, value) =
            header(line).ok_or_else(|| wrong("expected a name, `:` and a value"))?;
        if OURS.contains(&name) {
            return Err(wrong(&format!("`{name}` is set by the server itself")));
        }
        if headers.len() >= MAX_HEADERS {
            return Err(wrong(&format!("expected at most {MAX_HEADERS} headers")));
        }
        headers.insert(name, value);
    }
    Ok(headers)
}

fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    let name = HeaderName::from_bytes(name.trim_ascii()).ok()?;
    let mut value = HeaderValue::from_bytes(value.get(1..)?.trim_ascii()).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// Headers that each request has anyway, or that would change its meaning.
const OURS: [HeaderName; 6] =
    [HOST, CONTENT_TYPE, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, IF_NONE_MATCH];

/// Headers that the operator may add.
const MAX_HEADERS: usize = 32;

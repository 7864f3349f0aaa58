//! Origins of pages, as browsers write them.

use super::ConfigError;
use crate::limits::MAX_ORIGINS;

/// Refuses a list that is too long, or has something that is no origin. `key` is its name in the
/// configuration.
pub(super) fn must_be_origins(key: &str, origins: &[String]) -> Result<(), ConfigError> {
    if origins.len() > MAX_ORIGINS {
        let message = format!("`{key}` must have at most {MAX_ORIGINS} origins");
        return Err(ConfigError::new(message));
    }
    match origins.iter().find(|origin| !is_origin(origin)) {
        Some(origin) => Err(ConfigError::new(format!(
            "`{key}` must have origins such as `https://app.example.com`, and not `{}`",
            origin.escape_debug()
        ))),
        None => Ok(()),
    }
}

/// Returns true for an origin: a scheme and a host, and a port where it is not that of the scheme.
fn is_origin(origin: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let Some((scheme, host)) = origin.split_once("://") else { return false };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| is_plain(byte) && byte != b':');
    is_scheme && !host.is_empty() && host.bytes().all(is_plain)
}

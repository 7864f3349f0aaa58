//! Access control: queries, and changes by administrators.
//!
//! Queries are anonymous only if the configuration allows it. Changes and listings are for
//! administrators: clients with a certificate of the configured root, or with a token. A token
//! comes by the mechanism `SASL:PLAIN` (RFC 4616) of `AUTH`, as its password, and only over TLS
//! unless the configuration allows otherwise.

use base64ct::{Base64Unpadded, Encoding};

use crate::identity::token::{Digest, find};
use crate::limits::MIN_TOKEN_BYTES;

/// The access rules of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Every client may query.
    pub anonymous_queries: bool,
    /// Tokens may cross without TLS.
    pub auth_without_tls: bool,
    /// The administrators with tokens.
    pub administrators: Vec<Administrator>,
}

/// An administrator with a token.
#[derive(Clone, Debug)]
pub struct Administrator {
    name: Vec<u8>,
    digest: Digest,
}

impl Administrator {
    /// Reads lines of a name, a colon and a token; skips empty lines and those that begin with `#`.
    ///
    /// # Errors
    /// The number of the bad line and the fault. The token is not part of it.
    pub fn read_all(text: &str) -> Result<Vec<Self>, String> {
        let mut found: Vec<Self> = Vec::new();
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| format!("line {}: {what}", at + 1);
            let (name, token) =
                line.split_once(':').ok_or_else(|| wrong("expected a name, `:` and a token"))?;
            let digest = Digest::of_token(token.as_bytes()).filter(|_| !name.is_empty());
            let digest = digest.ok_or_else(|| {
                wrong(&format!("expected a name, and a token of at least {MIN_TOKEN_BYTES} bytes"))
            })?;
            if found.iter().any(|one| one.name == name.as_bytes()) {
                return Err(wrong("another line has the same name"));
            }
            found.push(Self { name: name.as_bytes().to_vec(), digest });
        }
        Ok(found)
    }
}

impl Access {
    /// Tells whether tokens are taken on a connection.
    #[must_use]
    pub fn takes_tokens(&self, is_encrypted: bool) -> bool {
        !self.administrators.is_empty() && (is_encrypted || self.auth_without_tls)
    }

    /// Returns the name of the administrator that a message of `SASL:PLAIN` proves, if it does. The
    /// token of another administrator proves nothing, though two may have the same.
    #[must_use]
    pub fn proves(&self, message: &[u8]) -> Option<&[u8]> {
        let decoded = if message.contains(&0) { None } else { base64(message) };
        let message = decoded.as_deref().unwrap_or(message);
        let mut parts = message.splitn(3, |byte| *byte == 0);
        let (acts_as, name, token) = (parts.next()?, parts.next()?, parts.next()?);
        let known = self.administrators.iter().map(|one| (one, &one.digest));
        let proven = find(known, &Digest::of(token), |one| one.name == name)?;
        // Acting for another identity is not supported.
        Some(proven.name.as_slice()).filter(|name| acts_as.is_empty() || acts_as == *name)
    }
}

/// Decodes base64 (RFC 4648), in which some clients send tokens, with padding or without; returns
/// `None` for other text.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let unpadded = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    Base64Unpadded::decode_vec(unpadded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        let text =
            "# those who may\r\nolav: not this one, it is of another\r\neva:0123456789abcdef\r\n";
        Access { administrators: Administrator::read_all(text).unwrap(), ..Access::default() }
    }

    #[test]
    fn a_token_proves_one_name() {
        let access = access();
        assert_eq!(access.proves(b"\0eva\x000123456789abcdef"), Some(&b"eva"[..]));
        assert_eq!(access.proves(b"eva\0eva\x000123456789abcdef"), Some(&b"eva"[..]));
        assert_eq!(access.proves(b"AGV2YQAwMTIzNDU2Nzg5YWJjZGVm"), Some(&b"eva"[..]));
        for message in
            [&b"ZXZhAGV2YQAwMTIzNDU2Nzg5YWJjZGVm"[..], b"ZXZhAGV2YQAwMTIzNDU2Nzg5YWJjZGVm=="]
        {
            assert_eq!(access.proves(message), Some(&b"eva"[..]));
        }
        for message in [
            &b""[..],
            b"\0",
            b"\0eva",
            b"\0eva\0",
            b"\0eva\x000123456789abcde",
            b"\0eva\x000123456789abcdef0",
            b"\0olav\x000123456789abcdef",
            b"olav\0eva\x000123456789abcdef",
            b"\0\x000123456789abcdef",
            b"eva\x000123456789abcdef",
            b"AGV2YQAwMTIzNDU2Nzg5YWJjZGVg",
        ] {
            assert_eq!(access.proves(message), None, "{message:?}");
        }
    }

    #[test]
    fn lines_that_are_no_secret_are_refused_without_showing_them() {
        let refused = |text: &str| Administrator::read_all(text).unwrap_err();
        assert_eq!(refused("eva"), "line 1: expected a name, `:` and a token");
        assert!(
            refused("\neva:short")
                .starts_with("line 2: expected a name, and a token of at least 16")
        );
        assert!(!refused("eva:short").contains("short"));
        let twice = "eva:0123456789abcdef\neva:0123456789abcdeg";
        assert_eq!(refused(twice), "line 2: another line has the same name");
    }

    #[test]
    fn tokens_are_taken_only_over_tls_by_default() {
        assert!(access().takes_tokens(true));
        assert!(!access().takes_tokens(false));
        assert!(Access { auth_without_tls: true, ..access() }.takes_tokens(false));
        assert!(!Access::default().takes_tokens(true));
    }
}

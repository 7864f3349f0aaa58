//! The id of a rule: the MD5 digest of its canonical text, by section 4.6 of
//! draft-hedberg-spocp-00.
//!
//! The same rule has the same id on every server, and no id is a secret or a proof. MD5 collisions
//! can be made, so a rule with the id of another one is refused and never taken for it.

use std::fmt;

use md5::{Digest, Md5};
use wardgate_spocp::Normal;

/// The id of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 16]);

impl Key {
    /// Returns the id of the rule with this canonical text.
    #[must_use]
    pub fn of_text(text: &[u8]) -> Self {
        Self(Md5::digest(text).into())
    }

    /// Returns the id of a rule.
    #[must_use]
    pub fn of(rule: &Normal) -> Self {
        Self::of_text(&rule.expression().to_canonical())
    }

    /// Reads 32 hexadecimal digits; returns `None` for other text.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        let mut key = [0; 16];
        if text.len() != 32 {
            return None;
        }
        for (byte, digits) in key.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
            *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        }
        Some(Self(key))
    }

    /// Returns the 32 hexadecimal digits.
    #[must_use]
    pub fn text(self) -> [u8; 32] {
        let mut text = [0; 32];
        let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' - 10 + value };
        for (digits, byte) in text.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = digits {
                (*high, *low) = (digit(byte >> 4), digit(byte & 15));
            }
        }
        text
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_rfc_1321() {
        assert_eq!(Key::of_text(b"a").to_string(), "0cc175b9c0f1b6a831c399e269772661");
        assert_eq!(Key::of_text(b"").to_string(), "d41d8cd98f00b204e9800998ecf8427e");
    }

    #[test]
    fn written_bytes_are_read_again() {
        let key = Key::of_text(b"(1:a)");
        assert_eq!(Key::read(&key.text()), Some(key));
        assert_eq!(Key::read(&key.text().to_ascii_uppercase()), Some(key));
        for text in
            [&b""[..], b"0cc1", &[b'g'; 32], &[b'0'; 33], b"+cc175b9c0f1b6a831c399e269772661"]
        {
            assert_eq!(Key::read(text), None, "{text:?}");
        }
    }
}

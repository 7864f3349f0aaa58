//! Base64 with the standard alphabet (RFC 4648, section 4).
//!
//! Writes padding; reads with and without it, skips line ends, and ignores the surplus bits of a
//! last digit.

use alloc::string::String;
use alloc::vec::Vec;

/// Writes `bytes` in base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().chain(&[0, 0]).take(3).fold(0, |g, b| g << 8 | u32::from(*b));
        for (position, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            text.push(if position <= chunk.len() { digit(group >> shift & 63) } else { '=' });
        }
    }
    text
}

/// Reads base64.
///
/// # Errors
///
/// Returns the offset of the first byte that is invalid at its position.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = 0_u32;
    let mut digits = 0_u32;
    let symbols = text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n'));
    for (at, symbol) in symbols {
        let Some(value) = value(symbol) else {
            let whole = text.get(at..).is_some_and(|rest| is_padding(rest, digits));
            return if whole { finish(bytes, group, digits, at) } else { Err(at) };
        };
        group = group << 6 | value;
        digits += 1;
        if digits == 4 {
            bytes.extend(group.to_be_bytes().iter().skip(1));
            (group, digits) = (0, 0);
        }
    }
    finish(bytes, group, digits, text.len().saturating_sub(1))
}

/// Returns true if `rest` is exactly the padding of a group of `digits` digits.
fn is_padding(rest: &str, digits: u32) -> bool {
    let symbols = rest.bytes().filter(|b| !matches!(b, b'\r' | b'\n'));
    match digits {
        2 => symbols.eq([b'=', b'=']),
        3 => symbols.eq([b'=']),
        _ => false,
    }
}

/// Adds the bytes of a last group of fewer than four digits.
fn finish(mut bytes: Vec<u8>, group: u32, digits: u32, at: usize) -> Result<Vec<u8>, usize> {
    let count = match digits {
        0 => 0,
        2 => 1,
        3 => 2,
        _ => return Err(at),
    };
    let aligned = group << (6 * 4_u32.saturating_sub(digits).min(2));
    bytes.extend(aligned.to_be_bytes().iter().skip(1).take(count));
    Ok(bytes)
}

fn digit(value: u32) -> char {
    usize::try_from(value).ok().and_then(|at| DIGITS.get(at)).copied().map_or('=', char::from)
}

fn value(symbol: u8) -> Option<u32> {
    let from = |first: u8, base: u32| Some(u32::from(symbol.wrapping_sub(first)) + base);
    match symbol {
        b'A'..=b'Z' => from(b'A', 0),
        b'a'..=b'z' => from(b'a', 26),
        b'0'..=b'9' => from(b'0', 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn encoding_and_decoding_agree() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("hello", "aGVsbG8="),
        ];
        for (plain, text) in cases {
            assert_eq!(encode(plain.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Ok(plain.as_bytes()));
            assert_eq!(decode(text.trim_end_matches('=')).as_deref(), Ok(plain.as_bytes()));
        }
        assert_eq!(encode(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn line_ends_are_skipped() {
        assert_eq!(decode("aGVs\r\nbG8=\n").as_deref(), Ok(&b"hello"[..]));
    }

    #[test]
    fn faults_have_an_offset() {
        let cases = [
            ("aGVsbG8*", 7),
            ("a", 0),
            ("aGVsb", 4),
            ("Zg=", 2),
            ("Zg===", 2),
            ("Zg==Zg==", 2),
            ("=", 0),
            ("aGVs-G8=", 4),
        ];
        for (text, at) in cases {
            assert_eq!(decode(text), Err(at), "`{text}`");
        }
    }
}

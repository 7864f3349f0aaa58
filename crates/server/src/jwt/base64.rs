//! Base64url without padding, RFC 7515. Not for secrets: it looks letters up.

/// Returns the bytes that a text stands for; nothing if it is none. Each text of bytes has one spelling.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut word = 0_u32;
        for letter in group {
            word = word << 6 | value(*letter)?;
        }
        let [_, a, b, c] = (word << (6 * (4 - group.len()))).to_be_bytes();
        let (kept, rest): (&[u8], &[u8]) = match group.len() {
            4 => (&[a, b, c], &[]),
            3 => (&[a, b], &[c]),
            2 => (&[a], &[b, c]),
            _ => return None,
        };
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

/// Returns the text that stands for bytes.
pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - group.len()));
        for place in [18, 12, 6, 0].into_iter().take(group.len() + 1) {
            text.push(letter(word >> place & 63));
        }
    }
    text
}

fn letter(value: u32) -> char {
    let letters = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']);
    usize::try_from(value).ok().and_then(|at| letters.into_iter().nth(at)).unwrap_or('_')
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    fn check(text: &str, expected: Option<&[u8]>) {
        assert_eq!(decoded(text).as_deref(), expected, "{text}");
        if let Some(bytes) = expected {
            assert_eq!(encoded(bytes), text);
        }
    }

    #[test]
    fn texts_of_every_length_are_read() {
        check("", Some(b""));
        check("Zg", Some(b"f"));
        check("Zm8", Some(b"fo"));
        check("Zm9v", Some(b"foo"));
        check("Zm9vYg", Some(b"foob"));
        check("-_8", Some(&[0xfb, 0xff]));
    }

    #[test]
    fn what_is_no_base64url_is_refused() {
        for text in ["Z", "Zg==", "Zh", "Zm9", "+/8", "Zm 9", "Zm9v\n", "é"] {
            check(text, None);
        }
    }
}

//! Decodes the text between the quotes of a string or bytes literal.
//!
//! Line ends become `\n` in every kind of literal. In a string, `\x` and octal escapes name code
//! points; in a byte string they name bytes, and `\u` has no meaning.

/// Decodes a raw literal.
pub(super) fn raw(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Decodes a string with escapes.
pub(super) fn string(text: &str) -> Result<String, Fault> {
    let mut decoded = String::with_capacity(text.len());
    each_unit(&raw(text), false, |unit| match unit {
        Unit::Char(c) => decoded.push(c),
        Unit::Byte(byte) => decoded.push(char::from(byte)),
    })?;
    Ok(decoded)
}

/// Decodes a byte string with escapes.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::with_capacity(text.len());
    each_unit(&raw(text), true, |unit| match unit {
        Unit::Char(c) => decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Unit::Byte(byte) => decoded.push(byte),
    })?;
    Ok(decoded)
}

/// An escape that cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The byte offset of the backslash in the text.
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) expected: &'static str,
}

enum Unit {
    Char(char),
    Byte(u8),
}

fn each_unit(text: &str, in_bytes: bool, mut push: impl FnMut(Unit)) -> Result<(), Fault> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '\\' {
            let (unit, tail) = escape(rest, in_bytes).map_err(|why| fault(at, rest, why))?;
            push(unit);
            rest = tail;
        } else {
            push(Unit::Char(c));
        }
    }
    Ok(())
}

/// Decodes one escape, after its backslash.
fn escape(rest: &str, in_bytes: bool) -> Result<(Unit, &str), Why> {
    let letter = rest.chars().next().ok_or(Why::Unknown)?;
    let tail = rest.get(letter.len_utf8()..).unwrap_or_default();
    let simple = |c| Ok((Unit::Char(c), tail));
    match letter {
        'a' => simple('\u{7}'),
        'b' => simple('\u{8}'),
        'f' => simple('\u{c}'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'v' => simple('\u{b}'),
        '\\' | '\'' | '"' | '`' | '?' => simple(letter),
        'x' | 'X' => number(tail, 2, 16).map(|(value, tail)| (byte(value), tail)),
        'u' if !in_bytes => code_point(tail, 4),
        'U' if !in_bytes => code_point(tail, 8),
        '0'..='3' => number(rest, 3, 8).map(|(value, tail)| (byte(value), tail)),
        _ => Err(Why::Unknown),
    }
}

/// The fault of an escape.
enum Why {
    Unknown,
    Unfinished,
    NoCharacter,
}

fn fault(at: usize, rest: &str, why: Why) -> Fault {
    let letter: String = rest.chars().take(1).collect();
    let (message, expected) = match why {
        Why::Unknown => (
            format!("`\\{letter}` is not an escape"),
            "`\\\\` for a backslash, or text that begins with r and a quote",
        ),
        Why::Unfinished => (
            format!("the escape `\\{letter}` lacks digits"),
            "`\\x41`, `\\u0041`, `\\U00000041` or `\\101`",
        ),
        Why::NoCharacter => {
            (format!("the escape `\\{letter}` names no character"), "a code point of Unicode")
        }
    };
    Fault { at, message, expected }
}

fn code_point(rest: &str, digits: usize) -> Result<(Unit, &str), Why> {
    let (value, tail) = number(rest, digits, 16)?;
    let c = char::from_u32(value).ok_or(Why::NoCharacter)?;
    Ok((Unit::Char(c), tail))
}

fn number(rest: &str, digits: usize, radix: u32) -> Result<(u32, &str), Why> {
    let text = rest.get(..digits).filter(|text| text.chars().all(|c| c.is_digit(radix)));
    let value =
        text.and_then(|text| u32::from_str_radix(text, radix).ok()).ok_or(Why::Unfinished)?;
    Ok((value, rest.get(digits..).unwrap_or_default()))
}

/// Returns the byte of two hexadecimal digits, or of three octal digits whose first is at most 3.
fn byte(value: u32) -> Unit {
    Unit::Byte(u8::try_from(value).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_in_strings_are_code_points() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let decoded = string(text).map_err(|fault| format!("{} {}", fault.at, fault.message));
            assert_eq!(decoded, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        };
        check(r"\a\b\f\n\r\t\v\\\'\?", Ok("\u{7}\u{8}\u{c}\n\r\t\u{b}\\'?"));
        check(r"\xff\377", Ok("\u{ff}\u{ff}"));
        check(r"\u270c\U0001f431", Ok("\u{270c}\u{1f431}"));
        check("a\r\nb\rc", Ok("a\nb\nc"));
        check(r"\ud800", Err("0 the escape `\\u` names no character"));
        check(r"\400", Err("0 `\\4` is not an escape"));
        check(r"\x+1", Err("0 the escape `\\x` lacks digits"));
        check(r"ab\q", Err("2 `\\q` is not an escape"));
    }

    #[test]
    fn escapes_in_byte_strings_are_bytes() {
        assert_eq!(bytes(r"\xffA\303"), Ok(vec![0xff, b'A', 0o303]));
        assert_eq!(bytes("\u{fc}"), Ok("\u{fc}".as_bytes().to_vec()));
        assert!(bytes(r"\u0041").is_err());
    }
}

//! Text inside a report: quoted as Go quotes it, and paths as URL-escaped JSON pointers.

use alloc::string::String;

use crate::text::push_digits;

/// Returns `text` between two `mark`s, with escapes for characters that are not printable.
#[must_use]
pub fn quoted(text: &str, mark: char) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == mark => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c => push_escaped(&mut out, c),
        }
    }
    out.push(mark);
    out
}

/// Appends one segment of a JSON pointer.
pub(super) fn push_pointer_segment(path: &mut String, segment: &str) {
    for c in segment.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | '-'
            | '_'
            | '.'
            | '$'
            | '&'
            | '+'
            | '='
            | ':'
            | '@' => path.push(c),
            c => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    path.push('%');
                    let mut digits = String::new();
                    push_digits(&mut digits, u64::from(byte), 16, 2);
                    path.push_str(&digits.to_ascii_uppercase());
                }
            }
        }
    }
}

fn push_escaped(out: &mut String, c: char) {
    let code = u32::from(c);
    let (mark, digits) = match code {
        0..0x80 => ("\\x", 2),
        0x80..0x1_0000 => ("\\u", 4),
        _ => ("\\U", 8),
    };
    out.push_str(mark);
    push_digits(out, u64::from(code), 16, digits);
}

/// Returns true if a character is printable. As in Go, these are letters, marks, numbers,
/// punctuation, symbols and the plain blank, but not the characters that Unicode calls control,
/// format, separator, private use or unassigned. Unassigned ones are known by the plane alone: a
/// table of the gaps in each script would be 2 KB of the runtime module, for characters that the
/// next version of Unicode may assign.
const fn is_printable(c: char) -> bool {
    !matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}'
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{1680}' | '\u{180e}'
        | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{40000}'..='\u{e00ff}' | '\u{e01f0}'..
    )
}

#[cfg(test)]
mod tests {
    use super::{String, push_pointer_segment, quoted};

    #[test]
    fn quotes_as_go_does() {
        let check = |text: &str, expected: &str| assert_eq!(quoted(text, '\''), expected);
        check("a b", "'a b'");
        check("x'\"\u{1}é", "'x\\'\"\\x01é'");
        check("\\\n\u{a0}\u{200b}", "'\\\\\\n\\u00a0\\u200b'");
        check("e\u{301} क\u{94d} 漢 🦀", "'e\u{301} क\u{94d} 漢 🦀'");
        check("\u{ad}\u{202e}\u{2066}\u{feff}", "'\\u00ad\\u202e\\u2066\\ufeff'");
        check("\u{e000}\u{ffff}\u{e0041}\u{10ffff}", "'\\ue000\\uffff\\U000e0041\\U0010ffff'");
    }

    #[test]
    fn paths_are_escaped_twice() {
        let mut path = String::new();
        push_pointer_segment(&mut path, "a b/c~é");
        assert_eq!(path, "a%20b~1c~0%C3%A9");
    }
}

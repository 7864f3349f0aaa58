//! Quoting: a text as CEL would write it, and as Go's messages show it.

use alloc::string::String;

use crate::cel::context::Context;
use crate::cel::error::Answer;
use crate::cel::value::Value;
use crate::text::push_digits;

/// Puts `text` between quotes and escapes the characters that have a short escape in CEL.
pub(super) fn quote<'a>(text: &str, context: &Context<'a, '_>) -> Answer<'a> {
    let escapes = text.chars().filter(|c| short_escape(*c).is_some()).count();
    context.charge_string(text.len().saturating_add(escapes).saturating_add(2))?;
    let mut quoted = String::from('"');
    for c in text.chars() {
        match short_escape(c) {
            Some(escape) => quoted.extend(['\\', escape]),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(Value::string(quoted))
}

/// Returns `text` for a message: between quotes, with escapes for characters that are not
/// printable. Long texts are cut, so that a message stays readable.
pub(in crate::cel::functions) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars().take(MAX_QUOTED) {
        match short_escape(c) {
            Some(escape) => quoted.extend(['\\', escape]),
            None if c.is_control() => {
                let (mark, digits) = if c.is_ascii() { ("\\x", 2) } else { ("\\u", 4) };
                quoted.push_str(mark);
                push_digits(&mut quoted, u64::from(c), 16, digits);
            }
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The characters of the longest text that a message shows in full.
const MAX_QUOTED: usize = 1024;

const fn short_escape(c: char) -> Option<char> {
    Some(match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        '\\' => '\\',
        '"' => '"',
        _ => return None,
    })
}

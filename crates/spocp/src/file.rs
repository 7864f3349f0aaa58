//! Rules in a text file, `.spoc`: one on each line, in canonical or advanced form.
//!
//! Empty lines and lines that begin with `#`, `;` or `//` are ignored. A line that begins with the
//! length of its tag is read in canonical form only: in the advanced form, a wrong length would
//! become part of a name, and the rule another one.

use crate::{Error, Normal};

/// A rule of a file.
#[derive(Clone, Debug)]
pub struct Line {
    /// The number of the line, counted from 1.
    pub number: usize,
    /// The byte of the file at which the rule begins.
    pub offset: usize,
    /// The rule, or the error in it; offsets are relative to the rule.
    pub rule: Result<Normal, Error>,
}

/// Reads the rules of a file, one after the other.
///
/// # Examples
/// ```
/// let text = b"# Everybody may read the index.\n(http (page index.html)(action GET))\n";
/// let rules: Vec<_> = wardgate_spocp::file::rules(text).collect();
/// assert_eq!(rules[0].number, 2);
/// assert!(rules[0].rule.is_ok());
/// ```
pub fn rules(text: &[u8]) -> impl Iterator<Item = Line> {
    let mut offset = text.len();
    let body = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    offset = offset.saturating_sub(body.len());
    body.split(|byte| *byte == b'\n').enumerate().filter_map(move |(at, line)| {
        let begin = offset;
        offset = offset.saturating_add(line.len()).saturating_add(1);
        let inner = line.trim_ascii_start();
        let offset = begin.saturating_add(line.len().saturating_sub(inner.len()));
        let inner = inner.trim_ascii_end();
        let is_rule = !inner.is_empty() && !COMMENTS.iter().any(|mark| inner.starts_with(mark));
        is_rule.then(|| Line { number: at.saturating_add(1), offset, rule: rule(inner) })
    })
}

/// Reads one rule, in the form that its first bytes show.
///
/// # Errors
/// The offset and the reason if the text is no valid expression.
pub fn rule(text: &[u8]) -> Result<Normal, Error> {
    let mut rule = Normal::default();
    read(text, &mut rule).map(|()| rule)
}

/// Replaces `into` by the expression in `text`, in the form that its first bytes show. After an
/// error `into` is empty.
///
/// # Errors
/// The offset and the reason if the text is no valid expression.
pub fn read(text: &[u8], into: &mut Normal) -> Result<(), Error> {
    if is_canonical(text) { into.read_canonical(text) } else { into.read_advanced(text) }
}

/// Returns true if an expression begins with the length of its tag.
fn is_canonical(text: &[u8]) -> bool {
    let inner = text.trim_ascii_start().strip_prefix(b"(").unwrap_or_default().trim_ascii_start();
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && inner.get(digits) == Some(&b':')
}

const COMMENTS: [&[u8]; 3] = [b"#", b";", b"//"];

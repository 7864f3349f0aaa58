//! Edits of a text, and how far the values in it reach.
//!
//! A range is a guess from the look of the text. A caller reads the text again after an edit, and drops an edit
//! that the text reads otherwise with.

use std::ops::Range;

use wardgate_compiler::expression::Style;
use wardgate_compiler::yaml::{Kind, Node};

/// A range of text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The range in bytes.
    pub range: Range<usize>,
    /// The text in its place.
    pub text: String,
}

/// Applies edits; nothing if two of them overlap or one is outside.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    wardgate_engine::order::sort_by(&mut edits, |a, b| in_text_order(a, b));
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        new.push_str(text.get(at..edit.range.start)?);
        new.push_str(&edit.text);
        at = edit.range.end;
    }
    new.push_str(text.get(at..)?);
    Some(new)
}

/// Orders edits by the text that they replace.
pub(crate) fn in_text_order(a: &Edit, b: &Edit) -> core::cmp::Ordering {
    (a.range.start, a.range.end).cmp(&(b.range.start, b.range.end))
}

/// Returns where the line of `at` begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Returns where the line of `at` ends, before its line feed.
pub fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length)
}

/// Returns the possible ends of a value. Those of plain text depend on the text around it.
pub fn ends(text: &str, node: &Node) -> Vec<usize> {
    let start = node.offset;
    let Some(rest) = text.get(start..) else { return Vec::new() };
    let lengths = match &node.kind {
        Kind::String(_, Style::SingleQuoted | Style::DoubleQuoted)
        | Kind::Map(_)
        | Kind::Seq(_) => closed(rest).into_iter().collect(),
        Kind::String(_, Style::Block) => Vec::new(),
        _ => {
            let line = rest.lines().next().unwrap_or_default();
            let line = line.split(" #").next().unwrap_or_default().trim_end();
            let inside = line.find([',', '}', ']']).unwrap_or(line.len());
            let inside = line.get(..inside).unwrap_or_default().trim_end().len();
            vec![line.len(), inside]
        }
    };
    lengths.into_iter().map(|length| start + length).collect()
}

/// Returns the length of quoted text or of what is between brackets.
pub fn closed(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (quote, c) {
            (Some('"'), '\\') => {
                characters.next();
            }
            (Some(open), c) if c == open => {
                let doubled = open == '\'' && text.get(at + 1..)?.starts_with('\'');
                if doubled {
                    characters.next();
                } else {
                    quote = None;
                }
            }
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.checked_sub(1)?,
            (None, _) if depth == 0 => return None,
            _ => {}
        }
        if quote.is_none() && depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Returns the end of the last item between the brackets that open at `offset`, and the white space
/// that separates an item after it. There are none if lines alone hold the items.
pub fn bracket(text: &str, offset: usize) -> Option<(usize, String)> {
    let end = offset + text.get(offset..).and_then(closed)? - 1;
    let before = text.get(offset..end).unwrap_or_default().trim_end();
    let gap = before.rfind('\n').map_or(" ".to_owned(), |line| indent(text, offset + line + 1));
    Some((offset + before.len(), gap))
}

/// Returns the range of a list's item, from its `-` on, whose value begins at `offset`, and the
/// number of spaces before it.
pub fn item(text: &str, offset: usize) -> Option<(Range<usize>, usize)> {
    let start = line_start(text, offset);
    let before = text.get(start..offset)?;
    let column = before.find('-')?;
    let is_alone = before.get(..column)?.trim_matches(' ').is_empty()
        && before.get(column + 1..)?.trim_matches(' ').is_empty();
    is_alone.then(|| (start + column..block_end(text, offset, Some(column)), column))
}

/// Returns the end of the last line of a block, whose lines are deeper than `column`, if there is
/// one.
pub fn block_end(text: &str, from: usize, column: Option<usize>) -> usize {
    let mut next = line_end(text, from);
    let mut end = text.get(..next).map_or(next, |before| before.trim_end().len());
    while let Some(rest) = text.get(next + 1..).filter(|rest| !rest.is_empty()) {
        let line = rest.split('\n').next().unwrap_or_default();
        let bare = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_inside = column.is_none_or(|column| indent > column);
        if !bare.is_empty() && (!is_inside || matches!(bare, "---" | "...")) {
            break;
        }
        if !bare.is_empty() && !bare.starts_with('#') {
            end = next + 1 + line.trim_end().len();
        }
        next = line_end(text, next + 1);
    }
    end
}

/// Returns the end of a line and the white space that begins the line at `start`.
pub fn indent(text: &str, start: usize) -> String {
    let line = text.get(start..).unwrap_or_default();
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    format!("{}{}", newline(text), line.get(..blank).unwrap_or_default())
}

/// Returns the end of the first line as all lines of a text have it.
pub fn newline(text: &str) -> &'static str {
    let before = text.find('\n').and_then(|end| text.get(..end));
    if before.is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Writes a name as a key or a value of YAML.
pub fn key(action: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '/');
    let starts_well = action.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = matches!(
        action.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    match starts_well && action.chars().all(is_plain) && !action.ends_with(':') && !is_word {
        true => action.to_owned(),
        false => json_key(action),
    }
}

/// Writes it as a key of JSON.
pub fn json_key(action: &str) -> String {
    wardgate_engine::wire::attr_json(&wardgate_engine::attr::Attr::String(action.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_end_where_they_close() {
        let check = |text, expected| assert_eq!(closed(text), expected, "{text}");
        check(r#""a\"b" c"#, Some(6));
        check("'a''b' c", Some(6));
        check("{a: [1, '}'], b: \"]\"} # c", Some(21));
        check("é", None);
        check("[1", None);
        check("]", None);
    }

    #[test]
    fn actions_are_written_so_that_they_are_read_again() {
        let check = |action, expected| assert_eq!(key(action), expected);
        check("view", "view");
        check("share:link", "share:link");
        check("share:", "\"share:\"");
        check("no", "\"no\"");
        check("1", "\"1\"");
        check("a b\n", "\"a b\\n\"");
    }

    #[test]
    fn edits_that_overlap_are_refused() {
        let edit = |range, text: &str| Edit { range, text: text.to_owned() };
        assert_eq!(apply("abc", &[edit(2..3, "z"), edit(0..1, "")]), Some("bz".to_owned()));
        assert_eq!(apply("abc", &[edit(0..2, "z"), edit(1..3, "")]), None);
        assert_eq!(apply("abc", &[edit(2..5, "z")]), None);
    }
}

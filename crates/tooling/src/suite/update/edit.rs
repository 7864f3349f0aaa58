//! Edits of a text, and how far the values in it reach.

use std::ops::Range;

use crate::suite::model::{Selection, Suite};
use wardgate_compiler::expression::Style;
use wardgate_compiler::source::{Location, Position};
use wardgate_compiler::yaml::{Kind, Node};

/// A range of text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Lines that change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the first line.
    pub line: usize,
    /// The lines as they are.
    pub before: Vec<String>,
    /// The lines as they will be.
    pub after: Vec<String>,
}

/// Applies edits; nothing if two of them overlap or one is outside.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Option<String> {
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
fn in_text_order(a: &Edit, b: &Edit) -> core::cmp::Ordering {
    (a.range.start, a.range.end).cmp(&(b.range.start, b.range.end))
}

/// Returns the lines that edits change. Those that touch the same lines are one change.
pub(super) fn changes(text: &str, edits: &[Edit]) -> Vec<Change> {
    let mut edits: Vec<Edit> = edits.to_vec();
    wardgate_engine::order::sort_by(&mut edits, in_text_order);
    let mut groups: Vec<(Range<usize>, Vec<Edit>)> = Vec::new();
    for edit in edits {
        let lines = line_start(text, edit.range.start)..line_end(text, edit.range.end);
        match groups.last_mut() {
            Some((range, group)) if lines.start < range.end || lines.start == range.start => {
                range.end = range.end.max(lines.end);
                group.push(edit);
            }
            _ => groups.push((lines, vec![edit])),
        }
    }
    let change = |(range, edits): (Range<usize>, Vec<Edit>)| {
        let old = text.get(range.clone())?;
        let moved = edits.into_iter().map(|edit| {
            let range = edit.range.start - range.start..edit.range.end - range.start;
            Edit { range, text: edit.text }
        });
        let new = apply(old, &moved.collect::<Vec<_>>())?;
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        let line = text.get(..range.start)?.matches('\n').count() + 1;
        Some(Change { line, before: lines(old), after: lines(&new) })
    };
    groups.into_iter().filter_map(change).collect()
}

/// Returns where the line of `at` begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Returns where the line of `at` ends, before its line feed.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length)
}

/// Returns the possible ends of a value. Those of plain text depend on the text around it.
pub(super) fn ends(text: &str, node: &Node) -> Vec<usize> {
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
pub(super) fn closed(text: &str) -> Option<usize> {
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

/// Returns the value after the key at a location, if that is a block without comments.
pub(super) fn block(text: &str, key: &Location) -> Option<Range<usize>> {
    let line = usize::try_from(key.position.line).ok()?.checked_sub(1)?;
    let column = usize::try_from(key.position.column).ok()?.checked_sub(1)?;
    let mut start = 0;
    for _ in 0..line {
        start = line_end(text, start) + 1;
    }
    let end = line_end(text, start);
    let colon = text.get(start..end)?.rfind(':')? + start + 1;
    if !text.get(colon..end)?.trim().is_empty() {
        return None;
    }
    let mut last = end;
    let mut next = end + 1;
    while let Some(rest) = text.get(next..).filter(|rest| !rest.is_empty()) {
        let line = rest.lines().next().unwrap_or_default();
        let indent = line.len() - line.trim_start_matches(' ').len();
        if !line.trim().is_empty() && indent <= column {
            break;
        }
        if !line.trim().is_empty() {
            last = next + line.trim_end().len();
        }
        next = line_end(text, next) + 1;
    }
    let range = colon..last;
    (!text.get(range.clone())?.contains('#') && last > end).then_some(range)
}

/// Writes the name of an action as a key of YAML.
pub(super) fn key(action: &str) -> String {
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
pub(super) fn json_key(action: &str) -> String {
    wardgate_engine::wire::attr_json(&wardgate_engine::attr::Attr::String(action.into()))
}

/// Sets all locations of a suite to one, so that two suites can be compared by their contents.
pub(super) fn forget_locations(suite: &mut Suite, nowhere: &Location) {
    let node = || Node { position: Position::START, offset: 0, kind: Kind::Null };
    let forget = |selection: &mut Selection| {
        let named = selection.names.iter_mut().chain(&mut selection.groups);
        named.for_each(|named| named.location = nowhere.clone());
    };
    let fixtures = &mut suite.fixtures;
    let groups =
        fixtures.principal_groups.values_mut().chain(fixtures.resource_groups.values_mut());
    groups.flatten().for_each(|named| named.location = nowhere.clone());
    for table in &mut suite.tables {
        table.location = nowhere.clone();
        (table.offset, table.list) = (0, None);
        table.name.location = nowhere.clone();
        let input = &mut table.input;
        input.location = nowhere.clone();
        input.actions.iter_mut().for_each(|action| action.location = nowhere.clone());
        input.aux_data.iter_mut().for_each(|data| data.location = nowhere.clone());
        forget(&mut input.principals);
        forget(&mut input.resources);
        for expectation in &mut table.expected {
            (expectation.location, expectation.offset) = (nowhere.clone(), 0);
            forget(&mut expectation.principals);
            forget(&mut expectation.resources);
            for effect in &mut expectation.effects {
                (effect.location, effect.node) = (nowhere.clone(), node());
            }
            for output in &mut expectation.outputs {
                output.location = nowhere.clone();
                for entry in &mut output.entries {
                    (entry.location, entry.node, entry.key) = (nowhere.clone(), None, None);
                }
            }
        }
    }
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

    #[test]
    fn changes_on_one_line_are_one_change() {
        let edit = |range, text: &str| Edit { range, text: text.to_owned() };
        let found = changes("a b\nc\nd\n", &[edit(2..3, "y"), edit(0..1, "x"), edit(6..7, "z\nz")]);
        let change = |line, before: &str, after: &[&str]| Change {
            line,
            before: vec![before.to_owned()],
            after: after.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(found, [change(1, "a b", &["x y"]), change(3, "d", &["z", "z"])]);
    }
}

//! The lines that edits of a suite change, and suites without their places.

use std::ops::Range;

use crate::edit::{Edit, apply, in_text_order, line_end, line_start};
use crate::suite::model::{Selection, Suite};
use wardgate_compiler::source::{Location, Position};
use wardgate_compiler::yaml::{Kind, Node};

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

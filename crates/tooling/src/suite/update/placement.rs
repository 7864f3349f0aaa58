//! The positions of expectations in the text of a suite, and those of new ones.
//!
//! A proposal is a guess from the look of the lines: it is tried, read again, and dropped where the
//! text reads otherwise.

use std::ops::Range;

use super::expectation::NewExpectation;
use crate::edit::{Edit, block_end, bracket, closed, indent, item, line_end, line_start, newline};

/// Returns the ways to write `expectations` in the place of the one at `offset`; its comments move
/// in front.
pub(super) fn replace_item(
    text: &str,
    offset: usize,
    expectations: &[NewExpectation],
    comments: &Comments<'_>,
) -> Vec<Edit> {
    let brackets = text.get(offset..).and_then(closed).map(|length| offset..offset + length);
    if let Some(range) = brackets {
        let has_comments = !comments.within(&range).is_empty();
        let gap = beside(text, offset);
        let edit = |between: &str| Edit { range: range.clone(), text: flow(expectations, between) };
        // Between brackets a comment would need a line of its own.
        return if has_comments { Vec::new() } else { vec![edit(&format!(",{gap}")), edit(", ")] };
    }
    let Some((range, column)) = item(text, offset) else { return Vec::new() };
    let lines = comments
        .within(&range)
        .into_iter()
        .chain(expectations.iter().flat_map(NewExpectation::lines));
    let between = format!("{}{}", newline(text), " ".repeat(column));
    vec![Edit { range, text: lines.collect::<Vec<_>>().join(&between) }]
}

/// Returns the ways to add `expectations` to the list at `offset`.
pub(super) fn append_items(
    text: &str,
    offset: usize,
    expectations: &[NewExpectation],
) -> Vec<Edit> {
    let Some((at, gap)) = bracket(text, offset) else {
        return after_block(text, offset, expectations.iter().flat_map(NewExpectation::lines));
    };
    let texts = [
        format!(",{gap}{}", flow(expectations, &format!(",{gap}"))),
        format!(",{}", flow(expectations, ",")),
        flow(expectations, ", "),
    ];
    texts.map(|text| Edit { range: at..at, text }).into()
}

/// Returns the ways to add a list of `expectations` to the table at `offset`, which has none.
pub(super) fn add_list(text: &str, offset: usize, expectations: &[NewExpectation]) -> Vec<Edit> {
    let Some((at, gap)) = bracket(text, offset) else {
        let lines = expectations.iter().flat_map(NewExpectation::lines);
        let lines = lines.map(|line| format!("  {line}"));
        return after_block(text, offset, std::iter::once("expected:".to_owned()).chain(lines));
    };
    let list = format!("{gap}\"expected\": [{}]", flow(expectations, ", "));
    [format!(",{list}"), list].map(|text| Edit { range: at..at, text }).into()
}

/// Writes expectations between brackets.
fn flow(expectations: &[NewExpectation], between: &str) -> String {
    expectations.iter().map(NewExpectation::flow).collect::<Vec<_>>().join(between)
}

/// Returns the edit that adds lines to the block at `offset`.
fn after_block(text: &str, offset: usize, lines: impl Iterator<Item = String>) -> Vec<Edit> {
    let column = offset - line_start(text, offset);
    let end = block_end(text, offset, column.checked_sub(1));
    vec![Edit { range: end..end, text: below(text, column, lines) }]
}

/// The comments of a text: where each begins and ends.
pub(super) struct Comments<'t> {
    text: &'t str,
    ranges: Vec<Range<usize>>,
}

impl<'t> Comments<'t> {
    pub(super) fn new(text: &'t str, places: impl Iterator<Item = (u32, u32)>) -> Self {
        let lines: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let range = |(line, column): (u32, u32)| {
            let start = *lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
            let column = usize::try_from(column).ok()?.checked_sub(1)?;
            let before: usize = text.get(start..)?.chars().take(column).map(char::len_utf8).sum();
            Some(start + before..line_end(text, start))
        };
        Self { text, ranges: places.filter_map(range).collect() }
    }

    fn within(&self, range: &Range<usize>) -> Vec<String> {
        let inside = self.ranges.iter().filter(|it| range.contains(&it.start));
        let texts = inside.filter_map(|range| self.text.get(range.clone()));
        texts.map(|text| text.trim_end().to_owned()).collect()
    }
}

/// Writes lines of their own, each after so many spaces.
fn below(text: &str, column: usize, lines: impl Iterator<Item = String>) -> String {
    let before = format!("{}{}", newline(text), " ".repeat(column));
    lines.map(|line| format!("{before}{line}")).collect()
}

/// Returns the separator of an item between brackets and the one before: the end of a line if it
/// begins one.
fn beside(text: &str, offset: usize) -> String {
    let start = line_start(text, offset);
    let is_first = text.get(start..offset).is_some_and(|before| before.trim().is_empty());
    if is_first { indent(text, start) } else { " ".to_owned() }
}

//! The extent of a diagnostic: the text that an editor underlines.
//!
//! A diagnostic knows where its text begins. The end is read off the line: that of the word or of
//! the quoted text that begins there, never beyond the line.

use super::Diagnostic;
use crate::source::{Position, SourceFile};

impl Diagnostic {
    /// Returns the position after the word, the quoted text or else the one character that this
    /// points at; the position itself at the end of a line.
    #[must_use]
    pub fn end(&self) -> Option<Position> {
        let start = self.position?;
        let length = self.source.as_ref().map_or(0, |source| extent(rest_of_line(source, start)));
        let column = start.column.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
        Some(Position { column, ..start })
    }
}

fn rest_of_line(source: &SourceFile, at: Position) -> &str {
    let skipped = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1);
    let line = source.line(at.line).unwrap_or_default();
    let start = line.char_indices().nth(skipped(at.column)).map_or(line.len(), |(at, _)| at);
    line.get(start..).unwrap_or_default()
}

/// Returns how many characters of the beginning of a text belong together.
fn extent(text: &str) -> usize {
    let mut rest = text.chars();
    match rest.next() {
        None => 0,
        Some(quote @ ('"' | '\'')) => match rest.position(|c| c == quote) {
            Some(inside) => inside.saturating_add(2),
            None => text.trim_end().chars().count(),
        },
        Some(c) if is_of_word(c) => word(text),
        Some(_) => 1,
    }
}

/// Returns the length in characters of the word that a text begins with. A dot between two
/// characters of a word belongs to it.
fn word(text: &str) -> usize {
    let next = text.chars().skip(1).map(Some).chain([None]);
    let belongs = |(c, next): &(char, Option<char>)| {
        is_of_word(*c) || (*c == '.' && next.is_some_and(is_of_word))
    };
    text.chars().zip(next).take_while(belongs).count()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quoted_texts_belong_together() {
        let check = |text, expected| assert_eq!(extent(text), expected, "{text}");
        check("", 0);
        check("resource: a", 8);
        check("EFFECT_ALLOW", 12);
        check("é_1-b", 3);
        check("V.nobody && a", 8);
        check("a. b", 1);
        check("a..b", 1);
        check("end.", 3);
        check(".b", 1);
        check("'a b' c", 5);
        check("\"a b  ", 4);
        check("''", 2);
        check("== b", 1);
        check("- a", 1);
    }

    #[test]
    fn positions_outside_of_the_text_are_empty() {
        let source = SourceFile::of("p", "ab\ncd");
        let check = |line, column, expected| {
            assert_eq!(rest_of_line(&source, Position { line, column }), expected);
        };
        check(1, 1, "ab");
        check(2, 2, "d");
        check(2, 3, "");
        check(2, u32::MAX, "");
        check(9, 1, "");
    }
}

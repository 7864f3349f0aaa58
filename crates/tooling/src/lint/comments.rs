//! The comments of a file, as YAML has them.
//!
//! A `#` begins a comment at the start of a line or after white space, but not inside quotes or a
//! block of text. The tree gives the positions of those, so that no text of an author is taken for
//! a comment.

use std::sync::Arc;

use wardgate_compiler::expression::Style;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::{self, Kind, Node};

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment<'f> {
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column of the `#`, from 1.
    pub(crate) column: u32,
    /// The text after the `#`.
    pub(super) text: &'f str,
    /// True if it has the line for itself.
    pub(super) is_alone: bool,
    /// True if only comments and blank lines come before it in the file.
    pub(super) is_first: bool,
}

/// Returns the comments of a file. JSON has none.
pub(crate) fn comments(file: &Arc<SourceFile>) -> Vec<Comment<'_>> {
    let texts = texts(file);
    let mut comments = Vec::new();
    let (mut offset, mut is_first) = (0_usize, true);
    for (line, number) in file.text.split_inclusive('\n').zip(1_u32..) {
        let found = hashes(line).find(|at| !is_in(&texts, offset.saturating_add(*at)));
        if let Some(at) = found {
            let (before, comment) = line.split_at_checked(at).unwrap_or((line, ""));
            let is_alone = before.trim().is_empty();
            comments.push(Comment {
                line: number,
                column: u32::try_from(before.chars().count()).unwrap_or(u32::MAX).saturating_add(1),
                text: comment.trim_start_matches('#').trim_end(),
                is_alone,
                is_first: is_first && is_alone,
            });
        }
        let before = found.and_then(|at| line.get(..at)).unwrap_or(line);
        is_first &= matches!(before.trim(), "" | "---") || before.starts_with('%');
        offset = offset.saturating_add(line.len());
    }
    comments
}

/// Returns the offsets of each `#` that may begin a comment.
fn hashes(line: &str) -> impl Iterator<Item = usize> {
    let blank_before = |at: usize| {
        line.get(..at).is_none_or(|before| before.is_empty() || before.ends_with([' ', '\t']))
    };
    line.match_indices('#').map(|(at, _)| at).filter(move |at| blank_before(*at))
}

/// The bytes that texts take in the file: from where to where, in order and apart.
type Texts = Vec<(usize, usize)>;

fn is_in(texts: &Texts, at: usize) -> bool {
    let begun = texts.partition_point(|(from, _)| *from <= at);
    let last = begun.checked_sub(1).and_then(|last| texts.get(last));
    last.is_some_and(|(_, to)| at < *to)
}

fn texts(file: &Arc<SourceFile>) -> Texts {
    let mut texts = Texts::new();
    let documents = yaml::read(file).documents;
    let mut pending: Vec<&Node> = documents.iter().collect();
    while let Some(node) = pending.pop() {
        match &node.kind {
            Kind::String(_, style) => {
                let rest = file.text.get(node.offset..).unwrap_or_default();
                let length = match style {
                    Style::Plain => 0,
                    Style::SingleQuoted => quoted(rest, '\''),
                    Style::DoubleQuoted => quoted(rest, '"'),
                    Style::Block => block(&file.text, node.offset),
                };
                texts.push((node.offset, node.offset.saturating_add(length)));
            }
            Kind::Seq(items) => pending.extend(items),
            Kind::Map(entries) => {
                pending.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
            _ => {}
        }
    }
    wardgate_engine::order::sort_by(&mut texts, Ord::cmp);
    // An alias repeats the text of its anchor at the same offset.
    texts.dedup_by(|next, last| {
        let overlaps = next.0 < last.1;
        if overlaps {
            last.1 = last.1.max(next.1);
        }
        overlaps
    });
    texts
}

/// Returns how many bytes the quoted text takes that `rest` begins with.
fn quoted(rest: &str, quote: char) -> usize {
    let mut inside = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = inside.next() {
        if c == '\\' && quote == '"' {
            inside.next();
        } else if c == quote {
            // A doubled quote between single ones is a quote.
            let is_doubled = quote == '\'' && inside.next_if(|(_, next)| *next == quote).is_some();
            if !is_doubled {
                return at.saturating_add(1);
            }
        }
    }
    rest.len()
}

/// Returns the number of bytes of the block whose content begins at `offset`: all lines that are
/// blank or indented at least as far as the first.
fn block(text: &str, offset: usize) -> usize {
    let start = text
        .get(..offset)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at.saturating_add(1));
    let indent = text.get(start..offset).map_or(0, |before| before.chars().count());
    let rest = text.get(start..).unwrap_or_default();
    let first = rest.trim_start_matches(' ');
    let indent = indent.max(rest.len().saturating_sub(first.len()));
    let belongs = |line: &&str| {
        line.trim().is_empty() || line.chars().take_while(|c| *c == ' ').count() >= indent
    };
    let length: usize = rest.split_inclusive('\n').take_while(belongs).map(str::len).sum();
    length.saturating_sub(offset.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_what_yaml_takes_for_one() {
        let check = |text: &str, expected: &[(u32, u32, &str)]| {
            let file = SourceFile::new("a.yaml", text.as_bytes()).unwrap();
            let found: Vec<_> =
                comments(&file).iter().map(|c| (c.line, c.column, c.text)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("# a\nb: c # d\n", &[(1, 1, " a"), (2, 6, " d")]);
        check("a: b#c\nd: '# e' # f\n", &[(2, 10, " f")]);
        check("a: \"x \\\" # y\" # z\n", &[(1, 15, " z")]);
        check("a: 'it''s # b' # c\n", &[(1, 16, " c")]);
        check("a: |\n  # text\n   # text\n\n  b\n# c\n", &[(6, 1, " c")]);
        check("a: | # b\n  # c\nd: e\n", &[(1, 6, " b")]);
        check("- >-\n  # a\n- b # c\r\n", &[(3, 5, " c")]);
        check("a: \"x\n  # y\n  \" # z\n", &[(3, 5, " z")]);
        check("{\"a\": \" # b\"}", &[]);
    }

    #[test]
    fn the_head_of_a_file_is_known() {
        let file = SourceFile::new("a.yaml", b"# a\n\n---\n# b\nc: d # e\n# f\n").unwrap();
        let first: Vec<_> = comments(&file).iter().map(|c| (c.is_first, c.is_alone)).collect();
        assert_eq!(first, [(true, true), (true, true), (false, false), (false, true)]);
    }
}

//! The leaves of a YAML text: the texts of its scalars and aliases, and their positions.
//!
//! Everything else of the text is punctuation, which [`super::scan`] finds for itself.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A scalar or an alias.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Byte offset of its first character, or of an anchor or a tag before it.
    pub(super) start: usize,
    pub(super) style: Style,
    /// The text of a scalar.
    pub(super) text: String,
}

/// The style of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
    Alias,
}

/// Returns the leaves that have characters of their own, in order.
pub(super) fn leaves(text: &str) -> Option<Vec<Leaf>> {
    let offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    let mut leaves = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let start = offsets.get(span.start.index()).copied().unwrap_or(text.len());
        match event {
            Event::Scalar(text, style, ..) => {
                let style = match style {
                    ScalarStyle::Plain if text.is_empty() => continue,
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                leaves.push(Leaf { start, style, text: text.into_owned() });
            }
            Event::Alias(_) => {
                leaves.push(Leaf { start, style: Style::Alias, text: String::new() });
            }
            _ => {}
        }
    }
    Some(leaves)
}

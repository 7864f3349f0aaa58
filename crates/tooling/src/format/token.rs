//! The tokens of a YAML text, as a layout sees them.

/// One token. Two of them are separated by white space and nothing else.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Byte offset of its first character.
    pub(super) start: usize,
    /// Byte offset after its last character.
    pub(super) end: usize,
    /// Characters before it on its line.
    pub(super) column: usize,
    pub(super) begins_line: bool,
    pub(super) follows_blank: bool,
    /// The collection that the token begins an entry of.
    pub(super) begins: Option<Collection>,
}

/// The kinds of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    Directive,
    /// `---`.
    DocumentStart,
    /// `...`.
    DocumentEnd,
    Dash,
    Question,
    Colon,
    Comma,
    Open,
    Close,
    /// An anchor or a tag.
    Property,
    /// A scalar or an alias: the leaf of this number.
    Leaf(usize),
    /// A scalar after `|` or `>`: the number of its leaf, and the lines of its content.
    Block(usize, Block),
}

/// The lines of a block scalar's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Byte offset after the line of the indicator.
    pub(super) body: usize,
    /// Spaces before each line that are not part of it.
    pub(super) indent: usize,
}

/// The collections that are written with indentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    Sequence,
    Mapping,
}

impl Kind {
    /// Returns true if a document begins or ends here.
    pub(super) const fn is_document_mark(self) -> bool {
        matches!(self, Self::Directive | Self::DocumentStart | Self::DocumentEnd)
    }
}

/// Splits the first line of a block scalar into its indicator and the comment beside it.
pub(super) fn header(line: &str) -> (&str, Option<&str>) {
    match line.split_once([' ', '\t']) {
        Some((indicator, comment)) => {
            (indicator, Some(comment.trim()).filter(|comment| !comment.is_empty()))
        }
        None => (line, None),
    }
}

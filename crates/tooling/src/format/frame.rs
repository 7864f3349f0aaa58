//! Where lines begin: the collections that are open, where they stood, and where they are to stand.
//!
//! Each block stands two spaces deeper than the one around it, and so does a list below its key.
//! Brackets that close stand deeper than the block around them, as YAML demands.

use super::token::Collection;

/// The collections around a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    blocks: Vec<Frame>,
    /// Where the bracket that closes stands if it begins a line, for each that is open.
    brackets: Vec<usize>,
    /// Where the current line begins.
    line: usize,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    collection: Collection,
    /// Characters before it as it was.
    column: usize,
    /// Spaces before it as it will be.
    indent: usize,
}

impl Frames {
    /// An entry begins that stood after `column` characters.
    pub(super) fn begin(&mut self, collection: Collection, column: usize) {
        while let Some(last) = self.blocks.last() {
            let ends = last.column > column
                || last.column == column
                    && last.collection == Collection::Sequence
                    && collection == Collection::Mapping;
            if !ends {
                break;
            }
            self.blocks.pop();
        }
        let is_open = self
            .blocks
            .last()
            .is_some_and(|last| last.column == column && last.collection == collection);
        if !is_open {
            let indent = self.value();
            self.blocks.push(Frame { collection, column, indent });
        }
    }

    /// A document begins or ends.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Returns where an entry of the innermost block stands.
    pub(super) fn entry(&self) -> usize {
        self.blocks.last().map_or(0, |frame| frame.indent)
    }

    /// Returns where a value of the innermost block stands on a line of its own.
    pub(super) fn value(&self) -> usize {
        self.blocks.last().map_or(0, |frame| frame.indent.saturating_add(STEP))
    }

    /// Returns where a line begins between brackets; nothing if none are open.
    pub(super) fn item(&self) -> Option<usize> {
        self.brackets.last().map(|indent| indent.saturating_add(STEP))
    }

    /// Returns where the innermost bracket closes.
    pub(super) fn closing(&self) -> usize {
        self.brackets.last().copied().unwrap_or_default()
    }

    /// A line begins after so many spaces.
    pub(super) fn begin_line(&mut self, indent: usize) {
        self.line = indent;
    }

    /// A bracket opens.
    pub(super) fn open(&mut self) {
        let indent = if self.brackets.is_empty() { self.value() } else { self.line };
        self.brackets.push(indent.max(self.closing()));
    }

    /// A bracket closes.
    pub(super) fn close(&mut self) {
        self.brackets.pop();
    }

    /// Returns where a comment stands that stood after `column` characters and precedes `next`: with
    /// what follows it, unless it stood deeper, among the entries of a block that ends here.
    pub(super) fn comment(&self, column: usize, next: &Next) -> usize {
        if column <= next.column {
            return next.indent;
        }
        let ending = self.blocks.get(next.remaining..).unwrap_or_default();
        let block = ending.iter().rev().find(|frame| frame.column <= column);
        block.map_or(next.indent, |frame| frame.indent)
    }

    /// Returns how many blocks are open.
    pub(super) fn depth(&self) -> usize {
        self.blocks.len()
    }
}

/// What follows a comment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// Characters before it as it was.
    pub(super) column: usize,
    /// Spaces before it as it will be.
    pub(super) indent: usize,
    /// How many of the blocks that are open go on.
    pub(super) remaining: usize,
}

/// How much deeper each level stands.
const STEP: usize = 2;

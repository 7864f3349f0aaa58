//! The beginnings of lines: the open collections, their old columns and their new ones.
//!
//! Each block is two spaces deeper than the one around it, and so is a list below its key. Closing
//! brackets are deeper than the block around them, as YAML demands.

use super::token::Collection;

/// The collections around a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    blocks: Vec<Frame>,
    /// The column of the closing bracket if it begins a line, for each open one.
    brackets: Vec<usize>,
    /// The start of the current line.
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
    /// Begins an entry that was after `column` characters.
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

    /// Begins or ends a document.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Returns the column of an entry of the innermost block.
    pub(super) fn entry(&self) -> usize {
        self.blocks.last().map_or(0, |frame| frame.indent)
    }

    /// Returns the column of a value of the innermost block on a line of its own.
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

    /// Begins a line after so many spaces.
    pub(super) fn begin_line(&mut self, indent: usize) {
        self.line = indent;
    }

    /// Opens a bracket.
    pub(super) fn open(&mut self) {
        let indent = if self.brackets.is_empty() { self.value() } else { self.line };
        self.brackets.push(indent.max(self.closing()));
    }

    /// Closes a bracket.
    pub(super) fn close(&mut self) {
        self.brackets.pop();
    }

    /// Returns the column of a comment that was after `column` characters and precedes `next`: that
    /// of the next token, unless the comment was deeper, among the entries of a block that ends
    /// here.
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

/// The token after a comment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// Characters before it as it was.
    pub(super) column: usize,
    /// Spaces before it as it will be.
    pub(super) indent: usize,
    /// The number of open blocks that go on.
    pub(super) remaining: usize,
}

/// The spaces of each level of indentation.
const STEP: usize = 2;

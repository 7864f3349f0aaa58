//! Generated YAML: values written in all the ways in which an author may write them.
//!
//! The content of a text and its comments are known before it is written, so no reader is needed.
//! Each choice takes a byte, and no byte left is the plainest choice: a case that shrinks loses
//! bytes, and with them layout.

mod block;
mod choices;
mod data;
mod flow;
mod lines;
mod scalar;

use std::fmt;

use proptest::prelude::*;

use choices::Choices;
pub use data::Datum;

/// A text, its content and its comments.
#[derive(Clone)]
pub struct Written {
    /// The text, with line feeds.
    pub text: String,
    /// The content of its documents.
    pub documents: Vec<Datum>,
    /// Its comments, from `#` on, in order.
    pub comments: Vec<String>,
}

impl Written {
    /// Writes the text of a list of choices.
    #[must_use]
    pub fn new(choices: &[u8]) -> Self {
        let mut writer = Writer::new(Choices::new(choices));
        let documents = writer.stream();
        Self { text: writer.out, documents, comments: writer.comments }
    }

    /// Returns true if any text of it may be laid out as an expression.
    #[must_use]
    pub fn has_expressions(&self) -> bool {
        self.documents.iter().any(Datum::has_expressions)
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\n{}\n{:?}", self.text, self.text)
    }
}

/// Returns texts that take at most so many choices.
pub fn written(choices: usize) -> impl Strategy<Value = Written> {
    proptest::collection::vec(any::<u8>(), 0..choices).prop_map(|choices| Written::new(&choices))
}

/// The text so far, with its comments and the choices that are left.
struct Writer<'w> {
    choices: Choices<'w>,
    out: String,
    comments: Vec<String>,
    /// The block scalar that was written last, if nothing stands behind it yet.
    tail: Option<Tail>,
    /// The number of collections around the position that must stay on one line.
    one_line: usize,
}

/// The end of a block scalar.
#[derive(Clone, Copy)]
struct Tail {
    /// Spaces before its lines: a comment with as many would be a part of it.
    indent: usize,
    /// True if empty lines behind it are a part of it.
    keeps: bool,
}

impl<'w> Writer<'w> {
    const fn new(choices: Choices<'w>) -> Self {
        Self { choices, out: String::new(), comments: Vec::new(), tail: None, one_line: 0 }
    }

    /// Writes one or several documents and returns their content.
    fn stream(&mut self) -> Vec<Datum> {
        let mut documents = Vec::new();
        self.fill();
        let count = 1 + self.choices.below(8) / 6;
        for number in 0..count {
            let directive = number == 0 && self.choices.chance(1);
            if directive {
                self.out.push_str("%YAML 1.2");
                self.line_end();
                self.fill();
            }
            if number > 0 || directive || self.choices.chance(2) {
                self.out.push_str("---");
                self.line_end();
                self.fill();
            }
            let document = data::document(&mut self.choices);
            self.root(&document);
            documents.push(document);
            if self.choices.chance(1) {
                self.fill();
                self.out.push_str("...");
                self.tail = None;
                self.line_end();
            }
            self.fill();
        }
        if self.tail.is_none() && self.choices.chance(1) {
            self.out.truncate(self.out.trim_end_matches(['\n', ' ']).len());
        }
        documents
    }
}

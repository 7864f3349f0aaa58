//! One tree for YAML and JSON, in which every node knows its position.
//!
//! No file can make the reader panic, recurse without bound or use more memory than the bounds in
//! [`crate::limits`] allow.

mod build;
mod json;
mod mask;
mod padding;
pub mod plain;
mod scanner_messages;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use saphyr_parser::Parser;

use crate::diagnostics::Diagnostic;
use crate::expression::{ScalarSpan, Style};
use crate::source::{Position, SourceFile};
use padding::Padding;

/// The documents of a file, and its errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The documents that are not empty.
    pub documents: Vec<Node>,
    /// The errors; the documents are incomplete if there are any.
    pub errors: Vec<Diagnostic>,
}

/// Reads the documents of a file.
///
/// A file that begins like a JSON object is read as JSON. If it is not, it may still be YAML.
#[must_use]
pub fn read(file: &Arc<SourceFile>) -> Contents {
    if !file.text.trim_start().starts_with('{') {
        return build::read(file);
    }
    match json::read(file) {
        Ok(document) => Contents { documents: vec![document], errors: Vec::new() },
        Err(error) => {
            let yaml = build::read(file);
            match is_named_json(file) && !yaml.errors.is_empty() {
                true => Contents { documents: Vec::new(), errors: vec![*error] },
                false => yaml,
            }
        }
    }
}

/// Reads a file that must be JSON.
///
/// # Errors
/// The first thing that is not.
pub fn read_json(file: &Arc<SourceFile>) -> Result<Node, Box<Diagnostic>> {
    json::read(file)
}

/// Returns true if a readable file is JSON, by its name or by its text.
pub fn is_json(file: &Arc<SourceFile>) -> bool {
    let looks_so = file.text.trim_start().starts_with('{');
    is_named_json(file) || looks_so && json::read(file).is_ok()
}

fn is_named_json(file: &SourceFile) -> bool {
    file.path.to_ascii_lowercase().ends_with(".json")
}

/// Returns YAML that reads the same and that a strict reader accepts too; `None` if it has a flaw.
pub fn strict(text: &str) -> Option<String> {
    let mut padding = Padding::default();
    loop {
        let padded = padding.apply(text);
        match Parser::new_from_str(&padded).find_map(Result::err) {
            None => return Some(padded.into_owned()),
            Some(error) if build::is_indentation(&error) => {
                padding.widen(error.marker(), text).then_some(())?;
            }
            Some(_) => return None,
        }
    }
}

/// The error that ends the reading of a file.
type Fault = Box<Diagnostic>;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The target of messages about the value: the scalar, the bracket, the first `-` of a sequence,
    /// or the first `:` of a block mapping, as Cerbos has it.
    pub position: Position,
    /// Byte offset of the value's first character.
    pub offset: usize,
    /// The value.
    pub kind: Kind,
}

/// The kinds of value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`, `~`, or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction that 64 bits hold.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    String(Arc<str>, Style),
    /// A list.
    Seq(Vec<Node>),
    /// A map with its entries as written, merge keys resolved.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// Returns the span of the scalar. A value that is not text is written without quotes.
    #[must_use]
    pub fn scalar_span(&self) -> ScalarSpan {
        let style = match self.kind {
            Kind::String(_, style) => style,
            _ => Style::Plain,
        };
        ScalarSpan { offset: self.offset, start: self.position, style }
    }

    /// Returns the kind of the value, in the words of messages.
    #[must_use]
    pub const fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "a boolean",
            Kind::Integer(_) | Kind::Float(_) => "a number",
            Kind::String(..) => "text",
            Kind::Seq(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

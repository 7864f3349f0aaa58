//! One tree for YAML and JSON, in which every node knows where it stands.
//!
//! Nothing in a file can make the reader panic, recurse without bound or use more memory than the
//! bounds in [`limits`] allow.

pub mod limits;
pub(crate) mod scalar;

use std::sync::Arc;

use crate::expression::{ScalarSpan, Style};
use crate::source::Position;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where messages about the value point: the scalar, the bracket, the first `-` of a sequence,
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
    /// Returns where the scalar stands, if it is text.
    #[must_use]
    pub fn scalar_span(&self) -> Option<ScalarSpan> {
        match self.kind {
            Kind::String(_, style) => {
                Some(ScalarSpan { offset: self.offset, start: self.position, style })
            }
            _ => None,
        }
    }
}

//! Normal forms: the same text for expressions that stand for the same.
//!
//! In every set, ranges of one type and atoms that lie next to each other are joined, and what another
//! element covers is left out (section 6 of the draft). Without that the order would not be complete:
//! 1 to 10 is covered by a set of 1 to 5 and 6 to 10.

mod set;

use alloc::vec::Vec;

use crate::expression::{Element, Expression, Node};
use crate::order::at_most;
use crate::{Error, read, write};

/// An expression in its normal form.
#[derive(Clone, Debug, Default)]
pub struct Normal(Expression);

impl Normal {
    /// Brings an expression into its normal form; without sets and ranges it is in it already.
    #[must_use]
    pub fn new(expression: Expression) -> Self {
        if is_normal(&expression) {
            return Self(expression);
        }
        let mut text = Vec::with_capacity(expression.text.len());
        if let Some(root) = expression.root() {
            rewrite(root, &mut text);
        }
        // INVARIANT: what `rewrite` writes can be read. If it could not, the empty expression allows nothing.
        Self(read::normal(&text).unwrap_or_default())
    }

    /// Reads the canonical form, and brings it into normal form.
    ///
    /// # Errors
    /// Where and why the text is no valid expression.
    pub fn from_canonical(text: &[u8]) -> Result<Self, Error> {
        Expression::from_canonical(text).map(Self::new)
    }

    /// Reads the advanced form, and brings it into normal form.
    ///
    /// # Errors
    /// Where and why the text is no valid expression.
    pub fn from_advanced(text: &[u8]) -> Result<Self, Error> {
        Expression::from_advanced(text).map(Self::new)
    }

    /// Reads the canonical form in place of what was here, and allocates nothing that fits; a text with
    /// sets or ranges is brought into normal form, which does. After an error this is empty, and less than or equal to nothing.
    ///
    /// # Errors
    /// Where and why the text is no valid expression.
    pub fn read_canonical(&mut self, text: &[u8]) -> Result<(), Error> {
        self.0.read_canonical(text)?;
        self.bring();
        Ok(())
    }

    /// Reads the advanced form in place of what was here, as `read_canonical` does.
    ///
    /// # Errors
    /// Where and why the text is no valid expression.
    pub fn read_advanced(&mut self, text: &[u8]) -> Result<(), Error> {
        self.0.read_advanced(text)?;
        self.bring();
        Ok(())
    }

    /// Takes an expression that has been in normal form already.
    pub(crate) const fn written(expression: Expression) -> Self {
        Self(expression)
    }

    fn bring(&mut self) {
        if !is_normal(&self.0) {
            *self = Self::new(core::mem::take(&mut self.0));
        }
    }

    /// Tells whether there is no expression, as after a text that could not be read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.nodes.is_empty()
    }

    /// Returns the expression.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.0
    }

    /// Tells whether this is less than or equal to `rule`: whether all that this stands for is allowed by it.
    #[must_use]
    pub fn is_at_most(&self, rule: &Self) -> bool {
        match (self.0.root(), rule.0.root()) {
            (Some(left), Some(right)) => at_most(left, right),
            _ => false,
        }
    }
}

/// Equal is what stands for the same.
impl PartialEq for Normal {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_canonical() == other.0.to_canonical()
    }
}

impl Eq for Normal {}

fn is_normal(expression: &Expression) -> bool {
    !expression.nodes.iter().any(|node| matches!(node, Node::Set { .. } | Node::Range { .. }))
}

/// Writes the normal form of one element. The depth is bounded by that of what was read.
fn rewrite(element: Element<'_>, out: &mut Vec<u8>) {
    match element {
        Element::Atom(bytes) => write::atom(bytes, out),
        Element::Any => out.extend_from_slice(b"(1:*)"),
        Element::Range(range) => range.write(out),
        Element::Prefix(bytes) => write::affix(b"prefix", bytes, out),
        Element::Suffix(bytes) => write::affix(b"suffix", bytes, out),
        Element::Set(elements) => set::write(elements, out),
        Element::List(elements) => {
            out.push(b'(');
            for element in elements {
                rewrite(element, out);
            }
            out.push(b')');
        }
    }
}

//! Normal forms: equal text for expressions with equal meaning.
//!
//! In every set, ranges of one type and atoms that are adjacent are joined, and elements that
//! another one covers are removed (section 6 of the draft). Without that the order would not be
//! complete: 1 to 10 is covered by a set of 1 to 5 and 6 to 10.

mod set;

use alloc::vec::Vec;

use crate::expression::{Element, Expression, Node};
use crate::order::at_most;
use crate::{Error, read, write};

/// An expression in its normal form.
#[derive(Clone, Debug, Default)]
pub struct Normal(Expression);

impl Normal {
    /// Brings an expression into its normal form; one without sets and ranges is in it already.
    #[must_use]
    pub fn new(expression: Expression) -> Self {
        if is_normal(&expression) {
            return Self(expression);
        }
        let mut text = Vec::with_capacity(expression.text.len());
        if let Some(root) = expression.root() {
            rewrite(root, &mut text);
        }
        // INVARIANT: the output of `rewrite` can be read. If it could not, the empty expression
        // allows nothing.
        Self(read::normal(&text).unwrap_or_default())
    }

    /// Reads the canonical form, and brings it into normal form.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    ///
    /// # Examples
    /// ```
    /// use wardgate_spocp::Normal;
    ///
    /// let rule = Normal::from_canonical(b"(4:http(4:page10:index.html))")?;
    /// assert_eq!(rule, Normal::from_advanced(b"(http (page index.html))")?);
    /// # Ok::<(), wardgate_spocp::Error>(())
    /// ```
    pub fn from_canonical(text: &[u8]) -> Result<Self, Error> {
        Expression::from_canonical(text).map(Self::new)
    }

    /// Reads the advanced form, and brings it into normal form.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    ///
    /// # Examples
    /// ```
    /// use wardgate_spocp::Normal;
    ///
    /// let rule = Normal::from_advanced(b"(http (page (* prefix public)))")?;
    /// let query = Normal::from_advanced(b"(http (page public-index.html))")?;
    /// assert!(query.is_at_most(&rule));
    /// assert_eq!(Normal::from_advanced(b"(http").unwrap_err().offset, 5);
    /// # Ok::<(), wardgate_spocp::Error>(())
    /// ```
    pub fn from_advanced(text: &[u8]) -> Result<Self, Error> {
        Expression::from_advanced(text).map(Self::new)
    }

    /// Replaces the expression by the canonical form in `text`, and allocates only if it does not
    /// fit; bringing a text with sets or ranges into normal form allocates. After an error the
    /// expression is empty, and less than or equal to no rule.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn read_canonical(&mut self, text: &[u8]) -> Result<(), Error> {
        self.0.read_canonical(text)?;
        self.bring();
        Ok(())
    }

    /// Replaces the expression by the advanced form in `text`, as [`Self::read_canonical`] does.
    ///
    /// # Errors
    /// The offset and the reason if the text is no valid expression.
    pub fn read_advanced(&mut self, text: &[u8]) -> Result<(), Error> {
        self.0.read_advanced(text)?;
        self.bring();
        Ok(())
    }

    /// Wraps an expression that is in normal form already.
    pub(crate) const fn written(expression: Expression) -> Self {
        Self(expression)
    }

    fn bring(&mut self) {
        if !is_normal(&self.0) {
            *self = Self::new(core::mem::take(&mut self.0));
        }
    }

    /// Returns true if the expression is empty, as after an error of reading.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.nodes.is_empty()
    }

    /// Returns the expression.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.0
    }

    /// Returns true if `rule` allows this: this is less than or equal to `rule`.
    #[must_use]
    pub fn is_at_most(&self, rule: &Self) -> bool {
        match (self.0.root(), rule.0.root()) {
            (Some(left), Some(right)) => at_most(left, right),
            _ => false,
        }
    }
}

/// Expressions are equal if their normal forms are.
impl PartialEq for Normal {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_canonical() == other.0.to_canonical()
    }
}

impl Eq for Normal {}

fn is_normal(expression: &Expression) -> bool {
    !expression.nodes.iter().any(|node| matches!(node, Node::Set { .. } | Node::Range { .. }))
}

/// Writes the normal form of one element. The depth is bounded by that of the input.
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

//! Checking attributes against JSON Schemas that the compiler wrote into the policy table.
//!
//! The schemas are trees of words, read without copies. The violations and their wording are those
//! of Cerbos; where Cerbos goes through a map in no particular order, names are sorted. The work is
//! bounded, and a check that reaches the bound has failed: an unchecked attribute is never a valid
//! one.

mod array;
pub mod format;
pub mod keyword;
mod node;
mod number;
mod object;
mod scalar;
mod text;
mod value;
mod walk;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use keyword::Keyword;
pub use node::{Node, pairs};
pub use text::quoted;

use crate::attr::AttrMap;
use crate::budget::Budget;
use crate::cel::Pool;
use crate::limits::MAX_SCHEMA_STEPS;
use value::Json;
use walk::Walk;

/// A read-only view of all schemas of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schemas<'a> {
    /// Strings and constants.
    pub pool: Pool<'a>,
    /// A node's id is the index of the word with the node's offset. At the offset is the number of
    /// its keywords, then for each its code ([`Keyword`]), the number of words that follow, and
    /// these.
    pub words: &'a [u32],
}

/// One fault of the attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the attribute; `/` is all of them.
    pub path: String,
    /// The fault, in words.
    pub message: String,
}

/// The id of a missing node, such as the `else` of a schema without one.
pub const NO_NODE: u32 = u32::MAX;

impl Schemas<'_> {
    /// Returns all violations of the schema at `node` by `attributes`.
    #[must_use]
    pub fn violations(&self, node: u32, attributes: &AttrMap) -> Vec<Violation> {
        self.violations_within(node, attributes, &Budget::default())
    }

    /// Returns the same as [`Schemas::violations`], and takes the steps from `budget`.
    #[must_use]
    pub fn violations_within(
        &self,
        node: u32,
        attributes: &AttrMap,
        budget: &Budget,
    ) -> Vec<Violation> {
        let granted = budget.left().min(MAX_SCHEMA_STEPS);
        let mut walk = Walk::new(*self, granted);
        let finished = walk.node(node, Json::Map(attributes), 0);
        budget.take(granted.saturating_sub(walk.steps));
        let mut found = walk.found;
        if finished.is_none() {
            let message = "the schema is too complex to check the value".to_string();
            found.push(Violation { path: "/".to_string(), message });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr::Attr;

    #[test]
    fn a_node_that_announces_too_many_keywords_cannot_be_checked() {
        let (code, any) = (Keyword::AdditionalProperties.code(), NO_NODE);
        let attributes: AttrMap = core::iter::once(("a".into(), Attr::Null)).collect();
        let check = |words: &[u32], expected: &str| {
            let schemas = Schemas { words, ..Schemas::default() };
            let found = schemas.violations(0, &attributes);
            assert_eq!(found.last().map(|found| found.message.as_str()), Some(expected));
        };
        check(&[1, 1, code, 1, any], "additionalProperties 'a' not allowed");
        check(&[1, u32::MAX, code, 1, any], "the schema is too complex to check the value");
        check(&[1, 2, code, 1, any], "the schema is too complex to check the value");
    }
}

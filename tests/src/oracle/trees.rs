//! The expressions as trees, each parsed once: parsing is most of the work of a small policy set.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use wardgate_compiler::cel::{Expr, parse};

/// The trees by their texts; `None` for a text that is no expression.
#[derive(Debug, Default)]
pub(super) struct Trees(RefCell<BTreeMap<String, Option<Rc<Expr>>>>);

impl Trees {
    /// Returns the tree of an expression.
    pub(super) fn tree(&self, expression: &str) -> Option<Rc<Expr>> {
        if let Some(known) = self.0.borrow().get(expression) {
            return known.clone();
        }
        let tree = parse(expression).ok().map(Rc::new);
        self.0.borrow_mut().insert(expression.to_owned(), tree.clone());
        tree
    }
}

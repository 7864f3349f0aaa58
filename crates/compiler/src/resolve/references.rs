//! Which variables and constants an expression names.
//!
//! Only `variables.x`, `V.x`, `constants.x` and `C.x` name one, `has` included, as in Cerbos; an
//! index such as `V["x"]` does not.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::cel::{self, Expr, ast::ExprKind};

/// The names that an expression uses, each with the byte offset of its first use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    pub(super) variables: Vec<(String, usize)>,
    pub(super) constants: Vec<(String, usize)>,
}

/// Remembers the references of every text it has seen: imported variables recur in many policies.
#[derive(Default)]
pub(super) struct Cache {
    seen: HashMap<Arc<str>, Rc<References>>,
}

impl Cache {
    /// Returns the names that `text` uses. A text that does not parse has no names here: its errors
    /// are reported where it is compiled.
    pub(super) fn of(&mut self, text: &Arc<str>) -> Rc<References> {
        if let Some(known) = self.seen.get(text) {
            return Rc::clone(known);
        }
        let references =
            Rc::new(cel::parse(text).map_or_else(|_| References::default(), |e| walk(&e)));
        self.seen.insert(Arc::clone(text), Rc::clone(&references));
        references
    }
}

fn walk(root: &Expr) -> References {
    let mut found = References::default();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        if let ExprKind::Select { operand, field, .. } | ExprKind::Has { operand, field } =
            &node.kind
            && let ExprKind::Ident(name) = &operand.kind
        {
            let list = match name.trim_start_matches('.') {
                "variables" | "V" => Some(&mut found.variables),
                "constants" | "C" => Some(&mut found.constants),
                _ => None,
            };
            if let Some(list) = list {
                list.push((field.clone(), node.span.start));
            }
        }
        pending.extend(node.kind.children());
    }
    for list in [&mut found.variables, &mut found.constants] {
        wardgate_engine::order::sort_by(list, Ord::cmp);
        list.dedup_by(|(later, _), (earlier, _)| later == earlier);
    }
    found
}

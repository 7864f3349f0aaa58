//! Lists, in any of their forms in memory.
//!
//! Every form has the same methods; none is copied to be read.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Constant, Str, Value};
use crate::attr::Attr;

/// A list of values.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// An array of the request.
    Attrs(&'a [Attr]),
    /// A list of strings of the request, such as roles.
    Strings(&'a [String]),
    /// A list of the policy table.
    Constant(Constant<'a>),
    /// Built by an expression.
    Owned(Rc<OwnedList<'a>>),
}

/// A list that an expression built.
#[derive(Clone, Debug, Default)]
pub struct OwnedList<'a> {
    items: Vec<Value<'a>>,
    /// The depth of owned values in it: see [`Value::nesting`].
    nesting: usize,
}

impl<'a> List<'a> {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Attrs(items) => items.len(),
            Self::Strings(items) => items.len(),
            Self::Constant(list) => list.len(),
            Self::Owned(list) => list.items.len(),
        }
    }

    /// Returns true if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns element `at`.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Value<'a>> {
        match self {
            Self::Attrs(items) => items.get(at).map(Value::from),
            Self::Strings(items) => {
                items.get(at).map(|text| Value::String(Str::Borrowed(text.as_str())))
            }
            Self::Constant(list) => list.element(at),
            Self::Owned(list) => list.items.get(at).cloned(),
        }
    }

    /// Returns the elements in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Appends `value`, copying the elements only if another value shares them.
    pub fn push(&mut self, value: Value<'a>) {
        if let Self::Owned(list) = self {
            let list = Rc::make_mut(list);
            list.nesting = list.nesting.max(value.nesting());
            list.items.push(value);
            return;
        }
        *self = self.iter().chain(core::iter::once(value)).collect();
    }

    /// Returns the depth of owned values in the list.
    pub(super) fn nesting(&self) -> usize {
        if let Self::Owned(list) = self { list.nesting } else { 0 }
    }
}

impl<'a> FromIterator<Value<'a>> for List<'a> {
    fn from_iter<I: IntoIterator<Item = Value<'a>>>(items: I) -> Self {
        let items: Vec<_> = items.into_iter().collect();
        let nesting = items.iter().map(Value::nesting).max().unwrap_or(0);
        Self::Owned(Rc::new(OwnedList { items, nesting }))
    }
}

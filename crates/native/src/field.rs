//! Attributes of the host's own data, and how such data is read.
//!
//! A field borrows from the value that it was read of, without a copy. Numbers are doubles, as
//! everywhere in a request.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::limits::{MAX_REQUEST_VALUES, MAX_VALUE_DEPTH};

use crate::error::RequestError;

/// The value of one attribute.
#[derive(Clone, Copy)]
pub enum Field<'a> {
    /// No attribute.
    Missing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(&'a str),
    /// A list.
    List(&'a dyn Items),
    /// An object.
    Map(&'a dyn Lookup),
}

/// A value that can be an attribute. It must not change during a decision: see [`Lookup`].
pub trait AsField {
    /// Returns the value as an attribute.
    fn field(&self) -> Field<'_>;
}

/// An object whose members are found by their names.
///
/// # Values that change
/// The number of reads of a value is not specified: a decision reads an attribute for each
/// condition that uses it, or not at all; it may walk a list or an object several times; and if a
/// fast path is unsure, the general path reads all attributes again. So values must stay the same
/// during a decision. A type that can change through a shared reference (a `Cell`, an atomic, a
/// lock taken for each read) may change between decisions only: hold its lock, or pass a copy.
/// Otherwise one decision mixes old values with new ones; and a PDP with a cache stores the answer
/// to the mixture under the values that it read first.
pub trait Lookup {
    /// Returns the member `name`, or [`Field::Missing`].
    fn get(&self, name: &str) -> Field<'_>;

    /// Calls `visit` for every member. Of two with one name, the later one counts.
    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>));
}

/// A list of values. It must have the same elements each time that one decision walks it: see
/// [`Lookup`].
pub trait Items {
    /// Calls `visit` for every element, in order.
    fn each(&self, visit: &mut dyn FnMut(Field<'_>));

    /// Returns the number of elements.
    fn count(&self) -> usize {
        let mut count = 0_usize;
        self.each(&mut |_| count = count.saturating_add(1));
        count
    }

    /// Returns true if an element is this text, and false if none is. `None` leaves the answer to
    /// [`each`](Self::each): a list must return it if an element is no text, or if it has more than
    /// 1024 elements.
    #[inline]
    fn search(&self, _text: &str) -> Option<bool> {
        None
    }

    /// Returns true if [`search`](Self::search) compares few elements, however many there are. Of other
    /// lists a prepared principal may make a set.
    fn is_hashed(&self) -> bool {
        false
    }
}

/// Copies fields into attributes, within the bounds of one request.
pub(crate) struct Copier {
    values_left: usize,
    /// The reason why the copy is incomplete.
    fault: Option<RequestError>,
}

impl Copier {
    pub(crate) const fn new() -> Self {
        Self { values_left: MAX_REQUEST_VALUES, fault: None }
    }

    /// Copies all members of `object`.
    pub(crate) fn object(&mut self, object: &dyn Lookup) -> AttrMap {
        self.map(object, MAX_VALUE_DEPTH)
    }

    /// Copies a whole document, whose attributes are three levels deep.
    pub(crate) fn document(&mut self, document: Field<'_>) -> Option<Attr> {
        self.value(document, MAX_VALUE_DEPTH + 3)
    }

    /// Copies one attribute; `None` if it is missing.
    pub(crate) fn attribute(&mut self, field: Field<'_>) -> Option<Attr> {
        self.value(field, MAX_VALUE_DEPTH)
    }

    /// Returns true if everything was copied. If not, the copy must not be used for a decision.
    pub(crate) const fn is_complete(&self) -> bool {
        self.fault.is_none()
    }

    /// Returns the reason why the copy is incomplete, or `None` if it is complete.
    pub(crate) fn into_fault(self) -> Option<RequestError> {
        self.fault
    }

    fn map(&mut self, object: &dyn Lookup, depth: usize) -> AttrMap {
        let mut entries = Vec::new();
        object.each(&mut |name, field| {
            if let Some(value) = self.value(field, depth) {
                entries.push((name.into(), value));
            }
        });
        entries.into_iter().collect()
    }

    fn list(&mut self, items: &dyn Items, depth: usize) -> Vec<Attr> {
        let mut list = Vec::new();
        // A list has no gaps: a missing element becomes null, as in JSON.
        items.each(&mut |field| list.push(self.value(field, depth).unwrap_or(Attr::Null)));
        list
    }

    fn value(&mut self, field: Field<'_>, depth: usize) -> Option<Attr> {
        self.values_left =
            self.values_left.checked_sub(1).or_else(|| self.over(RequestError::TooManyValues))?;
        Some(match field {
            Field::Missing => return None,
            Field::Null => Attr::Null,
            Field::Bool(value) => Attr::Bool(value),
            Field::Number(value) => Attr::Number(value),
            Field::Text(text) => Attr::String(text.into()),
            Field::List(items) => {
                let depth = self.inside(depth)?;
                Attr::List(self.list(items, depth))
            }
            Field::Map(object) => {
                let depth = self.inside(depth)?;
                Attr::Map(self.map(object, depth))
            }
        })
    }

    fn inside(&mut self, depth: usize) -> Option<usize> {
        depth.checked_sub(1).or_else(|| self.over(RequestError::TooDeep))
    }

    fn over(&mut self, fault: RequestError) -> Option<usize> {
        self.fault = Some(fault);
        None
    }
}

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::Attr;

    use super::{AsField, Copier, Field, Items, Lookup};

    /// An object that contains itself.
    struct Endless;

    impl Lookup for Endless {
        fn get(&self, _: &str) -> Field<'_> {
            Field::Map(self)
        }

        fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
            visit("again", Field::Map(self));
        }
    }

    /// A list with more elements than any bound.
    struct Many;

    impl Items for Many {
        fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
            (0..200_000).for_each(|_| visit(Field::Null));
        }
    }

    #[test]
    fn values_beyond_a_bound_are_errors() {
        let mut copier = Copier::new();
        copier.object(&Endless);
        assert!(!copier.is_complete());
        let mut copier = Copier::new();
        copier.object(&&[("many", Field::List(&Many))][..]);
        assert!(!copier.is_complete());
    }

    #[test]
    fn missing_members_are_left_out_and_later_ones_count() {
        let object = [("a", Some(1.0)), ("b", None), ("a", Some(2.0))];
        let mut copier = Copier::new();
        let copied = copier.object(&&object[..]);
        assert!(copier.is_complete());
        assert_eq!(copied.entries(), [("a".into(), Attr::Number(2.0))]);
        assert!(matches!(Lookup::get(&object[..], "a"), Field::Number(2.0)));
        assert!(matches!(Lookup::get(&object[..], "b"), Field::Missing));
        assert!(matches!(Some("x").field(), Field::Text("x")));
    }
}

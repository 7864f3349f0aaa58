//! The types of the standard library, of the engine and of `serde_json` as fields.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};
use wardgate_engine::attr::{Attr, AttrMap};

use crate::field::{AsField, Field, Items, Lookup};
use crate::limits::MAX_SEARCHED;
use crate::names::{Wanted, is_same};

impl AsField for Attr {
    #[inline]
    fn field(&self) -> Field<'_> {
        match self {
            Self::Null => Field::Null,
            Self::Bool(value) => Field::Bool(*value),
            Self::Number(value) => Field::Number(*value),
            Self::String(text) => Field::Text(text),
            Self::List(items) => Field::List(items),
            Self::Map(map) => Field::Map(map),
        }
    }
}

impl AsField for Value {
    #[inline]
    fn field(&self) -> Field<'_> {
        match self {
            Self::Null => Field::Null,
            Self::Bool(value) => Field::Bool(*value),
            // A policy cannot mean a number that is not a double.
            Self::Number(value) => Field::Number(value.as_f64().unwrap_or(f64::NAN)),
            Self::String(text) => Field::Text(text),
            Self::Array(items) => Field::List(items),
            Self::Object(members) => Field::Map(members),
        }
    }
}

/// Implements `AsField`: a row holds the type, behind its parameters, and the field of a value.
macro_rules! fields {
    ($($(#[$about:meta])* [$($parameters:tt)*] $type:ty, |$value:ident| $field:expr;)*) => {$(
        $(#[$about])*
        impl<$($parameters)*> AsField for $type {
            #[inline]
            fn field(&self) -> Field<'_> {
                let $value = self;
                $field
            }
        }
    )*};
}

fields! {
    [] Field<'_>, |field| *field;
    [] str, |text| Field::Text(text);
    [] String, |text| Field::Text(text);
    [] bool, |value| Field::Bool(*value);
    /// `null`.
    [] (), |_value| Field::Null;
    /// `None` is a missing attribute.
    [T: AsField] Option<T>, |value| value.as_ref().map_or(Field::Missing, T::field);
    [T: AsField] Vec<T>, |items| Field::List(items);
    [T: AsField, H: BuildHasher] HashMap<String, T, H>, |members| Field::Map(members);
    [T: AsField] BTreeMap<String, T>, |members| Field::Map(members);
    [T: AsField + ?Sized] &T, |value| (**value).field();
    [T: AsField + ?Sized] Box<T>, |value| (**value).field();
    [T: AsField + ?Sized] Rc<T>, |value| (**value).field();
    [T: AsField + ?Sized] Arc<T>, |value| (**value).field();
    [T: AsField + ToOwned + ?Sized] Cow<'_, T>, |value| (**value).field();
}

/// Implements `AsField` for numbers that every double can hold.
macro_rules! exact_numbers {
    ($($number:ty),*) => {$(
        impl AsField for $number {
            #[inline]
            fn field(&self) -> Field<'_> {
                Field::Number(f64::from(*self))
            }
        }
    )*};
}

exact_numbers!(f64, f32, i8, i16, i32, u8, u16, u32);

/// Implements `AsField` for numbers that become the nearest double.
macro_rules! nearest_numbers {
    ($($number:ty),*) => {$(
        /// Returns the nearest double, as the readers of JSON do.
        impl AsField for $number {
            #[inline]
            #[expect(clippy::as_conversions, reason = "rounds to the nearest double, as is wanted")]
            fn field(&self) -> Field<'_> {
                Field::Number(*self as f64)
            }
        }
    )*};
}

nearest_numbers!(i64, u64, isize, usize);

impl<T: AsField> Items for Vec<T> {
    fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
        self.iter().for_each(|item| visit(item.field()));
    }

    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn search(&self, text: &str) -> Option<bool> {
        search(self, text)
    }
}

impl<T: AsField> Items for &[T] {
    fn each(&self, visit: &mut dyn FnMut(Field<'_>)) {
        self.iter().for_each(|item| visit(item.field()));
    }

    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn search(&self, text: &str) -> Option<bool> {
        search(self, text)
    }
}

/// Searches a list of texts. The walk goes on after a find, because a later element may be no text.
fn search<T: AsField>(items: &[T], text: &str) -> Option<bool> {
    if items.len() > MAX_SEARCHED {
        return None;
    }
    let wanted = Wanted::new(text);
    let mut is_found = false;
    for item in items {
        let Field::Text(item) = item.field() else { return None };
        is_found |= wanted.is(item);
    }
    Some(is_found)
}

/// An object without members.
impl Lookup for () {
    #[inline]
    fn get(&self, _: &str) -> Field<'_> {
        Field::Missing
    }

    fn each(&self, _: &mut dyn FnMut(&str, Field<'_>)) {}
}

impl Lookup for AttrMap {
    #[inline]
    fn get(&self, name: &str) -> Field<'_> {
        member(self, name).map_or(Field::Missing, Attr::field)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        self.entries().iter().for_each(|(name, value)| visit(name, value.field()));
    }
}

/// Returns a member. In small objects, comparing lengths is faster than a search by order.
#[inline]
pub(crate) fn member<'a>(object: &'a AttrMap, name: &str) -> Option<&'a Attr> {
    let members = object.entries();
    if members.len() > FEW {
        return object.get(name);
    }
    members.iter().find(|(known, _)| is_same(known, name)).map(|(_, value)| value)
}

/// The number of members that most objects do not exceed.
const FEW: usize = 8;

/// Implements `Lookup` for the maps of libraries: a row holds the type, behind its parameters.
macro_rules! maps {
    ($([$($parameters:tt)*] $map:ty;)*) => {$(
        impl<$($parameters)*> Lookup for $map {
            #[inline]
            fn get(&self, name: &str) -> Field<'_> {
                <$map>::get(self, name).map_or(Field::Missing, AsField::field)
            }

            fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
                self.iter().for_each(|(name, value)| visit(name, value.field()));
            }
        }
    )*};
}

maps! {
    [] Map<String, Value>;
    [T: AsField, H: BuildHasher] HashMap<String, T, H>;
    [T: AsField] BTreeMap<String, T>;
}

impl<K: AsRef<str>, T: AsField> Lookup for [(K, T)] {
    #[inline]
    fn get(&self, name: &str) -> Field<'_> {
        let found = self.iter().rev().find(|(key, _)| is_same(key.as_ref(), name));
        found.map_or(Field::Missing, |(_, value)| value.field())
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        self.iter().for_each(|(name, value)| visit(name.as_ref(), value.field()));
    }
}

impl<K: AsRef<str>, T: AsField> Lookup for Vec<(K, T)> {
    #[inline]
    fn get(&self, name: &str) -> Field<'_> {
        Lookup::get(self.as_slice(), name)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        Lookup::each(self.as_slice(), visit);
    }
}

impl<T: Lookup + ?Sized> Lookup for &T {
    #[inline]
    fn get(&self, name: &str) -> Field<'_> {
        T::get(self, name)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        T::each(self, visit);
    }
}

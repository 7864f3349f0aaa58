//! The values that programs read of a request beyond its words.
//!
//! Attributes of the engine are read without copies. A list or an object of another form is copied
//! when a program first reads it.

use std::cell::OnceCell;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Value;
use wardgate_engine::cel::value::List;
use wardgate_engine::fastpath::Contents;

use crate::fast::input::{FastInput, SlotValue};
use crate::fast::json;
use crate::field::{Copier, Field};

/// The slot values of one decision, at most `N` of them.
pub(crate) struct SlotValues<'a, 'r, A, const N: usize> {
    input: &'a A,
    values: [SlotValue<'r>; N],
    copies: [OnceCell<Option<Attr>>; N],
}

impl<'a, 'r, A: FastInput, const N: usize> SlotValues<'a, 'r, A, N> {
    pub(crate) fn new(input: &'a A, read: impl Iterator<Item = SlotValue<'r>>) -> Self {
        let mut values = [SlotValue::Unsupported; N];
        values.iter_mut().zip(read).for_each(|(slot, value)| *slot = value);
        Self { input, values, copies: [const { OnceCell::new() }; N] }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = SlotValue<'r>> {
        self.values.iter().copied()
    }

    /// The roles of the principal, in their order.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.input.roles()
    }

    fn copy(&self, value: SlotValue<'_>) -> Option<Attr> {
        let mut copier = Copier::new();
        let copied = match value {
            SlotValue::Field(field) => copier.attribute(field),
            SlotValue::Attr(attr) => Some(attr.clone()),
            SlotValue::Roles => {
                let roles = self.input.roles().map(|role| Attr::String(role.into()));
                Some(Attr::List(roles.collect()))
            }
            SlotValue::Json(json) => json::value(json),
            SlotValue::Broken | SlotValue::Unsupported => None,
        };
        copied.filter(|_| copier.is_complete())
    }
}

impl<A: FastInput, const N: usize> Contents for SlotValues<'_, '_, A, N> {
    fn pays(&self, steps: u32) -> bool {
        self.input.pays(steps)
    }

    fn text(&self, slot: usize) -> Option<&str> {
        match self.values.get(slot)? {
            SlotValue::Field(Field::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'_>> {
        match self.values.get(slot)? {
            SlotValue::Attr(attr) => Some(Value::from(*attr)),
            SlotValue::Roles if let Some(roles) = self.input.list_of_roles() => {
                Some(Value::List(List::Strings(roles)))
            }
            value => {
                let copy = self.copies.get(slot)?.get_or_init(|| self.copy(*value));
                copy.as_ref().map(Value::from)
            }
        }
    }
}

//! What programs read of a request beyond its words.
//!
//! Attributes of the engine are read where they are. A list or an object of another form is copied
//! when a program first asks for it.

use std::cell::OnceCell;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Value;
use wardgate_engine::cel::value::List;
use wardgate_engine::fastpath::Contents;

use crate::fast::ask::{Ask, Reading};
use crate::fast::json;
use crate::field::{Copier, Field};

/// The readings of one decision, of which there are at most `N`.
pub(crate) struct Held<'a, 'r, A, const N: usize> {
    ask: &'a A,
    readings: [Reading<'r>; N],
    copies: [OnceCell<Option<Attr>>; N],
}

impl<'a, 'r, A: Ask, const N: usize> Held<'a, 'r, A, N> {
    pub(crate) fn new(ask: &'a A, readings: impl Iterator<Item = Reading<'r>>) -> Self {
        let mut held = [Reading::Odd; N];
        held.iter_mut().zip(readings).for_each(|(place, reading)| *place = reading);
        Self { ask, readings: held, copies: [const { OnceCell::new() }; N] }
    }

    pub(crate) fn readings(&self) -> impl Iterator<Item = Reading<'r>> {
        self.readings.iter().copied()
    }

    /// The roles of the principal, in their order.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &str> {
        self.ask.roles()
    }

    fn copy(&self, reading: Reading<'_>) -> Option<Attr> {
        let mut copier = Copier::new();
        let copied = match reading {
            Reading::Field(field) => copier.attribute(field),
            Reading::Attr(attr) => Some(attr.clone()),
            Reading::Roles => {
                let roles = self.ask.roles().map(|role| Attr::String(role.into()));
                Some(Attr::List(roles.collect()))
            }
            Reading::Json(json) => json::value(json),
            Reading::Broken | Reading::Odd => None,
        };
        copied.filter(|_| copier.is_complete())
    }
}

impl<A: Ask, const N: usize> Contents for Held<'_, '_, A, N> {
    fn pays(&self, steps: u32) -> bool {
        self.ask.pays(steps)
    }

    fn text(&self, slot: usize) -> Option<&str> {
        match self.readings.get(slot)? {
            Reading::Field(Field::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'_>> {
        match self.readings.get(slot)? {
            Reading::Attr(attr) => Some(Value::from(*attr)),
            Reading::Roles if let Some(roles) = self.ask.list_of_roles() => {
                Some(Value::List(List::Strings(roles)))
            }
            reading => {
                let copy = self.copies.get(slot)?.get_or_init(|| self.copy(*reading));
                copy.as_ref().map(Value::from)
            }
        }
    }
}

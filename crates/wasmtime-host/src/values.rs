//! The values of the slots of a fast path, read from a question.

use wardgate_fastpath::Texts;
use wardgate_fastpath::layout::MAX_SLOTS;
use wardgate_native::{Field, Lookup, PrincipalRef, ResourceRef};

use crate::fast_path::{HostPath, Slot, SlotRoot};

/// The value of one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// The last step of the path finds no value.
    Missing,
    /// A step before the last one fails, or the last one looks into a list.
    Broken,
    Null,
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// The word of a text.
    Text(u32),
}

impl HostPath {
    /// Passes the value of every slot to `put`, in their order. Returns `None` if a slot has a
    /// value without a variant here.
    #[inline]
    pub(crate) fn read<S, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &self,
        principal: &PrincipalRef<'_, S, P>,
        resource: &ResourceRef<'_, R>,
        put: impl FnMut(usize, Value),
    ) -> Option<()> {
        if self.slots.len() <= FEW {
            read::<FEW, _, _, _>(&self.slots, (principal, resource), put)
        } else {
            read::<MAX_SLOTS, _, _, _>(&self.slots, (principal, resource), put)
        }
    }
}

/// Reads at most `N` slots.
#[inline]
fn read<const N: usize, S, P: Lookup + ?Sized, R: Lookup + ?Sized>(
    slots: &[Slot],
    (principal, resource): (&PrincipalRef<'_, S, P>, &ResourceRef<'_, R>),
    mut put: impl FnMut(usize, Value),
) -> Option<()> {
    let mut texts = Texts::<N>::new();
    for (at, slot) in slots.iter().enumerate() {
        let value = match slot.read(principal, resource) {
            None => Value::Broken,
            Some(Field::Missing) => Value::Missing,
            Some(Field::Null) => Value::Null,
            Some(Field::Bool(value)) => Value::Bool(value),
            Some(Field::Number(value)) if value.is_finite() => Value::Number(value),
            Some(Field::Text(text)) => Value::Text(match slot.constants.get(text) {
                Some(word) => word,
                None => texts.word(text)?,
            }),
            Some(Field::Number(_) | Field::List(_) | Field::Map(_)) => return None,
        };
        put(at, value);
    }
    Some(())
}

impl Slot {
    /// Reads the slot; returns `None` if a step before the last one fails, or the last one looks
    /// into a list.
    #[inline]
    fn read<'a, S, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &self,
        principal: &PrincipalRef<'a, S, P>,
        resource: &ResourceRef<'a, R>,
    ) -> Option<Field<'a>> {
        let path = &*self.path;
        match self.position {
            SlotRoot::PrincipalAttr => follow(principal.attributes, path),
            SlotRoot::ResourceAttr => follow(resource.attributes, path),
            SlotRoot::PrincipalId => below_text(principal.id, path),
            SlotRoot::ResourceKind => below_text(resource.kind, path),
            SlotRoot::ResourceId => below_text(resource.id, path),
        }
    }
}

/// Follows a path below a text, which has no members.
#[inline]
const fn below_text<'a>(text: &'a str, path: &[Box<str>]) -> Option<Field<'a>> {
    match path.len() {
        0 => Some(Field::Text(text)),
        1 => Some(Field::Missing),
        _ => None,
    }
}

/// Follows a path into an object.
#[inline]
fn follow<'a, L: Lookup + ?Sized>(object: &'a L, path: &[Box<str>]) -> Option<Field<'a>> {
    let (first, rest) = path.split_first()?;
    let mut field = object.get(first);
    for (left, name) in (0..rest.len()).rev().zip(rest) {
        field = match field {
            Field::Map(map) => map.get(name),
            Field::Missing | Field::List(_) => return None,
            // Only objects have members.
            _ if left > 0 => return None,
            _ => return Some(Field::Missing),
        };
    }
    Some(field)
}

/// The number of slots of most fast paths.
const FEW: usize = 4;

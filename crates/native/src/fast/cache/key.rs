//! Keys: every value that a fast path can read of a request, as bytes.
//!
//! Two different requests never have the same key: each part begins with its type and has a length
//! or an end mark, and numbers are written bit by bit. A program reads only the slots of its fast
//! path, and the key holds all of them.

use wardgate_engine::limits::MAX_VALUE_DEPTH;

use super::MAX_KEY_BYTES;
use crate::fast::decide::Roles;
use crate::fast::input::{FastInput, SlotValue};
use crate::field::{AsField, Field, Items, Lookup};

/// A key under construction.
pub(crate) struct Key {
    bytes: [u8; MAX_KEY_BYTES],
    length: usize,
}

/// The result of writing; `None` if the key is full.
type Written = Option<()>;

impl Key {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; MAX_KEY_BYTES], length: 0 }
    }

    /// Writes the key of a question about `fast_path`. Returns `None` if the key is too long, or if
    /// only the general path can answer.
    pub(crate) fn write<'r>(
        &mut self,
        fast_path: u32,
        roles: &Roles,
        input: &impl FastInput,
        mut values: impl Iterator<Item = SlotValue<'r>>,
    ) -> Option<&[u8]> {
        self.length = 0;
        self.number(fast_path)?;
        match roles {
            Roles::Mask(mask) => self.number(*mask)?,
            Roles::Classes(classes, count) => {
                self.number(u32::try_from(*count).ok()?)?;
                classes.get(..*count)?.iter().try_for_each(|class| self.number(*class))?;
            }
        }
        values.try_for_each(|value| self.value(value, input))?;
        self.bytes.get(..self.length)
    }

    fn value(&mut self, value: SlotValue<'_>, input: &impl FastInput) -> Written {
        match value {
            SlotValue::Broken => self.put(&[BROKEN]),
            SlotValue::Field(field) => self.field(field, MAX_VALUE_DEPTH),
            SlotValue::Attr(attr) => self.field(attr.field(), MAX_VALUE_DEPTH),
            SlotValue::Roles => {
                self.put(&[LIST])?;
                input.roles().try_for_each(|role| self.text(TEXT, role))?;
                self.put(&[END])
            }
            SlotValue::Json(json) => self.text(JSON, json),
            SlotValue::Unsupported => None,
        }
    }

    fn field(&mut self, field: Field<'_>, depth: usize) -> Written {
        match field {
            Field::Missing => self.put(&[MISSING]),
            Field::Null => self.put(&[NULL]),
            Field::Bool(value) => self.put(&[BOOL, value.into()]),
            Field::Number(number) => self.double(number),
            Field::Text(text) => self.text(TEXT, text),
            Field::List(items) => self.list(items, depth.checked_sub(1)?),
            Field::Map(object) => self.map(object, depth.checked_sub(1)?),
        }
    }

    fn list(&mut self, items: &dyn Items, depth: usize) -> Written {
        self.put(&[LIST])?;
        let mut written = Some(());
        items.each(&mut |item| written = written.and_then(|()| self.field(item, depth)));
        written?;
        self.put(&[END])
    }

    fn map(&mut self, object: &dyn Lookup, depth: usize) -> Written {
        self.put(&[MAP])?;
        let mut written = Some(());
        object.each(&mut |name, value| {
            written = written.and_then(|()| self.text(TEXT, name));
            written = written.and_then(|()| self.field(value, depth));
        });
        written?;
        self.put(&[END])
    }

    fn text(&mut self, what: u8, text: &str) -> Written {
        self.put(&[what])?;
        self.number(u32::try_from(text.len()).ok()?)?;
        self.put(text.as_bytes())
    }

    fn double(&mut self, number: f64) -> Written {
        self.put(&[NUMBER])?;
        self.put(&number.to_bits().to_le_bytes())
    }

    fn number(&mut self, number: u32) -> Written {
        self.put(&number.to_le_bytes())
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Written {
        let end = self.length.checked_add(bytes.len())?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }
}

const BROKEN: u8 = 0;
const MISSING: u8 = 1;
const NULL: u8 = 2;
const BOOL: u8 = 3;
const NUMBER: u8 = 4;
const TEXT: u8 = 5;
/// A list or an object as JSON text.
const JSON: u8 = 6;
const LIST: u8 = 7;
const MAP: u8 = 8;
/// The end of a list or a map; no value begins with it.
const END: u8 = 9;

//! Values of a request as bytes, which tell any two values apart and can be read again.
//!
//! Each begins with its type and has a length or an end mark; numbers are written bit by bit. Keys of the cache and the
//! evidence of recorded decisions are made of them.

use wardgate_engine::limits::MAX_VALUE_DEPTH;

use crate::fast::input::{FastInput, SlotValue};
use crate::field::{AsField, Field, Items, Lookup};

/// A writer of values into memory of a fixed size.
pub(crate) struct ValueWriter<'b> {
    bytes: &'b mut [u8],
    length: usize,
}

/// The result of writing; `None` if the memory is full.
pub(crate) type Written = Option<()>;

impl<'b> ValueWriter<'b> {
    pub(crate) const fn new(bytes: &'b mut [u8]) -> Self {
        Self { bytes, length: 0 }
    }

    /// Returns the number of bytes that were written.
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    /// Writes the value of a slot; `None` if only the general path reads it.
    pub(crate) fn value(&mut self, value: SlotValue<'_>, input: &impl FastInput) -> Written {
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

    pub(crate) fn field(&mut self, field: Field<'_>, depth: usize) -> Written {
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

    pub(crate) fn map(&mut self, object: &dyn Lookup, depth: usize) -> Written {
        self.put(&[MAP])?;
        let mut written = Some(());
        object.each(&mut |name, value| {
            written = written.and_then(|()| self.text(TEXT, name));
            written = written.and_then(|()| self.field(value, depth));
        });
        written?;
        self.put(&[END])
    }

    pub(crate) fn text(&mut self, what: u8, text: &str) -> Written {
        self.put(&[what])?;
        self.number(u32::try_from(text.len()).ok()?)?;
        self.put(text.as_bytes())
    }

    fn double(&mut self, number: f64) -> Written {
        self.put(&[NUMBER])?;
        self.put(&number.to_bits().to_le_bytes())
    }

    pub(crate) fn number(&mut self, number: u32) -> Written {
        self.put(&number.to_le_bytes())
    }

    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Written {
        let end = self.length.checked_add(bytes.len())?;
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }
}

pub(crate) const BROKEN: u8 = 0;
pub(crate) const MISSING: u8 = 1;
pub(crate) const NULL: u8 = 2;
pub(crate) const BOOL: u8 = 3;
pub(crate) const NUMBER: u8 = 4;
pub(crate) const TEXT: u8 = 5;
/// A list or an object as JSON text.
pub(crate) const JSON: u8 = 6;
pub(crate) const LIST: u8 = 7;
pub(crate) const MAP: u8 = 8;
/// The end of a list or a map; no value begins with it.
pub(crate) const END: u8 = 9;

/// A value that was read again.
#[cfg(feature = "decision-log")]
pub(crate) enum Stored {
    Broken,
    Missing,
    Attr(wardgate_engine::attr::Attr),
    Json(Box<str>),
}

#[cfg(feature = "decision-log")]
pub(crate) use reader::ValueReader;

#[cfg(feature = "decision-log")]
mod reader {
    use wardgate_engine::attr::{Attr, AttrMap};
    use wardgate_engine::limits::MAX_VALUE_DEPTH;

    use super::{BOOL, BROKEN, END, JSON, LIST, MAP, MISSING, NULL, NUMBER, Stored, TEXT};
    use crate::fast::input::SlotValue;
    use crate::field::{AsField, Field};

    /// A reader of values that a [`ValueWriter`](super::ValueWriter) wrote. It trusts no byte: each step takes one or more
    /// bytes, and `None` ends the reading.
    pub(crate) struct ValueReader<'b>(pub(crate) &'b [u8]);

    impl<'b> ValueReader<'b> {
        /// Returns true if all bytes are read.
        pub(crate) const fn is_at_end(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn byte(&mut self) -> Option<u8> {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            Some(*byte)
        }

        pub(crate) fn number(&mut self) -> Option<u32> {
            let (number, rest) = self.0.split_first_chunk()?;
            self.0 = rest;
            Some(u32::from_le_bytes(*number))
        }

        /// Reads the value of a slot.
        pub(crate) fn value(&mut self) -> Option<Stored> {
            Some(match self.byte()? {
                BROKEN => Stored::Broken,
                MISSING => Stored::Missing,
                JSON => Stored::Json(self.rest_of_text()?.into()),
                kind => Stored::Attr(self.attr(kind, MAX_VALUE_DEPTH)?),
            })
        }

        /// Reads a text with its type.
        pub(crate) fn text(&mut self) -> Option<&'b str> {
            if self.byte()? == TEXT { self.rest_of_text() } else { None }
        }

        /// Reads the elements of a list by `read`, which gets the type of each.
        pub(crate) fn list<T>(
            &mut self,
            mut read: impl FnMut(&mut Self, u8) -> Option<T>,
        ) -> Option<Vec<T>> {
            if self.byte()? == LIST { self.rest_of_list(&mut read) } else { None }
        }

        /// Reads an object with its type.
        pub(crate) fn map(&mut self) -> Option<AttrMap> {
            if self.byte()? == MAP { self.rest_of_map(MAX_VALUE_DEPTH) } else { None }
        }

        pub(crate) fn rest_of_text(&mut self) -> Option<&'b str> {
            let length = usize::try_from(self.number()?).ok()?;
            let (text, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            core::str::from_utf8(text).ok()
        }

        fn attr(&mut self, kind: u8, depth: usize) -> Option<Attr> {
            Some(match kind {
                NULL => Attr::Null,
                BOOL => Attr::Bool(match self.byte()? {
                    0 => false,
                    1 => true,
                    _ => return None,
                }),
                NUMBER => {
                    let (bits, rest) = self.0.split_first_chunk()?;
                    self.0 = rest;
                    Attr::Number(f64::from_bits(u64::from_le_bytes(*bits)))
                }
                TEXT => Attr::String(self.rest_of_text()?.into()),
                LIST => {
                    let depth = depth.checked_sub(1)?;
                    // A list has no gaps: a missing element is null, as in the general path.
                    let mut element = |reader: &mut Self, kind| match kind {
                        MISSING => Some(Attr::Null),
                        kind => reader.attr(kind, depth),
                    };
                    Attr::List(self.rest_of_list(&mut element)?)
                }
                MAP => Attr::Map(self.rest_of_map(depth.checked_sub(1)?)?),
                _ => return None,
            })
        }

        fn rest_of_list<T>(
            &mut self,
            read: &mut dyn FnMut(&mut Self, u8) -> Option<T>,
        ) -> Option<Vec<T>> {
            let mut items = Vec::new();
            loop {
                match self.byte()? {
                    END => return Some(items),
                    kind => items.push(read(self, kind)?),
                }
            }
        }

        fn rest_of_map(&mut self, depth: usize) -> Option<AttrMap> {
            let mut entries = Vec::new();
            loop {
                match self.byte()? {
                    END => return Some(entries.into_iter().collect()),
                    TEXT => {}
                    _ => return None,
                }
                let name = self.rest_of_text()?;
                match self.byte()? {
                    MISSING => {}
                    kind => entries.push((name.into(), self.attr(kind, depth)?)),
                }
            }
        }
    }

    impl Stored {
        /// Returns the value as the fast path read it.
        pub(crate) fn slot(&self) -> SlotValue<'_> {
            match self {
                Self::Broken => SlotValue::Broken,
                Self::Missing => SlotValue::Field(Field::Missing),
                Self::Attr(nested @ (Attr::List(_) | Attr::Map(_))) => SlotValue::Attr(nested),
                Self::Attr(scalar) => SlotValue::Field(scalar.field()),
                Self::Json(text) => SlotValue::Json(text),
            }
        }
    }
}

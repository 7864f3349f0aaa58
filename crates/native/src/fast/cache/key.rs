//! Keys: every value that a fast path can read of a request, as bytes.
//!
//! Two different requests never have the same key: each part begins with its type and has a length
//! or an end mark, and numbers are written bit by bit. A program reads only the slots of its fast
//! path, and the key holds all of them.

use super::MAX_KEY_BYTES;
use crate::fast::decide::Roles;
use crate::fast::input::{FastInput, SlotValue};
use crate::fast::values::{ValueWriter, Written};

/// A key under construction.
pub(crate) struct Key {
    bytes: [u8; MAX_KEY_BYTES],
}

impl Key {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; MAX_KEY_BYTES] }
    }

    /// Writes the key of a question about `fast_path`. Returns `None` if the key is too long, or if
    /// only the general path can answer.
    pub(crate) fn write<'r>(
        &mut self,
        fast_path: u32,
        roles: &Roles,
        input: &impl FastInput,
        values: impl Iterator<Item = SlotValue<'r>>,
    ) -> Option<&[u8]> {
        let mut writer = ValueWriter::new(&mut self.bytes);
        written(&mut writer, fast_path, roles, input, values)?;
        let length = writer.length();
        self.bytes.get(..length)
    }
}

fn written<'r>(
    writer: &mut ValueWriter<'_>,
    fast_path: u32,
    roles: &Roles,
    input: &impl FastInput,
    mut values: impl Iterator<Item = SlotValue<'r>>,
) -> Written {
    writer.number(fast_path)?;
    match roles {
        Roles::Mask(mask) => writer.number(*mask)?,
        Roles::Classes(classes, count) => {
            writer.number(u32::try_from(*count).ok()?)?;
            classes.get(..*count)?.iter().try_for_each(|class| writer.number(*class))?;
        }
    }
    values.try_for_each(|value| writer.value(value, input))
}

//! The terms of [`FITS`](crate::layout::test::FITS): a flat schema, whose attributes are scalars.
//!
//! A term is the string id of an attribute plus one, `form << 8` with the bits of the form, and an
//! operand. The terms of one attribute follow each other, and the first of them has its types. All
//! of them have to hold, but of [`EQUAL`] and [`EQUAL_NUMBER`] one is enough. A missing attribute
//! has all terms unless it is required. A host that is not certain of a term is unsure.

/// Form: the value has one of the types in the bits. They are those of a schema, without lists and
/// objects: 1 is `null`, 2 a boolean, 4 a number, 8 a whole number, 16 a text.
pub const TYPES: u32 = 0;
/// Form: the value equals the constant whose word is the operand.
pub const EQUAL: u32 = 1;
/// Form: the value is the signed number in the operand.
pub const EQUAL_NUMBER: u32 = 2;
/// Form: a number is at least the signed number in the operand.
pub const MINIMUM: u32 = 3;
/// Form: a number is at most the signed number in the operand.
pub const MAXIMUM: u32 = 4;
/// Form: a text has at least as many code points.
pub const MIN_LENGTH: u32 = 5;
/// Form: a text has at most as many code points.
pub const MAX_LENGTH: u32 = 6;
/// Form, without an attribute: there are no other attributes.
pub const CLOSED: u32 = 7;
/// Form, without an attribute: all attributes are looked at, so they have to be few, and their
/// names short: see [`MAX_ATTRIBUTES`].
pub const COUNTED: u32 = 8;

/// Bit of [`TYPES`]: the attribute is not missing.
pub const REQUIRED: u32 = 0x80;

/// All types of scalars.
pub const SCALARS: u32 = 31;

/// The largest number of terms.
pub const MAX_TERMS: usize = 256;
/// The largest number of attributes for [`COUNTED`].
pub const MAX_ATTRIBUTES: usize = 1024;
/// The largest number of bytes or code units of the name of such an attribute.
pub const MAX_NAME: usize = 256;

/// Returns the second word of a term.
#[must_use]
pub const fn bits(form: u32, bits: u32) -> u32 {
    form << 8 | bits
}

/// Returns form and bits of a term.
#[must_use]
pub const fn form(bits: u32) -> [u32; 2] {
    [bits >> 8, bits & 0xff]
}

/// Returns the signed number of an operand.
#[must_use]
pub const fn signed(operand: u32) -> i32 {
    operand.cast_signed()
}

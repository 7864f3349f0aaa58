//! The errors of expressions.
//!
//! An error is a value in a register, so it is small and the frequent ones are built without
//! allocation. The wording is cel-go's: hosts that move here compare these texts.

use alloc::rc::Rc;
use alloc::string::ToString;
use core::fmt;

use super::value::{Str, Value};

/// The reason why an evaluation failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Error<'a> {
    /// A map has no such key, or the value has no fields.
    NoSuchKey(Str<'a>),
    /// A variable, constant or global is not defined, or evaluating it failed.
    UndefinedField(&'a str),
    /// A free variable has no value.
    NoSuchAttribute(&'a str),
    /// A list has no such element.
    IndexOutOfBounds(i64),
    /// The operation does not exist for these types.
    NoSuchOverload,
    /// The step budget is spent, or a value grew past a bound of [`crate::limits`].
    Limit,
    /// The program is not one that the compiler writes.
    Malformed,
    /// The request asks about many MQTT topics, and what it asks is true for some and false for
    /// others: not for this one. The text is empty if none is known.
    ///
    /// CEL's absorption is Kleene's logic: what comes out true or false beside it holds for every
    /// topic. A condition that is this at its end is judged by the effect of its rule.
    Partly(Rc<str>),
    /// The same, and for some topics it may have failed.
    PartlyFailed(Rc<str>),
    /// A message that needs no detail.
    Fixed(&'static str),
    /// A message with details.
    Text(Rc<str>),
}

/// The result of a function.
pub type Answer<'a> = Result<Value<'a>, Error<'a>>;

impl Error<'_> {
    /// `x / 0`.
    pub const DIVISION_BY_ZERO: Self = Self::Fixed("division by zero");
    /// `x % 0`.
    pub const MODULUS_BY_ZERO: Self = Self::Fixed("modulus by zero");
    /// An `int` or a duration left its range.
    pub const INT_OVERFLOW: Self = Self::Fixed("integer overflow");
    /// A `uint` left its range.
    pub const UINT_OVERFLOW: Self = Self::Fixed("unsigned integer overflow");
    /// A timestamp left the years 1 to 9999.
    pub const TIMESTAMP_OVERFLOW: Self = Self::Fixed("timestamp overflow");
    /// The value of an empty optional.
    pub const EMPTY_OPTIONAL: Self = Self::Fixed("optional.none() dereference");

    /// Returns true if the answer depends on the topic.
    #[must_use]
    pub const fn is_partly(&self) -> bool {
        matches!(self, Self::Partly(_) | Self::PartlyFailed(_))
    }

    /// Returns true if the evaluation was not finished. The mode of the table does not matter.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        matches!(self, Self::Limit | Self::Malformed)
    }

    /// Returns the error of an operation with this operand, other than logic: what comes out for
    /// each topic is not followed, so that it may be an error.
    #[must_use]
    #[inline(never)]
    pub fn of_operand(self) -> Self {
        match self {
            Self::Partly(witness) => Self::PartlyFailed(witness),
            other => other,
        }
    }

    /// Returns the error of `&&` or `||` with two errors: the left one, unless the other tells more
    /// about topics.
    #[must_use]
    #[inline(never)]
    pub fn beside(&self, other: &Self) -> Self {
        let is_other = match self {
            Self::Partly(_) | Self::PartlyFailed(_) => other.is_incomplete(),
            _ => other.is_partly() && !self.is_incomplete(),
        };
        let error = if is_other { other } else { self }.clone();
        match (self, other) {
            (Self::Partly(_), Self::Partly(_)) => error,
            _ => error.of_operand(),
        }
    }

    /// Builds an error with a composed message.
    #[must_use]
    pub fn text(message: fmt::Arguments<'_>) -> Self {
        Self::Text(Rc::from(message.to_string()))
    }

    /// Returns the error that a value of type `from` has no conversion to type `to`.
    #[must_use]
    pub fn conversion(from: &str, to: &str) -> Self {
        Self::text(format_args!("type conversion error from '{from}' to '{to}'"))
    }
}

impl fmt::Display for Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchKey(key) => write!(f, "no such key: {key}"),
            Self::UndefinedField(name) => write!(f, "undefined field '{name}'"),
            Self::NoSuchAttribute(name) => write!(f, "no such attribute(s): {name}"),
            Self::IndexOutOfBounds(index) => write!(f, "index out of bounds: {index}"),
            Self::NoSuchOverload => f.write_str("no such overload"),
            Self::Limit => f.write_str("evaluation limit exceeded"),
            Self::Malformed => f.write_str("malformed program"),
            Self::Partly(witness) | Self::PartlyFailed(witness) => {
                f.write_str("true for a part of the topics only")?;
                if witness.is_empty() { Ok(()) } else { write!(f, ", not for \"{witness}\"") }
            }
            Self::Fixed(message) => f.write_str(message),
            Self::Text(message) => f.write_str(message),
        }
    }
}

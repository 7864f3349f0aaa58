//! The errors of expressions.
//!
//! An error is a value in a register, so it is small and the frequent ones are built without
//! allocation. The wording is cel-go's: hosts that move here compare these texts.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
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
    /// The request asks about many MQTT topics, and the answer is not the same for all of them.
    Partly(Rc<Partly>),
    /// A message that needs no detail.
    Fixed(&'static str),
    /// A message with details.
    Text(Rc<str>),
}

/// A truth that only a part of the topics of a request has.
///
/// CEL's absorption is Kleene's logic: what comes out true or false beside it holds for every topic.
/// A condition that is this at its end is judged by the effect of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partly {
    /// A topic of the request for which the function is false; empty if that is not known.
    pub witness: String,
    /// True if the expression may have failed for some topic, instead of being true or false.
    pub may_fail: bool,
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

    /// Returns the error that the answer depends on the topic.
    #[must_use]
    pub fn partly(witness: String, may_fail: bool) -> Self {
        Self::Partly(Rc::new(Partly { witness, may_fail }))
    }

    /// Returns true if the answer depends on the topic.
    #[must_use]
    pub const fn is_partly(&self) -> bool {
        matches!(self, Self::Partly(_))
    }

    /// Returns true if the evaluation was not finished. The mode of the table does not matter.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        matches!(self, Self::Limit | Self::Malformed)
    }

    /// Returns the error of an operation with this operand, other than logic: what comes out for
    /// each topic is not followed, so that it may be an error.
    #[must_use]
    pub fn of_operand(self) -> Self {
        match self {
            Self::Partly(partly) if !partly.may_fail => Self::partly(partly.witness.clone(), true),
            other => other,
        }
    }

    /// Returns the error of `&&` or `||` of which neither side decides.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        match (self, other) {
            (left, Self::Partly(_)) if left.is_incomplete() => left,
            (Self::Partly(_), right) if right.is_incomplete() => right,
            (Self::Partly(left), Self::Partly(right)) if right.may_fail => {
                Self::Partly(left).of_operand()
            }
            (left @ Self::Partly(_), Self::Partly(_)) => left,
            (left @ Self::Partly(_), _) => left.of_operand(),
            (_, right @ Self::Partly(_)) => right.of_operand(),
            (left, _) => left,
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
            Self::Partly(partly) if partly.witness.is_empty() => {
                f.write_str("true for a part of the topics only")
            }
            Self::Partly(partly) => {
                write!(f, "true for a part of the topics only, not for \"{}\"", partly.witness)
            }
            Self::Fixed(message) => f.write_str(message),
            Self::Text(message) => f.write_str(message),
        }
    }
}

//! The charges that a request meets: which rate limits are for it, with key, cost and quota.
//!
//! Pure like a decision: no state and no clock. A host charges what this returns, after the policies
//! have decided. **A limit never falls away**: an error in a condition, a key, a cost or a quota is an
//! error of the limit in every mode of evaluation, and the host denies.

pub mod coded;
mod plain;
mod values;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

pub use plain::{LimitNames, PlainCharge, PlainPart};

use super::session::Session;
use crate::attr::Attr;
use crate::budget::Budget;
use crate::cel::{Error, Timestamp, Value};
use crate::decision::Effect;
use crate::limits::{MAX_LIMIT_TOKENS, MAX_MET_LIMITS};
use crate::number::{exact_int, exact_uint, int_to_double, truncate_uint, uint_to_double};
use crate::request::Request;
use crate::table::limit::{Limit, Mode};
use crate::table::{Block, PolicyTable};

/// A rate limit that is for an action of a request.
#[derive(Clone, Debug)]
pub struct Met<'t> {
    /// The limit.
    pub limit: Limit<'t>,
    /// The charge, or the reason why there is none.
    pub charge: Result<Charge, LimitError>,
}

/// The tokens that an action takes from a key of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The parts of the key: for each a letter for its type, then its value. Equal values have equal
    /// bytes, and others do not.
    pub key: Vec<Vec<u8>>,
    /// The tokens, rounded up; 0 only looks.
    pub cost: u64,
    /// The tokens of a window, rounded down.
    pub quota: u64,
}

/// The reason why the charge of a limit is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// An expression failed, or its value cannot be used.
    Expression {
        /// The source text of the expression; empty in a table without explanations.
        expression: String,
        /// The error, in words.
        message: String,
    },
    /// The steps of the request are spent.
    Exhausted,
    /// The action meets more limits than are charged together.
    TooMany,
}

impl PolicyTable {
    /// Returns the rate limits that `action` of `request` meets, in the order of their names. Of an
    /// action that the policies deny these are the ones that always charge. `now` is the value of
    /// `now()`, and the steps are taken from `budget`.
    ///
    /// # Errors
    /// The steps do not suffice to find the limits. The host denies, as for an enforced limit whose
    /// charge is an error.
    pub fn charges(
        &self,
        request: &Request,
        of: (&str, Effect),
        now: Timestamp,
        budget: &Budget,
    ) -> Result<Vec<Met<'_>>, LimitError> {
        self.charges_timed(request, of, now, budget).0
    }

    /// Returns the same as [`PolicyTable::charges`]. The second value is true if an expression has
    /// read `now`.
    pub fn charges_timed(
        &self,
        request: &Request,
        (action, effect): (&str, Effect),
        now: Timestamp,
        budget: &Budget,
    ) -> (Result<Vec<Met<'_>>, LimitError>, bool) {
        let Some(block) = self.limit_block() else { return (Ok(Vec::new()), false) };
        let pool = self.pool();
        let session = Session::new(self, &pool, (request, now), None, budget);
        let met = session.charges(block, (action, effect == Effect::Allow));
        session.settle(budget);
        (met, session.depends_on_time.get())
    }
}

impl Charge {
    /// Returns the values of the parts of the key, for people.
    #[must_use]
    pub fn key_values(&self) -> Vec<Attr> {
        self.key.iter().map(|part| key_value(part)).collect()
    }
}

/// Returns the value of a part of a key; a whole number beyond 2^53 is rounded.
fn key_value(part: &[u8]) -> Attr {
    let (tag, bytes) = part.split_first().unwrap_or((&0, &[]));
    let number = bytes.first_chunk().copied();
    match (tag, number) {
        (&TEXT, _) => Attr::String(String::from_utf8_lossy(bytes).into()),
        (&BOOL, _) => Attr::Bool(bytes == [1]),
        (b'i', Some(number)) => Attr::Number(int_to_double(i64::from_le_bytes(number))),
        (b'u', Some(number)) => Attr::Number(uint_to_double(u64::from_le_bytes(number))),
        (b'd', Some(number)) => Attr::Number(f64::from_bits(u64::from_le_bytes(number))),
        _ => Attr::Null,
    }
}

impl Session<'_> {
    /// Returns the limits of `block` that an action meets, which the policies allow or deny.
    fn charges<'t>(&self, block: Block<'t>, of: (&str, bool)) -> Result<Vec<Met<'t>>, LimitError> {
        let mut met = Vec::new();
        let is_found = self.meet(block, of, &mut |limit, values| {
            let charge = self.charge_of(&limit, &values);
            met.push(Met { limit, charge });
        });
        if is_found { Ok(met) } else { Err(LimitError::Exhausted) }
    }

    /// Returns the charge that the values of the expressions of a limit make.
    fn charge_of(
        &self,
        limit: &Limit<'_>,
        values: &[(u32, Value<'_>)],
    ) -> Result<Charge, LimitError> {
        if let Some((program, Value::Error(error))) = values.last() {
            return Err(self.error(*program, error));
        }
        let (parts, rest) =
            values.split_at_checked(limit.key().len()).ok_or(LimitError::TooMany)?;
        let (quota, cost) = rest.split_last().ok_or(LimitError::TooMany)?;
        let key = parts.iter().map(|part| self.key_part(part));
        let key = key.collect::<Result<_, _>>()?;
        let cost = cost.first().map_or(Ok(1), |cost| self.tokens(cost, Rounded::Up))?;
        let tokens = self.tokens(quota, Rounded::Down)?;
        if tokens == 0 {
            return Err(self.wrong(quota.0, "a quota is at least 1"));
        }
        Ok(Charge { key, cost, quota: tokens })
    }

    fn key_part(&self, (program, value): &(u32, Value<'_>)) -> Result<Vec<u8>, LimitError> {
        part_of(value).map_err(|message| self.wrong(*program, message))
    }

    fn tokens(
        &self,
        (program, value): &(u32, Value<'_>),
        rounded: Rounded,
    ) -> Result<u64, LimitError> {
        let wrong = || self.wrong(*program, "expected a number that is finite and not negative");
        tokens(value, rounded).ok_or_else(wrong)
    }

    fn error(&self, program: u32, error: &Error<'_>) -> LimitError {
        match error {
            error if error.is_incomplete() => LimitError::Exhausted,
            Error::Partly(_) | Error::PartlyFailed(_) => {
                self.wrong(program, "the answer depends on the topic")
            }
            error => self.wrong(program, &error.to_string()),
        }
    }

    fn wrong(&self, program: u32, message: &str) -> LimitError {
        let expression = self.source(program).to_owned();
        LimitError::Expression { expression, message: message.to_owned() }
    }
}

impl LimitError {
    /// Returns the error in words.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Expression { expression, message } if expression.is_empty() => message.clone(),
            Self::Expression { expression, message } => format!("`{expression}`: {message}"),
            Self::Exhausted => "the request reached a limit of the evaluation".to_owned(),
            Self::TooMany => format!("an action meets at most {MAX_MET_LIMITS} limits"),
        }
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl core::error::Error for LimitError {}

impl Met<'_> {
    /// Returns true if the limit denies where it refuses.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.limit.mode() == Mode::Enforce
    }
}

/// The direction in which a fraction of a token is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounded {
    /// That of a cost.
    Up,
    /// That of a quota.
    Down,
}

/// Returns a value as a number of tokens, at most [`MAX_LIMIT_TOKENS`]; `None` if it is no number,
/// negative or not finite.
#[must_use]
pub fn tokens(value: &Value<'_>, rounded: Rounded) -> Option<u64> {
    let tokens = match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Uint(number) => Some(*number),
        Value::Double(number) => round(*number, rounded),
        _ => None,
    };
    tokens.map(|tokens| tokens.min(MAX_LIMIT_TOKENS))
}

/// Rounds a number of tokens; `None` if it is negative or not finite.
fn round(number: f64, rounded: Rounded) -> Option<u64> {
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    let whole = truncate_uint(number).unwrap_or(MAX_LIMIT_TOKENS);
    let has_fraction = uint_to_double(whole) < number;
    Some(if has_fraction && rounded == Rounded::Up { whole.saturating_add(1) } else { whole })
}

/// Returns a value as a part of a key, or why it is none.
fn part_of(value: &Value<'_>) -> Result<Vec<u8>, &'static str> {
    Ok(match value {
        Value::String(text) => tagged(TEXT, text.as_bytes()),
        Value::Bool(value) => tagged(BOOL, &[u8::from(*value)]),
        Value::Int(number) => whole(*number).to_vec(),
        Value::Uint(number) => {
            i64::try_from(*number).map_or_else(|_| large(*number), whole).to_vec()
        }
        Value::Double(number) => {
            number_part(*number).ok_or("a number in a key must be finite")?.to_vec()
        }
        _ => return Err("a part of a key is text, a number or a boolean"),
    })
}

/// Returns the part of a key that a number of a request is, which is that of the whole number that it
/// equals; `None` if it is not finite.
#[must_use]
pub fn number_part(number: f64) -> Option<NumberPart> {
    if let Some(int) = exact_int(number) {
        return Some(whole(int));
    }
    let own = || number.is_finite().then(|| of_bits(b'd', number.to_bits()));
    exact_uint(number).map(large).or_else(own)
}

/// The letter and the value of a number in a key.
pub type NumberPart = [u8; 9];

fn whole(number: i64) -> NumberPart {
    of_bits(b'i', number.cast_unsigned())
}

/// Returns the key of a number beyond every `int`.
fn large(number: u64) -> NumberPart {
    of_bits(b'u', number)
}

fn of_bits(tag: u8, bits: u64) -> NumberPart {
    let mut part = [tag; 9];
    if let Some(value) = part.last_chunk_mut() {
        *value = bits.to_le_bytes();
    }
    part
}

fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut part = Vec::with_capacity(bytes.len().saturating_add(1));
    part.push(tag);
    part.extend_from_slice(bytes);
    part
}

/// The letter of text in a key; the text follows.
pub const TEXT: u8 = b's';
/// The letter of `true` and `false` in a key; 1 or 0 follows.
pub const BOOL: u8 = b'b';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_tokens_never_favour_the_caller() {
        let check = |number: f64, up: Option<u64>, down: Option<u64>| {
            assert_eq!((round(number, Rounded::Up), round(number, Rounded::Down)), (up, down));
        };
        check(0.0, Some(0), Some(0));
        check(-0.0, Some(0), Some(0));
        check(0.1, Some(1), Some(0));
        check(2.0, Some(2), Some(2));
        check(2.5, Some(3), Some(2));
        check(-0.1, None, None);
        check(f64::NAN, None, None);
        check(f64::INFINITY, None, None);
        assert!(round(1e300, Rounded::Up) >= Some(MAX_LIMIT_TOKENS));
    }

    #[test]
    fn equal_numbers_have_equal_keys() {
        assert_eq!(number_part(7.0), Some(whole(7)));
        assert_eq!(number_part(-0.0), Some(whole(0)));
        assert_eq!(number_part(1e19), Some(large(10_000_000_000_000_000_000)));
        assert_ne!(number_part(7.5), number_part(7.25));
        assert_eq!(number_part(f64::NAN), None);
        let shown = |number: f64| number_part(number).map(|part| key_value(&part));
        for number in [7.0, -7.0, 7.5, 1e19, -1e300] {
            assert_eq!(shown(number), Some(Attr::Number(number)));
        }
    }
}

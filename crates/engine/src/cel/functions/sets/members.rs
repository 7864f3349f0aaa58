//! The elements of a list, each once, found by their hash.
//!
//! Elements are compared as `==` does. Null, booleans, numbers, text and bytes have a hash; a value of any other type
//! is compared with every element. Each comparison is a step of the budget, so texts that share a hash on purpose end
//! at the same bound as any other loop.

use alloc::vec;
use alloc::vec::Vec;

use crate::cel::context::Context;
use crate::cel::error::Error;
use crate::cel::number;
use crate::cel::value::{List, Value};

/// The elements of a list, each once.
pub(crate) struct Members<'a> {
    /// Those with a hash.
    scalars: Vec<Value<'a>>,
    // INVARIANT: a power of two, more than there are scalars. A place holds 0 where it is free, or the number of its
    // scalar counted from 1.
    places: Vec<usize>,
    others: Vec<Value<'a>>,
}

impl<'a> Members<'a> {
    /// Returns members without elements, with room for `count` of them.
    pub(crate) fn with_room(count: usize) -> Self {
        let places = count.saturating_mul(2).max(1).next_power_of_two();
        Self { scalars: Vec::new(), places: vec![0; places], others: Vec::new() }
    }

    /// Returns the elements of `list`.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn of(list: &List<'a>, context: &Context<'a, '_>) -> Result<Self, Error<'a>> {
        let mut members = Self::with_room(list.len());
        for element in list.iter() {
            members.insert(element, context)?;
        }
        Ok(members)
    }

    /// Adds `value`; `false` if an equal one is there already.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn insert(
        &mut self,
        value: Value<'a>,
        context: &Context<'a, '_>,
    ) -> Result<bool, Error<'a>> {
        context.charge(1)?;
        match hash(&value, context)? {
            Hash::Of(hash) => {
                let Err(place) = self.find(&value, hash, context)? else { return Ok(false) };
                self.scalars.push(value);
                if let Some(free) = self.places.get_mut(place) {
                    *free = self.scalars.len();
                }
            }
            Hash::Nan => self.others.push(value),
            Hash::None if self.scan(&value, context)? => return Ok(false),
            Hash::None => self.others.push(value),
        }
        Ok(true)
    }

    /// Returns true if `wanted` equals an element.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn contains(
        &self,
        wanted: &Value<'a>,
        context: &Context<'a, '_>,
    ) -> Result<bool, Error<'a>> {
        context.charge(1)?;
        match hash(wanted, context)? {
            Hash::Of(hash) => Ok(self.find(wanted, hash, context)?.is_ok()),
            Hash::Nan => Ok(false),
            Hash::None => self.scan(wanted, context),
        }
    }

    /// Finds the number of the scalar that equals `wanted`, or the free place where it belongs.
    fn find(
        &self,
        wanted: &Value<'a>,
        hash: u64,
        context: &Context<'a, '_>,
    ) -> Result<Result<usize, usize>, Error<'a>> {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = usize::try_from(hash & 0xffff_ffff).unwrap_or(0) & mask;
        while let Some(number) = self.places.get(place).and_then(|held| held.checked_sub(1)) {
            context.charge(1)?;
            let Some(scalar) = self.scalars.get(number) else { break };
            if context.equal(wanted, scalar)? {
                return Ok(Ok(number));
            }
            place = place.wrapping_add(1) & mask;
        }
        Ok(Err(place))
    }

    /// Compares `wanted` with every element.
    fn scan(&self, wanted: &Value<'a>, context: &Context<'a, '_>) -> Result<bool, Error<'a>> {
        for element in self.scalars.iter().chain(&self.others) {
            context.charge(1)?;
            if context.equal(wanted, element)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The hash of a value.
enum Hash {
    /// Equal values have equal hashes.
    Of(u64),
    /// The value equals nothing, itself included.
    Nan,
    /// The type has no hash.
    None,
}

fn hash<'a>(value: &Value<'a>, context: &Context<'a, '_>) -> Result<Hash, Error<'a>> {
    Ok(Hash::Of(match value {
        Value::Null => 0,
        Value::Bool(value) => 1 + u64::from(*value),
        Value::Int(value) => of_number(number::int_to_double(*value)),
        Value::Uint(value) => of_number(number::uint_to_double(*value)),
        Value::Double(value) if value.is_nan() => return Ok(Hash::Nan),
        Value::Double(value) => of_number(*value),
        Value::String(text) => of_bytes(text.as_bytes(), context)?,
        Value::Bytes(bytes) => of_bytes(bytes, context)?,
        _ => return Ok(Hash::None),
    }))
}

/// Hashes a number as the double that numbers of different types are compared by. Both zeros are one.
fn of_number(value: f64) -> u64 {
    mixed((value + 0.0).to_bits())
}

fn of_bytes<'a>(bytes: &[u8], context: &Context<'a, '_>) -> Result<u64, Error<'a>> {
    context.charge_bytes(bytes.len())?;
    let (words, rest) = bytes.as_chunks();
    let last = rest.iter().fold(bytes.len(), |last, byte| last << 8 | usize::from(*byte));
    let last = u64::try_from(last).unwrap_or(0);
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    Ok(words.fold(mixed(last), |hash, word| mixed(hash ^ word)))
}

/// Spreads the bits of a word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
const fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

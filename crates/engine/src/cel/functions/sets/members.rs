//! The elements of a list, each once, found by their hash.
//!
//! Elements are compared as `==` does. Null, booleans, numbers, text and bytes have a hash; a value
//! of any other type is compared with every element. Each comparison is a step of the budget, so
//! texts that share a hash on purpose end at the same bound as any other loop.

use alloc::vec;
use alloc::vec::Vec;

use crate::cel::context::Context;
use crate::cel::error::Error;
use crate::cel::value::{List, Value};
use crate::number;

/// The elements of a list, each once.
pub(crate) struct Members<'a> {
    elements: Vec<Value<'a>>,
    // INVARIANT: a power of two, more than there are elements. A free position holds 0, a used one
    // the number of an element with a hash, counted from 1.
    positions: Vec<usize>,
}

impl<'a> Members<'a> {
    /// Returns members without elements, with room for `count` of them.
    pub(crate) fn with_room(count: usize) -> Self {
        let positions = count.saturating_mul(2).max(1).next_power_of_two();
        Self { elements: Vec::with_capacity(count), positions: vec![0; positions] }
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

    /// Adds `value`; returns `false` if an equal one is present.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn insert(
        &mut self,
        value: Value<'a>,
        context: &Context<'a, '_>,
    ) -> Result<bool, Error<'a>> {
        context.charge(STEPS_OF_AN_ELEMENT)?;
        let Some(position) = self.find(&value, context)? else { return Ok(false) };
        self.elements.push(value);
        if let Some(free) = self.positions.get_mut(position) {
            *free = self.elements.len();
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
        Ok(self.find(wanted, context)?.is_none())
    }

    /// Returns the position of an element that equals `wanted`. If there is none, returns the free
    /// position for it: one out of range for a value without a hash.
    fn find(
        &self,
        wanted: &Value<'a>,
        context: &Context<'a, '_>,
    ) -> Result<Option<usize>, Error<'a>> {
        context.charge(1)?;
        let mask = self.positions.len().wrapping_sub(1);
        let (mut position, is_hashed) = match hash(wanted, context)? {
            Some(hash) => (usize::try_from(hash & 0xffff_ffff).unwrap_or(0) & mask, true),
            None => (0, false),
        };
        loop {
            let number = if is_hashed {
                self.positions.get(position).and_then(|number| number.checked_sub(1))
            } else {
                Some(position)
            };
            let Some(element) = number.and_then(|number| self.elements.get(number)) else {
                return Ok(Some(if is_hashed { position } else { usize::MAX }));
            };
            context.charge(1)?;
            if context.equal(wanted, element)? {
                return Ok(None);
            }
            position = position.wrapping_add(1);
            if is_hashed {
                position &= mask;
            }
        }
    }
}

/// Hashes a value, so that equal values have equal hashes; `None` for a type that has no hash.
fn hash<'a>(value: &Value<'a>, context: &Context<'a, '_>) -> Result<Option<u64>, Error<'a>> {
    Ok(Some(match value {
        Value::Null => 0,
        Value::Bool(value) => 1 + u64::from(*value),
        Value::Int(value) => of_number(number::int_to_double(*value)),
        Value::Uint(value) => of_number(number::uint_to_double(*value)),
        Value::Double(value) => of_number(*value),
        Value::String(text) => of_bytes(text.as_bytes(), context)?,
        Value::Bytes(bytes) => of_bytes(bytes, context)?,
        _ => return Ok(None),
    }))
}

/// Hashes a number as the double by which numbers of different types are compared. Both zeros are
/// one.
fn of_number(value: f64) -> u64 {
    fnv(&(value + 0.0).to_bits().to_le_bytes())
}

fn of_bytes<'a>(bytes: &[u8], context: &Context<'a, '_>) -> Result<u64, Error<'a>> {
    context.charge_bytes(bytes.len())?;
    Ok(fnv(bytes))
}

/// Hashes bytes: FNV-1a with 64 bits (Fowler, Noll and Vo; RFC 9923).
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The steps charged for storing an element beside finding its position: in long lists its
/// position, its value and its text are seldom near each other.
const STEPS_OF_AN_ELEMENT: usize = 5;

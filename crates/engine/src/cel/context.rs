//! The data that a running program can read: the policy table, the request, the clock and its
//! budget.
//!
//! The budget is one counter for a run of a program. Variables run with budgets of their own; the
//! session counts the steps of the whole request.

use core::cell::Cell;

use super::error::Error;
use super::time::Timestamp;
use super::value::{Value, equal};
use super::{Activation, Pool};
use crate::limits::{MAX_ELEMENTS, MAX_STRING_BYTES};

/// The context of one evaluation, an argument of every function.
#[derive(Clone, Copy)]
pub struct Context<'a, 'c> {
    /// The constants and programs of the table.
    pub pool: &'a Pool<'a>,
    /// The source of roots and variables.
    pub activation: &'c dyn Activation<'a>,
    /// The steps that are left.
    pub steps: &'c Cell<u32>,
}

impl<'a> Context<'a, '_> {
    /// Returns the time of the check.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.activation.now()
    }

    // In WebAssembly modules a call is smaller than the inlined code; natively it is slower.

    /// Pays for visiting `elements` values.
    ///
    /// # Errors
    ///
    /// The budget is spent.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn charge(&self, elements: usize) -> Result<(), Spent> {
        spend(self.steps, u32::try_from(elements).unwrap_or(u32::MAX))
    }

    /// Pays for reading `bytes` bytes of text: a step for each 16 of them.
    ///
    /// # Errors
    ///
    /// The budget is spent.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn charge_bytes(&self, bytes: usize) -> Result<(), Spent> {
        spend_text(self.steps, bytes)
    }

    /// Pays for building a string of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// The budget is spent or the string is too long.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn charge_string(&self, bytes: usize) -> Result<(), Spent> {
        if bytes > MAX_STRING_BYTES {
            return Err(Spent);
        }
        self.charge_bytes(bytes)
    }

    /// Pays for building a list or map of `elements` elements.
    ///
    /// # Errors
    ///
    /// The budget is spent or the list is too long.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub fn charge_list(&self, elements: usize) -> Result<(), Spent> {
        if elements > MAX_ELEMENTS {
            return Err(Spent);
        }
        self.charge(elements)
    }

    /// Returns true if two values are equal; pays for each element that is compared.
    ///
    /// # Errors
    ///
    /// The budget is spent.
    pub fn equal(&self, left: &Value<'a>, right: &Value<'a>) -> Result<bool, Error<'a>> {
        equal(left, right, self.steps)
    }
}

/// The budget is spent, or a value would be longer than allowed.
///
/// It becomes an [`Error`] where it is handled: to pass an error through costs more code at each
/// call.
#[derive(Clone, Copy, Debug)]
pub struct Spent;

impl From<Spent> for Error<'_> {
    fn from(Spent: Spent) -> Self {
        Self::Limit
    }
}

/// Takes `count` steps from the budget.
pub(crate) fn spend(steps: &Cell<u32>, count: u32) -> Result<(), Spent> {
    match steps.get().checked_sub(count) {
        Some(left) => {
            steps.set(left);
            Ok(())
        }
        None => {
            steps.set(0);
            Err(Spent)
        }
    }
}

/// Takes a step from the budget for each 16 bytes of a text.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn spend_text(steps: &Cell<u32>, bytes: usize) -> Result<(), Spent> {
    spend(steps, u32::try_from(bytes / 16).unwrap_or(u32::MAX))
}

/// Takes the cost of finding `key` in a map: a text is compared with about eight keys.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn spend_key(steps: &Cell<u32>, key: &Value<'_>) -> Result<(), Spent> {
    let bytes = key.as_str().map_or(0, str::len);
    spend(steps, u32::try_from(bytes / 2).unwrap_or(u32::MAX))
}

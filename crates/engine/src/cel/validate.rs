//! The proof that the machine can run a table's programs.
//!
//! It is made once, when a table is opened. The machine would survive without it (it gives the
//! error "malformed program"), but a decision must not depend on an expression without an author.

mod constants;
mod programs;

pub use programs::{Instruction, instructions};

use alloc::vec::Vec;
use core::fmt;

use super::pool::{PROGRAM_WORDS, Pool, Root, VARIABLE_WORDS};
use crate::limits::MAX_VARIABLE_DEPTH;

use constants::Starts;

/// The fault in a table's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The strings do not follow one another in the text.
    Strings,
    /// The constant at this offset.
    Constant(u32),
    /// The slot at this offset.
    Slot(u32),
    /// A program, and the offset of the word in its code.
    Program(u32, usize),
    /// A variable that refers to no program, to itself through others, or too deep.
    Variable(u32),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strings => f.write_str("the strings are out of order"),
            Self::Constant(at) => write!(f, "constant {at} is malformed"),
            Self::Slot(at) => write!(f, "slot {at} is malformed"),
            Self::Program(program, at) => write!(f, "program {program} is malformed at word {at}"),
            Self::Variable(variable) => write!(f, "variable {variable} is malformed"),
        }
    }
}

/// Checks all strings, constants, slots, programs and variables.
///
/// # Errors
///
/// The first fault.
pub fn validate(pool: Pool<'_>) -> Result<(), Invalid> {
    strings(&pool)?;
    let constants = constants::validate(&pool)?;
    let slots = slots(&pool)?;
    let mut unread = pool.code.len();
    for program in 0..count(pool.programs, PROGRAM_WORDS) {
        let words = programs::validate(&pool, program, &constants, &slots, unread)?;
        unread = unread.saturating_sub(words);
    }
    variables(&pool)
}

fn strings(pool: &Pool<'_>) -> Result<(), Invalid> {
    let mut ids = 0..u32::try_from(pool.strings.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let sliced = ids.all(|id| pool.string(id).is_some());
    if sliced { Ok(()) } else { Err(Invalid::Strings) }
}

/// Reads the slots, and returns the offset of each.
fn slots(pool: &Pool<'_>) -> Result<Starts, Invalid> {
    let mut starts = Starts::new(pool.slots.len());
    let mut at = 0;
    while at < pool.slots.len() {
        let size = slot_size(pool, at).ok_or(Invalid::Slot(id_of(at)))?;
        starts.mark(at);
        at += size;
    }
    Ok(starts)
}

fn slot_size(pool: &Pool<'_>, at: usize) -> Option<usize> {
    let [root, count, path @ ..] = pool.slots.get(at..)? else { return None };
    let count = usize::try_from(*count).ok()?;
    let path = path.get(..count)?;
    let valid = Root::from_code(*root).is_some_and(|root| root != Root::Free || count > 0);
    (valid && path.iter().all(|id| pool.string(*id).is_some())).then_some(count + 2)
}

/// Checks the variables. A variable's program may read variables with lower depth only: depths are
/// computed in rounds, so a cycle never gets one. A round reads each program once, however many
/// variables share it.
fn variables(pool: &Pool<'_>) -> Result<(), Invalid> {
    let programs = count(pool.programs, PROGRAM_WORDS);
    let mut settled: Vec<bool> = Vec::new();
    for _ in 0..=MAX_VARIABLE_DEPTH {
        let ready: Vec<bool> =
            (0..programs).map(|program| programs::reads_only(pool, program, &settled)).collect();
        let after: Vec<bool> = (0..count(pool.variables, VARIABLE_WORDS))
            .map(|variable| {
                let (program, _) = pool.variable(variable).ok_or(Invalid::Variable(variable))?;
                let ready = usize::try_from(program).ok().and_then(|at| ready.get(at));
                ready.copied().ok_or(Invalid::Variable(variable))
            })
            .collect::<Result<_, _>>()?;
        if settled == after {
            break;
        }
        settled = after;
    }
    match settled.iter().position(|settled| !settled) {
        Some(variable) => Err(Invalid::Variable(id_of(variable))),
        None => Ok(()),
    }
}

fn count(section: &[u32], words: usize) -> u32 {
    id_of(section.len() / words)
}

fn id_of(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

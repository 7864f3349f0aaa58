//! Regular expressions with the syntax and the meaning of RE2, as Go's `regexp` package has them.
//!
//! Time is linear in pattern times text for any pattern: [`compile`] makes a program for a machine
//! that follows all alternatives at once and never goes back. The caller's budget pays for each
//! step of that machine, and a spent budget ends the search with [`OutOfSteps`]. A program is plain
//! words, so one that was compiled with the policy runs without a copy. Tables of Unicode are not
//! part of this crate: [`ClassSource`] supplies them, and at run time there is only [`Ascii`].

mod captures;
mod class;
mod code;
mod error;
mod parse;
mod program;
mod search;
mod steps;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::limits::MAX_STEPS;

pub use captures::{Captures, Matches};
pub use class::{Ascii, ClassSource, Missing, Range};
pub use error::{Error, ErrorKind};
pub use program::{InvalidProgram, Program};
pub use steps::OutOfSteps;

/// A compiled pattern that owns its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regex {
    words: Vec<u32>,
}

impl Regex {
    /// Returns the program, ready to run.
    #[must_use]
    pub fn program(&self) -> Program<'_> {
        Program::view(&self.words)
    }

    /// Returns the words of the program, as a policy table stores them.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words of the program, and drops the pattern.
    #[must_use]
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }
}

/// Compiles `pattern` with the Unicode classes of `source`.
///
/// # Errors
/// The first fault that Go's parser would report, or that a bound of [`crate::limits`] is exceeded.
pub fn compile(pattern: &str, source: &dyn ClassSource) -> Result<Regex, Error> {
    compile_paying(pattern, source, &mut MAX_STEPS.clone())
}

/// Compiles `pattern` as [`compile`] does, paying from `steps`: a short pattern can have a long
/// program, so its length is no measure of its cost.
///
/// # Errors
/// As [`compile`]; when the steps are spent they are zero and the error is [`ErrorKind::TooLarge`].
pub fn compile_paying(
    pattern: &str,
    source: &dyn ClassSource,
    steps: &mut u32,
) -> Result<Regex, Error> {
    let parsed = parse::parse(pattern, source, steps)?;
    Ok(Regex { words: program::encode(&parsed) })
}

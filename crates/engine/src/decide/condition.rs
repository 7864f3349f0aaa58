//! Conditions: `all`, `any` and `none` over expressions.
//!
//! An expression is `true`, `false` or an error. In a strict table an error ends the condition; in
//! a lenient one it counts as `false`, as in Cerbos. A reached limit always ends it: an expression
//! that was not evaluated must not become a permission through a `none`.
//!
//! A request about many MQTT topics has a fourth result, *partly*: true for some of them. It is
//! unknown in Kleene's logic, so that `true` and `false` hold for every topic. If an expression may
//! also have failed for some topic, it counts as failed in a strict table, which denies.

use super::session::{Failure, Session};
use crate::cel::{Error, Value};
use crate::table::layout::Junction;
#[cfg(feature = "ratelimit")]
use crate::table::limit::Limit;
use crate::table::{Evaluation, Section, at, word};

#[cfg(feature = "ratelimit")]
impl<'a> Session<'a> {
    /// Returns true if the condition of a limit is satisfied. An error in it ends it, whatever the
    /// evaluation of the table, and is returned with its program.
    pub(super) fn holds_for(&self, limit: &Limit<'_>) -> Result<bool, (u32, Error<'a>)> {
        let Some(condition) = limit.condition() else { return Ok(true) };
        self.of_limit.set(Some((0, Error::Limit)));
        let holds = self.satisfies(condition);
        let error = self.of_limit.take();
        holds.map_err(|_| error.unwrap_or((0, Error::Limit)))
    }

    /// Returns true if the expression belongs to the condition of a limit, and stores its error.
    fn fails_limit(&self, program: u32, error: &Error<'a>) -> bool {
        let is_of_limit = self.of_limit.take().is_some();
        if is_of_limit {
            self.of_limit.set(Some((program, error.clone())));
        }
        is_of_limit
    }
}

impl<'a> Session<'a> {
    /// Returns true if the condition at `offset` is satisfied. The validator bounds its depth.
    pub(crate) fn satisfies(&self, offset: u32) -> Result<bool, Failure> {
        self.charge(1)?;
        let words = self.table.section(Section::Conditions).get(at(offset)..).unwrap_or(&[]);
        let (junction, operands) = Junction::split(word(words, 0));
        let operands = words.get(1..1 + at(operands)).unwrap_or(&[]);
        match junction {
            Junction::Expr => self.leaf(word(operands, 0)),
            Junction::All => Ok(!self.contains(operands, false)?),
            Junction::Any => self.contains(operands, true),
            Junction::None => Ok(!self.contains(operands, true)?),
        }
    }

    /// Returns true if one of `conditions` evaluates to `wanted`, and evaluates none behind that
    /// one.
    fn contains(&self, conditions: &[u32], wanted: bool) -> Result<bool, Failure> {
        let mut answer = Ok(false);
        for condition in conditions {
            match self.satisfies(*condition) {
                Ok(value) if value == wanted => return Ok(true),
                Ok(_) => {}
                Err(Failure::Partly) => answer = Err(Failure::Partly),
                Err(failure) => {
                    if answer.is_err() {
                        self.doubt();
                    }
                    return Err(failure);
                }
            }
        }
        answer
    }

    fn leaf(&self, program: u32) -> Result<bool, Failure> {
        let value = self.evaluate(program);
        // An expression of a derived role belongs to no rule.
        if !self.is_in_derived_roles()
            && let Some(record) = &self.record
            && let Some(trace) = &mut record.borrow_mut().trace
        {
            trace.leaf(self.source(program), &value);
        }
        #[cfg(feature = "observe")]
        self.observe_expression(&value);
        match value {
            Value::Bool(value) => Ok(value),
            Value::Error(error) => self.failed(program, &error),
            #[cfg(feature = "ratelimit")]
            _ if self.fails_limit(program, &Error::Fixed("a condition is true or false")) => {
                Err(Failure::Condition)
            }
            _ => Ok(false),
        }
    }

    fn failed(&self, program: u32, error: &Error<'a>) -> Result<bool, Failure> {
        #[cfg(feature = "ratelimit")]
        if self.fails_limit(program, error) {
            return Err(Failure::Condition);
        }
        let is_strict = self.table.evaluation() == Evaluation::Strict;
        match error {
            Error::Partly(_) => return Err(Failure::Partly),
            Error::PartlyFailed(_) if !is_strict => {
                self.may_have_failed.set(true);
                return Err(Failure::Partly);
            }
            Error::PartlyFailed(_) => self.doubt(),
            _ => {}
        }
        self.note_error(program, error);
        if error.is_incomplete() {
            return Err(Failure::Limit);
        }
        if is_strict { Err(Failure::Condition) } else { Ok(false) }
    }
}

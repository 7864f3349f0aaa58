//! One opened bundle: a table, its plans, and the questions that it answers.

use serde_json::Value;
use wardgate_engine::decide::Explanation;
use wardgate_engine::decision::Decision;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::ask::{Ask, Copied};
use crate::clock::Clock;
use crate::decide::decide;
use crate::error::RequestError;
use crate::field::Lookup;
use crate::index::Index;
use crate::json;
use crate::question::Question;
use crate::request::RequestAsk;
use crate::value::{self, ValueAsk};

/// An immutable set of policies. What it answers does not change: a reload makes another one.
#[derive(Debug)]
pub struct Policies {
    table: PolicyTable,
    index: Index,
    /// Which bundle of the PDP this is, counted from 0.
    serial: u64,
}

impl Policies {
    pub(crate) fn new(table: PolicyTable, serial: u64) -> Self {
        let index = Index::new(&table);
        Self { table, index, serial }
    }

    /// Returns the policy table.
    #[must_use]
    pub const fn table(&self) -> &PolicyTable {
        &self.table
    }

    /// Decides whether the principal of `request` may perform `action`; its list of actions is not
    /// read.
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, request: &Request, action: &str, clock: impl Clock) -> bool {
        self.shortly(&RequestAsk { request, action }, &clock)
            .unwrap_or_else(|| self.table.is_allowed(request, action, clock.now()))
    }

    /// Decides a question whose attributes are found by their names. Attributes that nest too deep or
    /// are too many for a request are denied.
    #[inline]
    #[must_use]
    pub fn is_allowed_fields<S, P, R>(
        &self,
        question: &Question<'_, S, P, R>,
        clock: impl Clock,
    ) -> bool
    where
        S: AsRef<str>,
        P: Lookup + ?Sized,
        R: Lookup + ?Sized,
    {
        self.shortly(question, &clock).unwrap_or_else(|| self.ask_generally(question, clock))
    }

    /// Decides a request that is a JSON value: `{"principal": .., "action": .., "resource": ..}`.
    /// Attributes that no rule reads are not looked at.
    ///
    /// # Errors
    /// The value is no request.
    #[inline]
    pub fn is_allowed_value(
        &self,
        request: &Value,
        clock: impl Clock,
    ) -> Result<bool, RequestError> {
        let short = ValueAsk::read(request).and_then(|ask| self.shortly(&ask, &clock));
        short.map_or_else(|| self.general(&value::request(request)?, clock), Ok)
    }

    /// Decides a request that is JSON text: `{"principal": .., "action": .., "resource": ..}`. Of two
    /// members with one name the later one counts. No value is built of what no rule reads, but all of
    /// it must be JSON.
    ///
    /// # Errors
    /// The text is no JSON, or no request.
    #[inline]
    pub fn is_allowed_json(&self, request: &[u8], clock: impl Clock) -> Result<bool, RequestError> {
        let short = json::with_ask(request, |ask| self.shortly(ask, &clock))?;
        short.map_or_else(|| self.general(&json::request(request)?, clock), Ok)
    }

    /// Decides on every action of `request`, and says why.
    #[must_use]
    pub fn check(&self, request: &Request, clock: impl Clock) -> Decision {
        self.table.check(request, clock.now())
    }

    /// Decides like [`Policies::check`] and writes down every rule that was considered.
    #[must_use]
    pub fn explain(&self, request: &Request, clock: impl Clock) -> Explanation {
        self.table.explain(request, clock.now())
    }

    pub(crate) const fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    /// Decides with a plan, if one can.
    #[inline]
    fn shortly(&self, ask: &impl Ask, clock: &impl Clock) -> Option<bool> {
        decide(&self.table, &self.index, ask, clock)
    }

    /// Decides a question by the general path.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask_generally(&self, ask: &impl Copied, clock: impl Clock) -> bool {
        let is_allowed =
            |request: Request| self.table.is_allowed(&request, ask.target().action, clock.now());
        ask.request().is_some_and(is_allowed)
    }

    fn general(&self, request: &Request, clock: impl Clock) -> Result<bool, RequestError> {
        let is_allowed = |action: &String| self.table.is_allowed(request, action, clock.now());
        Ok(request.actions.first().is_some_and(is_allowed))
    }
}

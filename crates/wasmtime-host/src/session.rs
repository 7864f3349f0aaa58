//! The questions of one thread to one instance.

use std::sync::Arc;

use wardgate_native::decision_log::Evidence;
use wardgate_native::{Clock, Lookup, Question, Target, Timestamp};

use crate::calls::TextQuestion;
use crate::encoding;
use crate::error::{HostError, Result};
use crate::instance::Instance;
use crate::pdp::{Served, Shared};
use crate::prepared::Prepared;

/// An instance for the questions of one thread, taken with the first one.
pub struct Session {
    shared: Arc<Shared>,
    served: Option<Served>,
}

impl Session {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, served: None }
    }

    /// Returns the revision of the bundle in use.
    ///
    /// # Errors
    /// The code gives no answer.
    pub fn revision(&mut self) -> Result<u64, HostError> {
        self.with(|served| served.instance.calls().revision())
    }

    /// Decides one action: see [`Pdp::is_allowed`](crate::Pdp::is_allowed).
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn is_allowed(&mut self, request: &[u8], clock: &impl Clock) -> Result<bool, HostError> {
        let now = clock.now();
        self.with(|served| served.instance.calls().is_allowed(request, now))
    }

    /// Decides several actions: see [`Pdp::decision_bytes`](crate::Pdp::decision_bytes).
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn decision_bytes(
        &mut self,
        request: &[u8],
        clock: &impl Clock,
    ) -> Result<Vec<u8>, HostError> {
        self.ask(TextQuestion::Check, request, clock.now())
    }

    /// Decides on several resources: see [`Pdp::filter`](crate::Pdp::filter).
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn filter(&mut self, request: &[u8], clock: &impl Clock) -> Result<Vec<u32>, HostError> {
        let now = clock.now();
        self.with(|served| served.instance.calls().filter(request, now))
    }

    /// Explains a decision: see [`Pdp::explain`](crate::Pdp::explain).
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn explain(&mut self, request: &[u8], clock: &impl Clock) -> Result<Vec<u8>, HostError> {
        self.ask(TextQuestion::Explain, request, clock.now())
    }

    /// Decides again from an evidence: see [`Pdp::replay`](crate::Pdp::replay).
    ///
    /// # Errors
    /// The code gives no answer.
    pub fn replay(
        &mut self,
        targets: &[Target<'_>],
        evidence: Evidence<'_>,
        micros: i64,
    ) -> Result<Vec<Option<bool>>, HostError> {
        self.with(|served| served.instance.calls().replay(targets, evidence, micros))
    }

    /// Answers a request of AuthZEN: see [`Pdp::authzen_evaluate`](crate::Pdp::authzen_evaluate).
    ///
    /// # Errors
    /// The request is refused, or the code gives no answer.
    pub fn authzen_evaluate(
        &mut self,
        request: &[u8],
        clock: &impl Clock,
    ) -> Result<Vec<u8>, HostError> {
        self.ask(TextQuestion::Evaluate, request, clock.now())
    }

    /// Looks up once which values questions about `target` need; see
    /// [`is_allowed_fields`](Self::is_allowed_fields).
    ///
    /// # Errors
    /// The code gives no answer.
    pub fn prepare(&mut self, target: Target<'_>) -> Result<Prepared, HostError> {
        let mut prepared = Prepared::new(target);
        self.with(|served| prepared.renew(served))?;
        Ok(prepared)
    }

    /// Decides a question whose attributes are found by their names, by the fast path. Only the
    /// values that `prepared` needs are read, and no text crosses into the sandbox.
    ///
    /// A question that the fast path cannot express, or about another target, is sent as text.
    ///
    /// # Errors
    /// The question is too deep for a request or contains a number that JSON does not have, or the
    /// code gives no answer.
    #[inline]
    pub fn is_allowed_fields<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &mut self,
        prepared: &mut Prepared,
        question: &Question<'_, S, P, R>,
        clock: &impl Clock,
    ) -> Result<bool, HostError> {
        let short = self.with(|served| prepared.decide(served, question, clock))?;
        match short {
            Some(allowed) => Ok(allowed),
            None => self.is_allowed(&encoding::json(question)?, clock),
        }
    }

    fn ask(&mut self, question: TextQuestion, request: &[u8], now: Timestamp) -> Result<Vec<u8>> {
        self.with(|served| served.instance.calls().ask(question, request, now))
    }

    /// Calls `ask` with an instance that has the bundle in use. An instance that trapped is
    /// dropped: its memory is in an unknown state.
    #[inline]
    fn with<T>(&mut self, ask: impl FnOnce(&mut Served) -> Result<T>) -> Result<T> {
        let served = match &mut self.served {
            Some(served) if self.shared.is_current(served.generation) => served,
            _ => self.renew()?,
        };
        let outcome = ask(served);
        if let Err(error) = &outcome
            && !error.is_sound()
        {
            self.served = None;
        }
        outcome
    }

    #[cold]
    fn renew(&mut self) -> Result<&mut Served> {
        let served = match self.served.take() {
            Some(served) => self.shared.renewed(served)?,
            None => self.shared.served()?,
        };
        Ok(self.served.insert(served))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(served) = self.served.take() {
            self.shared.give_back(served);
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = self.served.as_ref().map(|served| match served.instance {
            Instance::Module(_) => "module",
            Instance::Component(_) => "component",
        });
        f.debug_struct("Session").field("form", &form).finish_non_exhaustive()
    }
}

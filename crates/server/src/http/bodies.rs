//! A server without sockets: bodies in, bodies out.
//!
//! For tests and fuzzing, which ask what endpoints answer and not how it travels. Callers are taken for those who may
//! ask.

use std::fmt;

use hyper::body::Bytes;

use super::context::Context;
use super::reply::{Problem, Reply};
use super::routes::{Target, dispatch, target};
use super::{authzen, cerbos};
use crate::policies::state::State;
use crate::shared::Shared;

/// What endpoints answer.
pub struct Bodies(Shared);

impl Bodies {
    /// Answers from `shared`.
    pub(crate) const fn of(shared: Shared) -> Self {
        Self(shared)
    }

    /// Returns the status and the body of the answer to a `POST`.
    #[must_use]
    pub fn answer(&self, path: &str, body: &[u8]) -> (u16, String) {
        let Some(target) = target(path, &self.0) else {
            return written(None, Err(Problem::not_found()));
        };
        written(Some(target), dispatch(target, body, self.context(&self.0.state())))
    }

    /// Returns the answer of the general path, which [`Bodies::answer`] must agree with. Two endpoints have a fast path
    /// beside it.
    #[must_use]
    pub fn answer_full(&self, path: &str, body: &[u8]) -> (u16, String) {
        let (target, state) = (target(path, &self.0), self.0.state());
        let result = match target {
            Some(Target::Check) => cerbos::check_full(body, self.context(&state)),
            Some(Target::Evaluation) => authzen::evaluation_full(body, self.context(&state)),
            _ => return self.answer(path, body),
        };
        written(target, result.map(Bytes::from))
    }

    /// Returns true if the fast path answers.
    #[must_use]
    pub fn is_fast(&self, path: &str, body: &[u8]) -> bool {
        let state = self.0.state();
        match target(path, &self.0) {
            Some(Target::Check) => cerbos::try_fast(body, self.context(&state)).is_some(),
            Some(Target::Evaluation) => authzen::try_fast(body, &state).is_some(),
            _ => false,
        }
    }

    fn context<'c>(&'c self, state: &'c State) -> Context<'c> {
        Context { state, shared: &self.0, caller: "" }
    }
}

impl fmt::Debug for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bodies").finish_non_exhaustive()
    }
}

fn written(target: Option<Target>, result: Result<Bytes, Problem>) -> (u16, String) {
    let reply = match result {
        Ok(json) => Reply::json(json),
        Err(problem) if target.is_some_and(Target::is_of_cerbos) => problem.into_reply_of_cerbos(),
        Err(problem) => Reply::from(problem),
    };
    (reply.status.as_u16(), String::from_utf8_lossy(&reply.body).into_owned())
}

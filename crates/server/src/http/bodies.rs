//! A server without sockets: bodies in, bodies out.
//!
//! For tests and fuzzing, which ask what endpoints answer and not how it travels. Callers are taken for those who may
//! ask.

use std::fmt;
use std::sync::Arc;

use hyper::body::Bytes;

use super::reply::{Problem, Reply};
use super::routes::{Target, dispatch, target};
use super::{authzen, cerbos};
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
        let anonymous: Arc<str> = Arc::from("");
        let Some(target) = target(path, &self.0) else {
            return written(None, Err(Problem::not_found()));
        };
        written(Some(target), dispatch(target, body, (&self.0.state(), &self.0, &anonymous)))
    }

    /// Returns the answer that is made of all that the body says, never from its text: what [`Bodies::answer`] must agree
    /// with. Only two endpoints have two ways.
    #[must_use]
    pub fn answer_full(&self, path: &str, body: &[u8]) -> (u16, String) {
        let (target, state) = (target(path, &self.0), self.0.state());
        let result = match target {
            Some(Target::Check) => cerbos::check_full(body, &state, &self.0),
            Some(Target::Evaluation) => authzen::evaluation_full(body, &state, &self.0),
            _ => return self.answer(path, body),
        };
        written(target, result.map(Bytes::from))
    }

    /// Whether the answer is made from the text of the body.
    #[must_use]
    pub fn is_fast(&self, path: &str, body: &[u8]) -> bool {
        match target(path, &self.0) {
            Some(Target::Check) => cerbos::try_fast(body, &self.0.state(), &self.0).is_some(),
            Some(Target::Evaluation) => authzen::try_fast(body, &self.0.state()).is_some(),
            _ => false,
        }
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

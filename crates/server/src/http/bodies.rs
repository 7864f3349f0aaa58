//! A server without sockets: bodies in, bodies out.
//!
//! For tests and fuzzing of the endpoints without their transport. All callers are permitted.

use std::fmt;
use std::task::{self, Poll, Waker};

use super::answer::refusal;
use super::charging::Answer;
use super::context::Context;
use super::reply::{Problem, Reply, Result};
use super::routes::{self, Handler, Path, ROUTES, Route};
use super::{authzen, cerbos};
use crate::policies::state::State;
use crate::shared::Shared;

/// The endpoints of a server, without their transport.
pub struct Bodies(Shared);

impl Bodies {
    /// Answers from `shared`.
    pub(crate) const fn of(shared: Shared) -> Self {
        Self(shared)
    }

    /// Returns the paths of the endpoints that answer the body of a `POST`, for a server whose URL
    /// has no path.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        ROUTES.iter().filter_map(|route| match (&route.handler, route.path) {
            (Handler::Body(..), Path::At(path) | Path::Below(path)) => Some(path),
            (Handler::Body(..), Path::WellKnown(_)) | (Handler::Head(_) | Handler::Reload, _) => {
                None
            }
        })
    }

    /// Returns the status and the body of the answer to a `POST`.
    #[must_use]
    pub fn answer(&self, path: &str, body: &[u8]) -> (u16, String) {
        let route = routes::find(path, &self.0);
        written(
            route,
            match route.map(|route| &route.handler) {
                Some(Handler::Body(decide, _)) => {
                    decide(body, self.context(&self.0.state())).and_then(settled)
                }
                Some(Handler::Head(_) | Handler::Reload) | None => Err(Problem::not_found()),
            },
        )
    }

    /// Returns the answer of the general path, which [`Bodies::answer`] must agree with. Two
    /// endpoints have a fast path beside it.
    #[must_use]
    pub fn answer_full(&self, path: &str, body: &[u8]) -> (u16, String) {
        let state = self.0.state();
        let has_limits = state.policies().is_some_and(|policies| policies.table().has_limits());
        let result = match path {
            _ if has_limits => return self.answer(path, body),
            CHECK => cerbos::check_full(body, self.context(&state)),
            EVALUATE => authzen::evaluation_full(body, self.context(&state)),
            _ => return self.answer(path, body),
        };
        written(routes::find(path, &self.0), result.map(Reply::json))
    }

    /// Returns true if the fast path answers.
    #[must_use]
    pub fn is_fast(&self, path: &str, body: &[u8]) -> bool {
        let state = self.0.state();
        match path {
            CHECK => cerbos::try_fast(body, self.context(&state)).is_some(),
            EVALUATE => authzen::try_fast(body, self.context(&state)).is_some(),
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

/// Returns the reply. There is no runtime here, so charges must not wait: the store is memory.
fn settled(answer: Answer) -> Result<Reply> {
    match answer {
        Answer::Written(body) => Ok(Reply::json(body)),
        Answer::Charging(mut charged) => {
            let mut context = task::Context::from_waker(Waker::noop());
            match charged.as_mut().poll(&mut context) {
                Poll::Ready(charged) => charged.reply,
                Poll::Pending => Err(Problem::failed("the store of limits is not in memory")),
            }
        }
    }
}

fn written(route: Option<&Route>, result: Result<Reply>) -> (u16, String) {
    let reply = result.unwrap_or_else(|problem| refusal(route, problem));
    (reply.status.as_u16(), String::from_utf8_lossy(&reply.body).into_owned())
}

const CHECK: &str = "/api/check/resources";
const EVALUATE: &str = authzen::EVALUATION.path;

//! The choice of the thread that decides on a request: that of its connection, or one for long
//! decisions.
//!
//! Short requests are decided inline, as long as they take few steps. Long ones, and those that
//! turn out to take many steps, leave the thread of the connection. A decision that was begun in
//! vain is neither counted nor traced.

use std::sync::Arc;

use hyper::body::Bytes;

use super::charging::{Answer, Charged};
use super::context::Context;
use super::reply::{Problem, Reply, Result};
use super::routes::{BodyHandler, Cost};
use super::steps::granting;
use super::traced::Traced;
use crate::deciders::DecideError;
use crate::decision_log::noted::{self, Collected, Noting};
use crate::decision_log::recording;
use crate::limits::{MAX_BYTES_IN_PLACE, MAX_STEPS_IN_PLACE};
use crate::net::room::RoomLease;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;
use crate::telemetry::traces::tally;

/// A body to decide on.
pub(super) struct Question {
    pub(super) decide: BodyHandler,
    pub(super) cost: Cost,
    pub(super) body: Bytes,
    /// The body has its room as long as it waits, also where its client has gone.
    pub(super) _room: RoomLease,
    pub(super) caller: Arc<str>,
}

struct Outcome {
    result: Result<Answer>,
    tally: Tally,
    /// The decisions, if they are recorded.
    collected: Collected,
    /// The state of the decision, if it is traced or recorded.
    state: Option<Arc<State>>,
}

/// Decides, charges, counts, and traces if tracing is on.
pub(super) async fn decided(
    question: Question,
    shared: &Arc<Shared>,
    traced: Option<&Traced<'_>>,
) -> Result<Reply> {
    let span = traced.map(Traced::begin_decision);
    let is_watched = traced.is_some() || shared.recorder().is_some();
    let decided = match question.try_inline(shared, is_watched) {
        Some(decided) => decided,
        None => question.on_decider(shared).await,
    };
    let Outcome { result, mut tally, mut collected, state } = decided;
    let result = match result {
        Ok(Answer::Written(body)) => Ok(Reply::json(body)),
        Ok(Answer::Charging(charged)) => {
            let Charged { reply, tally: charged, noted: also } = charged.await;
            tally += charged;
            collected.noted.extend(also);
            reply
        }
        Err(problem) => Err(problem),
    };
    shared.metrics().decided(tally);
    let result = match result {
        Err(problem) if problem.code != Problem::DENIED => Err(problem),
        answer => {
            let recorded = recorded(&collected, shared, state.as_deref()).await;
            recorded.and(answer)
        }
    };
    if let (Some(traced), Some(span), Some(state)) = (traced, span, state) {
        traced.end_decision(span, &state, tally, result.as_ref().err());
    }
    result
}

/// Records decisions, and returns once their answer may leave.
///
/// # Errors
/// There may be no answer without a record, and there is no room for one.
async fn recorded(collected: &Collected, shared: &Shared, state: Option<&State>) -> Result<()> {
    let (Some(recorder), Some(state)) = (shared.recorder(), state) else { return Ok(()) };
    let (Collected { noted, has_recorded }, number) = (collected, recording::number(state));
    if noted.is_empty() && !has_recorded {
        return Ok(());
    }
    let is_recorded = noted.iter().all(|one| one.record(recorder, number));
    let is_kept = is_recorded && recorder.kept().await;
    if is_kept { Ok(()) } else { Err(Problem::log_full()) }
}

impl Question {
    /// Decides on this thread, if that does not take long.
    fn try_inline(&self, shared: &Shared, is_watched: bool) -> Option<Outcome> {
        let steps = match shared.deciders() {
            Some(_) if self.may_take_long() => return None,
            Some(_) => MAX_STEPS_IN_PLACE,
            None => u32::MAX,
        };
        // One state answers from here to the end, even if a reload replaces it meanwhile.
        let state = shared.state();
        let decide = || tally::counted(|| self.dispatch(&state, shared));
        let noting = shared.recorder().map(Noting::of);
        let (decided, collected) = noted::collected(noting, || granting(steps, decide));
        let (result, tally) = decided?;
        let state = is_watched.then(|| Arc::clone(&state));
        Some(Outcome { result, tally, collected, state })
    }

    /// Decides on a thread for long decisions.
    async fn on_decider(self, shared: &Arc<Shared>) -> Outcome {
        let (state, shared_arc) = (shared.state_arc(), Arc::clone(shared));
        let by = Arc::clone(&state);
        let noting = shared.recorder().map(Noting::of);
        let decide =
            move || noted::collected(noting, || tally::counted(|| self.dispatch(&by, &shared_arc)));
        let decided = match shared.deciders() {
            Some(deciders) => deciders.run(decide).await,
            None => Err(DecideError::Failed),
        };
        let failed =
            |error: DecideError| ((Err(error.into()), Tally::default()), Collected::default());
        let ((result, tally), collected) = decided.unwrap_or_else(failed);
        Outcome { result, tally, collected, state: Some(state) }
    }

    /// Returns true if the decision could keep a thread that others wait for.
    fn may_take_long(&self) -> bool {
        match self.cost {
            Cost::BySize => self.body.len() > MAX_BYTES_IN_PLACE,
            Cost::Long => true,
        }
    }

    fn dispatch(&self, state: &State, shared: &Shared) -> Result<Answer> {
        (self.decide)(&self.body, Context { state, shared, caller: &self.caller })
    }
}

impl From<DecideError> for Problem {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Full => Self::busy("too many long requests are waiting"),
            DecideError::Failed => Self::failed("no decision was made"),
        }
    }
}

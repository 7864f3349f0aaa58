//! Where a request is decided: by the thread of its connection, or by one of those that nobody else waits for.
//!
//! Short requests are decided in place, as long as they take few steps. Long ones, and those that turn out to take many,
//! leave the thread of the connection. What was begun in vain is neither counted nor told.

use std::sync::Arc;

use hyper::body::Bytes;

use super::body::Taken;
use super::reply::Problem;
use super::routes::{Target, told};
use super::steps::granting;
use super::traced::Traced;
use crate::deciders::Undecided;
use crate::limits::MAX_STEPS_IN_PLACE;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;
use crate::telemetry::traces::tally;

/// What a caller asks.
pub(super) struct Question {
    pub(super) target: Target,
    pub(super) body: Bytes,
    /// The body has its room as long as it waits, also where its client has gone.
    pub(super) _room: Taken,
    pub(super) caller: Arc<str>,
}

struct Decided {
    told: Result<Bytes, Problem>,
    tally: Tally,
    /// What it was decided by, where that is told.
    state: Option<Arc<State>>,
}

/// Decides, counts, and tells of it where that is wanted.
pub(super) async fn decided(
    question: Question,
    shared: &Arc<Shared>,
    traced: Option<&Traced<'_>>,
) -> Result<Bytes, Problem> {
    let begun = traced.map(Traced::begin_decision);
    let decided = match question.in_place(shared, traced.is_some()) {
        Some(decided) => decided,
        None => question.apart(shared).await,
    };
    let Decided { told, tally, state } = decided;
    shared.metrics().decided(tally);
    if let (Some(traced), Some(begun), Some(state)) = (traced, begun, state) {
        traced.end_decision(begun, &state, (tally, told.as_ref().err()));
    }
    told
}

impl Question {
    /// Decides on this thread, if that does not take long.
    fn in_place(&self, shared: &Shared, is_traced: bool) -> Option<Decided> {
        let steps = match shared.deciders() {
            Some(_) if self.target.may_take_long(self.body.len()) => return None,
            Some(_) => MAX_STEPS_IN_PLACE,
            None => u32::MAX,
        };
        // From here on to the end there is one state, whatever is reloaded meanwhile.
        let state = shared.state();
        let (told, tally) = granting(steps, || tally::counted(|| self.told(&state, shared)))?;
        Some(Decided { told, tally, state: is_traced.then(|| Arc::clone(&state)) })
    }

    /// Decides on a thread that nobody else waits for.
    async fn apart(self, shared: &Arc<Shared>) -> Decided {
        let (state, kept) = (shared.state_to_keep(), Arc::clone(shared));
        let by = Arc::clone(&state);
        let decide = move || tally::counted(|| self.told(&by, &kept));
        let decided = match shared.deciders() {
            Some(deciders) => deciders.run(decide).await,
            None => Err(Undecided::Failed),
        };
        let (told, tally) =
            decided.unwrap_or_else(|undecided| (Err(undecided.into()), Tally::default()));
        Decided { told, tally, state: Some(state) }
    }

    fn told(&self, state: &State, shared: &Shared) -> Result<Bytes, Problem> {
        told(self.target, &self.body, (state, shared, &self.caller))
    }
}

impl From<Undecided> for Problem {
    fn from(undecided: Undecided) -> Self {
        match undecided {
            Undecided::Full => Self::busy("too many requests that take long are waiting"),
            Undecided::Failed => Self::failed("no decision was made"),
        }
    }
}

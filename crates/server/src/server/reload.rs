//! The thread that looks for new policies and rules, and puts them into use.
//!
//! Only it replaces the state. It waits, reads files and compiles, which no thread that answers may
//! do.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use wardgate_native::{Clock, SystemClock, Timestamp};
use wardgate_spocp::Normal;

use crate::config::Spocp;
use crate::decision_log::by_rules;
use crate::policies::expiry::{self, Notices, Stage};
use crate::policies::source::Lookup;
use crate::policies::state::{Origin, State};
use crate::rules::base;
use crate::shared::{ReloadRequest, Shared};
use crate::telemetry::traces::{Kind, OpenSpan, SpanFields, Value};

/// Reads the first state. Where there should be policies, there must be some.
pub(crate) fn first(origin: &mut Origin) -> Result<State, String> {
    match look(origin, None, true)? {
        Some(state) => Ok(state),
        None => Err(format!("{} holds no policies", origin.name())),
    }
}

/// Starts the thread. It ends when all senders of requests are gone.
pub(crate) fn start(
    origin: Origin,
    shared: &Arc<Shared>,
    requests: Receiver<ReloadRequest>,
) -> std::io::Result<()> {
    let watch = shared.config().watch();
    let (shared, notices) = (Arc::downgrade(shared), Notices::default());
    let reloader = Reloader { origin, shared, problem: None, notices };
    thread::Builder::new().name("policies".into()).spawn(move || reloader.run(&requests, watch))?;
    Ok(())
}

struct Reloader {
    origin: Origin,
    /// Weak, so that the thread does not keep the server alive.
    shared: Weak<Shared>,
    /// The last problem, so that it is logged once.
    problem: Option<String>,
    /// The notices of expiry that were given.
    notices: Notices,
}

impl Reloader {
    fn run(mut self, requests: &Receiver<ReloadRequest>, watch: Duration) {
        let mut looked = Instant::now();
        loop {
            let Some(wait) = self.notice(SystemClock.now()) else { return };
            let left = if watch.is_zero() {
                Duration::MAX
            } else {
                watch.saturating_sub(looked.elapsed())
            };
            match requests.recv_timeout(wait.min(left)) {
                Ok(request) => {
                    let Some(result) = self.look(true, request.within) else { return };
                    // The requester may have gone.
                    let _ = request.done.send(result);
                    looked = Instant::now();
                }
                // It may be for the end of the policies alone.
                Err(RecvTimeoutError::Timeout) if wait < left => {}
                Err(RecvTimeoutError::Timeout) if self.look(false, None).is_some() => {
                    looked = Instant::now();
                }
                Err(_) => return,
            }
        }
    }

    /// Logs the expiry of the policies in use, where it is near or has passed, and returns the time
    /// until the next look at it; `None` if the server has ended.
    fn notice(&mut self, now: Timestamp) -> Option<Duration> {
        let shared = self.shared.upgrade()?;
        let state = shared.state();
        let Some(header) = state.header() else { return Some(Duration::MAX) };
        let (label, seconds) = (&header.label, u64::try_from(now.seconds()).unwrap_or(0));
        let left = label.expires.unwrap_or(0).saturating_sub(seconds);
        match self.notices.due(label, seconds) {
            None | Some(Stage::Valid) => {}
            Some(Stage::Ending) => {
                tracing::warn!(left, "the policies expire soon, in `left` seconds")
            }
            Some(Stage::Expired) if state.has_expired(now) => {
                tracing::error!("the policies have expired: everything is denied");
                self.drop_rules(&shared, &state);
            }
            Some(Stage::Expired) => tracing::warn!("the policies have expired and still decide"),
        }
        Some(expiry::until_next(label, seconds).unwrap_or(Duration::MAX))
    }

    /// Takes the rules of an expired bundle out of use. Rules of files, and added ones, stay.
    fn drop_rules(&mut self, shared: &Arc<Shared>, state: &State) {
        if let Err(problem) = use_both(shared, state, None, true) {
            tracing::error!(problem, "the rules of the expired policies are still in use");
        }
    }

    /// Looks once; returns `None` if the server has ended.
    fn look(&mut self, anyway: bool, within: Option<OpenSpan>) -> Option<Result<u64, String>> {
        let shared = self.shared.upgrade()?;
        let span = begin_span(&shared, within);
        let before = shared.state();
        let looked = look(&mut self.origin, Some(&before), anyway);
        let looked = looked.and_then(|next| match next {
            Some(next) => next.must_suit(shared.config()).map(|()| Some(next)),
            None => Ok(None),
        });
        let used = looked.and_then(|next| use_both(&shared, &before, next, anyway));
        let is_news = match &used {
            Ok(serial) => *serial != before.serial(),
            Err(problem) => self.problem.as_ref() != Some(problem),
        };
        // A periodic look without a change has no span.
        if let (true, Some(span)) = (anyway || is_news, span) {
            end_span(&shared, span, anyway, used.is_err());
        }
        Some(match used {
            Ok(serial) => {
                if self.problem.take().is_some() {
                    tracing::info!("policies and rules can be used again");
                }
                Ok(serial)
            }
            Err(problem) => {
                shared.metrics().reload_failed();
                if self.problem.as_ref() != Some(&problem) {
                    tracing::error!(problem, "policies and rules stay as they were");
                    self.problem = Some(problem.clone());
                }
                Err(problem)
            }
        })
    }
}

/// Begins the span of a look, if it is sampled.
fn begin_span(shared: &Shared, within: Option<OpenSpan>) -> Option<OpenSpan> {
    let tracer = shared.tracer()?;
    within.map_or_else(|| tracer.begin_trace(), |within| Some(tracer.begin_child(&within)))
}

/// Ends the span of a look, with the state in use after it.
fn end_span(shared: &Shared, span: OpenSpan, is_requested: bool, has_failed: bool) {
    let (Some(tracer), state) = (shared.tracer(), shared.state()) else { return };
    let mut attributes = vec![("wardgate.reload.asked", Value::Flag(is_requested))];
    attributes.extend(state.span_attributes());
    if has_failed {
        attributes.push(("error.type", Value::word("not-reloaded")));
    }
    let (name, kind) = ("reload".into(), Kind::Internal);
    tracer.end(span, SpanFields { name, kind, attributes, has_failed });
}

/// Puts the next state into use, if there is one, together with the rules that belong to it. Both
/// come into use in one moment, or neither. Returns the serial number of the state in use then.
fn use_both(
    shared: &Arc<Shared>,
    before: &State,
    next: Option<State>,
    anyway: bool,
) -> Result<u64, String> {
    let serial = next.as_ref().map_or(before.serial(), State::serial);
    let revision = next.as_ref().and_then(State::revision);
    match (shared.rules(), &shared.config().spocp) {
        (Some(rules), Some(config)) if anyway || next.is_some() => {
            let with = next.as_ref().unwrap_or(before);
            let (base, revision) = (base(config, with)?, with.revision().unwrap_or(0));
            let root = shared.recorder().map(|_| by_rules::root(&base));
            let other = Arc::clone(shared);
            let commit = move || {
                next.into_iter().for_each(|next| other.replace(next));
                if let (Some(recorder), Some(root)) = (other.recorder(), root) {
                    recorder.follow_rules(revision, root);
                }
            };
            let rules = rules.reload(base, commit).map_err(|error| error.to_string())?;
            tracing::info!(rules, "the rules are loaded anew");
        }
        _ => next.into_iter().for_each(|next| shared.replace(next)),
    }
    if let Some(revision) = revision {
        tracing::info!(serial, revision, "new policies are in use");
    }
    Ok(serial)
}

/// The base rules that go with a state: those of its bundle, and those of the files.
pub(crate) fn base(config: &Spocp, state: &State) -> Result<Vec<Normal>, String> {
    let mut rules = state.rules(SystemClock.now());
    rules.append(&mut base::read(&config.rules)?);
    Ok(rules)
}

fn look(
    origin: &mut Origin,
    before: Option<&State>,
    anyway: bool,
) -> Result<Option<State>, String> {
    let found = match &mut origin.source {
        Some(source) => source.look(anyway).map_err(|error| error.to_string())?,
        None => Lookup::Unchanged,
    };
    let bytes = match &found {
        Lookup::Bundle(bytes) => Some(bytes.as_slice()),
        Lookup::Unchanged => None,
    };
    origin.next(bytes, before)
}

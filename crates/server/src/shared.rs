//! The state shared by every connection of every protocol.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::{oneshot, watch};

use crate::config::Config;
use crate::deciders::Deciders;
use crate::decision_log::exporting::Exporter;
use crate::decision_log::shipping::Shipper;
use crate::decision_log::witnessing::Witnessing;
use crate::decision_log::{Recorder, recording};
use crate::identity::auth::Authenticator;
use crate::identity::aux_data::Tokens;
use crate::identity::jwt::RemoteKeySet;
use crate::identity::page_token::PageTokens;
use crate::net::stopping::Stopping;
use crate::policies::state::State;
use crate::ratelimit::RateLimits;
use crate::rules::Rules;
use crate::telemetry::metrics::{Metrics, Tally};
use crate::telemetry::traces::{OpenSpan, Tracer, tally};

/// The state in use, the configuration, and the way to stop and to reload.
#[derive(Debug)]
pub struct Shared {
    config: Config,
    state: ArcSwap<State>,
    rules: Option<Rules>,
    limits: Option<Arc<RateLimits>>,
    authenticator: Authenticator,
    tokens: Tokens,
    page_tokens: Option<PageTokens>,
    metrics: Metrics,
    tracer: Option<Tracer>,
    recorder: Option<Recorder>,
    shipper: Option<Shipper>,
    exporter: Option<Exporter>,
    witnessing: Option<Witnessing>,
    deciders: Option<Deciders>,
    stopping: watch::Sender<bool>,
    reloads: Sender<ReloadRequest>,
}

/// A request for new policies.
#[derive(Debug)]
pub(crate) struct ReloadRequest {
    /// Receives the serial number of the state in use afterwards, or the reason for the failure.
    pub(crate) done: oneshot::Sender<Result<u64, String>>,
    /// The span of the requester, if it is traced.
    pub(crate) within: Option<OpenSpan>,
}

impl Shared {
    /// Reads the files of keys and tokens that the configuration names. Limits in Redis need a runtime
    /// here.
    ///
    /// # Errors
    /// A file cannot be used, or the configuration does not suit the policies.
    pub(crate) fn new(
        config: Config,
        state: State,
        reloads: Sender<ReloadRequest>,
    ) -> Result<Self, String> {
        state.must_suit(&config)?;
        let limits = config.ratelimit.as_ref().map(RateLimits::new).transpose()?.map(Arc::new);
        if let Some(limits) = &limits {
            limits.follow(&state);
        }
        Ok(Self {
            state: ArcSwap::from_pointee(state),
            rules: None,
            limits,
            authenticator: Authenticator::new(&config.auth)?,
            tokens: Tokens::new(&config.aux_data)?,
            page_tokens: config.authzen.page_key.as_deref().map(PageTokens::read).transpose()?,
            metrics: Metrics::default(),
            tracer: config.traces.as_ref().map(Tracer::new).transpose()?,
            recorder: None,
            shipper: None,
            exporter: None,
            witnessing: None,
            deciders: None,
            stopping: watch::Sender::new(false),
            config,
            reloads,
        })
    }

    /// Answers queries by rules of SPOCP, too.
    pub(crate) fn with_rules(self, rules: Option<Rules>) -> Self {
        Self { rules, ..self }
    }

    /// Records decisions, if the configuration says where. `rules` is the digest of the base rules of SPOCP.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(crate) fn with_recorder(self, rules: Option<[u8; 32]>) -> Result<Self, String> {
        let log = self.config.decision_log.as_ref();
        let shipping = log.and_then(|log| Some((&log.folder, log.shipping.as_ref()?)));
        let shipper = shipping.map(|(log, config)| Shipper::new(log, config)).transpose()?;
        let start = |log| recording::start(log, shipper.as_ref());
        let recorder = log.map(start).transpose()?;
        // What a crash has taken of the log is known once it is open.
        let exporting = log.and_then(|log| Some((&log.folder, log.export.as_ref()?)));
        let exporter = exporting.map(|(log, config)| Exporter::new(log, config)).transpose()?;
        if let Some(recorder) = &recorder {
            recording::follow(recorder, &self.state());
            if let Some(root) = rules {
                recorder.follow_rules(self.state().revision().unwrap_or(0), root);
            }
        }
        if let Some(shipper) = &shipper {
            shipper.start().map_err(|error| error.to_string())?;
        }
        if let Some(exporter) = &exporter {
            exporter.start().map_err(|error| error.to_string())?;
        }
        Ok(Self { recorder, shipper, exporter, ..self })
    }

    /// Returns the exporter of the decision log, if it is exported.
    pub(crate) const fn exporter(&self) -> Option<&Exporter> {
        self.exporter.as_ref()
    }

    /// Returns the shipper of the decision log, if it is shipped.
    pub(crate) const fn shipper(&self) -> Option<&Shipper> {
        self.shipper.as_ref()
    }

    /// Lets witnesses cosign the log, if the configuration names some.
    ///
    /// # Errors
    /// Their policy cannot be used, or the system has no thread.
    pub(crate) fn with_witnesses(self) -> Result<Self, String> {
        let log = self.config.decision_log.as_ref();
        let witnessing = log.map(Witnessing::new).transpose()?.flatten();
        if let Some(witnessing) = &witnessing {
            witnessing.start().map_err(|error| error.to_string())?;
        }
        Ok(Self { witnessing, ..self })
    }

    /// Returns what lets witnesses cosign the log, if there are some.
    pub(crate) const fn witnessing(&self) -> Option<&Witnessing> {
        self.witnessing.as_ref()
    }

    /// Returns the recorder of decisions, if they are recorded.
    pub(crate) const fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_ref()
    }

    /// Returns the state with threads for long decisions.
    pub(crate) fn with_deciders(self, deciders: Deciders) -> Self {
        Self { deciders: Some(deciders), ..self }
    }

    /// Returns the threads for long decisions. A server without sockets has none.
    pub(crate) const fn deciders(&self) -> Option<&Deciders> {
        self.deciders.as_ref()
    }

    /// Returns the authenticator of callers.
    #[must_use]
    pub const fn authenticator(&self) -> &Authenticator {
        &self.authenticator
    }

    /// Returns the counters.
    #[must_use]
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The sets of keys of other servers.
    pub(crate) fn remote_key_sets(&self) -> impl Iterator<Item = &RemoteKeySet> {
        self.authenticator.remote_key_set().into_iter().chain(self.tokens.remote_key_sets())
    }

    /// Asks for the keys of other servers, all at once, and returns why some did not come.
    pub(crate) fn first_keys(&self) -> Result<(), String> {
        let all: Vec<_> = self.remote_key_sets().map(RemoteKeySet::request_now).collect();
        // Each outcome is received before the next, so the wait is as long as the slowest.
        let all: Vec<_> = all.into_iter().map(|outcome| outcome.recv()).collect();
        all.into_iter().try_for_each(|outcome| outcome.unwrap_or_else(|_| Err(STOPPED.to_owned())))
    }

    /// Returns the tracer, if traces are on.
    pub(crate) const fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    /// Counts decisions. They are reported with the answer that they belong to.
    pub(crate) fn decided(&self, tally: Tally) {
        tally::note(tally);
    }

    pub(crate) const fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    pub(crate) const fn page_tokens(&self) -> Option<&PageTokens> {
        self.page_tokens.as_ref()
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the state of this moment. An answer takes it once, and is made from it to its end.
    pub fn state(&self) -> Guard<Arc<State>> {
        self.state.load()
    }

    /// Returns the same state for another thread.
    pub(crate) fn state_arc(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// The rules of SPOCP, if it is spoken.
    #[must_use]
    pub const fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// Returns the limiter, if the configuration has a section for rate limits.
    pub(crate) const fn limits(&self) -> Option<&Arc<RateLimits>> {
        self.limits.as_ref()
    }

    pub(crate) fn replace(&self, state: State) {
        if let Some(limits) = self.limits() {
            limits.follow(&state);
        }
        if let Some(recorder) = self.recorder() {
            recording::follow(recorder, &state);
        }
        self.state.store(Arc::new(state));
    }

    /// Looks for new policies and rules now, and returns the serial number of the state in use
    /// afterwards.
    ///
    /// # Errors
    /// There are none that can be used; the state stays as it was.
    pub async fn reload(&self) -> Result<u64, String> {
        self.reload_within(None).await
    }

    /// Does so within a span.
    pub(crate) async fn reload_within(&self, within: Option<OpenSpan>) -> Result<u64, String> {
        self.remote_key_sets().for_each(RemoteKeySet::refresh_early);
        let (done, answer) = oneshot::channel();
        self.reloads.send(ReloadRequest { done, within }).map_err(|_| STOPPED.to_owned())?;
        answer.await.map_err(|_| STOPPED.to_owned())?
    }

    /// Signals all listeners and connections to end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Returns true once the server is stopping.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Says when the server begins to stop.
    #[must_use]
    pub fn stopping(&self) -> Stopping {
        Stopping(self.stopping.subscribe())
    }
}

const STOPPED: &str = "the server is stopping";

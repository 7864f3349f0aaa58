//! What every connection of every protocol shares.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::{oneshot, watch};

use crate::config::Config;
use crate::deciders::Deciders;
use crate::identity::auth::Authenticator;
use crate::identity::aux_data::Tokens;
use crate::identity::jwt::RemoteKeySet;
use crate::identity::page_token::PageTokens;
use crate::net::stopping::Stopping;
use crate::policies::state::State;
use crate::rules::Rules;
use crate::telemetry::metrics::{Metrics, Tally};
use crate::telemetry::traces::{OpenSpan, Tracer, tally};

/// The state in use, the configuration, and the way to stop and to reload.
#[derive(Debug)]
pub struct Shared {
    config: Config,
    state: ArcSwap<State>,
    rules: Option<Rules>,
    authenticator: Authenticator,
    tokens: Tokens,
    page_tokens: Option<PageTokens>,
    metrics: Metrics,
    tracer: Option<Tracer>,
    deciders: Option<Deciders>,
    stopping: watch::Sender<bool>,
    reloads: Sender<ReloadRequest>,
}

/// A wish for new policies.
#[derive(Debug)]
pub(crate) struct ReloadRequest {
    /// Is told the serial number of the state in use afterwards, or why there is no new one.
    pub(crate) done: oneshot::Sender<Result<u64, String>>,
    /// The span of whoever asks, if it is told.
    pub(crate) within: Option<OpenSpan>,
}

impl Shared {
    /// Reads the files of keys and tokens that the configuration names.
    pub(crate) fn new(
        config: Config,
        state: State,
        reloads: Sender<ReloadRequest>,
    ) -> Result<Self, String> {
        Ok(Self {
            state: ArcSwap::from_pointee(state),
            rules: None,
            authenticator: Authenticator::new(&config.auth)?,
            tokens: Tokens::new(&config.aux_data)?,
            page_tokens: config.authzen.page_key.as_deref().map(PageTokens::read).transpose()?,
            metrics: Metrics::default(),
            tracer: config.traces.as_ref().map(Tracer::new).transpose()?,
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

    /// Decides on threads of their own what may take long.
    pub(crate) fn with_deciders(self, deciders: Deciders) -> Self {
        Self { deciders: Some(deciders), ..self }
    }

    /// The threads that decide what may take long. A server without sockets has none.
    pub(crate) const fn deciders(&self) -> Option<&Deciders> {
        self.deciders.as_ref()
    }

    /// Tells who is calling.
    #[must_use]
    pub const fn authenticator(&self) -> &Authenticator {
        &self.authenticator
    }

    /// What is counted.
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
        // Each of them is over before the next is looked at, so that the wait is that for the slowest.
        let all: Vec<_> = all.into_iter().map(|outcome| outcome.recv()).collect();
        all.into_iter().try_for_each(|outcome| outcome.unwrap_or_else(|_| Err(STOPPED.to_owned())))
    }

    /// Begins spans, if they are told.
    pub(crate) const fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    /// Counts decisions, which are told with the answer that they are made for.
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

    /// The state of this moment. Whoever answers takes it once, and answers from it to the end.
    pub fn state(&self) -> Guard<Arc<State>> {
        self.state.load()
    }

    /// The same, for those who hand it to another thread.
    pub(crate) fn state_arc(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// The rules of SPOCP, if it is spoken.
    #[must_use]
    pub const fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    pub(crate) fn replace(&self, state: State) {
        self.state.store(Arc::new(state));
    }

    /// Looks for new policies and rules now, and tells the serial number of the state in use afterwards.
    ///
    /// # Errors
    /// There are none that can be used; then the state is what it was.
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

    /// Tells every listener and connection to come to an end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Whether the server has been told to stop.
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

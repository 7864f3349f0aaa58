//! JSON Web Key Sets that another server publishes and replaces at any time.
//!
//! A thread fetches them: at intervals, and early when a token names an unknown key. A verification
//! uses the cached set and waits for nothing. Before the first set has arrived, and once the last
//! is too old, no token is accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use wardgate_engine::attr::AttrMap;

use super::{KeySet, Lenience, TokenError, TokenTime, verified};
use crate::config::KeysUrl;
use crate::limits::{KEYS_FETCH, KEYS_PAUSE, MAX_KEYS_BYTES};
use crate::net::client::fetch::{Download, Fetcher};

/// Keys of another server. Its thread ends with it.
#[derive(Debug)]
pub(crate) struct RemoteKeySet {
    cache: Arc<Cache>,
    requests: Sender<RefreshRequest>,
}

/// The data that the thread shares with verifications.
#[derive(Debug)]
struct Cache {
    /// The name of the set in the log.
    name: String,
    /// The time for which a set is used after its last successful fetch.
    keep: Duration,
    cached: ArcSwapOption<CachedKeys>,
    /// True if an early refresh is requested and has not begun.
    is_requested: AtomicBool,
    failures: AtomicU64,
}

/// Keys that came.
#[derive(Debug)]
struct CachedKeys {
    keys: Arc<KeySet>,
    /// The time of the last request that confirmed the set.
    since: Instant,
}

/// A request to the thread.
#[derive(Debug)]
enum RefreshRequest {
    /// A refresh now, whose outcome goes to the sender.
    Now(Sender<Result<(), String>>),
    /// A look as soon as the last is long enough ago.
    Early,
}

impl RemoteKeySet {
    /// Reads the files of the configuration. Nothing is fetched before
    /// [`RemoteKeySet::request_now`].
    ///
    /// # Errors
    /// The set cannot be fetched, in words for the operator.
    pub(super) fn open(at: &KeysUrl, name: String, lenience: Lenience) -> Result<Self, String> {
        let (key_set, refresher, requests) = Self::parts(at, name, lenience)?;
        thread::Builder::new()
            .name("keys".into())
            .spawn(move || refresher.run(&requests))
            .map_err(|error| error.to_string())?;
        Ok(key_set)
    }

    fn parts(
        at: &KeysUrl,
        name: String,
        lenience: Lenience,
    ) -> Result<(Self, Refresher, Receiver<RefreshRequest>), String> {
        let fetcher = Fetcher::new(&at.remote, MAX_KEYS_BYTES, KEYS_FETCH);
        let fetcher = fetcher.map_err(|error| format!("the keys of `{name}`: {error}"))?;
        let cache = Arc::new(Cache {
            name,
            keep: at.keep,
            cached: ArcSwapOption::empty(),
            is_requested: AtomicBool::new(false),
            failures: AtomicU64::new(0),
        });
        let refresher = Refresher {
            fetcher,
            url: at.remote.url.clone(),
            lenience,
            pace: Pace { interval: at.refresh, pause: KEYS_PAUSE },
            cache: Arc::clone(&cache),
            problem: None,
            skipped: Vec::new(),
        };
        let (requests, receiver) = mpsc::channel();
        Ok((Self { cache, requests }, refresher, receiver))
    }

    /// Requests the first refresh. The receiver gets its outcome within a bounded time.
    pub(crate) fn request_now(&self) -> Receiver<Result<(), String>> {
        let (sender, outcome) = mpsc::channel();
        // Without the thread the sender is dropped, which the receiver sees.
        let _ = self.requests.send(RefreshRequest::Now(sender));
        outcome
    }

    /// The claims of a token that one of the keys has signed.
    pub(super) fn verified(&self, token: &str, time: TokenTime) -> Result<AttrMap, TokenError> {
        let keys = self.cache.keys(Instant::now()).ok_or(TokenError::NoKeys)?;
        let claims = verified(token, &keys, time);
        if claims == Err(TokenError::NoKey) {
            self.refresh_early();
        }
        claims
    }

    /// Requests a refresh as soon as the last is long enough ago. Several requests before it begins
    /// are one.
    pub(crate) fn refresh_early(&self) {
        if !self.cache.is_requested.swap(true, Ordering::Relaxed) {
            // Without the thread the keys expire by themselves.
            let _ = self.requests.send(RefreshRequest::Early);
        }
    }

    /// Returns the name of the set in the log.
    pub(crate) fn name(&self) -> &str {
        &self.cache.name
    }

    /// Returns the age of the set; `None` before the first one.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.cache.cached.load().as_ref().map(|cached| cached.since.elapsed())
    }

    /// Returns the number of failed fetches.
    pub(crate) fn failures(&self) -> u64 {
        self.cache.failures.load(Ordering::Relaxed)
    }
}

impl Cache {
    /// Returns the keys, unless the set is too old.
    fn keys(&self, now: Instant) -> Option<Arc<KeySet>> {
        let cached = self.cached.load();
        let cached = cached.as_ref()?;
        let age = now.saturating_duration_since(cached.since);
        (age < self.keep).then(|| Arc::clone(&cached.keys))
    }
}

/// The work of the thread.
struct Refresher {
    fetcher: Fetcher,
    url: String,
    lenience: Lenience,
    pace: Pace,
    cache: Arc<Cache>,
    /// The last problem, and true if there were keys all the same, so that it is logged once.
    problem: Option<(String, bool)>,
    /// The keys of the last set that could not be used, for the same reason.
    skipped: Vec<String>,
}

impl Refresher {
    fn run(mut self, requests: &Receiver<RefreshRequest>) {
        let mut schedule: Option<Schedule> = None;
        loop {
            let wait = schedule.map_or(Duration::MAX, |schedule| schedule.wait(Instant::now()));
            let outcome = match requests.recv_timeout(wait) {
                Ok(RefreshRequest::Early) => {
                    schedule = schedule.map(|schedule| schedule.early(self.pace));
                    continue;
                }
                Ok(RefreshRequest::Now(sender)) => {
                    let outcome = self.refresh();
                    // The requester may have gone.
                    let _ = sender.send(outcome.clone());
                    outcome
                }
                Err(RecvTimeoutError::Timeout) => self.refresh(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            schedule = Some(Schedule::after(Instant::now(), outcome.is_ok(), self.pace));
        }
    }

    /// Fetches once, and puts the keys into use. An unusable set changes nothing.
    fn refresh(&mut self) -> Result<(), String> {
        // A request from here on is for the refresh after this one.
        self.cache.is_requested.store(false, Ordering::Relaxed);
        let since = Instant::now();
        let outcome = self.fetch();
        match outcome {
            Ok(keys) => {
                self.problem = None;
                self.cache.cached.store(Some(Arc::new(CachedKeys { keys, since })));
                Ok(())
            }
            Err(problem) => {
                let problem = format!("cannot get the keys `{}`: {problem}", self.url);
                self.cache.failures.fetch_add(1, Ordering::Relaxed);
                self.report(&problem);
                Err(format!("the keys of `{}`: {problem}", self.cache.name))
            }
        }
    }

    fn report(&mut self, problem: &str) {
        let set = &self.cache.name;
        let now = Some((problem.to_owned(), self.cache.keys(Instant::now()).is_some()));
        if self.problem == now {
            return;
        }
        match now {
            Some((_, true)) => tracing::error!(set, problem, "the keys stay as they were"),
            _ => tracing::error!(
                set,
                problem,
                "no token is accepted: there are no keys to verify it"
            ),
        }
        self.problem = now;
    }

    fn fetch(&mut self) -> Result<Arc<KeySet>, String> {
        let cached = self.cache.cached.load_full();
        // After a failure the tag of the last answer may belong to an unusable set.
        let cached = cached.filter(|_| self.problem.is_none());
        let bytes = match (self.fetcher.fetch(cached.is_none())?, &cached) {
            (Download::Bytes(bytes), _) => bytes,
            (Download::Unchanged, Some(cached)) => return Ok(Arc::clone(&cached.keys)),
            (Download::Unchanged, None) => return Err("the server sends no keys".to_owned()),
        };
        let (keys, skipped) = KeySet::read_remote(&bytes, self.lenience)?;
        if self.skipped != skipped {
            for problem in &skipped {
                tracing::warn!(set = self.cache.name, problem, "a key is ignored");
            }
            self.skipped = skipped;
        }
        if cached.as_ref().is_none_or(|cached| *cached.keys != keys) {
            tracing::info!(set = self.cache.name, keys = keys.len(), "keys are in use");
        }
        Ok(Arc::new(keys))
    }
}

/// The intervals of refreshes.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: Duration,
    /// The least time between two refreshes, even if an early one is requested.
    pause: Duration,
}

/// When the next look is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Schedule {
    last: Instant,
    wait: Duration,
}

impl Schedule {
    /// After a look that failed the next is due soon.
    fn after(last: Instant, is_good: bool, Pace { interval, pause }: Pace) -> Self {
        Self { last, wait: if is_good { interval } else { interval.min(pause) } }
    }

    fn early(self, pace: Pace) -> Self {
        Self { wait: self.wait.min(pace.pause), ..self }
    }

    fn wait(self, now: Instant) -> Duration {
        self.wait.saturating_sub(now.saturating_duration_since(self.last))
    }
}

#[cfg(test)]
mod tests;

//! Keys that another server publishes, and exchanges when it likes.
//!
//! A thread of their own asks for them: from time to time, and early when a token names a key that is not known. Whoever
//! verifies a token takes what is there and waits for nothing. Before keys have come, and once nothing was heard of them
//! for too long, no token is accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use wardgate_engine::attr::AttrMap;

use super::keys::{KeySet, Lenience};
use super::{TokenError, TokenTime, verified};
use crate::config::KeysUrl;
use crate::limits::{KEYS_FETCH, KEYS_PAUSE, MAX_KEYS_BYTES};
use crate::net::client::fetch::{Download, Fetcher};

/// Keys of another server. Its thread ends with it.
#[derive(Debug)]
pub(crate) struct RemoteKeySet {
    cache: Arc<Cache>,
    requests: Sender<RefreshRequest>,
}

/// What the thread and those who verify share.
#[derive(Debug)]
struct Cache {
    /// What the log calls the set.
    name: String,
    /// How long a set is used after it was heard of last.
    keep: Duration,
    cached: ArcSwapOption<CachedKeys>,
    /// Whether somebody has asked for an early look that has not begun.
    is_requested: AtomicBool,
    failures: AtomicU64,
}

/// Keys that came.
#[derive(Debug)]
struct CachedKeys {
    keys: Arc<KeySet>,
    /// When they were asked for last, and were what the server publishes.
    since: Instant,
}

/// What the thread is asked for.
#[derive(Debug)]
enum RefreshRequest {
    /// A look now, and to be told what it came to.
    Now(Sender<Result<(), String>>),
    /// A look as soon as the last is long enough ago.
    Early,
}

impl RemoteKeySet {
    /// Reads what is needed to ask. Nothing is asked for before [`RemoteKeySet::begin`].
    ///
    /// # Errors
    /// It cannot be asked for, in words for the operator.
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

    /// Looks for the first time. The receiver is told what it came to, after a time that is bounded.
    pub(crate) fn request_now(&self) -> Receiver<Result<(), String>> {
        let (sender, outcome) = mpsc::channel();
        // Without the thread nobody is told, which the receiver sees.
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

    /// Looks as soon as the last look is long enough ago. However often it is wished, that is once.
    pub(crate) fn refresh_early(&self) {
        if !self.cache.is_requested.swap(true, Ordering::Relaxed) {
            // Without the thread the keys come to their end by themselves.
            let _ = self.requests.send(RefreshRequest::Early);
        }
    }

    /// What the log calls the set.
    pub(crate) fn name(&self) -> &str {
        &self.cache.name
    }

    /// How long ago the keys were heard of; nothing if they never were.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.cache.cached.load().as_ref().map(|cached| cached.since.elapsed())
    }

    /// How many looks have failed.
    pub(crate) fn failures(&self) -> u64 {
        self.cache.failures.load(Ordering::Relaxed)
    }
}

impl Cache {
    /// The keys, unless nothing was heard of them for too long.
    fn keys(&self, now: Instant) -> Option<Arc<KeySet>> {
        let cached = self.cached.load();
        let cached = cached.as_ref()?;
        let age = now.saturating_duration_since(cached.since);
        (age < self.keep).then(|| Arc::clone(&cached.keys))
    }
}

/// What runs on the thread.
struct Refresher {
    fetcher: Fetcher,
    url: String,
    lenience: Lenience,
    pace: Pace,
    cache: Arc<Cache>,
    /// What was wrong the last time, and whether there were keys all the same, so that it is told once.
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
                    // Whoever asked may have gone.
                    let _ = sender.send(outcome.clone());
                    outcome
                }
                Err(RecvTimeoutError::Timeout) => self.refresh(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            schedule = Some(Schedule::after(Instant::now(), outcome.is_ok(), self.pace));
        }
    }

    /// Asks once, and puts what comes into use. What cannot be used changes nothing.
    fn refresh(&mut self) -> Result<(), String> {
        // Whoever wishes from here on wishes for the look after this one.
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
            _ => tracing::error!(set, problem, "no token is accepted: its keys are not known"),
        }
        self.problem = now;
    }

    fn fetch(&mut self) -> Result<Arc<KeySet>, String> {
        let cached = self.cache.cached.load_full();
        // After a failure nobody knows what the tag of the last answer stands for.
        let cached = cached.filter(|_| self.problem.is_none());
        let bytes = match (self.fetcher.fetch(cached.is_none())?, &cached) {
            (Download::Bytes(bytes), _) => bytes,
            (Download::Unchanged, Some(cached)) => return Ok(Arc::clone(&cached.keys)),
            (Download::Unchanged, None) => return Err("the server sends no keys".to_owned()),
        };
        let (keys, skipped) = KeySet::read_remote(&bytes, self.lenience)?;
        if self.skipped != skipped {
            for problem in &skipped {
                tracing::warn!(set = self.cache.name, problem, "a key is passed over");
            }
            self.skipped = skipped;
        }
        if cached.as_ref().is_none_or(|cached| *cached.keys != keys) {
            tracing::info!(set = self.cache.name, keys = keys.len(), "keys are in use");
        }
        Ok(Arc::new(keys))
    }
}

/// How often somebody looks.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: Duration,
    /// The least between two looks, whoever wishes.
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

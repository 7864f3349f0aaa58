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
use wardgate_engine::cel::Timestamp;

use super::keys::{KeySet, Lax};
use super::{TokenError, verified};
use crate::config::KeysUrl;
use crate::limits::{KEYS_FETCH, KEYS_PAUSE, MAX_KEYS_BYTES};
use crate::net::client::fetch::{Fetched, Fetcher};

/// Keys of another server. Its thread ends with it.
#[derive(Debug)]
pub(crate) struct Published {
    shelf: Arc<Shelf>,
    wishes: Sender<Wish>,
}

/// What the thread and those who verify share.
#[derive(Debug)]
struct Shelf {
    /// What the log calls the set.
    name: String,
    /// How long a set is used after it was heard of last.
    keep: Duration,
    known: ArcSwapOption<Known>,
    /// Whether somebody has asked for an early look that has not begun.
    is_wished: AtomicBool,
    failures: AtomicU64,
}

/// Keys that came.
#[derive(Debug)]
struct Known {
    keys: Arc<KeySet>,
    /// When they were asked for last, and were what the server publishes.
    since: Instant,
}

/// What the thread is asked for.
#[derive(Debug)]
enum Wish {
    /// A look now, and to be told what it came to.
    Now(Sender<Result<(), String>>),
    /// A look as soon as the last is long enough ago.
    Early,
}

impl Published {
    /// Reads what is needed to ask. Nothing is asked for before [`Published::begin`].
    ///
    /// # Errors
    /// It cannot be asked for, in words for the operator.
    pub(super) fn open(at: &KeysUrl, name: String, lax: Lax) -> Result<Self, String> {
        let (published, asker, wishes) = Self::parts(at, name, lax)?;
        thread::Builder::new()
            .name("keys".into())
            .spawn(move || asker.run(&wishes))
            .map_err(|error| error.to_string())?;
        Ok(published)
    }

    fn parts(
        at: &KeysUrl,
        name: String,
        lax: Lax,
    ) -> Result<(Self, Asker, Receiver<Wish>), String> {
        let fetcher = Fetcher::new(&at.remote, MAX_KEYS_BYTES, KEYS_FETCH);
        let fetcher = fetcher.map_err(|error| format!("the keys of `{name}`: {error}"))?;
        let shelf = Arc::new(Shelf {
            name,
            keep: at.keep,
            known: ArcSwapOption::empty(),
            is_wished: AtomicBool::new(false),
            failures: AtomicU64::new(0),
        });
        let asker = Asker {
            fetcher,
            url: at.remote.url.clone(),
            lax,
            pace: Pace { refresh: at.refresh, pause: KEYS_PAUSE },
            shelf: Arc::clone(&shelf),
            problem: None,
            passed_over: Vec::new(),
        };
        let (wishes, heard) = mpsc::channel();
        Ok((Self { shelf, wishes }, asker, heard))
    }

    /// Looks for the first time. The receiver is told what it came to, after a time that is bounded.
    pub(crate) fn begin(&self) -> Receiver<Result<(), String>> {
        let (told, outcome) = mpsc::channel();
        // Without the thread nobody is told, which the receiver sees.
        let _ = self.wishes.send(Wish::Now(told));
        outcome
    }

    /// The claims of a token that one of the keys has signed.
    pub(super) fn verified(
        &self,
        token: &str,
        now: (Timestamp, Duration),
    ) -> Result<AttrMap, TokenError> {
        let keys = self.shelf.keys(Instant::now()).ok_or(TokenError::NoKeys)?;
        let claims = verified(token, &keys, now);
        if claims == Err(TokenError::NoKey) {
            self.look_early();
        }
        claims
    }

    /// Looks as soon as the last look is long enough ago. However often it is wished, that is once.
    pub(crate) fn look_early(&self) {
        if !self.shelf.is_wished.swap(true, Ordering::Relaxed) {
            // Without the thread the keys come to their end by themselves.
            let _ = self.wishes.send(Wish::Early);
        }
    }

    /// What the log calls the set.
    pub(crate) fn name(&self) -> &str {
        &self.shelf.name
    }

    /// How long ago the keys were heard of; nothing if they never were.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.shelf.known.load().as_ref().map(|known| known.since.elapsed())
    }

    /// How many looks have failed.
    pub(crate) fn failures(&self) -> u64 {
        self.shelf.failures.load(Ordering::Relaxed)
    }
}

impl Shelf {
    /// The keys, unless nothing was heard of them for too long.
    fn keys(&self, now: Instant) -> Option<Arc<KeySet>> {
        let known = self.known.load();
        let known = known.as_ref()?;
        let age = now.saturating_duration_since(known.since);
        (age < self.keep).then(|| Arc::clone(&known.keys))
    }
}

/// What runs on the thread.
struct Asker {
    fetcher: Fetcher,
    url: String,
    lax: Lax,
    pace: Pace,
    shelf: Arc<Shelf>,
    /// What was wrong the last time, and whether there were keys all the same, so that it is told once.
    problem: Option<(String, bool)>,
    /// The keys of the last set that could not be used, for the same reason.
    passed_over: Vec<String>,
}

impl Asker {
    fn run(mut self, wishes: &Receiver<Wish>) {
        let mut turn: Option<Turn> = None;
        loop {
            let wait = turn.map_or(Duration::MAX, |turn| turn.wait(Instant::now()));
            let outcome = match wishes.recv_timeout(wait) {
                Ok(Wish::Early) => {
                    turn = turn.map(|turn| turn.early(self.pace));
                    continue;
                }
                Ok(Wish::Now(told)) => {
                    let outcome = self.look();
                    // Whoever asked may have gone.
                    let _ = told.send(outcome.clone());
                    outcome
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            turn = Some(Turn::after(Instant::now(), outcome.is_ok(), self.pace));
        }
    }

    /// Asks once, and puts what comes into use. What cannot be used changes nothing.
    fn look(&mut self) -> Result<(), String> {
        // Whoever wishes from here on wishes for the look after this one.
        self.shelf.is_wished.store(false, Ordering::Relaxed);
        let since = Instant::now();
        let outcome = self.ask();
        match outcome {
            Ok(keys) => {
                self.problem = None;
                self.shelf.known.store(Some(Arc::new(Known { keys, since })));
                Ok(())
            }
            Err(problem) => {
                let problem = format!("cannot get the keys `{}`: {problem}", self.url);
                self.shelf.failures.fetch_add(1, Ordering::Relaxed);
                self.tell(&problem);
                Err(format!("the keys of `{}`: {problem}", self.shelf.name))
            }
        }
    }

    fn tell(&mut self, problem: &str) {
        let set = &self.shelf.name;
        let now = Some((problem.to_owned(), self.shelf.keys(Instant::now()).is_some()));
        if self.problem == now {
            return;
        }
        match now {
            Some((_, true)) => tracing::error!(set, problem, "the keys stay as they were"),
            _ => tracing::error!(set, problem, "no token is accepted: its keys are not known"),
        }
        self.problem = now;
    }

    fn ask(&mut self) -> Result<Arc<KeySet>, String> {
        let known = self.shelf.known.load_full();
        // After a failure nobody knows what the tag of the last answer stands for.
        let known = known.filter(|_| self.problem.is_none());
        let bytes = match (self.fetcher.fetch(known.is_none())?, &known) {
            (Fetched::Bytes(bytes), _) => bytes,
            (Fetched::Unchanged, Some(known)) => return Ok(Arc::clone(&known.keys)),
            (Fetched::Unchanged, None) => return Err("the server sends no keys".to_owned()),
        };
        let (keys, passed_over) = KeySet::published(&bytes, self.lax)?;
        if self.passed_over != passed_over {
            for problem in &passed_over {
                tracing::warn!(set = self.shelf.name, problem, "a key is passed over");
            }
            self.passed_over = passed_over;
        }
        if known.as_ref().is_none_or(|known| *known.keys != keys) {
            tracing::info!(set = self.shelf.name, keys = keys.len(), "keys are in use");
        }
        Ok(Arc::new(keys))
    }
}

/// How often somebody looks.
#[derive(Clone, Copy, Debug)]
struct Pace {
    refresh: Duration,
    /// The least between two looks, whoever wishes.
    pause: Duration,
}

/// When the next look is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    last: Instant,
    wait: Duration,
}

impl Turn {
    /// After a look that failed the next is due soon.
    fn after(last: Instant, is_good: bool, Pace { refresh, pause }: Pace) -> Self {
        Self { last, wait: if is_good { refresh } else { refresh.min(pause) } }
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

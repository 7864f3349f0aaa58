//! The rules that every protocol queries, and that administrators change.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::thread::{self, JoinHandle};

use tokio::sync::{Semaphore, oneshot};
use wardgate_spocp::Normal;

use super::batch::{Refusal, RuleChange};
use super::error::{Result, StoreError};
use super::limits::MAX_WAITING;
use super::live::Live;
use super::writer::{self, ChangeRequest, Job, Load, Writer};
use crate::config::Durability;
use crate::journal::error::JournalError;

/// The rules in use, and the way to change them.
#[derive(Debug)]
pub struct Rules {
    live: Arc<RwLock<Live>>,
    /// Nothing, once closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    places: Arc<Semaphore>,
    can_change: bool,
}

/// The pending answer to a change.
#[derive(Debug)]
pub struct Outcome(Option<oneshot::Receiver<Result<(), Refusal>>>);

impl Outcome {
    /// Returns when the change is durable or refused.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub async fn wait(self) -> Result<(), Refusal> {
        match self.0 {
            Some(answer) => answer.await.unwrap_or(Err(Refusal::Failed)),
            None => Err(Refusal::Failed),
        }
    }
}

impl Rules {
    /// Opens rules that change, with the journal of changes at `path`. `base` is called under the lock
    /// of the file.
    ///
    /// # Errors
    /// The file or the base rules cannot be read, or another process has the file.
    pub fn open(
        path: &Path,
        durability: Durability,
        base: impl FnOnce() -> Result<Vec<Normal>, String>,
    ) -> Result<Self, StoreError> {
        let mut opened = writer::open(path)?;
        if let Some(torn) = &opened.torn {
            tracing::warn!(kept = %torn.display(), "the journal of changes had a torn end, which was cut off");
        }
        let base = base().map_err(StoreError::Base)?;
        let live = writer::build(&base, &opened.added, &mut opened.hidden)?;
        let floor = opened.log.bytes();
        let file = Some((opened.files, opened.log));
        let live = Arc::new(RwLock::new(live));
        let writer = Writer { live, hidden: opened.hidden, file, durability, floor, sync_at: None };
        Self::start(writer)
    }

    /// Opens rules that only a reload changes.
    ///
    /// # Errors
    /// If they are too many.
    pub fn fixed(base: &[Normal]) -> Result<Self, StoreError> {
        let mut hidden = std::collections::BTreeMap::new();
        let live = Arc::new(RwLock::new(writer::build(base, &[], &mut hidden)?));
        let durability = Durability::Always;
        Self::start(Writer { live, hidden, file: None, durability, floor: 0, sync_at: None })
    }

    fn start(writer: Writer) -> Result<Self> {
        let (jobs, received) = mpsc::channel();
        let live = Arc::clone(&writer.live);
        let can_change = writer.file.is_some();
        let thread = thread::Builder::new().name("wardgate-rules".into());
        let writer = thread
            .spawn(move || writer.run(&received))
            .map_err(|error| StoreError::Journal(JournalError::Write(error)))?;
        let places = Arc::new(Semaphore::new(MAX_WAITING));
        Ok(Self {
            live,
            jobs: Mutex::new(Some(jobs)),
            writer: Mutex::new(Some(writer)),
            places,
            can_change,
        })
    }

    /// Locks the rules for reading. The writer never holds the lock while it waits for the disk.
    pub fn read(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether rules can be added and deleted.
    #[must_use]
    pub const fn can_change(&self) -> bool {
        self.can_change
    }

    /// Passes changes that belong together to the writer, and waits for a slot if many others wait.
    ///
    /// The changes of one caller are made in the order of its calls.
    pub async fn change(&self, changes: Vec<RuleChange>) -> Outcome {
        let Ok(permit) = Arc::clone(&self.places).acquire_owned().await else {
            return Outcome(None);
        };
        let (answer, outcome) = oneshot::channel();
        let request = ChangeRequest { changes, answer, permit };
        Outcome(self.send(Job::Change(request)).then_some(outcome))
    }

    /// Replaces the base rules, keeps the changes, and returns the number of rules. `commit` is
    /// called under the lock of the set, so that no reader sees one without the other. Blocks.
    ///
    /// # Errors
    /// There are too many; the rules stay as they were, and `commit` is not called.
    pub fn reload(
        &self,
        base: Vec<Normal>,
        commit: impl FnOnce() + Send + 'static,
    ) -> Result<usize, StoreError> {
        let (answer, outcome) = oneshot::channel();
        let load = Load { base, commit: Box::new(commit), answer };
        if !self.send(Job::Reload(load)) {
            return Err(StoreError::Closed);
        }
        outcome.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Makes the changes that were handed over, waits for the disk, and takes no more. Blocks.
    pub fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if writer.is_some_and(|writer| writer.join().is_err()) {
            tracing::error!("the writer of rules ended early");
        }
    }

    fn send(&self, job: Job) -> bool {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;

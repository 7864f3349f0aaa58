//! The one thread that changes rules.
//!
//! It takes all waiting requests as one group: one frame, one wait for the disk, then the set, then
//! the answers. So many clients share the wait, and none is answered before its changes are durable
//! as configured.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use wardgate_spocp::Normal;

use super::batch::{Batch, Effect, Hidden, Refusal, RuleChange};
use super::change::{Change, Kind};
use super::error::{Result, StoreError};
use super::key::Key;
use super::limits::COMPACT_FROM_BYTES;
use super::live::Live;
use crate::config::Durability;
use crate::journal::files::Files;
use crate::journal::frame::{Record, fits};
use crate::journal::log::Log;

/// A job of the writer.
pub(super) enum Job {
    /// Make all of these changes, or none.
    Change(ChangeRequest),
    /// Take other base rules.
    Reload(Load),
}

/// Base rules in the place of those before.
pub(super) struct Load {
    pub(super) base: Vec<Normal>,
    /// Called when the rules are in use, and before any reader sees them.
    pub(super) commit: Box<dyn FnOnce() + Send>,
    /// Receives the number of rules.
    pub(super) answer: oneshot::Sender<Result<usize>>,
}

/// The outcome of a change.
pub(super) type ChangeResult = Result<(), Refusal>;

/// Changes with a client that waits for them.
pub(super) struct ChangeRequest {
    pub(super) changes: Vec<RuleChange>,
    pub(super) answer: oneshot::Sender<ChangeResult>,
    /// A slot among the waiting requests, given back with the answer.
    pub(super) permit: OwnedSemaphorePermit,
}

/// Changes that are made as one.
#[derive(Default)]
struct Group {
    changes: Vec<Change>,
    effects: Vec<Effect>,
    /// The end of the effects of each request.
    ends: Vec<usize>,
    /// The answer to each client if the changes are written.
    answers: Vec<(oneshot::Sender<ChangeResult>, ChangeResult)>,
    permits: Vec<OwnedSemaphorePermit>,
}

/// The writer.
pub(super) struct Writer {
    pub(super) live: Arc<RwLock<Live>>,
    pub(super) hidden: BTreeMap<Key, Hidden>,
    /// Nothing, where rules do not change.
    pub(super) file: Option<(Files, Log<File>)>,
    pub(super) durability: Durability,
    /// The bytes of the file when it was last written anew.
    pub(super) floor: u64,
    /// When the disk must be waited for.
    pub(super) sync_at: Option<Instant>,
}

impl Writer {
    /// Works until all senders are gone.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut next = None;
        loop {
            let job = match next.take() {
                Some(job) => job,
                None => match self.wait(jobs) {
                    Ok(job) => job,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                },
            };
            match job {
                Job::Change(request) => {
                    let (group, other) = self.gather(request, jobs);
                    next = other;
                    self.make(group);
                }
                // The requester may be gone; the rules are loaded all the same.
                Job::Reload(Load { base, commit, answer }) => {
                    answer.send(self.reload(&base, commit)).unwrap_or_default();
                }
            }
        }
        self.sync();
    }

    fn wait(&mut self, jobs: &Receiver<Job>) -> Result<Job, RecvTimeoutError> {
        let Some(sync_at) = self.sync_at else {
            return jobs.recv().map_err(|_| RecvTimeoutError::Disconnected);
        };
        let job = jobs.recv_timeout(sync_at.saturating_duration_since(Instant::now()));
        if sync_at <= Instant::now() {
            self.sync();
        }
        job
    }

    fn sync(&mut self) {
        self.sync_at = None;
        if let Some((_, log)) = &mut self.file
            && let Err(error) = log.sync()
        {
            tracing::error!(code = error.code(), "{error}");
        }
    }

    /// Plans the first request and those that wait already. Returns the next job of another kind,
    /// too.
    fn gather(&self, first: ChangeRequest, jobs: &Receiver<Job>) -> (Group, Option<Job>) {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let mut batch = Batch::new(&live, &self.hidden);
        let (mut group, mut other, mut bytes) = (Group::default(), None, 0_usize);
        let mut request = Some(first);
        while let Some(ChangeRequest { changes, answer, permit }) = request.take() {
            let before = batch.changes.len();
            group.answers.push((answer, batch.extend(changes)));
            group.permits.push(permit);
            group.ends.push(batch.changes.len());
            bytes += batch.changes.iter().skip(before).map(Change::bytes).sum::<usize>();
            if !fits(batch.changes.len() + MAX_JOB, bytes, MAX_JOB_BYTES) {
                break;
            }
            match jobs.try_recv() {
                Ok(Job::Change(next)) => request = Some(next),
                Ok(job) => other = Some(job),
                Err(_) => {}
            }
        }
        (group.changes, group.effects) = (batch.changes, batch.effects);
        (group, other)
    }

    /// Keeps the changes, makes them, and answers; or answers that they are not made.
    fn make(&mut self, group: Group) {
        if let Err(refused) = write(&self.live).renumber() {
            tracing::error!("{refused}");
        }
        let is_written =
            self.has_room(&group.changes, &group.effects) && self.write_changes(&group.changes);
        if is_written {
            self.apply(group.effects, &group.ends);
        }
        for (answer, planned) in group.answers {
            let outcome = if is_written { planned } else { planned.and(Err(Refusal::Failed)) };
            // The requester may be gone.
            answer.send(outcome).unwrap_or_default();
        }
        drop(group.permits);
        self.compact_if_worth_it();
    }

    /// Tells whether the set takes the new rules: after they are written, nothing may refuse them.
    fn has_room(&self, changes: &[Change], effects: &[Effect]) -> bool {
        let bytes = changes.iter().map(Change::bytes).sum();
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        if live.has_plenty(bytes) {
            return true;
        }
        drop(live);
        write(&self.live).takes(effects.iter().filter_map(|effect| match effect {
            Effect::Put(_, rule, _) => Some(rule),
            Effect::Take(..) => None,
        }))
    }

    /// Writes the changes to the file and waits as configured. Returns true if they are written.
    fn write_changes(&mut self, changes: &[Change]) -> bool {
        if changes.is_empty() {
            return true;
        }
        let Some((_, log)) = &mut self.file else { return false };
        let is_written = match self.durability {
            Durability::Always => log.append_durably(changes),
            Durability::Interval(_) => log.append(changes),
        };
        if let (Ok(()), Durability::Interval(interval), None) =
            (&is_written, self.durability, self.sync_at)
        {
            self.sync_at = Some(Instant::now() + interval);
        }
        if let Err(error) = &is_written {
            tracing::error!(code = error.code(), "{error}");
        }
        is_written.is_ok()
    }

    /// Applies the effects to the set. Changes that belong together become visible together, and
    /// readers get a turn in between.
    fn apply(&mut self, effects: Vec<Effect>, ends: &[usize]) {
        let mut effects = effects.into_iter();
        let mut from = 0;
        let mut ends = ends.iter().copied().peekable();
        while ends.peek().is_some() {
            let mut live = write(&self.live);
            let until = from + TURN;
            while let Some(end) = ends.next_if(|end| *end <= until || from < until) {
                for effect in effects.by_ref().take(end - from) {
                    one(&mut live, &mut self.hidden, effect);
                }
                from = end;
            }
        }
    }

    /// Replaces the base rules and keeps the changes. On failure the rules stay as they were.
    fn reload(&mut self, base: &[Normal], commit: Box<dyn FnOnce() + Send>) -> Result<usize> {
        let read = || self.live.read().unwrap_or_else(PoisonError::into_inner);
        let added: Vec<_> = read().added().collect();
        let mut hidden = self.hidden.clone();
        let built = build(base, &added, &mut hidden)?;
        let rules = built.len();
        let mut live = write(&self.live);
        let before = std::mem::replace(&mut *live, built);
        commit();
        drop(live);
        self.hidden = hidden;
        // Taking many rules apart takes time, and is nothing that a reader waits for.
        drop(before);
        Ok(rules)
    }

    /// Writes the file anew when most of it is the past.
    fn compact_if_worth_it(&mut self) {
        let Some((files, log)) = &mut self.file else { return };
        if log.bytes() < COMPACT_FROM_BYTES.max(self.floor.saturating_mul(2)) {
            return;
        }
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let change = |kind, rule| Change { kind, rule };
        let added = live.added().map(|rule| change(Kind::Added, rule.expression().to_canonical()));
        let hidden = self.hidden.values().map(|hidden| change(Kind::Hidden, hidden.rule.clone()));
        let count = live.added().count().saturating_add(self.hidden.len());
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        // Tried again only after as much was written once more, with success or without.
        self.floor = log.bytes();
        match log.sync().and_then(|()| files.replace(&mut added.chain(hidden), count, log.next())) {
            Ok(compacted) => {
                self.floor = compacted.bytes();
                *log = compacted;
            }
            Err(error) => tracing::error!(code = error.code(), "{error}"),
        }
    }
}

/// The content of the journal of changes, and the path of its torn end.
pub(super) struct Opened {
    pub(super) files: Files,
    pub(super) log: Log<File>,
    pub(super) added: Vec<Normal>,
    pub(super) hidden: BTreeMap<Key, Hidden>,
    pub(super) torn: Option<PathBuf>,
}

/// Opens the journal of changes. Of all changes of a rule, the last one counts.
pub(super) fn open(path: &std::path::Path) -> Result<Opened> {
    let mut last = BTreeMap::new();
    let (files, log, torn) = Files::open(path, &mut |change: Change| {
        match change.kind {
            Kind::Forgotten => last.remove(&change.rule),
            kind => last.insert(change.rule, kind),
        };
    })?;
    let (mut added, mut hidden) = (Vec::new(), BTreeMap::new());
    for (text, kind) in last {
        let rule = Normal::from_canonical(&text).map_err(StoreError::Rule)?;
        match kind {
            Kind::Added => added.push(rule),
            _ => {
                hidden.insert(Key::of_text(&text), Hidden { rule: text, is_base: false });
            }
        }
    }
    Ok(Opened { files, log, added, hidden, torn })
}

/// Makes the set of the base rules that are not hidden, and of the added ones.
pub(super) fn build(
    base: &[Normal],
    added: &[Normal],
    hidden: &mut BTreeMap<Key, Hidden>,
) -> Result<Live> {
    let mut live = Live::default();
    for hidden in hidden.values_mut() {
        hidden.is_base = false;
    }
    for rule in base {
        let text = rule.expression().to_canonical();
        match hidden.get_mut(&Key::of_text(&text)) {
            Some(hidden) if hidden.rule == text => hidden.is_base = true,
            _ => live.put(&text, rule, true)?,
        }
    }
    for rule in added {
        live.put(&rule.expression().to_canonical(), rule, false)?;
    }
    Ok(live)
}

fn one(live: &mut Live, hidden: &mut BTreeMap<Key, Hidden>, effect: Effect) {
    match effect {
        Effect::Put(key, rule, is_base) => {
            hidden.remove(&key);
            // INVARIANT: the plan saw to room, to a free id, and to numbers.
            if let Err(error) = live.put(&rule.expression().to_canonical(), &rule, is_base) {
                tracing::error!(code = error.code(), "{error}");
            }
        }
        Effect::Take(key, remembered) => {
            live.take(key);
            if let Some(remembered) = remembered {
                hidden.insert(key, remembered);
            }
        }
    }
}

fn write(live: &RwLock<Live>) -> std::sync::RwLockWriteGuard<'_, Live> {
    live.write().unwrap_or_else(PoisonError::into_inner)
}

/// Changes that readers may wait for at a time, unless more of them belong together.
const TURN: usize = 64;

/// The largest number of changes of one request.
const MAX_JOB: usize = crate::limits::MAX_TRANSACTION;
const MAX_JOB_BYTES: usize =
    crate::limits::MAX_TRANSACTION_BYTES + crate::limits::MAX_MESSAGE_BYTES;

//! The thread that asks witnesses about the newest checkpoint, all of them at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::note::Note;
use wardgate_decision_log::witness::merged;
use wardgate_decision_log::witness_policy::WitnessPolicy;

use super::counts::Counts;
use super::witness::{Asked, LogWitness};
use crate::decision_log::ed25519::verify_ed25519;
use crate::decision_log::error::{LogError, Result};
use crate::decision_log::folder::Folder;
use crate::decision_log::follower::Work;
use crate::decision_log::witnessed::{self, FILE};

/// The one who asks.
#[derive(Debug)]
pub(super) struct Worker {
    folder: PathBuf,
    key: LogKey,
    /// The time between two looks for a new checkpoint.
    pace: Duration,
    policy: WitnessPolicy,
    pub(super) witnesses: Vec<LogWitness>,
    counts: Arc<Counts>,
    /// The newest checkpoint, with the cosignatures of witnesses until now.
    newest: Option<Note>,
    /// The frames of the newest checkpoint in the file.
    witnessed: u64,
    /// True if the file could not be written, so that this is logged once.
    is_failing: bool,
}

impl Work for Worker {
    const THREAD: &'static str = "decision-log-witness";
    const CUT_OFF: &'static str = "witnesses have not cosigned the end of the decision log";
    const LEFT: &'static str = "witnesses are still being asked, and are not waited for";

    async fn run(&mut self, mut stops: watch::Receiver<bool>) {
        self.begin();
        loop {
            let is_last = *stops.borrow();
            self.round().await;
            if is_last {
                return;
            }
            let _ = timeout(self.pace, stops.wait_for(|stops| *stops)).await;
        }
    }
}

impl Worker {
    pub(super) fn new(
        (folder, key): (&Path, LogKey),
        pace: Duration,
        (policy, witnesses): (WitnessPolicy, Vec<LogWitness>),
        counts: Arc<Counts>,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            key,
            pace,
            policy,
            witnesses,
            counts,
            newest: None,
            witnessed: 0,
            is_failing: false,
        }
    }

    /// Notes what was witnessed before. A file that cannot be used is replaced: `verify` tells of it until then.
    pub(super) fn begin(&mut self) {
        match witnessed::read(&self.folder, &self.key) {
            Ok(None) => {}
            Ok(Some((note, head))) => {
                let seconds = self.key.open_note(&note).map_or(0, |opened| opened.seconds);
                self.witnessed = head.size;
                self.counts.note_witnessed(head.size, seconds);
            }
            Err(error) => tracing::warn!(code = error.code(), "{error}"),
        }
    }

    /// Asks the witnesses that have not cosigned the newest checkpoint, and keeps it once enough of them have.
    pub(super) async fn round(&mut self) {
        match self.newest() {
            Ok(Some(asked)) => {
                self.ask_all(asked).await;
                let kept = self.keep();
                self.tell(kept);
            }
            Ok(None) => {}
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Returns the newest checkpoint of the log, if there is one.
    fn newest(&mut self) -> Result<Option<Asked>> {
        let Some(bytes) = Folder::new(&self.folder).checkpoint()? else { return Ok(None) };
        let refused = |what: String| LogError::Checkpoint(what);
        let note = Note::read(&bytes).map_err(|error| refused(error.to_string()))?;
        let opened = self.key.open_note(&note).map_err(|error| refused(error.to_string()))?;
        if self.newest.as_ref().is_none_or(|newest| newest.text != note.text) {
            self.newest = Some(note.clone());
        }
        let (folder, head) = (self.folder.clone(), opened.checkpoint.head);
        Ok(Some(Asked { folder, note, head }))
    }

    /// Asks all witnesses that are due, and adds their cosignatures to the checkpoint.
    async fn ask_all(&mut self, asked: Asked) {
        let asked = Arc::new(asked);
        let mut answers = JoinSet::new();
        let text = &asked.note.text;
        for mut witness in self.witnesses.extract_if(.., |witness| witness.is_due(text)) {
            let asked = Arc::clone(&asked);
            answers.spawn(async move {
                let answer = witness.ask(&asked).await;
                (witness, answer)
            });
        }
        while let Some(answered) = answers.join_next().await {
            // A panic was reported by itself, and its witness is asked no more.
            let Ok((witness, answer)) = answered else { continue };
            self.witnesses.push(witness);
            match answer {
                Ok(cosigned) => {
                    self.newest = self.newest.as_ref().map(|newest| merged(newest, &cosigned));
                }
                Err(problem) => self.counts.note_failure(&problem),
            }
        }
        let failing = self.witnesses.iter().filter(|witness| witness.is_failing()).count();
        self.counts.note_failing(failing);
    }

    /// Writes the checkpoint if enough witnesses have cosigned it, and it is no older than the one in the file.
    fn keep(&mut self) -> Result<()> {
        let Some(note) = &self.newest else { return Ok(()) };
        let opened = self.key.open_note(note);
        let opened = opened.map_err(|error| LogError::Checkpoint(error.to_string()))?;
        let size = opened.checkpoint.head.size;
        let by = self.policy.verify(note, verify_ed25519);
        let is_witnessed = by.is_ok_and(|by| !by.is_empty());
        if size < self.witnessed || !is_witnessed {
            return Ok(());
        }
        let folder = Folder::new(&self.folder);
        let text = note.to_string();
        if folder.note(FILE)?.as_deref() != Some(text.as_bytes()) {
            folder.replace(FILE, text.as_bytes())?;
        }
        self.witnessed = size;
        self.counts.note_witnessed(size, opened.seconds);
        Ok(())
    }

    /// Tells the operator of a failure of the folder when it begins.
    fn tell(&mut self, done: Result<()>) {
        if let Err(error) = &done
            && !self.is_failing
        {
            tracing::error!(
                code = error.code(),
                "the witnessed checkpoint cannot be kept: {error}"
            );
        }
        self.is_failing = done.is_err();
    }
}

//! One witness of the log: what it saw last, and how it is asked.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::time::timeout;
use wardgate_decision_log::cosigner::CosignerKey;
use wardgate_decision_log::merkle::{self, Digest, Head};
use wardgate_decision_log::note::Note;
use wardgate_decision_log::tile::{Tile, Tiles};
use wardgate_decision_log::witness::{AddCheckpoint, conflict_size, cosigned};
use wardgate_decision_log::witness_policy::Witness;

use super::client::Client;
use super::problem::Problem;
use crate::config::Witnesses;
use crate::decision_log::ed25519::verify_ed25519;
use crate::decision_log::tree::read_tile;
use crate::limits::{MAX_WITNESS_PAUSE, RETRY_PAUSE};

/// A checkpoint that witnesses are asked about.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) folder: PathBuf,
    pub(super) note: Note,
    pub(super) head: Head,
}

/// A witness that can be asked.
pub(super) struct LogWitness {
    pub(super) name: String,
    key: CosignerKey,
    client: Client,
    pub(super) timeout: Duration,
    /// The size that it saw last, as far as is known.
    seen: u64,
    /// The text of the last checkpoint that it has cosigned.
    cosigned: Option<String>,
    /// When it may be asked again, and the pause after the next failure.
    next: Instant,
    pause: Duration,
    /// The last problem, so that it is logged once.
    problem: Option<Problem>,
}

impl LogWitness {
    /// Returns the witness if it has a URL.
    ///
    /// # Errors
    /// It cannot be asked; in words for the operator.
    pub(super) fn new(witness: &Witness, config: &Witnesses) -> Result<Option<Self>, String> {
        let Some(url) = &witness.url else { return Ok(None) };
        let name = witness.name.clone();
        let client = Client::new(url, config);
        let client = client.map_err(|error| format!("witness `{name}`: {error}"))?;
        Ok(Some(Self {
            name,
            key: witness.key.clone(),
            client,
            timeout: config.timeout,
            seen: 0,
            cosigned: None,
            next: Instant::now(),
            pause: RETRY_PAUSE,
            problem: None,
        }))
    }

    /// Returns true if the witness has not cosigned this text, and its last failure is long enough ago.
    pub(super) fn is_due(&self, text: &str) -> bool {
        self.cosigned.as_deref() != Some(text) && Instant::now() >= self.next
    }

    pub(super) const fn is_failing(&self) -> bool {
        self.problem.is_some()
    }

    /// Asks the witness to cosign a checkpoint, and returns the note with its cosignatures, which were verified.
    ///
    /// # Errors
    /// It did not.
    pub(super) async fn ask(&mut self, asked: &Asked) -> Result<Note, Problem> {
        let limit = self.timeout;
        let answer = timeout(limit, self.exchange(asked)).await;
        let answer = answer.unwrap_or(Err(Problem::Late(limit)));
        self.note(asked, answer.as_ref().err());
        answer
    }

    async fn exchange(&mut self, asked: &Asked) -> Result<Note, Problem> {
        let size = asked.head.size;
        // One that has forgotten tells so by a conflict.
        self.seen = self.seen.min(size);
        let mut answer = self.send(asked).await?;
        if answer.0 == StatusCode::CONFLICT
            && let Some(seen) = conflict_size(&answer.1)
        {
            if seen > size {
                return Err(Problem::Ahead { seen, size });
            }
            self.seen = seen;
            answer = self.send(asked).await?;
        }
        let (status, body) = answer;
        match status.as_u16() {
            200 => {}
            400..=409 => return Err(Problem::Refused(status)),
            422 => return Err(Problem::Inconsistent { seen: self.seen }),
            _ => return Err(Problem::Failing(status)),
        }
        let wrong = |what: String| Problem::Signature(what);
        let text = &asked.note.text;
        let mut cosigned = cosigned(text, &body).map_err(|error| wrong(error.to_string()))?;
        let seconds = self.key.verify(&cosigned, verify_ed25519);
        if seconds.map_err(|error| wrong(error.to_string()))? == 0 {
            return Err(wrong("it has no time".to_owned()));
        }
        // Those of others were not verified.
        cosigned.signatures.retain(|one| self.key.has_made(one));
        Ok(cosigned)
    }

    async fn send(&mut self, asked: &Asked) -> Result<(StatusCode, Bytes), Problem> {
        let proof = proof(&asked.folder, self.seen, asked.head.size).ok_or(Problem::Files)?;
        let request = AddCheckpoint { old: self.seen, proof, note: asked.note.clone() };
        let body = Bytes::from(request.to_string());
        self.client.send(body).await.map_err(Problem::Unreachable)
    }

    /// Notes how it went, and tells the operator of a problem when it begins, and when it is over.
    fn note(&mut self, asked: &Asked, problem: Option<&Problem>) {
        match problem {
            None => {
                self.seen = asked.head.size;
                self.cosigned = Some(asked.note.text.clone());
                self.pause = RETRY_PAUSE;
                if self.problem.is_some() {
                    tracing::info!(
                        witness = self.name,
                        "the witness cosigns the decision log again"
                    );
                }
            }
            Some(problem) => {
                self.next = Instant::now().checked_add(self.pause).unwrap_or(self.next);
                self.pause = self.pause.saturating_mul(2).min(MAX_WITNESS_PAUSE);
                self.tell(problem);
            }
        }
        self.problem = problem.cloned();
    }

    fn tell(&self, problem: &Problem) {
        if self.problem.as_ref().map(Problem::reason) == Some(problem.reason()) {
            return;
        }
        let (_, code) = problem.reason();
        let witness = &self.name;
        if problem.is_alarming() {
            tracing::error!(
                witness,
                code,
                "the witness does not cosign the decision log: {problem}"
            );
        } else {
            tracing::warn!(
                witness,
                code,
                "the witness does not cosign the decision log: {problem}"
            );
        }
    }
}

impl fmt::Debug for LogWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogWitness({})", self.name)
    }
}

/// Returns the proof that the log of size `old` is the beginning of that of size `new`, out of the tiles in a folder.
fn proof(folder: &Path, old: u64, new: u64) -> Option<Vec<Digest>> {
    let read = |tile: Tile| read_tile(folder, tile).ok().flatten();
    merkle::consistency(old, new, &Tiles { size: new, read })
}

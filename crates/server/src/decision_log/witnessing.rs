//! Witnesses: the newest checkpoint goes to each witness of a policy, and stays in `checkpoint.witnessed` once enough of
//! them have cosigned it.
//!
//! A thread of its own reads the files of the log: neither answers nor frames nor checkpoints wait for a witness. Only the
//! newest checkpoint counts: those that came while witnesses were asked about one are passed over.

mod client;
mod counts;
mod problem;
mod witness;
mod worker;

use std::sync::Arc;

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::limits::MAX_POLICY_BYTES;
use wardgate_decision_log::note::VerifierKey;
use wardgate_decision_log::witness_policy::WitnessPolicy;

use super::follower::Follower;
use super::recording;
use crate::config::{DecisionLog, Witnesses};
use crate::files::{bounded, unreadable};
use counts::Counts;
use witness::LogWitness;
use worker::Worker;

/// Lets witnesses cosign a log.
#[derive(Debug)]
pub(crate) struct Witnessing {
    counts: Arc<Counts>,
    follower: Follower<Worker>,
}

impl Witnessing {
    /// Reads the policy and the files that the configuration names; returns `None` if it names no witnesses.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(crate) fn new(log: &DecisionLog) -> Result<Option<Self>, String> {
        let Some(config) = &log.witnesses else { return Ok(None) };
        let verifier = recording::key(log)?.verifier();
        Self::of(log, config, &verifier)
            .map(Some)
            .map_err(|error| format!("`[decision-log.witness]`: {error}"))
    }

    fn of(log: &DecisionLog, config: &Witnesses, verifier: &VerifierKey) -> Result<Self, String> {
        let policy = read_policy(config, verifier)?;
        let counts = Arc::new(Counts::default());
        let mut witnesses = Vec::new();
        for witness in policy.witnesses() {
            witnesses.extend(LogWitness::new(witness, config)?);
        }
        let key = LogKey::read(&verifier.to_string()).ok_or("the key of the log cannot verify")?;
        let files = (log.folder.as_path(), key);
        let worker = Worker::new(files, log.checkpoint, (policy, witnesses), Arc::clone(&counts));
        Ok(Self { counts, follower: Follower::new(worker) })
    }

    /// Starts to ask witnesses.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        self.follower.start()
    }

    /// Asks about the last checkpoint, as far as a bounded time allows. The log is closed.
    pub(crate) fn close(&self) {
        self.follower.close();
    }

    /// Writes the metrics as text of Prometheus.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        self.counts.write(text);
    }
}

/// Reads a policy that witnesses with URLs can satisfy, about the log with this key.
fn read_policy(config: &Witnesses, verifier: &VerifierKey) -> Result<WitnessPolicy, String> {
    let path = &config.policy;
    let most = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
    let bytes = bounded(path, most).map_err(|error| unreadable(path, &error))?;
    let wrong = |what: &str| format!("`{}`: {what}", path.display());
    let policy = WitnessPolicy::read(&bytes).map_err(|error| wrong(&error.to_string()))?;
    if !policy.is_about(verifier) {
        return Err(wrong("it is about other logs than this one"));
    }
    let has_url = |at: usize| policy.witnesses().get(at).is_some_and(|one| one.url.is_some());
    if !policy.is_enough(has_url) || !(0..policy.witnesses().len()).any(has_url) {
        return Err(wrong("the witnesses that have a URL are not enough"));
    }
    Ok(policy)
}

#[cfg(test)]
mod tests;

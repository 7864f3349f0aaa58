//! Policies of witnesses: which logs and witnesses are trusted, and how many witnesses are enough (C2SP, tlog-policy).
//!
//! A file has lines `log KEY [URL]`, `witness NAME KEY [URL]`, `group NAME all|any|K NAME...` and one
//! `quorum NAME|none`. A group names only what stands above it, and a name is a member of one group
//! at most, so no witness counts twice.

mod lines;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::cosigner::{CosignerKey, VerifyEd25519};
use crate::limits::{MAX_POLICY_BYTES, MAX_POLICY_LINES};
use crate::note::{Note, VerifierKey};

/// A policy of witnesses.
#[derive(Clone, Debug)]
pub struct WitnessPolicy {
    logs: Vec<PolicyLog>,
    witnesses: Vec<Witness>,
    groups: Vec<Group>,
    /// `None` if no cosignature is needed.
    quorum: Option<Member>,
}

/// A log that a policy trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyLog {
    /// The key of the log, whose name is its origin.
    pub key: VerifierKey,
    /// The URL, whose meaning is that of the application.
    pub url: Option<String>,
}

/// A witness that a policy trusts.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The name within the policy.
    pub name: String,
    /// The key of its cosignatures.
    pub key: CosignerKey,
    /// The prefix of its requests.
    pub url: Option<String>,
}

/// Members of which so many are enough.
#[derive(Clone, Debug)]
struct Group {
    least: usize,
    members: Vec<Member>,
}

/// A witness or a group, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Witness(usize),
    Group(usize),
}

/// A cosignature that was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cosignature<'p> {
    /// The name of the witness within the policy.
    pub witness: &'p str,
    /// The time in seconds since 1970, as the witness says.
    pub seconds: u64,
}

/// The reason for which a text is no policy, with the line that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The line, counted from 1. It is that after the last one if something is missing.
    pub line: usize,
    /// The fault.
    pub fault: PolicyFault,
}

/// A fault of a line of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyFault {
    /// The file is longer than policies are read, or has more logs, witnesses or groups.
    Long,
    /// A control character that is neither a tab nor a line feed.
    Characters,
    /// The last line has no line feed: the file may have been cut.
    Cut,
    /// The line has none of the forms.
    Form,
    /// No key of a log, or of a type that signs no checkpoints.
    LogKey,
    /// No key of a witness, or of a type that cosigns no checkpoints.
    WitnessKey,
    /// The same key twice.
    DuplicateKey,
    /// A name that stands for something already.
    DuplicateName,
    /// A name for which nothing above stands.
    UnknownName,
    /// A name that is a member of a group already.
    DuplicateMember,
    /// A number that is not from 1 to that of the members.
    Threshold,
    /// A second quorum.
    DuplicateQuorum,
    /// No quorum.
    NoQuorum,
}

/// The reason for which a policy does not accept a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwitnessed {
    /// It is no checkpoint, or a cosignature of a witness is wrong.
    Checkpoint(CheckpointError),
    /// These witnesses have cosigned, and they are not enough.
    Quorum(Vec<String>),
}

impl WitnessPolicy {
    /// Reads a policy.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn read(bytes: &[u8]) -> Result<Self, PolicyError> {
        let error = |line, fault| PolicyError { line, fault };
        if bytes.len() > MAX_POLICY_BYTES {
            return Err(error(1, PolicyFault::Long));
        }
        let mut draft = lines::Draft::default();
        let mut count = 0_usize;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            count = count.saturating_add(1);
            draft.add(line).map_err(|fault| error(count, fault))?;
        }
        draft.finish().map_err(|fault| error(count.saturating_add(1), fault))
    }

    /// Returns the logs.
    #[must_use]
    pub fn logs(&self) -> &[PolicyLog] {
        &self.logs
    }

    /// Returns the witnesses.
    #[must_use]
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses
    }

    /// Returns true if the policy is about the log with this key: it names it, or names no log.
    #[must_use]
    pub fn is_about(&self, key: &VerifierKey) -> bool {
        self.logs.is_empty() || self.logs.iter().any(|log| log.key == *key)
    }

    /// Returns true if the witnesses at the positions for which the function returns true are enough.
    #[must_use]
    pub fn is_enough(&self, has_cosigned: impl Fn(usize) -> bool) -> bool {
        let mut groups: Vec<bool> = Vec::with_capacity(self.groups.len());
        let holds = |groups: &[bool], member: &Member| match *member {
            Member::Witness(at) => has_cosigned(at),
            Member::Group(at) => groups.get(at).copied().unwrap_or(false),
        };
        for group in &self.groups {
            let count = group.members.iter().filter(|member| holds(&groups, member)).count();
            groups.push(count >= group.least);
        }
        self.quorum.is_none_or(|quorum| holds(&groups, &quorum))
    }

    /// Verifies that enough witnesses have cosigned a checkpoint, and returns the cosignatures of all that have. The
    /// signature of the log is not looked at.
    ///
    /// # Errors
    /// They are not enough, or a cosignature of one of them is wrong.
    pub fn verify(
        &self,
        note: &Note,
        ed25519: VerifyEd25519,
    ) -> Result<Vec<Cosignature<'_>>, Unwitnessed> {
        Checkpoint::read(&note.text).map_err(Unwitnessed::Checkpoint)?;
        let mut times = Vec::with_capacity(self.witnesses.len());
        for witness in &self.witnesses {
            times.push(match witness.key.verify(note, ed25519) {
                Ok(seconds) => Some(seconds),
                Err(CheckpointError::Unsigned) => None,
                Err(error) => return Err(Unwitnessed::Checkpoint(error)),
            });
        }
        let witnesses = self.witnesses.iter().zip(&times);
        let found: Vec<Cosignature<'_>> = witnesses
            .filter_map(|(Witness { name, .. }, seconds)| {
                seconds.map(|seconds| Cosignature { witness: name, seconds })
            })
            .collect();
        if self.is_enough(|at| times.get(at).is_some_and(Option::is_some)) {
            return Ok(found);
        }
        let names = found.iter().map(|one| String::from(one.witness)).collect();
        Err(Unwitnessed::Quorum(names))
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

impl core::error::Error for PolicyError {}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long => write!(
                f,
                "expected at most {MAX_POLICY_BYTES} bytes, and {MAX_POLICY_LINES} logs, witnesses and groups each"
            ),
            Self::Characters => f.write_str("found a control character"),
            Self::Cut => f.write_str("expected a line feed at the end of the last line"),
            Self::Form => f.write_str("expected `log KEY [URL]`, `witness NAME KEY [URL]`, `group NAME all|any|NUMBER NAME...` or `quorum NAME`"),
            Self::LogKey => f.write_str("expected the key of a log"),
            Self::WitnessKey => f.write_str("expected the key of a witness, of ML-DSA-44 or Ed25519"),
            Self::DuplicateKey => f.write_str("the same key is in a line above"),
            Self::DuplicateName => f.write_str("the name stands for something else already"),
            Self::UnknownName => f.write_str("no witness or group above has this name"),
            Self::DuplicateMember => f.write_str("a name is a member of a group already"),
            Self::Threshold => f.write_str("expected a number from 1 to that of the members"),
            Self::DuplicateQuorum => f.write_str("a line above has the quorum already"),
            Self::NoQuorum => f.write_str("expected a line `quorum NAME` or `quorum none`"),
        }
    }
}

impl fmt::Display for Unwitnessed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint(error) => error.fmt(f),
            Self::Quorum(names) if names.is_empty() => {
                f.write_str("no witness of the policy has cosigned the checkpoint")
            }
            Self::Quorum(names) => write!(
                f,
                "the witnesses that have cosigned the checkpoint are not enough: {}",
                names.join(", ")
            ),
        }
    }
}

impl core::error::Error for Unwitnessed {}

#[cfg(test)]
mod tests;

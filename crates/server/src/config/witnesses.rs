//! `[decision-log.witness]`: who cosigns the checkpoints of the log.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Section};

/// The witnesses of a log.
#[derive(Clone, Debug)]
pub struct Witnesses {
    /// The file that says which witnesses there are, where they are, and how many are enough.
    pub policy: PathBuf,
    /// The roots that the certificates of witnesses with `https` must lead to.
    pub ca: Option<PathBuf>,
    /// The longest time of an answer of a witness.
    pub timeout: Duration,
}

impl Witnesses {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let witnesses = Self {
            policy: section.required_path("policy")?,
            ca: section.path("ca")?,
            timeout: section.seconds("timeout-seconds", 1..=60)?.unwrap_or(TIMEOUT),
        };
        section.finish()?;
        Ok(Some(witnesses))
    }
}

const TIMEOUT: Duration = Duration::from_secs(5);

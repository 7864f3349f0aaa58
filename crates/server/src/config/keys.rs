//! Sources of the keys that sign tokens: a file, or another server.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Remote, Section};
use crate::limits::KEYS_PAUSE;

/// The source of a set of JSON Web Keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeysAt {
    /// In a file, read when the server starts.
    File(PathBuf),
    /// Keys at another server, fetched at intervals.
    Url(KeysUrl),
}

/// A set of JSON Web Keys on another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysUrl {
    /// Its address.
    pub remote: Remote,
    /// The interval between two fetches of the set.
    pub refresh: Duration,
    /// The time for which a set is used after its last successful fetch.
    pub keep: Duration,
}

impl KeysAt {
    /// Reads the keys of the table `section`. `file` is the name of its key for a file.
    pub(super) fn read(section: &mut Section<'_>, file: &'static str) -> Result<Self, ConfigError> {
        let (path, url, ca) = (section.path(file)?, section.text("url")?, section.path("url-ca")?);
        let refresh = section.seconds("refresh-seconds", KEYS_PAUSE.as_secs()..=MAX_REFRESH)?;
        let keep = section.seconds("keep-seconds", KEYS_PAUSE.as_secs()..=MAX_KEEP)?;
        let has_options = ca.is_some() || refresh.is_some() || keep.is_some();
        let location = section.name();
        match (path, url) {
            (Some(path), None) if !has_options => Ok(Self::File(path)),
            (Some(_), None) => Err(ConfigError::new(format!(
                "`url-ca`, `refresh-seconds` and `keep-seconds` in `[{location}]` need `url`"
            ))),
            (None, Some(url)) => {
                let remote = Remote { url, ca, token: None };
                let (refresh, keep) = (refresh.unwrap_or(REFRESH), keep.unwrap_or(KEEP));
                KeysUrl { remote, refresh, keep }.fitting(location).map(Self::Url)
            }
            _ => Err(ConfigError::new(format!(
                "`[{location}]` must have `{file}` or `url`, and one of them only"
            ))),
        }
    }
}

impl KeysUrl {
    /// Refuses keys from an untrusted server, and keys that would expire before the next fetch.
    fn fitting(self, location: &str) -> Result<Self, ConfigError> {
        let refuse = |message: String| Err(ConfigError::new(message));
        if !self.remote.url.starts_with("https://") {
            return refuse(format!(
                "`url` in `[{location}]` must begin with `https://`: without TLS an attacker on the network could replace the keys"
            ));
        }
        if self.remote.ca.is_none() {
            return refuse(format!(
                "`url` in `[{location}]` needs `url-ca`, the roots of that server"
            ));
        }
        if self.keep < self.refresh {
            return refuse(format!(
                "`keep-seconds` in `[{location}]` must not be less than `refresh-seconds`"
            ));
        }
        Ok(self)
    }
}

const REFRESH: Duration = Duration::from_mins(5);
const KEEP: Duration = Duration::from_hours(24);

/// Seconds.
const MAX_REFRESH: u64 = 86_400;
const MAX_KEEP: u64 = 30 * 86_400;

//! `[spocp]` and `[spocp.tls]`.

use std::path::PathBuf;
use std::time::Duration;

use super::http::listen;
use super::{ConfigError, Section, Tls};
use crate::limits::{
    CONNECTIONS, MAX_MESSAGE_BYTES, MAX_SYNC_INTERVAL, MESSAGE_BYTES, MIN_SYNC_INTERVAL,
};

/// SPOCP over TCP.
#[derive(Clone, Debug)]
pub struct Spocp {
    /// Addresses to listen at.
    pub listen: Vec<String>,
    /// Files and folders of rules.
    pub rules: Vec<PathBuf>,
    /// The journal of changes. Without it rules cannot be added and deleted.
    pub changes: Option<PathBuf>,
    /// The durability of a change that has been answered.
    pub durability: Durability,
    /// True if every client may query.
    pub anonymous_queries: bool,
    /// The tokens of administrators.
    pub admin_tokens: Option<PathBuf>,
    /// Names in the certificates of administrators.
    pub admin_names: Vec<String>,
    /// Tokens may cross without TLS.
    pub auth_without_tls: bool,
    /// The largest number of open connections.
    pub max_connections: usize,
    /// The bounds of one client.
    pub bounds: Bounds,
    /// Certificate and key, if TLS is offered.
    pub tls: Option<Tls>,
    /// Every connection is encrypted from the start, without `STARTTLS`.
    pub tls_from_start: bool,
}

/// The durability of a change that has been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When it is on the disk: an answered change survives a kill and a loss of power.
    Always,
    /// The system has the change: it survives a kill. A loss of power may take the changes of the
    /// last interval.
    Interval(Duration),
}

/// The bounds of one client.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The longest message.
    pub message_bytes: usize,
    /// The longest time of a message from its first byte to its last.
    pub message: Duration,
    /// The longest silence of a client.
    pub idle: Duration,
    /// The longest time in which a client reads its replies.
    pub write: Duration,
}

impl Spocp {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let tls = section.section("tls")?;
        let spocp = Self {
            listen: listen(&mut section, "127.0.0.1:4751")?,
            rules: section.paths("rules")?,
            changes: section.path("changes")?,
            durability: durability(&mut section)?,
            anonymous_queries: section.flag("anonymous-queries")?.unwrap_or(false),
            admin_tokens: section.path("admin-tokens")?,
            admin_names: section.texts("admin-names")?,
            auth_without_tls: section.flag("auth-without-tls")?.unwrap_or(false),
            max_connections: section
                .number("max-connections", 1..=1_000_000)?
                .unwrap_or(CONNECTIONS),
            bounds: Bounds {
                message_bytes: section
                    .number("max-message-bytes", 64..=MAX_MESSAGE_BYTES)?
                    .unwrap_or(MESSAGE_BYTES),
                message: section.seconds("message-seconds", 1..=3600)?.unwrap_or(MESSAGE),
                idle: section.seconds("idle-seconds", 1..=86_400)?.unwrap_or(IDLE),
                write: section.seconds("write-seconds", 1..=3600)?.unwrap_or(WRITE),
            },
            tls: Tls::read(tls)?,
            tls_from_start: section.flag("tls-from-start")?.unwrap_or(false),
        };
        section.finish()?;
        spocp.must_fit()?;
        Ok(Some(spocp))
    }

    /// Refuses options that would have no effect, and an endpoint that no client could use.
    fn must_fit(&self) -> Result<(), ConfigError> {
        let refuse = |message: &str| Err(ConfigError::new(message));
        let shows_certificates = self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        if self.tls_from_start && self.tls.is_none() {
            return refuse("`tls-from-start` in `[spocp]` needs `[spocp.tls]`");
        }
        if !self.admin_names.is_empty() && !shows_certificates {
            return refuse("`admin-names` in `[spocp]` needs `client-ca` in `[spocp.tls]`");
        }
        if self.admin_tokens.is_some() && self.tls.is_none() && !self.auth_without_tls {
            return refuse(
                "`admin-tokens` in `[spocp]` needs `[spocp.tls]`, or `auth-without-tls = true`",
            );
        }
        if !self.anonymous_queries && self.admin_tokens.is_none() && !shows_certificates {
            return refuse(
                "no client may query: `[spocp]` must have `anonymous-queries`, `admin-tokens` or `client-ca`",
            );
        }
        if self.durability != Durability::Always && self.changes.is_none() {
            return refuse("`sync-milliseconds` in `[spocp]` needs `changes`");
        }
        Ok(())
    }
}

/// Reads the interval between syncs; without one, or with zero, each change waits for the disk.
fn durability(section: &mut Section<'_>) -> Result<Durability, ConfigError> {
    let most = u64::try_from(MAX_SYNC_INTERVAL.as_millis()).unwrap_or(u64::MAX);
    let interval = section.number("sync-milliseconds", 0..=most)?.map(Duration::from_millis);
    Ok(match interval {
        Some(interval) if interval >= MIN_SYNC_INTERVAL => Durability::Interval(interval),
        _ => Durability::Always,
    })
}

const MESSAGE: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(300);
const WRITE: Duration = Duration::from_secs(30);

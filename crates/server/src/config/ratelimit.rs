//! `[ratelimit]`: where rate limits in policies are charged.

use std::path::PathBuf;
use std::time::Duration;

use wardgate_native::limited::{Share, WhenFull};

use super::{ConfigError, Section};

/// The charging of rate limits.
#[derive(Clone, Debug)]
pub struct RateLimit {
    /// The place of the states.
    pub store: StatesIn,
    /// The file of the password of Redis.
    pub password: Option<PathBuf>,
    /// The file with certificates of the authorities that vouch for Redis; those of the system if there is
    /// none.
    pub authorities: Option<PathBuf>,
    /// The user at Redis; its default user if there is none.
    pub user: Option<String>,
    /// The longest time that a check waits for Redis.
    pub deadline: Duration,
    /// The keys that this process has places for, 24 bytes each.
    pub keys: usize,
    /// The treatment of a new key when they are all taken.
    pub when_full: WhenFull,
    /// The keys that have leases at once.
    pub leases: usize,
    /// The part of each quota that this process admits while Redis is away.
    pub share: Share,
    /// True if answers have the fields `X-RateLimit-*`, too.
    pub legacy_headers: bool,
}

/// The place of the states of limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatesIn {
    /// The memory of this process.
    Memory,
    /// A server that speaks the protocol of Redis.
    Redis {
        /// Its address, without a password.
        address: String,
    },
    /// A cluster of them.
    Cluster {
        /// The addresses of some nodes, without a password.
        addresses: Vec<String>,
    },
}

impl RateLimit {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (texts, is_cluster) = (section.texts("store")?, section.flag("cluster")?);
        let needless = KEYS_OF_REDIS.into_iter().find(|key| section.has(key));
        let limits = Self {
            password: section.path("password-file")?,
            user: section.text("user")?,
            authorities: section.path("ca-file")?,
            deadline: section
                .number("deadline-milliseconds", 1..=10_000)?
                .map_or(DEADLINE, Duration::from_millis),
            keys: section.number("keys", 1..=MAX_KEYS)?.unwrap_or(KEYS),
            when_full: section.choice("when-full", WHEN_FULL)?.unwrap_or(WhenFull::Deny),
            leases: section.number("leases", 0..=MAX_LEASES)?.unwrap_or(LEASES),
            share: share(&mut section)?,
            legacy_headers: section.flag("legacy-headers")?.unwrap_or(false),
            store: StatesIn::Memory,
        };
        section.finish()?;
        let store = states(texts, is_cluster.unwrap_or(false))?;
        if limits.authorities.is_some() && store != StatesIn::Memory && !store.has_tls() {
            return refuse("`ratelimit.ca-file` is for TLS: `store` must be an address like `rediss://redis.example:6380`".to_owned());
        }
        match needless {
            Some(key) if store == StatesIn::Memory => refuse(format!(
                "`{key}` in `[ratelimit]` is for Redis: `store` must be an address of it, such as `redis://127.0.0.1:6379`"
            )),
            _ => Ok(Some(Self { store, ..limits })),
        }
    }
}

impl StatesIn {
    /// Returns true if an address asks for TLS.
    pub(crate) fn has_tls(&self) -> bool {
        let is_tls = |address: &String| address.starts_with(TLS);
        match self {
            Self::Memory => false,
            Self::Redis { address } => is_tls(address),
            Self::Cluster { addresses } => addresses.iter().any(is_tls),
        }
    }
}

fn states(texts: Vec<String>, is_cluster: bool) -> Result<StatesIn, ConfigError> {
    if texts.is_empty() || texts == [MEMORY] {
        return Ok(StatesIn::Memory);
    }
    for text in &texts {
        must_be_address(text)?;
    }
    if is_cluster {
        return Ok(StatesIn::Cluster { addresses: texts });
    }
    match <[String; 1]>::try_from(texts) {
        Ok([address]) => Ok(StatesIn::Redis { address }),
        Err(_) => refuse(
            "`ratelimit.store` has several addresses, which are nodes of a cluster: say `cluster = true`"
                .to_owned(),
        ),
    }
}

/// Refuses what is no address, and what would put a password into the configuration. The text is not
/// repeated: it may hold one.
fn must_be_address(text: &str) -> Result<(), ConfigError> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return refuse(WRONG_STORE.to_owned());
    };
    match scheme {
        "redis" | "rediss" | "unix" if rest.contains('@') || rest.contains("pass=") => refuse(
            "`ratelimit.store` must have no user and no password: they are `user` and `password-file`"
                .to_owned(),
        ),
        "redis" | "rediss" | "unix" if !rest.is_empty() => Ok(()),
        _ => refuse(WRONG_STORE.to_owned()),
    }
}

/// Reads the share in thousandths, which 0 would make a limit that denies everything.
fn share(section: &mut Section<'_>) -> Result<Share, ConfigError> {
    let Some(part) = section.share("share")? else { return Ok(Share::WHOLE) };
    let thousandths =
        (1..=1000_u32).rev().find(|number| f64::from(*number) <= part * 1000.0 + 1e-9);
    match thousandths.and_then(Share::new) {
        Some(share) => Ok(share),
        None => refuse("`ratelimit.share` must be a number from 0.001 to 1".to_owned()),
    }
}

fn refuse<T>(message: String) -> Result<T, ConfigError> {
    Err(ConfigError::new(message))
}

const MEMORY: &str = "memory";
const TLS: &str = "rediss://";
const WRONG_STORE: &str = "`ratelimit.store` must be `memory`, or addresses like `redis://127.0.0.1:6379`, `rediss://redis.example:6380` or `unix:///run/redis.sock`";
const KEYS_OF_REDIS: [&str; 7] =
    ["cluster", "password-file", "user", "ca-file", "deadline-milliseconds", "leases", "share"];
const WHEN_FULL: &[(&str, WhenFull)] = &[("deny", WhenFull::Deny), ("evict", WhenFull::Evict)];

const DEADLINE: Duration = Duration::from_millis(50);
const KEYS: usize = 100_000;
const MAX_KEYS: usize = 1 << 28;
const LEASES: usize = 1024;
const MAX_LEASES: usize = 1 << 20;

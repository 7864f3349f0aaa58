//! The store of the server: memory, or Redis, whose outages are logged and counted.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wardgate_native::limited::{Away, Memory};
use wardgate_ratelimit::{Algorithm, Outcome, Window};
use wardgate_ratelimit_store::{
    Action, Demand, Demands, Failure, Key, Limit, Options, Redis, RedisCluster, Roots, Store, Terms,
};

use super::counters::head;
use crate::config::{RateLimit, StatesIn};
use crate::files::secret;

/// The states of limits.
#[derive(Debug)]
pub(crate) enum States {
    /// In this process.
    Memory(Memory),
    /// On a server of the network.
    Remote(Remote),
}

/// A server of the network, and what came of asking it.
#[derive(Debug)]
pub(crate) struct Remote {
    server: Server,
    /// Its addresses, for the log.
    at: String,
    calls: AtomicU64,
    failures: AtomicU64,
    /// True from a failure to the next success.
    is_away: AtomicBool,
}

#[derive(Debug)]
enum Server {
    Redis(Redis),
    Cluster(RedisCluster),
}

impl States {
    /// Makes the store that the configuration names.
    pub(super) fn new(config: &RateLimit) -> Result<Self, String> {
        let options = Options { deadline: config.deadline, ..Options::default() };
        let refuse =
            |error: wardgate_ratelimit_store::ConnectError| format!("`ratelimit.store`: {error}");
        let server = match &config.store {
            StatesIn::Memory => {
                return Ok(Self::Memory(Memory::new(config.keys, config.when_full)));
            }
            StatesIn::Redis { address } => {
                let address = with_login(address, config)?;
                Server::Redis(match roots(config)? {
                    Some(roots) => Redis::with_roots(&address, &roots, options).map_err(refuse)?,
                    None => Redis::new(&address, options).map_err(refuse)?,
                })
            }
            StatesIn::Cluster { addresses } => {
                let addresses = addresses.iter().map(|address| with_login(address, config));
                let all = addresses.collect::<Result<Vec<_>, _>>()?;
                Server::Cluster(match roots(config)? {
                    Some(roots) => {
                        RedisCluster::with_roots(&all, &roots, options).map_err(refuse)?
                    }
                    None => RedisCluster::new(&all, options).map_err(refuse)?,
                })
            }
        };
        let at = match &config.store {
            StatesIn::Cluster { addresses } => addresses.join(", "),
            StatesIn::Redis { address } => address.clone(),
            StatesIn::Memory => String::new(),
        };
        let (calls, failures) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self::Remote(Remote { server, at, calls, failures, is_away: AtomicBool::new(false) }))
    }

    /// Looks at a key that no limit has, so that an outage at the start is logged.
    pub(super) async fn try_once(&self) {
        if let (Self::Remote(remote), Some(demands)) = (self, probe()) {
            let _ = remote.run(Action::Look, &demands).await;
        }
    }

    /// Writes what came of asking a server of the network.
    pub(super) fn write(&self, text: &mut String) {
        let Self::Remote(remote) = self else { return };
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("store_calls_total", "counter", "Calls of the store of limits.", read(&remote.calls)),
            (
                "store_failures_total",
                "counter",
                "Calls without an outcome.",
                read(&remote.failures),
            ),
            (
                "store_away",
                "gauge",
                "1 while the store of limits is away.",
                u64::from(remote.is_away.load(Ordering::Relaxed)),
            ),
        ] {
            head(text, name, kind, help);
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "wardgate_ratelimit_{name} {value}");
        }
    }
}

impl Store for States {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        match self {
            Self::Memory(memory) => memory.run(action, demands).await,
            Self::Remote(remote) => remote.run(action, demands).await,
        }
    }

    async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        match self {
            Self::Memory(memory) => memory.run_each(checks).await,
            Self::Remote(remote) => remote.run_each(checks).await,
        }
    }

    fn memory(&self) -> Option<&Memory> {
        match self {
            Self::Memory(memory) => Some(memory),
            Self::Remote(_) => None,
        }
    }
}

impl Remote {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let found = match &self.server {
            Server::Redis(redis) => redis.run(action, demands).await,
            Server::Cluster(cluster) => cluster.run(action, demands).await,
        };
        self.note(found.as_ref().err());
        found
    }

    async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        let found = match &self.server {
            Server::Redis(redis) => redis.run_each(checks).await,
            Server::Cluster(cluster) => cluster.run_each(checks).await,
        };
        self.note(found.iter().find_map(|found| found.as_ref().err()));
        found
    }

    /// Counts a call, and logs the first failure after a success, and the other way round.
    fn note(&self, away: Option<&Away>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match away {
            None => {
                // Mostly it is not away, and then nothing is written: all threads share this word.
                let was_away = self.is_away.load(Ordering::Relaxed);
                if was_away && self.is_away.swap(false, Ordering::Relaxed) {
                    tracing::info!(store = self.at, "the store of rate limits is back");
                }
            }
            Some(away) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                if !self.is_away.swap(true, Ordering::Relaxed) {
                    tracing::warn!(store = self.at, %away, "the store of rate limits is away: each limit's `failure` holds");
                }
            }
        }
    }
}

/// Returns an address with user and password. The result is never shown.
fn with_login(address: &str, config: &RateLimit) -> Result<String, String> {
    let password = config.password.as_deref().map(password).transpose()?.unwrap_or_default();
    let user = config.user.as_deref().map(encoded).unwrap_or_default();
    if user.is_empty() && password.is_empty() {
        return Ok(address.to_owned());
    }
    Ok(match address.split_once("://") {
        Some(("unix", path)) => {
            let joint = if path.contains('?') { '&' } else { '?' };
            format!("unix://{path}{joint}user={user}&pass={password}")
        }
        Some((scheme, rest)) => format!("{scheme}://{user}:{password}@{rest}"),
        None => address.to_owned(),
    })
}

/// Reads the authorities that the configuration names; without a file those of the system hold.
fn roots(config: &RateLimit) -> Result<Option<Roots>, String> {
    let Some(path) = &config.authorities else { return Ok(None) };
    let roots = Roots::of_pem(&secret(path)?);
    roots.map(Some).map_err(|error| format!("`{}`: {error}", path.display()))
}

/// Reads a password, without the end of its line, as a part of an address.
fn password(path: &Path) -> Result<String, String> {
    let bytes = secret(path)?;
    let text = std::str::from_utf8(&bytes).map(|text| text.trim_end_matches(['\r', '\n']));
    match text {
        Ok(text) if !text.is_empty() => Ok(encoded(text)),
        _ => Err(format!("`{}` has no password: expected one line of text", path.display())),
    }
}

/// Encodes text for a part of an address (RFC 3986, section 2.1).
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn probe() -> Option<Demands> {
    let limit = Limit::new("wardgate-start", Failure::Deny).ok()?;
    let terms = Terms::new(Algorithm::Gcra { burst: None }, 1, Window::MINUTE).ok()?;
    Demands::new([Demand { limit, key: Key::new([]), terms, cost: 0 }]).ok()
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn a_password_is_a_part_of_an_address() {
        assert_eq!(encoded("p@ss/wörd:1"), "p%40ss%2Fw%C3%B6rd%3A1");
        assert_eq!(encoded("plain-1_2.3~"), "plain-1_2.3~");
    }
}

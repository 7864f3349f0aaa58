//! The configuration: one file in TOML, whose keys variables of the environment override.
//!
//! An unknown key is an error, with its line and the nearest known key, because an ignored option
//! is a broken promise. Paths are relative to the folder of the file.

mod auth;
mod authzen;
mod aux_data;
mod cors;
mod decision_log;
mod environment;
mod filter;
mod http;
mod keys;
mod log_export;
mod mqtt;
mod nearest;
mod origin;
mod policies;
mod ratelimit;
mod section;
mod shipping;
mod spocp;
mod traces;
mod witnesses;

use std::fmt;
use std::path::Path;
use std::time::Duration;

pub use auth::{Auth, CertificateOf, Jwt, TokenOf};
pub use authzen::Authzen;
pub use aux_data::{AuxData, KeySetAt};
pub use cors::{Cors, Origins};
pub use decision_log::{DecisionLog, Keep, OnFull};
pub use environment::Environment;
pub use filter::Filter;
pub use http::{Http, Tls};
pub use keys::{KeysAt, KeysUrl};
pub use log_export::LogExport;
pub use mqtt::{Behind, Mqtt, Subscribe, WebSocket};
pub use policies::{Compile, Location, Policies, Remote, Schemas};
pub use ratelimit::{RateLimit, StatesIn};
pub use shipping::{ObjectStore, Shipping, ShippingTarget, TokenIn, UrlTemplate};
pub use spocp::{Bounds, Durability, Spocp};
pub use traces::Traces;
pub use witnesses::Witnesses;

use environment::Overrides;
pub(crate) use section::Section;

use crate::files::{bounded, reason};
use crate::limits::{MAX_CONFIG_BYTES, WATCH};

/// The options of the server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of threads that answer; one for each core of the machine by default.
    pub threads: Option<usize>,
    /// The window of busy polling: the time for which a thread looks for the next request before it
    /// sleeps, when requests come in quick succession.
    pub busy_poll: Option<Duration>,
    /// The longest time that running answers may take after the stop signal.
    pub drain: Duration,
    /// The least important events that are logged.
    pub log: Level,
    /// The form of logged events.
    pub log_format: LogFormat,
    /// Decisions over HTTP.
    pub http: Http,
    /// The pages of other origins that may read answers, if there are any.
    pub cors: Option<Cors>,
    /// The source of the policies. Without it rules of SPOCP answer.
    pub policies: Option<Policies>,
    /// SPOCP over TCP, if it is spoken.
    pub spocp: Option<Spocp>,
    /// The gate of MQTT, if there is one.
    pub mqtt: Option<Mqtt>,
    /// The callers, and the administrators among them.
    pub auth: Auth,
    /// Tokens that come with a request.
    pub aux_data: AuxData,
    /// The options of AuthZEN alone.
    pub authzen: Authzen,
    /// The charging of rate limits in policies. Without it policies with limits are refused.
    pub ratelimit: Option<RateLimit>,
    /// The recording of decisions.
    pub decision_log: Option<DecisionLog>,
    /// The collector of spans, if traces are on.
    pub traces: Option<Traces>,
}

/// The least importance of an event that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The server cannot do what was requested.
    Error,
    /// A fault that the server survives.
    Warn,
    /// An event for the operator.
    Info,
    /// A detail for finding faults.
    Debug,
}

/// The form of logged events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One object on a line, for programs.
    #[default]
    Json,
    /// Words, for the person at the terminal.
    Text,
}

/// An error in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    line: Option<usize>,
    message: String,
}

impl Config {
    /// Reads a file, whose keys an environment overrides.
    ///
    /// # Errors
    /// The file cannot be read, or is no configuration. The caller adds the name of the file.
    pub fn read(path: &Path, environment: &Environment) -> Result<Self, ConfigError> {
        let refuse = |why: &str| ConfigError::new(format!("cannot be read: {why}"));
        let bytes = bounded(path, MAX_CONFIG_BYTES).map_err(|error| refuse(&reason(&error)))?;
        let text = String::from_utf8(bytes).map_err(|_| refuse("it is not text in UTF-8"))?;
        Self::parse_with(&text, path.parent().unwrap_or(Path::new("")), environment)
    }

    /// Reads text; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// The text is no configuration.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ConfigError> {
        Self::parse_with(text, folder, &Environment::default())
    }

    /// Reads text whose keys an environment overrides; paths in both are relative to `folder`.
    ///
    /// # Errors
    /// They are no configuration.
    pub fn parse_with(
        text: &str,
        folder: &Path,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table = toml::de::DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| section::line_at(text, span.start));
            ConfigError { line, message: error.message().to_owned() }
        })?;
        let overrides = Overrides::new(environment)?;
        let config = Self::of(Section::root(text, folder, table.get_ref(), &overrides))?;
        overrides.must_be_used()?;
        Ok(config)
    }

    fn of(mut root: Section<'_>) -> Result<Self, ConfigError> {
        let mut server = root.section("server")?;
        let (http, policies) = (root.section("http")?, root.section("policies")?);
        let (spocp, auth) = (root.section("spocp")?, root.section("auth")?);
        let (aux_data, authzen) = (root.section("aux-data")?, root.section("authzen")?);
        let (traces, mqtt) = (root.section("traces")?, root.section("mqtt")?);
        let cors = root.section("cors")?;
        let ratelimit = root.section("ratelimit")?;
        let decision_log = root.section("decision-log")?;
        // Reported before the missing tables: a misspelt table is not a missing one.
        root.finish()?;
        let fitting =
            must_fit([&http, &policies, &spocp], [&auth, &aux_data, &authzen, &ratelimit]);
        // Policies are served over HTTP; a server without them serves HTTP only if `[http]` is
        // present.
        let is_http_spoken = http.is_given() || policies.is_given();
        let mut config = Self {
            threads: server.number("threads", 1..=MAX_THREADS)?,
            busy_poll: server.number("awake-microseconds", 0..=1000)?.map(Duration::from_micros),
            drain: server.seconds("drain-seconds", 0..=3600)?.unwrap_or(DRAIN),
            log: server.choice("log", LEVELS)?.unwrap_or(Level::Info),
            log_format: server.choice("log-format", LOG_FORMATS)?.unwrap_or_default(),
            http: Http::read(http)?,
            cors: Cors::read(cors)?,
            policies: Policies::read(policies)?,
            spocp: Spocp::read(spocp)?,
            mqtt: Mqtt::read(mqtt)?,
            auth: Auth::read(auth)?,
            aux_data: AuxData::read(aux_data)?,
            authzen: Authzen::read(authzen)?,
            ratelimit: RateLimit::read(ratelimit)?,
            decision_log: DecisionLog::read(decision_log)?,
            traces: Traces::read(traces)?,
        };
        server.finish()?;
        fitting?;
        config.must_have_rules()?;
        if let Some(mqtt) = &config.mqtt {
            mqtt.must_fit(config.policies.is_some(), &config.http, &config.auth)?;
        }
        config.authzen.must_fit(&config.http.listen)?;
        if !is_http_spoken {
            config.http.listen.clear();
            config.must_need_no_http()?;
        }
        Ok(config)
    }

    /// Returns the interval between looks for new policies and a new index; zero turns them off.
    pub(crate) fn watch(&self) -> Duration {
        match (&self.policies, &self.authzen.index) {
            (Some(policies), _) => policies.watch,
            (None, Some(_)) => WATCH,
            (None, None) => Duration::ZERO,
        }
    }

    /// Refuses options of HTTP where it is not spoken.
    fn must_need_no_http(&self) -> Result<(), ConfigError> {
        match &self.cors {
            Some(_) => {
                let message =
                    "`[cors]` needs `[http]`, which is off by default without `[policies]`";
                Err(ConfigError::new(message))
            }
            None => Ok(()),
        }
    }

    /// Refuses a server that answers by rules and can never have one.
    fn must_have_rules(&self) -> Result<(), ConfigError> {
        let refuse = |message: &str| Err(ConfigError::new(message));
        match (&self.policies, &self.spocp) {
            (_, None) if self.authzen.rules.is_some() => {
                refuse("`[authzen.rules]` needs `[spocp]`, which says where rules are")
            }
            (None, Some(spocp)) if spocp.rules.is_empty() && spocp.changes.is_none() => {
                refuse("`[spocp]` without `[policies]` needs `rules` or `changes`")
            }
            _ => Ok(()),
        }
    }
}

/// Refuses tables that would have no effect, and tables that need others.
fn must_fit(
    [http, policies, spocp]: [&Section<'_>; 3],
    [auth, aux_data, authzen, ratelimit]: [&Section<'_>; 4],
) -> Result<(), ConfigError> {
    let refuse = |message: String| Err(ConfigError::new(message));
    if policies.is_given() {
        return Ok(());
    }
    if !spocp.is_given() {
        return refuse(
            "`[policies]` or `[spocp]` is required: decisions come from one of them".into(),
        );
    }
    if aux_data.is_given() {
        return refuse("`[aux-data]` needs `[policies]`, whose conditions read tokens".into());
    }
    if ratelimit.is_given() {
        return refuse("`[ratelimit]` needs `[policies]`, which have the limits".into());
    }
    let known = [auth, authzen].into_iter().find(|table| table.is_given());
    match known.filter(|_| !http.is_given()) {
        Some(table) => refuse(format!(
            "`[{}]` needs `[http]`, which is off by default without `[policies]`",
            table.name()
        )),
        None if authzen.is_given() && !authzen.has("rules") => refuse(
            "`[authzen]` needs `[policies]` or `[authzen.rules]`, which decide its requests".into(),
        ),
        None => Ok(()),
    }
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }

    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }

    /// The line of the file, counted from 1.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

const MAX_THREADS: usize = 1024;
const DRAIN: Duration = Duration::from_secs(10);
const LOG_FORMATS: &[(&str, LogFormat)] = &[("json", LogFormat::Json), ("text", LogFormat::Text)];
const LEVELS: &[(&str, Level)] = &[
    ("error", Level::Error),
    ("warn", Level::Warn),
    ("info", Level::Info),
    ("debug", Level::Debug),
];

#[cfg(test)]
mod tests;

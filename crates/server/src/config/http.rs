//! `[http]` and `[http.tls]`.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Section};
use crate::limits::{MAX_LISTENERS, REQUEST_STEPS};

/// Decisions over HTTP.
#[derive(Clone, Debug)]
pub struct Http {
    /// Addresses to listen at. Without any, HTTP is not spoken.
    pub listen: Vec<String>,
    /// The largest number of open connections. Those beyond wait to be accepted.
    pub max_connections: usize,
    /// The largest number of resources of one request.
    pub max_resources: usize,
    /// The largest number of actions for each resource of one request.
    pub max_actions: usize,
    /// The largest number of steps for all decisions on one request. Decisions beyond it are
    /// denials.
    pub max_steps: u32,
    /// The longest body that is read.
    pub max_body_bytes: usize,
    /// The longest time for the head of a request.
    pub header_timeout: Duration,
    /// The longest time for the body of a request.
    pub body_timeout: Duration,
    /// The longest time a connection stays open without a request.
    pub idle_timeout: Duration,
    /// Certificate and key, if HTTP is spoken over TLS.
    pub tls: Option<Tls>,
}

/// A certificate with its key, and the roots of client certificates.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate and those that lead to its root, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
    /// Roots of the certificates of clients, as PEM. A client may then show one.
    pub client_ca: Option<PathBuf>,
    /// True if every client must show a certificate.
    pub require_client: bool,
}

impl Http {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let tls = section.section("tls")?;
        let http = Self {
            listen: listen(&mut section, "127.0.0.1:3592")?,
            max_connections: section.number("max-connections", 1..=1_000_000)?.unwrap_or(10_000),
            max_resources: section.number("max-resources", 1..=10_000)?.unwrap_or(50),
            max_actions: section.number("max-actions", 1..=10_000)?.unwrap_or(50),
            max_steps: section.number("max-steps", 1..=u32::MAX)?.unwrap_or(REQUEST_STEPS),
            max_body_bytes: section.number("max-body-bytes", 1..=1 << 30)?.unwrap_or(4 << 20),
            header_timeout: section.seconds("header-seconds", 1..=3600)?.unwrap_or(HEADER),
            body_timeout: section.seconds("body-seconds", 1..=3600)?.unwrap_or(BODY),
            idle_timeout: section.seconds("idle-seconds", 1..=86_400)?.unwrap_or(IDLE),
            tls: Tls::read(tls)?,
        };
        section.finish()?;
        Ok(http)
    }
}

impl Tls {
    /// Reads a table of this kind; returns `None` if the file lacks it.
    pub(crate) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let tls = Self {
            certificate: section.required_path("certificate")?,
            key: section.required_path("key")?,
            client_ca: section.path("client-ca")?,
            require_client: section.flag("require-client-certificate")?.unwrap_or(false),
        };
        section.finish()?;
        if tls.require_client && tls.client_ca.is_none() {
            let message =
                "`require-client-certificate` needs `client-ca`, the roots of those certificates";
            return Err(ConfigError::new(message));
        }
        Ok(Some(tls))
    }
}

/// Reads the addresses of a protocol.
pub(crate) fn listen(
    section: &mut Section<'_>,
    otherwise: &str,
) -> Result<Vec<String>, ConfigError> {
    let listen = section.texts("listen")?;
    if listen.len() > MAX_LISTENERS {
        return Err(ConfigError::new(format!(
            "`listen` must have at most {MAX_LISTENERS} addresses"
        )));
    }
    Ok(if listen.is_empty() { vec![otherwise.to_owned()] } else { listen })
}

const HEADER: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(120);

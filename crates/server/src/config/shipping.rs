//! `[decision-log.ship]`: where copies of finished segments and of checkpoints go.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigError, Section};

/// The shipping of a decision log.
#[derive(Clone, Debug)]
pub struct Shipping {
    /// The place of the copies.
    pub target: ShippingTarget,
    /// The time between two checkpoints that are shipped.
    pub checkpoint: Duration,
    /// True if the sealed values beside the segments are shipped, too.
    pub values: bool,
}

/// The place to which a decision log is shipped.
#[derive(Clone, Debug)]
pub enum ShippingTarget {
    /// A folder that is there, on another volume.
    Folder(PathBuf),
    /// A store of objects, over HTTP.
    Store(ObjectStore),
}

/// A store of objects, over HTTP.
#[derive(Clone, Debug)]
pub struct ObjectStore {
    /// The URL of an object.
    pub url: UrlTemplate,
    /// The roots that the certificate of the store must lead to.
    pub ca: Option<PathBuf>,
    /// The bearer token, if the store wants one.
    pub token: Option<TokenIn>,
    /// A file of headers that the store wants to see.
    pub headers: Option<PathBuf>,
    /// The longest time that one object may take.
    pub timeout: Duration,
}

/// The URL of an object, with `{name}` for its name.
#[derive(Clone, Debug)]
pub enum UrlTemplate {
    /// As it is in the configuration.
    Text(String),
    /// In a file, since its query is a signature.
    File(PathBuf),
}

/// The place of a bearer token.
#[derive(Clone, Debug)]
pub enum TokenIn {
    /// A file, which is read for each request.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
}

impl Shipping {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (folder, text) = (section.path("folder")?, section.text("url")?);
        let (file, ca) = (section.path("url-file")?, section.path("url-ca")?);
        let token_file = section.path("token-file")?;
        let token_environment = section.text("token-environment")?;
        let headers = section.path("headers")?;
        let timeout = section.seconds("timeout-seconds", 1..=86_400)?;
        let checkpoint = section.seconds("checkpoint-seconds", 1..=86_400)?;
        let values = section.flag("values")?.unwrap_or(false);
        section.finish()?;
        let token = match (token_file, token_environment) {
            (Some(_), Some(_)) => return refuse("has both `token-file` and `token-environment`"),
            (Some(file), None) => Some(TokenIn::File(file)),
            (None, name) => name.map(TokenIn::Environment),
        };
        let url = match (text, file) {
            (Some(_), Some(_)) => return refuse("has both `url` and `url-file`"),
            (Some(text), None) => Some(UrlTemplate::Text(text)),
            (None, file) => file.map(UrlTemplate::File),
        };
        let is_plain = ca.is_none() && token.is_none() && headers.is_none() && timeout.is_none();
        let timeout = timeout.unwrap_or(TIMEOUT);
        let target = match (folder, url) {
            (Some(folder), None) if is_plain => ShippingTarget::Folder(folder),
            (Some(_), None) => return refuse("has options of a store beside `folder`"),
            (None, Some(url)) => {
                ShippingTarget::Store(ObjectStore { url, ca, token, headers, timeout })
            }
            _ => return refuse("must have one of `folder`, `url` and `url-file`"),
        };
        Ok(Some(Self { target, checkpoint: checkpoint.unwrap_or(CHECKPOINT), values }))
    }
}

fn refuse<T>(message: &str) -> Result<T, ConfigError> {
    Err(ConfigError::new(format!("`[decision-log.ship]` {message}")))
}

const CHECKPOINT: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(300);

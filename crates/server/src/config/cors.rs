//! `[cors]`: pages of other origins that may read answers.

use std::time::Duration;

use super::origin::must_be_origins;
use super::{ConfigError, Section};
use crate::limits::MAX_CORS_HEADERS;

/// The rights of pages of other origins (Cross-Origin Resource Sharing, the Fetch standard).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cors {
    /// The origins of the pages.
    pub origins: Origins,
    /// The methods of their requests.
    pub methods: Vec<&'static str>,
    /// The headers of their requests, in lower case, beside those that a page may always send.
    pub headers: Vec<String>,
    /// True if their requests may carry a client certificate.
    pub credentials: bool,
    /// The time for which a browser need not ask again.
    pub max_age: Duration,
}

/// The origins of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Every page there is.
    Any,
    /// Pages of these origins.
    Listed(Vec<String>),
}

impl Cors {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (origins, methods) = (section.texts("origins")?, section.texts_if_given("methods")?);
        let headers = section.texts_if_given("headers")?;
        let credentials = section.flag("credentials")?.unwrap_or(false);
        let max_age = section.seconds("max-age-seconds", 0..=86_400)?.unwrap_or(MAX_AGE);
        section.finish()?;
        let origins = Origins::read(origins)?;
        if credentials && origins == Origins::Any {
            return Err(ConfigError::new(
                "`cors.credentials` needs `cors.origins` by name: `*` is every page there is",
            ));
        }
        let methods = methods.as_deref().map(known_methods).transpose()?;
        let headers = headers.map(known_headers).transpose()?;
        Ok(Some(Self {
            origins,
            methods: methods.unwrap_or_else(|| DEFAULT_METHODS.to_vec()),
            headers: headers.unwrap_or_else(|| DEFAULT_HEADERS.map(str::to_owned).to_vec()),
            credentials,
            max_age,
        }))
    }
}

impl Origins {
    fn read(origins: Vec<String>) -> Result<Self, ConfigError> {
        if origins == ["*"] {
            return Ok(Self::Any);
        }
        if origins.is_empty() {
            let message = "`origins` is missing in `[cors]`: the pages that may read answers";
            return Err(ConfigError::new(message));
        }
        must_be_origins("cors.origins", &origins)?;
        Ok(Self::Listed(origins))
    }
}

fn known_methods(given: &[String]) -> Result<Vec<&'static str>, ConfigError> {
    let known = |method: &String| METHODS.into_iter().find(|known| known == method);
    let methods: Option<Vec<_>> = given.iter().map(known).collect();
    methods.ok_or_else(|| {
        ConfigError::new("`cors.methods` must be of `GET`, `HEAD`, `POST`, which endpoints have")
    })
}

fn known_headers(given: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let is_name = |name: &String| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if given.len() > MAX_CORS_HEADERS || !given.iter().all(is_name) {
        return Err(ConfigError::new(format!(
            "`cors.headers` must be at most {MAX_CORS_HEADERS} names of letters, digits, `-` and `_`"
        )));
    }
    Ok(given.into_iter().map(|name| name.to_ascii_lowercase()).collect())
}

const METHODS: [&str; 3] = ["GET", "HEAD", "POST"];
const DEFAULT_METHODS: [&str; 2] = ["GET", "POST"];
/// What callers of this server send.
const DEFAULT_HEADERS: [&str; 4] = ["authorization", "content-type", "traceparent", "x-request-id"];
const MAX_AGE: Duration = Duration::from_secs(600);

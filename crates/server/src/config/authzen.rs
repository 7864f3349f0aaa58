//! `[authzen]`: the options of AuthZEN alone.

use std::path::PathBuf;

use wardgate_native::protocol::authzen::Shape;

use super::{ConfigError, Section};
use crate::address::{self, Address};

/// The options of AuthZEN alone.
#[derive(Clone, Debug, Default)]
pub struct Authzen {
    /// The URL by which callers know this server, without a slash at its end.
    pub url: Option<String>,
    /// A folder with subjects and resources, for searches and for properties that requests leave
    /// out.
    pub index: Option<PathBuf>,
    /// A file with the secret that tokens of pages are made with.
    pub page_key: Option<PathBuf>,
    /// Rules of SPOCP answer instead of policies: which properties their queries have.
    pub rules: Option<Shape>,
}

/// Reads the table; returns `None` if the file lacks it.
fn shape(mut section: Section<'_>) -> Result<Option<Shape>, ConfigError> {
    if !section.is_given() {
        return Ok(None);
    }
    let mut names = |key| section.texts_if_given(key);
    let shape = Shape {
        subject: names("subject")?,
        action: names("action")?,
        resource: names("resource")?,
        context: names("context")?,
    };
    section.finish()?;
    Ok(Some(shape))
}

impl Authzen {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let rules = section.section("rules")?;
        let authzen = Self {
            rules: shape(rules)?,
            url: section.text("url")?.map(|url| url.trim_end_matches('/').to_owned()),
            index: section.path("index")?,
            page_key: section.path("page-key")?,
        };
        section.finish()?;
        Ok(authzen)
    }

    /// Refuses a URL that callers could not use, or that would make them send tokens in the clear:
    /// `http` is only for a server at loopback addresses.
    pub(super) fn must_fit(&self, listen: &[String]) -> Result<(), ConfigError> {
        let Some(url) = &self.url else { return Ok(()) };
        let address =
            Address::read(url).map_err(|why| ConfigError::new(format!("`authzen.url`: {why}")))?;
        if url.contains(['?', '#']) || url.chars().any(|c| c.is_whitespace()) {
            let message = "`authzen.url` must be a URL without query and fragment";
            return Err(ConfigError::new(message));
        }
        if !address.is_tls() && !listen.iter().all(|address| is_loopback(address)) {
            let message = "`authzen.url` must begin with `https`: `http` is only for a server that listens at loopback addresses";
            return Err(ConfigError::new(message));
        }
        Ok(())
    }
}

/// Returns true if only this machine reaches a listener. The address of an inherited socket is
/// unknown, so it is not one.
fn is_loopback(listen: &str) -> bool {
    listen.rsplit_once(':').is_some_and(|(host, _)| address::is_loopback(host))
}

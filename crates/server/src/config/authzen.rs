//! `[authzen]`: what only AuthZEN has.

use std::path::PathBuf;

use super::{ConfigError, Section};

/// What only AuthZEN has.
#[derive(Clone, Debug, Default)]
pub struct Authzen {
    /// The URL by which callers know this server, without a slash at its end.
    pub url: Option<String>,
    /// A folder with subjects and resources, for searches and for properties that requests leave out.
    pub index: Option<PathBuf>,
    /// A file with the secret that tokens of pages are made with.
    pub page_key: Option<PathBuf>,
}

impl Authzen {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let authzen = Self {
            url: section.text("url")?.map(|url| url.trim_end_matches('/').to_owned()),
            index: section.path("index")?,
            page_key: section.path("page-key")?,
        };
        section.finish()?;
        let is_url = |url: &String| {
            (url.starts_with("https://") || url.starts_with("http://")) && !url.contains(['?', '#'])
        };
        if authzen.url.as_ref().is_some_and(|url| !is_url(url)) {
            let message =
                "`authzen.url` must be a URL with https or http, without query and fragment";
            return Err(ConfigError::new(message));
        }
        Ok(authzen)
    }
}

//! `[authzen]`: what only AuthZEN has.

use std::path::PathBuf;

use wardgate_native::authzen::Shape;

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
    /// Rules of SPOCP answer instead of policies: which properties their queries have.
    pub rules: Option<Shape>,
}

/// Reads the table; none if the file has none.
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

//! A bundle on another server.

use wardgate_bundle::limits::{MAX_BUNDLE_BYTES, MAX_SEAL_BYTES};

use super::{Lookup, Source, SourceError};
use crate::config::Remote;
use crate::limits::FETCH;
use crate::net::client::fetch::{Download, Fetcher};

/// A bundle on another server, asked for over HTTP with the `ETag` of the one before. Who signed it is all that counts:
/// whoever answers at that address can withhold a bundle, and cannot make one.
pub struct UrlSource {
    url: String,
    fetcher: Fetcher,
}

impl UrlSource {
    /// Reads what is needed to ask.
    ///
    /// # Errors
    /// It cannot be asked for.
    pub fn new(remote: &Remote) -> Result<Self, SourceError> {
        let most = MAX_BUNDLE_BYTES.saturating_add(MAX_SEAL_BYTES);
        let fetcher = Fetcher::new(remote, most, FETCH).map_err(SourceError::new)?;
        Ok(Self { url: remote.url.clone(), fetcher })
    }
}

impl Source for UrlSource {
    fn look(&mut self, anyway: bool) -> Result<Lookup, SourceError> {
        match self.fetcher.fetch(anyway) {
            Ok(Download::Bytes(bytes)) => Ok(Lookup::Bundle(bytes)),
            Ok(Download::Unchanged) => Ok(Lookup::Unchanged),
            Err(error) => Err(SourceError::new(format!("cannot get {}: {error}", self.name()))),
        }
    }

    fn name(&self) -> String {
        format!("the bundle `{}`", self.url)
    }
}

impl std::fmt::Debug for UrlSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UrlSource").field("url", &self.url).finish_non_exhaustive()
    }
}

//! A bundle on another server.

use wardgate_bundle::limits::{MAX_BUNDLE_BYTES, MAX_SEAL_BYTES};

use super::{Lookup, Source, SourceError};
use crate::config::Remote;
use crate::limits::FETCH;
use crate::net::client::fetch::{Download, Fetcher};

/// A bundle on another server, fetched over HTTP with the `ETag` of the one before. Its signature
/// is the only proof: the server at that address can withhold a bundle, and cannot make one.
pub struct UrlSource {
    url: String,
    fetcher: Fetcher,
}

impl UrlSource {
    /// Reads the files of the configuration.
    ///
    /// # Errors
    /// The bundle cannot be fetched.
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

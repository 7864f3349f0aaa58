//! A file of another server, over HTTP: bounded in bytes and time, and fetched only if it changed.
//!
//! It is fetched on a thread that may wait. The caller verifies who wrote it; redirects are not
//! followed, so that the configuration names its place.

use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, ETAG, HOST, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::address::Address;
use crate::config::Remote;
use crate::files;
use crate::net::client::connect::{AGENT, late};

/// A file on another server.
pub(crate) struct Fetcher {
    address: Address,
    tls: Option<TlsConnector>,
    authorization: Option<HeaderValue>,
    /// The most bytes it may have.
    most: usize,
    /// The longest that all of it may take.
    within: Duration,
    /// The `ETag` of the last file.
    tag: Option<HeaderValue>,
    runtime: Runtime,
}

/// The outcome of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Download {
    /// The file.
    Bytes(Vec<u8>),
    /// It is the one that was sent last.
    Unchanged,
}

impl Fetcher {
    /// Reads the files of the configuration.
    ///
    /// # Errors
    /// The file cannot be fetched; in words for the operator.
    pub(crate) fn new(remote: &Remote, most: usize, within: Duration) -> Result<Self, String> {
        let address = Address::read(&remote.url)?;
        let tls = address.tls(remote.ca.as_deref(), "url-ca")?;
        let authorization = remote.token.as_deref().map(bearer).transpose()?;
        if authorization.is_some() && tls.is_none() {
            return Err("`url-token` would cross the network unencrypted: use `https`".into());
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Self { address, tls, authorization, most, within, tag: None, runtime })
    }

    /// Fetches the file. With `anyway` the server sends it even if it has not changed.
    ///
    /// # Errors
    /// The fetch failed; in words for the operator.
    pub(crate) fn fetch(&mut self, anyway: bool) -> Result<Download, String> {
        let tag = self.tag.as_ref().filter(|_| !anyway);
        let fetched = self.runtime.block_on(async {
            timeout(self.within, self.request_once(tag))
                .await
                .unwrap_or_else(|_| Err(late(self.within)))
        });
        let (fetched, tag) = fetched?;
        if fetched != Download::Unchanged {
            self.tag = tag;
        }
        Ok(fetched)
    }

    async fn request_once(
        &self,
        tag: Option<&HeaderValue>,
    ) -> Result<(Download, Option<HeaderValue>), String> {
        let stream = self.address.connect(self.tls.as_ref()).await?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| error.to_string())?;
        let exchange = async {
            let response = sender.send_request(self.request(tag)?).await;
            self.rewind(response.map_err(|error| error.to_string())?, tag.is_some()).await
        };
        // The connection does the reading and writing during the exchange, and ends with it.
        tokio::select! {
            biased;
            answer = exchange => answer,
            Err(error) = connection => Err(error.to_string()),
        }
    }

    fn request(&self, tag: Option<&HeaderValue>) -> Result<Request<Empty<Bytes>>, String> {
        let mut request = Request::get(self.address.path())
            .header(HOST, self.address.host_header())
            .header(ACCEPT, "*/*")
            .header(USER_AGENT, AGENT);
        for (name, value) in [(AUTHORIZATION, self.authorization.as_ref()), (IF_NONE_MATCH, tag)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(Empty::new()).map_err(|error| error.to_string())
    }

    async fn rewind(
        &self,
        response: Response<Incoming>,
        has_tag: bool,
    ) -> Result<(Download, Option<HeaderValue>), String> {
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if has_tag => return Ok((Download::Unchanged, None)),
            status if status.is_redirection() => {
                return Err(format!("the server answers {status}, and redirects are not followed"));
            }
            status => return Err(format!("the server answers {status}")),
        }
        let tag = response.headers().get(ETAG).filter(|tag| tag.len() <= MAX_TAG_BYTES).cloned();
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the file ends early: {error}"))?;
            let Ok(piece) = frame.into_data() else { continue };
            if bytes.len().saturating_add(piece.len()) > self.most {
                return Err(format!("the file has more than {} bytes", self.most));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok((Download::Bytes(bytes), tag))
    }
}

fn bearer(path: &Path) -> Result<HeaderValue, String> {
    let token = files::secret(path)?;
    let mut value = HeaderValue::from_bytes(&[b"Bearer ", token.trim_ascii()].concat())
        .map_err(|_| format!("`{}` holds no token", path.display()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Bytes of the longest tag that is repeated to the server.
const MAX_TAG_BYTES: usize = 1024;

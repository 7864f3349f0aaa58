//! The collector of spans, over HTTP: one request after the other, on one connection while it
//! lasts.
//!
//! Its answer is read up to a bound.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio_rustls::TlsConnector;

use crate::address::Address;
use crate::config::Traces;
use crate::limits::MAX_COLLECTOR_ANSWER_BYTES;
use crate::net::client::connect::AGENT;
use crate::net::client::headers::{read_headers, retry_after};

/// The server that takes spans.
pub(super) struct Collector {
    address: Address,
    tls: Option<TlsConnector>,
    headers: HeaderMap,
    /// The connection of the last request, if it can be used again.
    open: Option<SendRequest<Full<Bytes>>>,
}

/// The answer of the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The spans were taken, except for a number of them.
    Taken { refused: usize },
    /// It will never take them.
    Never(StatusCode),
    /// The collector may take the spans later, perhaps after a time that it names.
    Later(StatusCode, Option<Duration>),
}

impl Collector {
    /// Reads the files of the configuration.
    ///
    /// # Errors
    /// The collector cannot be used; in words for the operator.
    pub(super) fn new(config: &Traces) -> Result<Self, String> {
        let address = Address::read(&config.endpoint)?;
        let tls = address.tls(config.ca.as_deref(), "endpoint-ca")?;
        if tls.is_none() && !address.is_loopback() {
            return Err("spans would cross the network unencrypted: use `https`".into());
        }
        let headers = config.headers.as_deref().map(read_headers).transpose()?;
        Ok(Self { address, tls, headers: headers.unwrap_or_default(), open: None })
    }

    /// Sends spans. A dropped future leaves no connection behind.
    ///
    /// # Errors
    /// The fate of the spans is unknown; in words for the operator.
    pub(super) async fn send(&mut self, spans: Bytes) -> Result<Answer, String> {
        let mut sender = match self.open.take() {
            Some(open) if !open.is_closed() => open,
            _ => self.connect().await?,
        };
        sender.ready().await.map_err(|error| error.to_string())?;
        let request = self.request(spans).map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        match status.as_u16() {
            200..300 => {
                let answer =
                    Limited::new(response.into_body(), MAX_COLLECTOR_ANSWER_BYTES).collect();
                // The spans are not sent again, even if the rest of the answer is malformed.
                let Ok(answer) = answer.await else { return Ok(Answer::Taken { refused: 0 }) };
                self.open = Some(sender);
                Ok(Answer::Taken { refused: refused(&answer.to_bytes()) })
            }
            429 | 502 | 503 | 504 => Ok(Answer::Later(status, retry_after(response.headers()))),
            _ => Ok(Answer::Never(status)),
        }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, String> {
        let stream = self.address.connect(self.tls.as_ref()).await?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| error.to_string())?;
        // It ends with the sender.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn request(&self, spans: Bytes) -> hyper::http::Result<Request<Full<Bytes>>> {
        let path = match self.address.path() {
            "/" => PATH,
            path => path,
        };
        let mut request = Request::post(path)
            .header(HOST, self.address.host_header())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::new(spans))?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }
}

/// Returns the number of sent spans that the collector refused.
fn refused(body: &[u8]) -> usize {
    // Some answer nothing, or not in JSON, and mean that all is well.
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let count = answer.pointer("/partialSuccess/rejectedSpans");
    let count = count.and_then(|count| match count {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    });
    count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

/// The path that the protocol names, for a URL without one.
const PATH: &str = "/v1/traces";

//! A collector of OpenTelemetry, over HTTP: one request after the other, on one connection while it
//! lasts.
//!
//! Its answer is read up to a bound.

use std::path::Path;
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
use crate::limits::MAX_COLLECTOR_ANSWER_BYTES;
use crate::net::client::connect::AGENT;
use crate::net::client::headers::{read_headers, retry_after};

/// The server that takes spans, or records of a log.
pub(crate) struct Collector {
    signal: Signal,
    address: Address,
    tls: Option<TlsConnector>,
    headers: HeaderMap,
    /// The connection of the last request, if it can be used again.
    open: Option<SendRequest<Full<Bytes>>>,
}

/// What is sent to a collector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// What the items are called in messages.
    items: &'static str,
    /// The path that the protocol names, for a URL without one.
    path: &'static str,
    /// Where an answer says how many items are refused.
    refused: &'static str,
}

/// The answer of the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The items were taken, except for a number of them.
    Taken { refused: usize },
    /// It will never take them.
    Never(StatusCode),
    /// The collector may take the items later, perhaps after a time that it names.
    Later(StatusCode, Option<Duration>),
}

impl Collector {
    /// Reads the files of the configuration.
    ///
    /// # Errors
    /// The collector cannot be used; in words for the operator.
    pub(crate) fn new(
        signal: Signal,
        endpoint: &str,
        ca: Option<&Path>,
        headers: Option<&Path>,
    ) -> Result<Self, String> {
        let address = Address::read(endpoint)?;
        let tls = address.tls(ca, "endpoint-ca")?;
        if tls.is_none() && !address.is_loopback() {
            let items = signal.items;
            return Err(format!("{items} would cross the network unencrypted: use `https`"));
        }
        let headers = headers.map(read_headers).transpose()?.unwrap_or_default();
        Ok(Self { signal, address, tls, headers, open: None })
    }

    /// Sends items. A dropped future leaves no connection behind.
    ///
    /// # Errors
    /// The fate of the items is unknown; in words for the operator.
    pub(crate) async fn send(&mut self, items: Bytes) -> Result<Answer, String> {
        let mut sender = match self.open.take() {
            Some(open) if !open.is_closed() => open,
            _ => self.connect().await?,
        };
        sender.ready().await.map_err(|error| error.to_string())?;
        let request = self.request(items).map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        match status.as_u16() {
            200..300 => {
                let answer =
                    Limited::new(response.into_body(), MAX_COLLECTOR_ANSWER_BYTES).collect();
                // The items are not sent again, even if the rest of the answer is malformed.
                let Ok(answer) = answer.await else { return Ok(Answer::Taken { refused: 0 }) };
                self.open = Some(sender);
                Ok(Answer::Taken { refused: self.refused(&answer.to_bytes()) })
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

    fn request(&self, items: Bytes) -> hyper::http::Result<Request<Full<Bytes>>> {
        let path = match self.address.path() {
            "/" => self.signal.path,
            path => path,
        };
        let mut request = Request::post(path)
            .header(HOST, self.address.host_header())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Full::new(items))?;
        request.headers_mut().extend(self.headers.clone());
        Ok(request)
    }

    /// Returns the number of sent items that the collector refused.
    fn refused(&self, body: &[u8]) -> usize {
        // Some answer nothing, or not in JSON, and mean that all is well.
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let count = answer.pointer(self.signal.refused);
        let count = count.and_then(|count| match count {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        });
        count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
    }
}

impl Signal {
    pub(crate) const SPANS: Self =
        Self { items: "spans", path: "/v1/traces", refused: "/partialSuccess/rejectedSpans" };
    pub(crate) const RECORDS: Self =
        Self { items: "records", path: "/v1/logs", refused: "/partialSuccess/rejectedLogRecords" };
}

//! Requests to a witness over HTTP: one after the other, on one connection while it lasts.

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_rustls::TlsConnector;
use wardgate_decision_log::witness::ADD_CHECKPOINT;

use crate::address::Address;
use crate::config::Witnesses;
use crate::limits::MAX_WITNESS_ANSWER_BYTES;
use crate::net::client::connect::AGENT;

/// The way to a witness.
pub(super) struct Client {
    address: Address,
    tls: Option<TlsConnector>,
    path: String,
    /// The connection of the last request, if it can be used again.
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// Reads the roots that the configuration names, where the URL has `https`.
    ///
    /// # Errors
    /// The witness cannot be asked; in words for the operator.
    pub(super) fn new(url: &str, config: &Witnesses) -> Result<Self, String> {
        let address = Address::read(url)?;
        let roots = config.ca.as_deref().filter(|_| address.is_tls());
        let tls = address.tls(roots, "ca")?;
        if address.path().contains('?') {
            return Err(format!("expected a URL without a query, found `{url}`"));
        }
        let path = format!("{}{ADD_CHECKPOINT}", address.path().trim_end_matches('/'));
        Ok(Self { address, tls, path, open: None })
    }

    /// Sends a request, and returns status and body of the answer. A dropped future leaves no connection behind.
    ///
    /// # Errors
    /// There is no answer; in words for the operator.
    pub(super) async fn send(&mut self, body: Bytes) -> Result<(StatusCode, Bytes), String> {
        // The witness may have closed the connection meanwhile. It cosigns again what it has cosigned.
        if let Some(open) = self.open.take().filter(|open| !open.is_closed())
            && let Ok(answer) = self.exchange(open, body.clone()).await
        {
            return Ok(answer);
        }
        let stream = self.address.connect(self.tls.as_ref()).await?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| error.to_string())?;
        // It ends with the sender.
        tokio::spawn(connection);
        self.exchange(sender, body).await
    }

    async fn exchange(
        &mut self,
        mut sender: SendRequest<Full<Bytes>>,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), String> {
        sender.ready().await.map_err(|error| error.to_string())?;
        let request = self.request(body).map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_WITNESS_ANSWER_BYTES).collect().await;
        let body = body.map_err(|_| "its answer is too long, or ends early".to_owned())?;
        self.open = Some(sender);
        Ok((status, body.to_bytes()))
    }

    fn request(&self, body: Bytes) -> hyper::http::Result<Request<Full<Bytes>>> {
        Request::post(self.path.as_str())
            .header(HOST, self.address.host_header())
            .header(CONTENT_TYPE, "text/plain; charset=utf-8")
            .header(USER_AGENT, AGENT)
            .body(Full::new(body))
    }
}

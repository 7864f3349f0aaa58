//! A store of objects as the target, over HTTP: `PUT` with `If-None-Match: *`, so that nothing is replaced, and `GET` to
//! compare.
//!
//! URLs may have a signature in their query, so no message has more of them than the host.

use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{env, fmt, io};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::object::Object;
use super::target::{Fault, Found, Put};
use crate::address::Address;
use crate::config::{ObjectStore, TokenIn, UrlTemplate};
use crate::files;
use crate::net::client::connect::{AGENT, late};
use crate::net::client::headers::{read_headers, retry_after};

/// A store of objects.
pub(super) struct Store {
    config: ObjectStore,
    /// The URL of an object before and behind its name.
    url: (String, String),
    address: Address,
    tls: Option<TlsConnector>,
    headers: HeaderMap,
}

impl Store {
    /// Reads the files of the configuration.
    ///
    /// # Errors
    /// The store cannot be used; in words for the operator.
    pub(super) fn new(config: &ObjectStore) -> Result<Self, String> {
        let url = url(&config.url)?;
        let wrong = |_| "expected a URL such as `https://example.com/decisions/{name}`".to_owned();
        let address = Address::read(&format!("{}identity{}", url.0, url.1)).map_err(wrong)?;
        let tls = address.tls(config.ca.as_deref(), "url-ca")?;
        if tls.is_none() && !address.is_loopback() {
            return Err("records would cross the network unencrypted: use `https`".into());
        }
        let headers = config.headers.as_deref().map(read_headers).transpose()?.unwrap_or_default();
        let store = Self { config: config.clone(), url, address, tls, headers };
        store.authorization()?;
        Ok(store)
    }

    /// Returns the URL without its query, in which signatures are that change.
    pub(super) fn name(&self) -> String {
        let all = format!("{}{{name}}{}", self.url.0, self.url.1);
        all.split('?').next().unwrap_or_default().to_owned()
    }

    pub(super) async fn put(&self, object: &Object) -> Result<Put, Fault> {
        let upload = Upload::of(object).map_err(unreadable(object))?;
        let mut request = self.request(Method::PUT, object, upload)?;
        request.headers_mut().insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        let put = |response: Response<Incoming>| async move {
            match response.status() {
                status if status.is_success() => Ok(Put::Created),
                StatusCode::PRECONDITION_FAILED => Ok(Put::Exists),
                _ => Err(refused(&response)),
            }
        };
        self.exchange(request, put).await
    }

    pub(super) async fn compare(&self, object: &Object) -> Result<Found, Fault> {
        let request = self.request(Method::GET, object, Upload::default())?;
        let compare = |response: Response<Incoming>| async move {
            match response.status() {
                StatusCode::OK => compare(object, response.into_body()).await,
                StatusCode::NOT_FOUND => Ok(Found::Missing),
                StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::NOT_IMPLEMENTED => {
                    Ok(Found::Unreadable(format!("it answers {} to a GET", response.status())))
                }
                _ => Err(refused(&response)),
            }
        };
        self.exchange(request, compare).await
    }

    fn request(
        &self,
        method: Method,
        object: &Object,
        upload: Upload,
    ) -> Result<Request<Upload>, Fault> {
        let url = format!("{}{}{}", self.url.0, object.name, self.url.1);
        let uri: Uri = url.parse().map_err(|_| Fault::new("the URL is none with this name"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.host_header())
            .header(USER_AGENT, AGENT)
            .body(upload);
        let mut request = request.map_err(|_| Fault::new("the URL is none with this name"))?;
        request.headers_mut().extend(self.headers.clone());
        if let Some(authorization) = self.authorization().map_err(Fault::new)? {
            request.headers_mut().insert(AUTHORIZATION, authorization);
        }
        Ok(request)
    }

    /// Returns the header with the token. A file is read each time, since tokens expire.
    fn authorization(&self) -> Result<Option<HeaderValue>, String> {
        let (token, place) = match &self.config.token {
            None => return Ok(None),
            Some(TokenIn::File(path)) => (files::secret(path)?, path.display().to_string()),
            Some(TokenIn::Environment(name)) => {
                let token = env::var(name).map_err(|_| format!("the variable `{name}` is not set"));
                (token?.into_bytes(), name.clone())
            }
        };
        let token = token.trim_ascii();
        let value = HeaderValue::from_bytes(&[b"Bearer ", token].concat()).ok();
        let value = value.filter(|_| !token.is_empty());
        let mut value = value.ok_or_else(|| format!("`{place}` holds no token"))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// Sends a request, and reads its answer in the same bounded time.
    async fn exchange<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        request: Request<Upload>,
        read: impl FnOnce(Response<Incoming>) -> F,
    ) -> Result<T, Fault> {
        let within = self.config.timeout;
        let exchange = async {
            let stream = self.address.connect(self.tls.as_ref()).await.map_err(Fault::new)?;
            let shaken = http1::handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = shaken.map_err(|error| Fault::new(error.to_string()))?;
            let answer = async {
                let response = sender.send_request(request).await;
                read(response.map_err(|error| Fault::new(error.to_string()))?).await
            };
            // The connection does the reading and writing during the exchange, and ends with it.
            tokio::select! {
                biased;
                answer = answer => answer,
                Err(error) = connection => Err(Fault::new(error.to_string())),
            }
        };
        timeout(within, exchange).await.unwrap_or_else(|_| Err(Fault::new(late(within))))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("host", &self.address.host()).finish_non_exhaustive()
    }
}

/// Reads the URL before and behind the name of an object. A message has none of it.
fn url(template: &UrlTemplate) -> Result<(String, String), String> {
    let (text, place) = match template {
        UrlTemplate::Text(text) => (text.clone(), "url".to_owned()),
        UrlTemplate::File(path) => {
            let text = String::from_utf8(files::secret(path)?).unwrap_or_default();
            (text.trim().to_owned(), path.display().to_string())
        }
    };
    let path = text.split('?').next().unwrap_or_default();
    match (text.split_once("{name}"), path.matches("{name}").count()) {
        (Some((before, behind)), 1) if !behind.contains("{name}") => {
            Ok((before.to_owned(), behind.to_owned()))
        }
        _ => Err(format!("the path of the URL in `{place}` must have `{{name}}` once")),
    }
}

async fn compare(object: &Object, mut body: Incoming) -> Result<Found, Fault> {
    if body.size_hint().exact().is_some_and(|bytes| bytes != object.bytes()) {
        return Ok(Found::Other);
    }
    let mut comparison = object.comparison().map_err(unreadable(object))?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Fault::new(format!("an object ends early: {error}")))?;
        let Ok(piece) = frame.into_data() else { continue };
        if !comparison.goes_on_with(&piece).map_err(unreadable(object))? {
            return Ok(Found::Other);
        }
    }
    let is_same = comparison.ends().map_err(unreadable(object))?;
    Ok(if is_same { Found::Same } else { Found::Other })
}

fn refused(response: &Response<Incoming>) -> Fault {
    let what = format!("the store answers {}", response.status());
    Fault { what, after: retry_after(response.headers()) }
}

fn unreadable(object: &Object) -> impl Fn(io::Error) -> Fault {
    let name = object.name.clone();
    move |error| Fault::new(format!("cannot read `{name}`: {}", files::reason(&error)))
}

/// The bytes of an object on their way.
#[derive(Default)]
struct Upload {
    from: Option<Box<dyn Read + Send>>,
    left: u64,
}

impl Upload {
    fn of(object: &Object) -> io::Result<Self> {
        Ok(Self { from: Some(object.open()?), left: object.bytes() })
    }

    fn piece(&mut self) -> io::Result<Option<Bytes>> {
        let Some(from) = self.from.as_mut().filter(|_| self.left > 0) else { return Ok(None) };
        let mut piece = Vec::new();
        let read = from.take(PIECE_BYTES.min(self.left)).read_to_end(&mut piece)?;
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends early"));
        }
        self.left = self.left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(Some(piece.into()))
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(self.piece().transpose().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The bytes that are read and sent at a time.
const PIECE_BYTES: u64 = 64 << 10;

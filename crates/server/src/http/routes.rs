//! Which endpoint answers a request, and to whom.
//!
//! ```text
//! POST /api/check/resources, /api/check, /api/check_resource_batch       callers
//! POST /access/v1/evaluation, /access/v1/evaluations                     callers
//! POST /access/v1/search/subject, .../resource, .../action               callers
//! GET  /metrics                                                          callers
//! POST /admin/explain, /admin/reload                                     administrators
//! GET  /healthz, /readyz, /_cerbos/health, /openapi.json                 everybody
//! GET  /.well-known/authzen-configuration                                everybody
//! ```

use std::sync::Arc;
use std::time::Instant;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
    WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};
use wardgate_engine::wire::Json;
use wardgate_native::protocol::authzen::SearchKind;
use wardgate_native::{Clock, SystemClock, Timestamp};

use super::context::Context;
use super::deciding::{Question, decided};
use super::peer::Peer;
use super::reply::{Problem, Reply};
use super::traced::Traced;
use super::{authzen, body, cerbos, media_type};
use crate::identity::auth::{Caller, Refusal};
use crate::limits::MAX_BYTES_IN_PLACE;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::{Endpoint, Gauges, KeyGauges, Metrics};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Check,
    CheckSet,
    CheckBatch,
    Evaluation,
    Evaluations,
    Search(SearchKind),
    Explain,
    Reload,
    Metrics,
    Health,
    Ready,
    Metadata,
    OpenApi,
}

/// Answers a request.
pub(crate) async fn answer(
    request: Request<Incoming>,
    shared: &Arc<Shared>,
    peer: &Peer,
) -> Response<Full<Bytes>> {
    let begin = Instant::now();
    let id = request.headers().get(&REQUEST_ID).cloned();
    let target = target(request.uri().path(), shared);
    let traced = Traced::begin(&request, shared, peer);
    // Every route is a path without parameters.
    let route = traced.as_ref().and(target).map(|_| request.uri().path().to_owned());
    let reply = match respond(request, (target, traced.as_ref()), shared, peer).await {
        Ok(reply) => reply,
        Err(problem) if target.is_some_and(Target::is_of_cerbos) => problem.into_reply_of_cerbos(),
        Err(problem) => Reply::from(problem),
    };
    let endpoint = target.map_or(Endpoint::Other, Target::endpoint);
    shared.metrics().answered(endpoint, reply.status.as_u16(), begin.elapsed());
    if let Some(traced) = traced {
        traced.end(route, reply.status);
    }
    let mut response = reply.into_response();
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn respond(
    request: Request<Incoming>,
    (target, traced): (Option<Target>, Option<&Traced<'_>>),
    shared: &Arc<Shared>,
    peer: &Peer,
) -> Result<Reply, Problem> {
    must_name_a_host(&request)?;
    must_be_framed_once(&request)?;
    let target = target.ok_or_else(Problem::not_found)?;
    must_be(request.method(), target.method())?;
    match target {
        Target::Health => return Ok(Reply::json(r#"{"status":"SERVING"}"#)),
        Target::Ready => return ready(shared.is_stopping(), &shared.state(), SystemClock.now()),
        Target::OpenApi => return Ok(Reply::json(OPEN_API)),
        Target::Metadata => {
            return authzen::metadata(request.headers(), shared, peer).map(Reply::json);
        }
        _ => {}
    }
    let caller = permitted(request.headers(), target, shared, peer)?;
    // What a page of another site may post by itself has another type. Where a certificate says who is calling, a browser
    // shows it without asking.
    if target.is_of_authzen() || target.is_for_administrators() {
        must_be_json(request.headers())?;
    }
    match target {
        Target::Metrics => return Ok(metrics(shared, peer)),
        Target::Reload => return reload(shared, traced).await,
        _ => {}
    }
    let most = shared.config().http.max_body_bytes;
    let (connection, open) = (&*peer.connection, &*peer.open);
    let (body, taken) = body::read(request.into_body(), most, (connection, open)).await?;
    let caller: Arc<str> = caller.map_or_else(|| Arc::from(""), |caller| caller.identity);
    decided(Question { target, body, _room: taken, caller }, shared, traced).await.map(Reply::json)
}

/// What the policies say to a body.
pub(super) fn dispatch(
    target: Target,
    body: &[u8],
    context: Context<'_>,
) -> Result<Bytes, Problem> {
    let json = match target {
        Target::Evaluation => return authzen::evaluation(body, context),
        Target::Check => cerbos::check(body, context),
        Target::CheckSet => cerbos::set(body, context),
        Target::CheckBatch => cerbos::batch(body, context),
        Target::Explain => cerbos::explain(body, context),
        Target::Evaluations => authzen::evaluations(body, context),
        Target::Search(search_kind) => authzen::search(body, search_kind, context),
        _ => Err(Problem::not_found()),
    };
    json.map(Bytes::from)
}

impl Target {
    const fn method(self) -> &'static Method {
        match self {
            Self::Metrics | Self::Health | Self::Ready | Self::Metadata | Self::OpenApi => {
                &Method::GET
            }
            _ => &Method::POST,
        }
    }

    pub(super) const fn is_of_cerbos(self) -> bool {
        matches!(self, Self::Check | Self::CheckSet | Self::CheckBatch)
    }

    const fn is_of_authzen(self) -> bool {
        matches!(self, Self::Evaluation | Self::Evaluations | Self::Search(_))
    }

    /// Returns true if deciding on a body of so many bytes could keep a thread that others wait for.
    pub(super) const fn may_take_long(self, bytes: usize) -> bool {
        bytes > MAX_BYTES_IN_PLACE || matches!(self, Self::Search(_) | Self::Explain)
    }

    /// Whether it reveals or changes policies.
    const fn is_for_administrators(self) -> bool {
        matches!(self, Self::Explain | Self::Reload)
    }

    const fn endpoint(self) -> Endpoint {
        match self {
            Self::Check | Self::CheckSet | Self::CheckBatch => Endpoint::Check,
            Self::Evaluation | Self::Evaluations => Endpoint::Evaluation,
            Self::Search(_) => Endpoint::Search,
            Self::Explain | Self::Reload => Endpoint::Admin,
            _ => Endpoint::Other,
        }
    }
}

pub(super) fn target(path: &str, shared: &Shared) -> Option<Target> {
    let base = base_path(shared);
    if let Some(rest) = path.strip_prefix(WELL_KNOWN) {
        return (rest == base).then_some(Target::Metadata);
    }
    let within = path.strip_prefix(base).and_then(|path| path.strip_prefix("/access/v1/"));
    Some(match (path, within) {
        ("/api/check/resources", _) => Target::Check,
        ("/api/check", _) => Target::CheckSet,
        ("/api/check_resource_batch", _) => Target::CheckBatch,
        (_, Some("evaluation")) => Target::Evaluation,
        (_, Some("evaluations")) => Target::Evaluations,
        (_, Some("search/subject")) => Target::Search(SearchKind::Subjects),
        (_, Some("search/resource")) => Target::Search(SearchKind::Resources),
        (_, Some("search/action")) => Target::Search(SearchKind::Actions),
        ("/admin/explain", _) => Target::Explain,
        ("/admin/reload", _) => Target::Reload,
        ("/metrics", _) => Target::Metrics,
        ("/healthz" | "/_cerbos/health", _) => Target::Health,
        ("/readyz", _) => Target::Ready,
        ("/openapi.json", _) => Target::OpenApi,
        _ => return None,
    })
}

/// Who is calling, if it is known and may ask for this.
fn permitted(
    headers: &HeaderMap,
    target: Target,
    shared: &Shared,
    peer: &Peer,
) -> Result<Option<Caller>, Problem> {
    let header = headers.get(AUTHORIZATION);
    let is_open = shared.authenticator().allows_anonymous_queries();
    if header.is_none() && is_open && !target.is_for_administrators() {
        return Ok(peer.caller.clone());
    }
    let caller = match (header, &peer.caller) {
        (None, Some(caller)) => Ok(caller.clone()),
        (None, None) => Err(Refusal::Missing),
        (Some(header), _) => match header.to_str() {
            Ok(text) => shared.authenticator().by_header(Some(text)),
            Err(_) => Err(Refusal::Unknown),
        },
    };
    let caller = caller.map_err(unauthorized)?;
    if target.is_for_administrators() && !caller.is_admin {
        let message = "this caller may not see or change policies";
        return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    Ok(Some(caller))
}

fn unauthorized(refusal: Refusal) -> Problem {
    let (message, challenge) = match refusal {
        Refusal::Missing => ("a bearer token is required", "Bearer realm=\"wardgate\""),
        Refusal::Unknown => (
            "the bearer token is not accepted",
            "Bearer realm=\"wardgate\", error=\"invalid_token\"",
        ),
    };
    let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static(challenge)));
    Problem { header, ..Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message) }
}

fn must_be(method: &Method, expected: &'static Method) -> Result<(), Problem> {
    let is_fine = method == expected || (method == Method::HEAD && expected == Method::GET);
    if is_fine { Ok(()) } else { Err(Problem::wrong_method(expected.as_str())) }
}

/// Refuses a request whose host is not said, or said twice, as RFC 9112, section 3.2, asks for. HTTP/1.0 may leave it out.
fn must_name_a_host<B>(request: &Request<B>) -> Result<(), Problem> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_right = match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_host(host.as_bytes()),
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    if is_right { Ok(()) } else { Err(cerbos::bad("the request must have one `Host`".to_owned())) }
}

/// Refuses a body whose end another reader might see elsewhere: one with two lengths, or in a coding besides chunks (RFC 9112,
/// section 6.3).
fn must_be_framed_once<B>(request: &Request<B>) -> Result<(), Problem> {
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    let is_right = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => {
            let is_chunked = coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
            is_chunked && !request.headers().contains_key(CONTENT_LENGTH)
        }
        (Some(_), Some(_)) => false,
    };
    let message =
        "the body must have one length: `Content-Length`, or the transfer coding `chunked` alone";
    if is_right { Ok(()) } else { Err(cerbos::bad(message.to_owned())) }
}

/// Returns true for what RFC 3986 lets a host and a port be made of.
fn is_host(host: &[u8]) -> bool {
    let is_right =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:[]".contains(byte);
    host.iter().all(is_right)
}

fn must_be_json(headers: &HeaderMap) -> Result<(), Problem> {
    if media_type::is_json(headers) {
        return Ok(());
    }
    Err(cerbos::bad("the Content-Type must be `application/json`".to_owned()))
}

pub(super) fn ready(is_stopping: bool, state: &State, now: Timestamp) -> Result<Reply, Problem> {
    let refuse =
        |code, message: &str| Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, code, message));
    if is_stopping {
        return refuse("stopping", "the server is stopping");
    }
    if state.has_expired(now) {
        return refuse("expired", "the policies have expired, and everything is denied");
    }
    Ok(Reply::json(r#"{"status":"ready"}"#))
}

fn metrics(shared: &Shared, peer: &Peer) -> Reply {
    let state = shared.state();
    let mut text = shared.metrics().text(Gauges {
        connections: peer.open.count(),
        revision: state.revision(),
        serial: state.serial(),
        expiry: expiry(&state, SystemClock.now()),
        spans: shared.tracer().map(|tracer| (tracer.counts().sent(), tracer.counts().lost())),
    });
    let sets = shared.remote_key_sets();
    let sets =
        sets.map(|set| KeyGauges { name: set.name(), age: set.age(), failures: set.failures() });
    Metrics::keys(&mut text, &sets.collect::<Vec<_>>());
    Reply::of(StatusCode::OK, "text/plain; version=0.0.4", text)
}

/// Returns when the policies expire, and whether they have at `now`.
fn expiry(state: &State, now: Timestamp) -> Option<(u64, bool)> {
    let expires = state.header()?.label.expires?;
    Some((expires, u64::try_from(now.seconds()).unwrap_or(0) >= expires))
}

/// Looks for new policies and rules now. What is wrong with them is for the log.
async fn reload(shared: &Shared, traced: Option<&Traced<'_>>) -> Result<Reply, Problem> {
    let within = traced.map(|traced| traced.span().clone());
    if shared.reload_within(within).await.is_err() {
        let message = "what is there cannot be used, and what is in use stays: the log says why";
        return Err(Problem::new(StatusCode::CONFLICT, "not-reloaded", message));
    }
    let state = shared.state();
    let mut json = Json::default();
    json.open('{');
    if let Some(revision) = state.revision() {
        json.field("revision", &revision.to_string());
    }
    json.field("serial", &state.serial().to_string());
    json.close('}');
    Ok(Reply::json(json.finish()))
}

/// The path of the URL by which callers know the server.
fn base_path(shared: &Shared) -> &str {
    let url = shared.config().authzen.url.as_deref().unwrap_or("");
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    host.find('/').and_then(|at| host.get(at..)).unwrap_or("")
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const WELL_KNOWN: &str = "/.well-known/authzen-configuration";
const OPEN_API: &str = include_str!("openapi.json");

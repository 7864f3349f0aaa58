//! The way of a request: from its head through the checks of its endpoint to the response.

use std::sync::Arc;
use std::time::Instant;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING,
    WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};

use super::context::Head;
use super::cors::Page;
use super::deciding::{Question, decided};
use super::peer::Peer;
use super::reply::{Problem, Reply, Result};
use super::routes::{self, Dialect, Guard, Handler, Route};
use super::traced::Traced;
use super::{body, cerbos, media_type, operations, websocket};
use crate::config::WebSocket;
use crate::identity::auth::{Caller, Refusal};
use crate::shared::Shared;
use crate::telemetry::metrics::Endpoint;

/// Answers a request.
pub(super) async fn answer(
    request: Request<Incoming>,
    shared: &Arc<Shared>,
    peer: &Peer,
) -> Response<Full<Bytes>> {
    let begin = Instant::now();
    let id = request.headers().get(&REQUEST_ID).cloned();
    let route = routes::find(request.uri().path(), shared);
    let traced = Traced::begin(&request, shared, peer);
    // Every route is a path without parameters.
    let path = traced.as_ref().and(route).map(|_| request.uri().path().to_owned());
    let page = Page::of(shared.config().cors.as_ref(), route, request.headers());
    let preflight =
        page.as_ref().and_then(|page| page.preflight(request.method(), request.headers()));
    let websocket = websocket_at(request.uri().path(), shared, peer);
    let (result, endpoint) = match (route, preflight, websocket) {
        (Some(route), Some(answer), _) => {
            let sound = must_be_sound(&request).and(answer);
            (sound.map(Reply::into_response), route.endpoint)
        }
        (Some(route), None, _) => {
            let exchange = Exchange { shared, peer, traced: traced.as_ref() };
            let reply = respond(request, route, exchange).await;
            (reply.map(Reply::into_response), route.endpoint)
        }
        (None, _, Some(config)) => {
            let sound = must_be_sound(&request);
            (sound.and_then(|()| websocket::switch(request, config, peer)), Endpoint::Mqtt)
        }
        (None, _, None) => {
            (must_be_sound(&request).and(Err(Problem::not_found())), Endpoint::Other)
        }
    };
    let mut response = result.unwrap_or_else(|problem| refusal(route, problem).into_response());
    shared.metrics().answered(endpoint, response.status().as_u16(), begin.elapsed());
    if let Some(traced) = traced {
        traced.end(path, response.status());
    }
    if let Some(page) = page {
        page.add_to(response.headers_mut());
    }
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Returns the configuration of WebSocket, if that is spoken at a path.
fn websocket_at<'s>(path: &str, shared: &'s Shared, peer: &Peer) -> Option<&'s WebSocket> {
    peer.way.as_ref()?;
    let websocket = shared.config().mqtt.as_ref()?.websocket.as_ref();
    websocket.filter(|websocket| websocket.path == path)
}

/// Returns a problem as a reply in the dialect of the endpoint.
pub(super) fn refusal(route: Option<&Route>, problem: Problem) -> Reply {
    match route.map(|route| route.dialect) {
        Some(Dialect::Cerbos) => problem.into_reply_of_cerbos(),
        Some(Dialect::Mqtt(broker)) => broker.denial(problem),
        Some(Dialect::Authzen | Dialect::Own) | None => Reply::from(problem),
    }
}

/// The server, the client and the span of one request.
#[derive(Clone, Copy)]
struct Exchange<'e> {
    shared: &'e Arc<Shared>,
    peer: &'e Peer,
    traced: Option<&'e Traced<'e>>,
}

async fn respond(
    request: Request<Incoming>,
    route: &'static Route,
    Exchange { shared, peer, traced }: Exchange<'_>,
) -> Result<Reply> {
    must_be_sound(&request)?;
    must_be(request.method(), route.method())?;
    let head = Head { headers: request.headers(), shared, peer };
    let caller = permitted(&head, route.guard)?;
    // Where a certificate proves the caller, a browser shows it without asking.
    if route.needs_json() {
        must_be_json(head.headers)?;
    }
    let (decide, cost) = match route.handler {
        Handler::Head(answer) => return answer(&head),
        Handler::Reload => return operations::reload(shared, traced).await,
        Handler::Body(decide, cost) => (decide, cost),
    };
    let most = shared.config().http.max_body_bytes;
    let (body, lease) = body::read(request.into_body(), most, peer).await?;
    let caller: Arc<str> = caller.map_or_else(|| Arc::from(""), |caller| caller.identity);
    let question = Question { decide, cost, body, _room: lease, caller };
    decided(question, shared, traced).await
}

/// Returns the caller, if it is known and the endpoint is open to it.
fn permitted(head: &Head<'_>, guard: Guard) -> Result<Option<Caller>> {
    let Head { headers, shared, peer } = head;
    let header = headers.get(AUTHORIZATION);
    let is_open = match guard {
        Guard::Everybody => return Ok(None),
        Guard::Callers => shared.authenticator().allows_anonymous_queries(),
        Guard::Administrators => false,
    };
    if header.is_none() && is_open {
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
    if guard == Guard::Administrators && !caller.is_admin {
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

/// Refuses a request that another reader might understand differently, at any endpoint.
fn must_be_sound<B>(request: &Request<B>) -> Result<()> {
    must_name_a_host(request)?;
    must_be_framed_once(request)
}

fn must_be(method: &Method, expected: &'static Method) -> Result<()> {
    let is_fine = method == expected || (method == Method::HEAD && expected == Method::GET);
    if is_fine { Ok(()) } else { Err(Problem::wrong_method(expected.as_str())) }
}

/// Refuses a request without `Host` or with two, as RFC 9112, section 3.2, requires. HTTP/1.0 may
/// leave it out.
fn must_name_a_host<B>(request: &Request<B>) -> Result<()> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_right = match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_host(host.as_bytes()),
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    if is_right { Ok(()) } else { Err(cerbos::bad("the request must have one `Host`".to_owned())) }
}

/// Refuses a body whose end another reader might see elsewhere: one with two lengths, or in a
/// coding besides chunks (RFC 9112, section 6.3).
fn must_be_framed_once<B>(request: &Request<B>) -> Result<()> {
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

/// Returns true if all bytes may be part of a host and a port by RFC 3986.
fn is_host(host: &[u8]) -> bool {
    let is_right =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:[]".contains(byte);
    host.iter().all(is_right)
}

fn must_be_json(headers: &HeaderMap) -> Result<()> {
    if media_type::is_json(headers) {
        return Ok(());
    }
    Err(cerbos::bad("the Content-Type must be `application/json`".to_owned()))
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

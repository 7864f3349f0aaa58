//! The metadata of AuthZEN, which the server gives to anonymous callers.
//!
//! A client trusts the URLs of the metadata. So they come from the configuration, or else from the
//! socket of a loopback listener, and never from the host that a caller names.

use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::HOST;
use hyper::http::uri::Authority;
use wardgate_native::protocol::json::document;

use super::rules::answer_from_rules;
use crate::address;
use crate::http::context::Head;
use crate::http::peer::Peer;
use crate::http::reply::{Problem, Result};

/// Returns the URLs of the endpoints.
///
/// # Errors
/// AuthZEN is not served, or its URL is unknown.
pub(in crate::http) fn metadata(Head { headers, shared, peer }: &Head<'_>) -> Result<String> {
    let state = shared.state();
    let are_entities_known = answer_from_rules(shared) || {
        state.policies().ok_or_else(Problem::no_policies)?;
        state.file_directory().is_some()
    };
    let url = match &shared.config().authzen.url {
        Some(url) => url.clone(),
        None => own_url(headers, peer).ok_or_else(no_url)?,
    };
    Ok(written(&url, are_entities_known))
}

fn written(url: &str, are_entities_known: bool) -> String {
    let of_entities = if are_entities_known { &OF_ENTITIES[..] } else { &[] };
    document(|json| {
        json.field("policy_decision_point", url);
        for Named { member, path } in ALWAYS.iter().chain(of_entities) {
            json.field(member, &format!("{url}{path}"));
        }
    })
}

/// Returns the URL of a loopback listener: by the name of the header `Host` if that is one of this
/// socket.
fn own_url(headers: &HeaderMap, peer: &Peer) -> Option<String> {
    let local = peer.local.filter(|local| local.ip().to_canonical().is_loopback())?;
    let (scheme, usual) = if peer.is_tls { ("https", 443) } else { ("http", 80) };
    let named_host = headers.get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let is_ours = |host: &Authority| {
        let port = host.port().map_or(Some(usual), |port| port.as_str().parse().ok());
        !host.as_str().contains('@')
            && address::is_loopback(host.host())
            && port == Some(local.port())
    };
    Some(match named_host.filter(is_ours) {
        Some(host) => format!("{scheme}://{host}"),
        None => format!("{scheme}://{local}"),
    })
}

fn no_url() -> Problem {
    let message = "the URL of the server is unknown: set `url` in `[authzen]`";
    Problem::new(StatusCode::NOT_FOUND, "no-url", message)
}

/// An endpoint, and the member of the metadata that names its URL.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Named {
    member: &'static str,
    /// The path below the URL of the server.
    pub(in crate::http) path: &'static str,
}

const fn named(member: &'static str, path: &'static str) -> Named {
    Named { member, path }
}

pub(in crate::http) const EVALUATION: Named =
    named("access_evaluation_endpoint", "/access/v1/evaluation");
pub(in crate::http) const EVALUATIONS: Named =
    named("access_evaluations_endpoint", "/access/v1/evaluations");
pub(in crate::http) const SEARCH_SUBJECT: Named =
    named("search_subject_endpoint", "/access/v1/search/subject");
pub(in crate::http) const SEARCH_RESOURCE: Named =
    named("search_resource_endpoint", "/access/v1/search/resource");
pub(in crate::http) const SEARCH_ACTION: Named =
    named("search_action_endpoint", "/access/v1/search/action");

/// The endpoints that every server with AuthZEN has.
const ALWAYS: [Named; 3] = [EVALUATION, EVALUATIONS, SEARCH_ACTION];

/// The endpoints that look through entities.
const OF_ENTITIES: [Named; 2] = [SEARCH_SUBJECT, SEARCH_RESOURCE];

//! Authentication of clients of a foreign broker by a token in their password.
//!
//! The answer allows or denies, and never leaves it to others. A broker that has a client from here passes its user
//! name on as its principal, so the user name must be the one that the token proves.
//!
//! The answer has the lists of the client where they say exactly what the policies say, whatever the time.
//! Elsewhere the broker asks about each packet.

use hyper::body::Bytes;
use serde_json::{Map, Value};
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Request, Resource};
use wardgate_native::SystemClock;
use wardgate_native::mqtt::{ClientGrants, Target};

use super::{BrokerRequest, ROLE, TOPIC, denied};
use crate::http::cerbos::bad;
use crate::http::context::Context;
use crate::http::reply::Result;
use crate::http::steps::Steps;
use crate::identity::aux_data::as_conditions_see;
use crate::limits::{MAX_CLIENT_ATTRIBUTE_BYTES, MAX_CLIENT_ATTRIBUTES};
use crate::mqtt::{CLIENT, principal, resource};
use crate::telemetry::metrics::Tally;

/// Answers EMQX: `clientid`, `username`, `password`, `peerhost`, and `acl`, which is `false` if no lists are wanted.
pub(in crate::http) fn emqx(body: &[u8], context: Context<'_>) -> Result<Bytes> {
    let asked = BrokerRequest::of(body)?;
    let proven = context.shared.authenticator().proven(asked.text("password")?);
    let proven = proven.ok_or_else(denied)?;
    if asked.text("username")? != &*proven.caller.name {
        return Err(bad("`username` must be the name that the token proves".to_owned()));
    }
    let (client_id, address) = (asked.optional("clientid")?, asked.optional("peerhost")?);
    let attributes = [("clientId", client_id), ("address", address)];
    let attributes = attributes.map(|(name, value)| (name.into(), Attr::String(value.into())));
    let jwt = proven.claims.as_ref().map(as_conditions_see).unwrap_or_default();
    let request = Request {
        principal: principal(&proven, ROLE, attributes.into_iter().collect()),
        resource: resource(CLIENT, client_id, AttrMap::new()),
        aux_data: AuxData { jwt, ..AuxData::default() },
        ..Request::default()
    };
    let steps = Steps::of(context.shared);
    if !may_connect(&request, context, &steps)? {
        return Err(denied());
    }
    let mut answer = allowed(proven.claims.as_ref(), context)?;
    let wants_lists = !matches!(asked.0.get("acl"), Some(Attr::Bool(false)))
        && !asked.text("acl").is_ok_and(|word| word == "false");
    if let Some(acl) = if wants_lists { acl(&request, context, &steps)? } else { None } {
        answer.insert("acl".into(), acl);
    }
    Ok(Value::Object(answer).to_string().into())
}

/// Returns the lists of a client as EMQX takes them, if they are exact.
fn acl(request: &Request, context: Context<'_>, steps: &Steps) -> Result<Option<Value>> {
    // Where messages charge limits or are recorded, the broker must ask about each.
    if context.shared.recorder().is_some() {
        return Ok(None);
    }
    let Ok(policies) = context.policies_without_limits(TOPIC) else { return Ok(None) };
    let request = Request { resource: Resource::default(), ..request.clone() };
    let lists = |action| policies.grants_within(&request, action, SystemClock, steps);
    let grants = ClientGrants { publish: lists("publish"), subscribe: lists("subscribe") };
    let is_timeless = !grants.publish.reads_time && !grants.subscribe.reads_time;
    let translated = grants.translate(Target::Emqx).ok();
    let exact = translated.filter(|translated| translated.exact && is_timeless);
    Ok(exact.map(|translated| translated.lists))
}

fn may_connect(request: &Request, context: Context<'_>, steps: &Steps) -> Result<bool> {
    let policies = context.policies_without_limits(CLIENT)?;
    let may = context.is_allowed_noted(policies, (request, "connect"), steps);
    context.shared.decided(Tally::one(may));
    Ok(may)
}

/// Returns the answer about a client that may connect.
fn allowed(claims: Option<&AttrMap>, context: Context<'_>) -> Result<Map<String, Value>> {
    let mut answer = Map::new();
    answer.insert("result".into(), "allow".into());
    answer.insert("is_superuser".into(), false.into());
    let policies = context.policies()?.table().expires();
    let token = claims.and_then(|claims| claims.get("exp")).and_then(seconds);
    if let Some(end) = policies.into_iter().chain(token).min() {
        answer.insert("expire_at".into(), end.into());
    }
    if let Some(attributes) = claims.map(client_attributes).filter(|all| !all.is_empty()) {
        answer.insert("client_attrs".into(), attributes.into());
    }
    Ok(answer)
}

/// Returns the attributes of the claim `client_attrs`: those that are texts, under names that EMQX
/// can use.
fn client_attributes(claims: &AttrMap) -> Map<String, Value> {
    let Some(Attr::Map(attributes)) = claims.get("client_attrs") else { return Map::new() };
    let is_name = |name: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        !name.is_empty() && name.bytes().all(is_plain)
    };
    let fitting = attributes.entries().iter().filter_map(|(name, value)| match value {
        Attr::String(text) if is_name(name) => Some((&**name, &**text)),
        _ => None,
    });
    let short = fitting
        .filter(|(name, text)| name.len().saturating_add(text.len()) <= MAX_CLIENT_ATTRIBUTE_BYTES);
    let some = short.take(MAX_CLIENT_ATTRIBUTES);
    some.map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
}

/// Returns the whole seconds of a time in a token.
#[expect(clippy::as_conversions, reason = "a number beyond 64 bits becomes the last of them")]
fn seconds(time: &Attr) -> Option<i64> {
    match time {
        Attr::Number(seconds) => Some(seconds.trunc() as i64),
        _ => None,
    }
}

//! Questions of foreign MQTT brokers, in the form of each, and answers that only allow or deny.
//!
//! Whatever else an answer says, a broker takes for *no opinion*, and often lets the client through: EMQX
//! does so for every status but 200 and 204. So a request that is refused, malformed or too late is a
//! denial too, in the words of the broker, with the reason beside it.
//!
//! The broker has found out who its client is: the user name that it passes is the principal. A client id is a claim of the
//! client, which conditions may read.

pub(super) mod authenticate;

use hyper::StatusCode;
use hyper::body::Bytes;
use serde_json::json;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{Principal, Request, Resource};
use wardgate_mqtt::{Filter, Limits, Name};
use wardgate_native::protocol::documents;

use super::cerbos::bad;
use super::context::Context;
use super::reply::{Problem, Reply, Result};
use super::steps::Steps;
use crate::telemetry::metrics::Tally;

/// A broker whose form of requests and answers is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broker {
    /// EMQX 5, HTTP authorizer.
    Emqx,
    /// NanoMQ, `http_auth.acl_req`.
    NanoMq,
    /// VerneMQ, webhooks `auth_on_publish`, `auth_on_subscribe` and those of 5.0.
    VerneMq,
    /// mosquitto-go-auth, HTTP back end, any response mode.
    GoAuth,
}

impl Broker {
    /// Returns a refusal as a denial in the words of the broker.
    pub(super) fn denial(self, problem: Problem) -> Reply {
        let Problem { status, code, message, header } = problem;
        let reason = format!("{code}: {message}");
        let (status, body) = match self {
            Self::Emqx => (StatusCode::OK, json!({ "result": "deny", "reason": reason })),
            Self::VerneMq => {
                (StatusCode::OK, json!({ "result": { "error": "not_allowed" }, "reason": reason }))
            }
            // A status of the server's own could be taken for a broken server, and be passed over.
            Self::NanoMq if status.is_client_error() => (status, json!({ "error": reason })),
            Self::NanoMq => (StatusCode::FORBIDDEN, json!({ "error": reason })),
            Self::GoAuth => (StatusCode::FORBIDDEN, json!({ "Ok": false, "Error": reason })),
        };
        Reply { status, header, ..Reply::json(body.to_string()) }
    }
}

/// Answers EMQX: `clientid`, `username`, `peerhost`, `action`, `topic`, `qos`, `retain`.
pub(super) fn emqx(body: &[u8], context: Context<'_>) -> Result<Bytes> {
    let asked = BrokerRequest::of(body)?;
    let subject = match asked.text("action")? {
        "publish" => Subject::Publish(asked.text("topic")?),
        "subscribe" => Subject::Subscribe(asked.text("topic")?),
        other => return Err(unknown_action(other)),
    };
    let client = asked.client("clientid", "username", "peerhost")?;
    let is_allowed = client.may(&subject, asked.details(), context)?;
    Ok(Bytes::from_static(if is_allowed {
        br#"{"result":"allow"}"#
    } else {
        br#"{"result":"deny"}"#
    }))
}

/// Answers NanoMQ: `clientid`, `username`, `ipaddr`, `access` (1 to subscribe, 2 to publish), `topic`.
pub(super) fn nanomq(body: &[u8], context: Context<'_>) -> Result<Bytes> {
    let asked = BrokerRequest::of(body)?;
    let subject = match asked.word("access")?.as_str() {
        "1" => Subject::Subscribe(asked.text("topic")?),
        "2" => Subject::Publish(asked.text("topic")?),
        other => return Err(unknown_action(other)),
    };
    let client = asked.client("clientid", "username", "ipaddr")?;
    if client.may(&subject, asked.details(), context)? {
        Ok(Bytes::from_static(b"{}"))
    } else {
        Err(denied())
    }
}

/// Answers mosquitto-go-auth: `clientid`, `username`, `topic`, `acc` (1 to receive, 2 to publish, 3 for both, 4 to
/// subscribe).
pub(super) fn go_auth(body: &[u8], context: Context<'_>) -> Result<Bytes> {
    let asked = BrokerRequest::of(body)?;
    let topic = asked.text("topic")?;
    let subjects = match asked.word("acc")?.as_str() {
        "1" => vec![Subject::Receive(topic)],
        "2" => vec![Subject::Publish(topic)],
        "3" => vec![Subject::Receive(topic), Subject::Publish(topic)],
        "4" => vec![Subject::Subscribe(topic)],
        other => return Err(unknown_action(other)),
    };
    let client = asked.client("clientid", "username", "ip")?;
    for subject in subjects {
        if !client.may(&subject, asked.details(), context)? {
            return Err(denied());
        }
    }
    Ok(Bytes::from_static(br#"{"Ok":true,"Error":""}"#))
}

/// Answers VerneMQ: `client_id`, `username`, `peer_addr`, and `topic` of a message or `topics` of a
/// subscription, of which those that are denied come back with QoS 128.
pub(super) fn vernemq(body: &[u8], context: Context<'_>) -> Result<Bytes> {
    let asked = BrokerRequest::of(body)?;
    let client = asked.client("client_id", "username", "peer_addr")?;
    let Some(topics) = asked.0.get("topics") else {
        let subject = Subject::Publish(asked.text("topic")?);
        let is_allowed = client.may(&subject, asked.details(), context)?;
        return if is_allowed {
            Ok(Bytes::from_static(br#"{"result":"ok"}"#))
        } else {
            Err(denied())
        };
    };
    let Attr::List(topics) = topics else { return Err(bad("`topics` must be a list".to_owned())) };
    if topics.len() > usize::from(Limits::DEFAULT.filters) {
        return Err(bad(format!("`topics` must have at most {} items", Limits::DEFAULT.filters)));
    }
    let mut granted = Vec::with_capacity(topics.len());
    for topic in topics {
        let Attr::Map(topic) = topic else {
            return Err(bad("`topics` must have objects".to_owned()));
        };
        let topic = BrokerRequest(topic.clone());
        let (filter, qos) = (topic.text("topic")?, topic.qos()?);
        let details = vec![("qos".into(), Attr::Number(qos.into()))];
        // A filter that is none is denied by itself, like one that the policies deny.
        let is_allowed = client.may(&Subject::Subscribe(filter), details, context).unwrap_or(false);
        granted.push(json!({ "topic": filter, "qos": if is_allowed { qos } else { DENIED } }));
    }
    Ok(json!({ "result": "ok", "topics": granted }).to_string().into())
}

/// The members of a request.
struct BrokerRequest(AttrMap);

impl BrokerRequest {
    /// Reads an object of JSON, or a form.
    fn of(body: &[u8]) -> Result<Self> {
        if body.trim_ascii_start().first() == Some(&b'{') {
            return match documents::attribute(body).map_err(|error| bad(error.to_string()))? {
                Attr::Map(members) => Ok(Self(members)),
                _ => Err(bad("the body must be an object".to_owned())),
            };
        }
        let text =
            std::str::from_utf8(body).map_err(|_| bad("the body is not UTF-8".to_owned()))?;
        let mut members: Vec<(Box<str>, Attr)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            let is_known = members.iter().any(|(known, _)| **known == *name);
            if is_known || members.len() >= MOST_MEMBERS {
                return Err(bad("the form names a member twice, or has too many".to_owned()));
            }
            members.push((name.into(), Attr::String(value.into())));
        }
        Ok(Self(members.into_iter().collect()))
    }

    fn text(&self, name: &str) -> Result<&str> {
        match self.0.get(name) {
            Some(Attr::String(text)) => Ok(text),
            _ => Err(bad(format!("`{name}` must be a text"))),
        }
    }

    /// Returns a text or a number, as a text.
    fn word(&self, name: &str) -> Result<String> {
        match self.0.get(name) {
            Some(Attr::String(text)) => Ok(text.to_string()),
            Some(Attr::Number(number)) => Ok(number.to_string()),
            _ => Err(bad(format!("`{name}` must be a text or a number"))),
        }
    }

    /// Returns a text; an absent one is empty.
    fn optional(&self, name: &str) -> Result<&str> {
        match self.0.get(name) {
            None | Some(Attr::Null) => Ok(""),
            Some(_) => self.text(name),
        }
    }

    /// Returns the quality of service of a subscription.
    fn qos(&self) -> Result<u8> {
        match self.0.get("qos") {
            Some(Attr::Number(qos)) if *qos == 0.0 => Ok(0),
            Some(Attr::Number(qos)) if *qos == 1.0 => Ok(1),
            Some(Attr::Number(qos)) if *qos == 2.0 => Ok(2),
            _ => Err(bad("`qos` must be 0, 1 or 2".to_owned())),
        }
    }

    /// Returns the client.
    fn client(&self, id: &str, user: &str, address: &str) -> Result<Client> {
        let client_id = self.optional(id)?;
        let name = self.optional(user)?;
        let attr = [("clientId", client_id), ("address", self.optional(address)?)];
        let attr = attr.map(|(name, value)| (name.into(), Attr::String(value.into())));
        let name = if name.is_empty() { ANONYMOUS } else { name };
        let role = if name == ANONYMOUS { ANONYMOUS } else { ROLE };
        Ok(Client(Principal {
            id: name.to_owned(),
            roles: vec![role.to_owned()],
            attr: attr.into_iter().collect(),
            ..Principal::default()
        }))
    }

    /// Returns the attributes of a message or subscription that the broker tells.
    fn details(&self) -> Details {
        let retain = self.0.get("retain").and_then(|retain| match retain {
            Attr::Bool(retain) => Some(*retain),
            Attr::String(text) => text.parse().ok(),
            _ => None,
        });
        let qos = self.0.get("qos").and_then(|qos| match qos {
            Attr::Number(qos) => Some(*qos),
            Attr::String(text) => text.parse().ok(),
            _ => None,
        });
        let retain = retain.map(|retain| ("retain".into(), Attr::Bool(retain)));
        retain.into_iter().chain(qos.map(|qos| ("qos".into(), Attr::Number(qos)))).collect()
    }
}

/// Attributes of a message or subscription.
type Details = Vec<(Box<str>, Attr)>;

/// The action of a client, and its topic or filter as text.
enum Subject<'s> {
    Publish(&'s str),
    Receive(&'s str),
    Subscribe(&'s str),
}

struct Client(Principal);

impl Client {
    fn may(&self, subject: &Subject<'_>, mut attr: Details, context: Context<'_>) -> Result<bool> {
        let (action, topic, id) = match subject {
            Subject::Publish(name) => ("publish", named(name)?, *name),
            Subject::Receive(name) => ("receive", named(name)?, *name),
            Subject::Subscribe(text) => {
                let filter = Filter::new(text).map_err(|error| bad(format!("`topic`: {error}")))?;
                let share = Attr::String(filter.group().unwrap_or("").into());
                attr.push(("share".into(), share));
                let topics = [("filter".into(), Attr::String(filter.text().into()))];
                ("subscribe", Attr::Map(topics.into_iter().collect()), filter.text())
            }
        };
        attr.push(("topic".into(), topic));
        let attr = attr.into_iter().collect();
        let request = Request {
            principal: self.0.clone(),
            resource: Resource {
                kind: TOPIC.to_owned(),
                id: id.to_owned(),
                attr,
                ..Resource::default()
            },
            ..Request::default()
        };
        let (policies, shared) = (context.policies_without_limits(TOPIC)?, context.shared);
        let is_allowed = context.is_allowed_noted(policies, (&request, action), &Steps::of(shared));
        shared.decided(Tally::one(is_allowed));
        Ok(is_allowed)
    }
}

fn named(text: &str) -> Result<Attr> {
    let name = Name::new(text).map_err(|error| bad(format!("`topic`: {error}")))?;
    Ok(Attr::String(name.text().into()))
}

fn denied() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, Problem::DENIED, "the policies do not allow it")
}

fn unknown_action(found: &str) -> Problem {
    bad(format!("there is no such action: `{}`", found.escape_default()))
}

/// Decodes a part of a form (WHATWG URL, section 5.1).
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let value =
                    digit().zip(digit()).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                value.ok_or_else(|| bad("the form has a `%` without two digits".to_owned()))?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| bad("the form is not UTF-8".to_owned()))
}

/// The kind of topics.
pub(super) const TOPIC: &str = "mqtt:topic";

/// The role of clients that a broker knows by name.
const ROLE: &str = "client";

/// The name and the role of clients without a user name.
const ANONYMOUS: &str = "anonymous";

/// The QoS that denies a subscription in an answer to VerneMQ.
const DENIED: u8 = 128;

/// The most members of a form.
const MOST_MEMBERS: usize = 32;

//! The judge of a gate: the policies of the server.
//!
//! The principal is who proved to be it, by a token in the password or by a certificate. The user
//! name and the client id are claims; conditions may read the client id, and nothing is derived
//! from the user name.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{AuxData, Principal, Request, Resource};
use wardgate_jwt::roles;
use wardgate_mqtt::Filter;
use wardgate_mqtt::broker::Stored;
use wardgate_mqtt::gate::{Judge, Message, Verdict};
use wardgate_mqtt::packet::{Connect, Reason, Subscription, Version};
use wardgate_native::{Budget, Clock, Policies, Sourced, SystemClock};

use super::answers::{Answer, Answers};
use super::attributes::{self, text};
use super::endpoint::{Hub, Place, is_local};
use crate::config::Subscribe;
use crate::decision_log::recording;
use crate::identity::auth::{Caller, Proven};
use crate::identity::aux_data::as_conditions_see;
use crate::identity::jwt::{TokenTime, timely};
use crate::limits::MQTT_STEPS;
use crate::policies::state::State;
use crate::shared::Shared;
use crate::telemetry::metrics::Tally;

/// What is known of a client before its CONNECT.
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// The caller of the certificate, and its digest.
    pub(crate) certificate: Option<(Caller, String)>,
    pub(crate) is_tls: bool,
}

/// What decisions on a connection read of its CONNECT, to be decided again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    pub(super) clean_start: bool,
    pub(super) has_will: bool,
    pub(super) keep_alive: u16,
    /// The client gave its client id itself.
    has_id: bool,
}

/// Who published a message that is still there.
pub(super) struct Author {
    /// The principal and its claims, without resource.
    request: Request,
    claims: Option<AttrMap>,
}

/// Decides by the policies in use.
pub(super) struct PolicyJudge {
    client: Client,
    hub: Arc<Hub>,
    shared: Arc<Shared>,
    /// The principal and its claims; each question replaces the resource.
    request: Request,
    /// The claims of a signed token, whose times must hold.
    claims: Option<AttrMap>,
    version: Version,
    /// The CONNECT of the client.
    connection: Connection,
    /// Answers about messages to the client, where each is decided.
    answers: Answers,
    place: Option<Place>,
}

impl PolicyJudge {
    pub(super) fn new(client: Client, hub: Arc<Hub>, shared: Arc<Shared>) -> Self {
        let answers = Answers::new(hub.answers.clone());
        Self {
            client,
            hub,
            shared,
            request: Request::default(),
            claims: None,
            version: Version::V5,
            connection: Connection::default(),
            answers,
            place: None,
        }
    }

    /// Returns true once the client was allowed to connect.
    pub(super) const fn has_accepted(&self) -> bool {
        self.place.is_some()
    }

    /// Returns the principal, for the log.
    pub(super) fn principal(&self) -> &str {
        &self.request.principal.id
    }

    /// Returns what decisions depend on beside the questions: if it has changed, they are asked
    /// anew.
    pub(super) fn basis(&self) -> (u64, bool, bool) {
        let state = self.shared.state();
        (state.serial(), state.has_expired(SystemClock.now()), self.is_timely())
    }

    /// Finds out who the client is.
    fn identify(&self, connect: &Connect<'_>) -> Result<(Proven, &'static str), Reason> {
        if let Some(password) = connect.password {
            let may_cross = self.client.is_tls
                || self.hub.config.auth_without_tls
                || is_local(self.client.address);
            let token = std::str::from_utf8(password).ok().filter(|_| may_cross);
            let proven = token.and_then(|token| self.shared.authenticator().proven(token));
            return proven.map(|p| (p, ROLE)).ok_or(Reason::BAD_USER_NAME_OR_PASSWORD);
        }
        if let Some((caller, _)) = &self.client.certificate {
            return Ok((Proven { caller: caller.clone(), claims: None }, ROLE));
        }
        if self.hub.config.anonymous {
            let caller =
                Caller { name: ANONYMOUS.into(), identity: ANONYMOUS.into(), is_admin: false };
            return Ok((Proven { caller, claims: None }, ANONYMOUS));
        }
        Err(Reason::BAD_USER_NAME_OR_PASSWORD)
    }

    fn principal_of(&self, proven: &Proven, role: &str, client_id: &str) -> Principal {
        let mut attributes = vec![
            ("address".into(), text(&self.client.address.to_string())),
            (CLIENT_ID.into(), text(client_id)),
        ];
        if let Some((_, digest)) = &self.client.certificate {
            attributes.push(("certificate".into(), text(digest)));
        }
        principal(proven, role, attributes.into_iter().collect())
    }

    /// Returns the client as the publisher of its messages.
    pub(super) fn author(&self) -> Author {
        let Request { principal, aux_data, .. } = self.request.clone();
        let request = Request { principal, aux_data, ..Request::default() };
        Author { request, claims: self.claims.clone() }
    }

    fn is_timely(&self) -> bool {
        is_timely(self.claims.as_ref())
    }

    /// Decides on one action on a resource. The resource is not kept: most clients ask nothing most of the time.
    fn decide(&mut self, action: &str, resource: Resource) -> Verdict {
        self.request.resource = resource;
        let is_allowed = self.is_timely() && is_allowed(&self.shared, &self.request, action);
        self.request.resource = Resource::default();
        if is_allowed { Verdict::Allow } else { Verdict::Deny }
    }

    /// Decides whether an action may be allowed for some of the topics of a resource. Each of them is decided
    /// later.
    fn decide_part(&mut self, action: &str, resource: Resource) -> Verdict {
        self.request.resource = resource;
        let is_allowed =
            self.is_timely() && is_allowed_in_part(&self.shared, &self.request, action);
        self.request.resource = Resource::default();
        if is_allowed { Verdict::Allow } else { Verdict::Deny }
    }

    /// Decides on a message to the client whose topic is new, and keeps the answer if it depends on the topic
    /// alone.
    fn receive_anew(&mut self, state: &State, message: &Message<'_>) -> Verdict {
        let name = message.topic.text();
        self.request.resource = topic(name, attributes::message(message, self.version));
        let Some(policies) = state.policies() else { return Verdict::Deny };
        let steps = steps(&self.shared);
        let of = ("receive", attributes::TOPIC);
        let Sourced { is_allowed, is_by_attribute } =
            policies.is_allowed_by_attribute(&self.request, of, SystemClock, &steps);
        self.request.resource = Resource::default();
        self.shared.metrics().decided(Tally::one(is_allowed));
        let answer = match (is_by_attribute, is_allowed) {
            (false, _) => Answer::Open,
            (true, true) => Answer::Allow,
            (true, false) => Answer::Deny,
        };
        self.answers.keep(state.serial(), name, answer);
        if is_allowed { Verdict::Allow } else { Verdict::Deny }
    }

    fn about(&mut self, action: &str, message: &Message<'_>) -> Verdict {
        let attributes = attributes::message(message, self.version);
        self.decide(action, topic(message.topic.text(), attributes))
    }
}

impl Connection {
    const fn of(connect: &Connect<'_>) -> Self {
        let Connect { clean_start, keep_alive, .. } = *connect;
        let (has_will, has_id) = (connect.will.is_some(), !connect.client_id.is_empty());
        Self { clean_start, has_will, keep_alive, has_id }
    }

    fn attributes(self, version: Version) -> AttrMap {
        attributes::connect(&self, version)
    }
}

impl Judge for PolicyJudge {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        self.version = connect.version;
        let (proven, role) = self.identify(connect)?;
        self.request.principal = self.principal_of(&proven, role, connect.client_id);
        let jwt = proven.claims.as_ref().map(as_conditions_see).unwrap_or_default();
        self.request.aux_data = AuxData { jwt, ..AuxData::default() };
        self.claims = proven.claims;
        self.connection = Connection::of(connect);
        if !self.stay().is_allowed() {
            return Err(Reason::NOT_AUTHORIZED);
        }
        self.place = self.hub.enter(&self.shared);
        if self.place.is_none() { Err(Reason::SERVER_BUSY) } else { Ok(()) }
    }

    fn stay(&mut self) -> Verdict {
        let id = match self.request.principal.attr.get(CLIENT_ID) {
            Some(Attr::String(id)) if self.connection.has_id => id,
            _ => "",
        };
        let resource = resource(CLIENT, id, self.connection.attributes(self.version));
        self.decide("connect", resource)
    }

    fn assigned(&mut self, client_id: &str) {
        let attributes = &mut self.request.principal.attr;
        if let Some(known) = attributes.get_mut(CLIENT_ID) {
            *known = text(client_id);
        }
        self.answers.clear();
    }

    fn will(&mut self, will: &Message<'_>) -> Verdict {
        self.about("will", will)
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        self.about("publish", message)
    }

    fn receive(&mut self, message: &Message<'_>) -> Verdict {
        let state = self.shared.state();
        // What has expired is no question of topics, and an answer that is kept would have no evidence.
        let is_recorded = self.shared.recorder().is_some();
        if is_recorded || !self.is_timely() || state.has_expired(SystemClock.now()) {
            return self.about("receive", message);
        }
        let name = message.topic.text();
        match self.answers.find(state.serial(), name) {
            None => self.receive_anew(&state, message),
            Some(Answer::Open) => self.about("receive", message),
            Some(answer) => {
                let is_allowed = answer == Answer::Allow;
                self.shared.metrics().decided(Tally::one(is_allowed));
                if is_allowed { Verdict::Allow } else { Verdict::Deny }
            }
        }
    }

    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict {
        let attributes = attributes::subscription(subscription, self.version);
        let resource = topic(subscription.filter.text(), attributes);
        match self.hub.config.subscribe {
            Subscribe::Whole => self.decide("subscribe", resource),
            Subscribe::Part => self.decide_part("subscribe", resource),
        }
    }

    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict {
        let attributes = attributes::unsubscription(filter, self.version);
        self.decide("unsubscribe", topic(filter.text(), attributes))
    }
}

impl Author {
    /// Decides again whether a message may be there. A token that has expired proves nothing.
    pub(super) fn may_publish<O>(&self, shared: &Shared, stored: &Stored<O>) -> bool {
        let message = stored.message();
        let attributes = attributes::message(&message, stored.version());
        let mut request = self.request.clone();
        request.resource = topic(message.topic.text(), attributes);
        self.is_timely() && is_allowed(shared, &request, "publish")
    }

    pub(super) fn is_timely(&self) -> bool {
        is_timely(self.claims.as_ref())
    }
}

/// Decides on one action, and records the decision if decisions are recorded.
fn is_allowed(shared: &Shared, request: &Request, action: &str) -> bool {
    decided(shared, |state, policies, steps| match shared.recorder() {
        Some(recorder) => recording::is_allowed(recorder, state, (request, action), steps),
        None => policies.is_allowed_within(request, action, SystemClock, steps),
    })
}

/// Decides likewise whether an action may be allowed for some of the topics. The record has no evidence: the request alone is one
/// about all of them.
fn is_allowed_in_part(shared: &Shared, request: &Request, action: &str) -> bool {
    decided(shared, |state, policies, steps| {
        let is_allowed = policies.is_allowed_in_part_within(request, action, SystemClock, steps);
        match shared.recorder() {
            Some(recorder) => {
                recording::is_recorded(recorder, state, (request, action), is_allowed)
            }
            None => is_allowed,
        }
    })
}

/// Decides within the steps of one packet, and counts.
fn decided(shared: &Shared, decide: impl FnOnce(&State, &Policies, &Budget) -> bool) -> bool {
    let (state, steps) = (shared.state(), steps(shared));
    let is_allowed = state.policies().is_some_and(|policies| decide(&state, policies, &steps));
    shared.metrics().decided(Tally::one(is_allowed));
    is_allowed
}

/// Returns the steps of the decision on one packet.
fn steps(shared: &Shared) -> Budget {
    Budget::new(shared.config().http.max_steps.min(MQTT_STEPS))
}

fn is_timely(claims: Option<&AttrMap>) -> bool {
    let time = || TokenTime { now: SystemClock.now(), skew: Duration::ZERO };
    claims.is_none_or(|claims| timely(claims, time()).is_ok())
}

fn topic(id: &str, attr: AttrMap) -> Resource {
    resource(TOPIC, id, attr)
}

pub(crate) fn resource(kind: &str, id: &str, attr: AttrMap) -> Resource {
    Resource { kind: kind.to_owned(), id: id.to_owned(), attr, ..Resource::default() }
}

/// Returns the principal of a client. It has `role` unless a token gives it others.
pub(crate) fn principal(proven: &Proven, role: &str, attr: AttrMap) -> Principal {
    Principal {
        id: proven.caller.name.to_string(),
        roles: proven.claims.as_ref().and_then(roles).unwrap_or_else(|| vec![role.into()]),
        attr,
        ..Principal::default()
    }
}

pub(crate) const CLIENT: &str = "mqtt:client";
const TOPIC: &str = "mqtt:topic";
const CLIENT_ID: &str = "clientId";

/// The role of clients whose token names none.
const ROLE: &str = "client";

/// The name and the role of clients that prove nothing.
const ANONYMOUS: &str = "anonymous";

//! The judges of the gates that are measured.

use std::hint::black_box;

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::request::{Principal, Request, Resource};
use wardgate_mqtt::Filter;
use wardgate_mqtt::gate::{Judge, Message, Verdict};
use wardgate_mqtt::packet::{Connect, Reason, Subscription};
use wardgate_native::{Pdp, Snapshot, SystemClock};

/// Asks a PDP, as the server does.
pub(super) struct PolicyJudge {
    policies: Snapshot,
    /// The principal, and the attributes of the last message or filter.
    request: Request,
}

impl PolicyJudge {
    pub(super) fn new(pdp: &Pdp, role: &str) -> Self {
        let principal = Principal {
            id: "ada".to_owned(),
            roles: vec![role.to_owned()],
            attr: map([("address", text("127.0.0.1")), ("clientId", text(CLIENT))]),
            ..Principal::default()
        };
        let request = Request { principal, ..Request::default() };
        Self { policies: pdp.snapshot(), request }
    }

    fn decide(&mut self, action: &str, kind: &str, id: &str, attr: AttrMap) -> Verdict {
        let (kind, id) = (kind.to_owned(), id.to_owned());
        self.request.resource = Resource { kind, id, attr, ..Resource::default() };
        match self.policies.is_allowed(&self.request, action, SystemClock) {
            true => Verdict::Allow,
            false => Verdict::Deny,
        }
    }

    fn about(&mut self, action: &str, message: &Message<'_>) -> Verdict {
        let size = u32::try_from(message.size).unwrap_or(u32::MAX);
        let topic = message.topic.text();
        let attributes = map([
            ("dup", Attr::Bool(message.dup)),
            ("properties", Attr::Map(map([("user", Attr::Map(AttrMap::new()))]))),
            ("qos", Attr::Number(message.qos.number().into())),
            ("retain", Attr::Bool(message.retain)),
            ("size", Attr::Number(size.into())),
            ("topic", text(topic)),
            ("version", text("5.0")),
        ]);
        self.decide(action, TOPIC, topic, attributes)
    }

    fn about_filter(&mut self, action: &str, filter: Filter<'_>) -> Verdict {
        let attributes = map([
            ("noLocal", Attr::Bool(false)),
            ("qos", Attr::Number(0.0)),
            ("retainAsPublished", Attr::Bool(false)),
            ("retainHandling", Attr::Number(0.0)),
            ("share", text(filter.group().unwrap_or(""))),
            ("topic", Attr::Map(map([("filter", text(filter.text()))]))),
            ("version", text("5.0")),
        ]);
        self.decide(action, TOPIC, filter.text(), attributes)
    }
}

impl Judge for PolicyJudge {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        let verdict = self.decide("connect", "mqtt:client", connect.client_id, AttrMap::new());
        if verdict.is_allowed() { Ok(()) } else { Err(Reason::NOT_AUTHORIZED) }
    }

    fn stay(&mut self) -> Verdict {
        self.decide("connect", "mqtt:client", CLIENT, AttrMap::new())
    }

    fn will(&mut self, will: &Message<'_>) -> Verdict {
        self.about("will", will)
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        self.about("publish", message)
    }

    fn receive(&mut self, message: &Message<'_>) -> Verdict {
        self.about("receive", message)
    }

    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict {
        self.about_filter("subscribe", subscription.filter)
    }

    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict {
        self.about_filter("unsubscribe", filter)
    }
}

/// Allows everything.
pub(super) struct Everything;

impl Judge for Everything {
    fn connect(&mut self, _: &Connect<'_>) -> Result<(), Reason> {
        Ok(())
    }

    fn stay(&mut self) -> Verdict {
        Verdict::Allow
    }

    fn will(&mut self, _: &Message<'_>) -> Verdict {
        Verdict::Allow
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        black_box(message.topic);
        Verdict::Allow
    }

    fn receive(&mut self, _: &Message<'_>) -> Verdict {
        Verdict::Allow
    }

    fn subscribe(&mut self, _: &Subscription<'_>) -> Verdict {
        Verdict::Allow
    }

    fn unsubscribe(&mut self, _: Filter<'_>) -> Verdict {
        Verdict::Allow
    }
}

fn map<const N: usize>(entries: [(&str, Attr); N]) -> AttrMap {
    entries.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn text(text: &str) -> Attr {
    Attr::String(text.into())
}

const TOPIC: &str = "mqtt:topic";

/// The client id.
pub(super) const CLIENT: &str = "gear-001";

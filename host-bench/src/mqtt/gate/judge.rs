//! The judges of the gates that are measured.

use std::hint::black_box;

use wardgate_engine::attr::Attr;
use wardgate_mqtt::Filter;
use wardgate_mqtt::gate::{Judge, Message, Verdict};
use wardgate_mqtt::packet::{Connect, Reason, Subscription};
use wardgate_native::{
    Field, Lookup, Pdp, PrincipalRef, Question, ResourceRef, Snapshot, SystemClock,
};

/// Asks a PDP, with the attributes that the server gives, where they are.
pub(super) struct PolicyJudge {
    policies: Snapshot,
    roles: [String; 1],
    /// The attributes of the principal.
    attributes: Vec<(String, Attr)>,
}

impl PolicyJudge {
    pub(super) fn new(pdp: &Pdp, role: &str) -> Self {
        let text = |text: &str| Attr::String(text.into());
        let attributes = [("address", "127.0.0.1"), ("clientId", CLIENT)];
        let attributes = attributes.map(|(name, value)| (name.to_owned(), text(value)));
        Self { policies: pdp.snapshot(), roles: [role.to_owned()], attributes: attributes.into() }
    }

    fn decide(&self, action: &str, kind: &str, id: &str, fields: &impl Lookup) -> Verdict {
        let question = Question {
            principal: PrincipalRef::new("ada", &self.roles, &self.attributes),
            action,
            resource: ResourceRef::new(kind, id, fields),
        };
        match self.policies.is_allowed_fields(&question, SystemClock) {
            true => Verdict::Allow,
            false => Verdict::Deny,
        }
    }

    fn about(&self, action: &str, message: &Message<'_>) -> Verdict {
        self.decide(action, TOPIC, message.topic.text(), &OfMessage(message))
    }

    fn about_filter(&self, action: &str, filter: Filter<'_>) -> Verdict {
        let share = filter.group().unwrap_or("");
        let fields = OfFilter { topic: OfTopic(filter.text()), share };
        self.decide(action, TOPIC, filter.text(), &fields)
    }
}

impl Judge for PolicyJudge {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        let verdict = self.decide("connect", "mqtt:client", connect.client_id, &());
        if verdict.is_allowed() { Ok(()) } else { Err(Reason::NOT_AUTHORIZED) }
    }

    fn stay(&mut self) -> Verdict {
        self.decide("connect", "mqtt:client", CLIENT, &())
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

/// The attributes of a message.
struct OfMessage<'m>(&'m Message<'m>);

impl Lookup for OfMessage<'_> {
    fn get(&self, name: &str) -> Field<'_> {
        let message = self.0;
        match name {
            "topic" => Field::Text(message.topic.text()),
            "qos" => Field::Number(message.qos.number().into()),
            "retain" => Field::Bool(message.retain),
            "dup" => Field::Bool(message.dup),
            "size" => Field::Number(u32::try_from(message.size).unwrap_or(u32::MAX).into()),
            "version" => Field::Text("5.0"),
            "properties" => Field::Map(&()),
            _ => Field::Missing,
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        for name in ["dup", "properties", "qos", "retain", "size", "topic", "version"] {
            visit(name, self.get(name));
        }
    }
}

/// The attributes of a subscription.
struct OfFilter<'f> {
    topic: OfTopic<'f>,
    share: &'f str,
}

impl Lookup for OfFilter<'_> {
    fn get(&self, name: &str) -> Field<'_> {
        match name {
            "topic" => Field::Map(&self.topic),
            "share" => Field::Text(self.share),
            "qos" | "retainHandling" => Field::Number(0.0),
            "noLocal" | "retainAsPublished" => Field::Bool(false),
            "version" => Field::Text("5.0"),
            _ => Field::Missing,
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let names = ["noLocal", "qos", "retainAsPublished", "retainHandling", "share", "topic"];
        for name in names.into_iter().chain(["version"]) {
            visit(name, self.get(name));
        }
    }
}

/// The topics of a filter.
struct OfTopic<'f>(&'f str);

impl Lookup for OfTopic<'_> {
    fn get(&self, name: &str) -> Field<'_> {
        if name == "filter" { Field::Text(self.0) } else { Field::Missing }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        visit("filter", Field::Text(self.0));
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

const TOPIC: &str = "mqtt:topic";

/// The client id.
pub(super) const CLIENT: &str = "gear-001";

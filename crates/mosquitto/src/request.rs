//! What mosquitto tells of a client and its packets, as requests to the policies.
//!
//! Kinds, actions and attributes are those of the gate; attributes that mosquitto does not tell are
//! absent, so that a condition that reads one fails instead of reading a guess.
#![forbid(unsafe_code)]

use wardgate_mqtt::{Filter, Name};
use wardgate_native::{Attr, AttrMap, Principal, Resource};

/// A client as mosquitto knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client<'c> {
    /// The client id: a claim of the client, or made by mosquitto.
    pub id: &'c str,
    /// The user name.
    pub name: Option<&'c str>,
    /// The address, which mosquitto does not know of a session without connection.
    pub address: Option<&'c str>,
    /// The protocol level: 3, 4 or 5.
    pub level: u8,
    /// The keep-alive in seconds.
    pub keep_alive: u16,
    /// True if the session begins anew.
    pub clean_start: bool,
}

/// A question of mosquitto about a packet.
#[derive(Clone, Copy, Debug)]
pub enum Access<'a> {
    /// A message of the client, or its will.
    Publish(Message<'a>),
    /// A message to the client.
    Receive(Message<'a>),
    /// One filter of a SUBSCRIBE, with its QoS.
    Subscribe(&'a str, u8),
    /// One filter of an UNSUBSCRIBE.
    Unsubscribe(&'a str),
}

/// A message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    /// The topic, as text that nobody has checked.
    pub topic: &'a str,
    /// The quality of service.
    pub qos: u8,
    /// True if it is, or was, to be retained.
    pub retain: bool,
    /// The bytes of its payload.
    pub size: u32,
}

/// An action and its resource.
pub(crate) type Question = (&'static str, Resource);

impl Access<'_> {
    /// Returns the question to the policies. Returns None if there is nothing to ask about: the
    /// text is no topic or filter, or only the broker publishes there.
    pub(crate) fn question(&self, client: &Client<'_>) -> Option<Question> {
        match self {
            Self::Publish(message) => {
                let name = Name::new(message.topic).ok()?;
                let is_status = name.words().next() == Some(STATUS);
                (!is_status).then(|| ("publish", topic(name, message, client)))
            }
            Self::Receive(message) => {
                Some(("receive", topic(Name::new(message.topic).ok()?, message, client)))
            }
            Self::Subscribe(text, qos) => {
                let qos = Some(("qos", Attr::Number((*qos).into())));
                Some(("subscribe", topics(Filter::new(text).ok()?, client, qos)))
            }
            Self::Unsubscribe(text) => {
                Some(("unsubscribe", topics(Filter::new(text).ok()?, client, None)))
            }
        }
    }
}

impl Client<'_> {
    /// Returns the principal with a name and roles that are proven.
    pub(crate) fn principal(&self, name: &str, roles: Vec<String>) -> Principal {
        let address = self.address.map(|address| ("address", text(address)));
        let attributes = address.into_iter().chain([("clientId", text(self.id))]);
        Principal { id: name.to_owned(), roles, attr: map(attributes), ..Principal::default() }
    }

    /// Returns the question about the connection.
    pub(crate) fn connect(&self) -> Question {
        let attributes = [
            ("cleanStart", Attr::Bool(self.clean_start)),
            ("keepAlive", Attr::Number(self.keep_alive.into())),
        ];
        let attr = map(attributes.into_iter().chain(self.version()));
        ("connect", resource("mqtt:client", self.id, attr))
    }

    /// Returns the version of the protocol; a session without connection may have none.
    fn version(&self) -> Option<(&'static str, Attr)> {
        let version = match self.level {
            3 => "3.1",
            4 => "3.1.1",
            5 => "5.0",
            _ => return None,
        };
        Some(("version", text(version)))
    }
}

fn topic(name: Name<'_>, message: &Message<'_>, client: &Client<'_>) -> Resource {
    let attributes = [
        ("qos", Attr::Number(message.qos.into())),
        ("retain", Attr::Bool(message.retain)),
        ("size", Attr::Number(message.size.into())),
        ("topic", text(name.text())),
    ];
    resource(TOPIC, name.text(), map(attributes.into_iter().chain(client.version())))
}

/// Returns the topics of a filter: a map, so that no function on text reads a wildcard as text.
fn topics(filter: Filter<'_>, client: &Client<'_>, qos: Option<(&str, Attr)>) -> Resource {
    let topics = Attr::Map(map([("filter", text(filter.text()))]));
    let attributes = [("share", text(filter.group().unwrap_or(""))), ("topic", topics)];
    let attributes = attributes.into_iter().chain(qos).chain(client.version());
    resource(TOPIC, filter.text(), map(attributes))
}

fn resource(kind: &str, id: &str, attr: AttrMap) -> Resource {
    Resource { kind: kind.to_owned(), id: id.to_owned(), attr, ..Resource::default() }
}

fn map<'n>(entries: impl IntoIterator<Item = (&'n str, Attr)>) -> AttrMap {
    entries.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn text(text: &str) -> Attr {
    Attr::String(text.into())
}

const TOPIC: &str = "mqtt:topic";

/// The first word of the topics that the broker itself publishes.
const STATUS: &str = "$SYS";

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: Client<'_> = Client {
        id: "c",
        name: Some("ada"),
        address: Some("::1"),
        level: 5,
        keep_alive: 60,
        clean_start: true,
    };

    fn check(access: Access<'_>, expected: Option<&str>) {
        let shown = access.question(&CLIENT).map(|(action, resource)| {
            assert_eq!(resource.kind, "mqtt:topic");
            let attributes = resource.attr.entries().iter();
            let attributes = attributes.map(|(name, value)| format!("{name}={}", shown(value)));
            let attributes: Vec<_> = attributes.collect();
            format!("{action} {} {}", resource.id, attributes.join(" "))
        });
        assert_eq!(shown.as_deref(), expected, "{access:?}");
    }

    fn shown(value: &Attr) -> String {
        match value {
            Attr::Bool(value) => value.to_string(),
            Attr::Number(value) => value.to_string(),
            Attr::String(value) => value.to_string(),
            Attr::Map(map) => {
                let entries = map.entries().iter();
                let entries = entries.map(|(name, value)| format!("{name}:{}", shown(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_have_their_topics_as_text() {
        let message = Message { topic: "a/b", qos: 1, retain: true, size: 7 };
        let rest = "a/b qos=1 retain=true size=7 topic=a/b version=5.0";
        check(Access::Publish(message), Some(&format!("publish {rest}")));
        check(Access::Receive(message), Some(&format!("receive {rest}")));
    }

    #[test]
    fn filters_are_maps_and_their_groups_are_apart() {
        check(
            Access::Subscribe("a/+/#", 2),
            Some("subscribe a/+/# qos=2 share= topic={filter:a/+/#} version=5.0"),
        );
        check(
            Access::Subscribe("$share/g/$share/h/x", 0),
            Some("subscribe $share/h/x qos=0 share=g topic={filter:$share/h/x} version=5.0"),
        );
        check(
            Access::Unsubscribe("$share/g/#"),
            Some("unsubscribe # share=g topic={filter:#} version=5.0"),
        );
    }

    #[test]
    fn what_is_no_topic_or_filter_is_not_asked_about() {
        let message = |topic| Message { topic, ..Message::default() };
        for topic in ["", "a/+", "#", "a\0b"] {
            check(Access::Publish(message(topic)), None);
            check(Access::Receive(message(topic)), None);
        }
        for filter in ["", "a#", "#/b", "a/b+", "$share/g", "$share//a", "$share/+/a"] {
            check(Access::Subscribe(filter, 0), None);
            check(Access::Unsubscribe(filter), None);
        }
        let long = "a".repeat(2000);
        check(Access::Publish(message(&long)), None);
    }

    #[test]
    fn only_the_broker_publishes_its_status() {
        let message = |topic| Message { topic, ..Message::default() };
        check(Access::Publish(message("$SYS/broker/connection/x/state")), None);
        check(Access::Publish(message("$SYS")), None);
        let rest = "qos=0 retain=false size=0 topic=$SYSX/a version=5.0";
        check(Access::Publish(message("$SYSX/a")), Some(&format!("publish $SYSX/a {rest}")));
        assert!(Access::Receive(message("$SYS/a")).question(&CLIENT).is_some());
    }

    #[test]
    fn a_client_has_the_attributes_that_are_known() {
        let ada = CLIENT.principal("ada", vec!["client".to_owned()]);
        assert_eq!(ada.attr, map([("address", text("::1")), ("clientId", text("c"))]));
        let offline = Client { address: None, level: 0, ..CLIENT };
        assert_eq!(offline.principal("ada", vec![]).attr, map([("clientId", text("c"))]));
        let (action, resource) = offline.connect();
        assert_eq!((action, resource.id.as_str()), ("connect", "c"));
        let known = [("cleanStart", Attr::Bool(true)), ("keepAlive", Attr::Number(60.0))];
        assert_eq!(resource.attr, map(known));
    }
}

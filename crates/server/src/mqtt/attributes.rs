//! Packets as attributes of a request.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_mqtt::Filter;
use wardgate_mqtt::gate::Message;
use wardgate_mqtt::packet::{Properties, Property, RetainHandling, Subscription, Version};

use super::judge::Connection;

/// The attributes of a CONNECT.
pub(super) fn connect(connection: &Connection, of: Version) -> AttrMap {
    map([
        ("cleanStart", Attr::Bool(connection.clean_start)),
        ("keepAlive", Attr::Number(connection.keep_alive.into())),
        ("version", version(of)),
        ("will", Attr::Bool(connection.has_will)),
    ])
}

/// The attributes of a message or will.
pub(super) fn message(message: &Message<'_>, of: Version) -> AttrMap {
    map([
        ("dup", Attr::Bool(message.dup)),
        ("properties", properties(message.properties)),
        ("qos", Attr::Number(message.qos.number().into())),
        ("retain", Attr::Bool(message.retain)),
        ("size", number(message.size)),
        (TOPIC, text(message.topic.text())),
        ("version", version(of)),
    ])
}

/// The attributes of a subscription.
pub(super) fn subscription(subscription: &Subscription<'_>, of: Version) -> AttrMap {
    let handling = match subscription.retain_handling {
        RetainHandling::Send => 0.0,
        RetainHandling::SendIfNew => 1.0,
        RetainHandling::DoNotSend => 2.0,
    };
    map([
        ("noLocal", Attr::Bool(subscription.no_local)),
        ("qos", Attr::Number(subscription.qos.number().into())),
        ("retainAsPublished", Attr::Bool(subscription.retain_as_published)),
        ("retainHandling", Attr::Number(handling)),
        ("share", share(subscription.filter)),
        (TOPIC, topics(subscription.filter)),
        ("version", version(of)),
    ])
}

/// The attributes of the end of a subscription.
pub(super) fn unsubscription(filter: Filter<'_>, of: Version) -> AttrMap {
    map([("share", share(filter)), (TOPIC, topics(filter)), ("version", version(of))])
}

/// Returns the topics of a filter: a map, so that no function on text reads a wildcard as text.
fn topics(filter: Filter<'_>) -> Attr {
    Attr::Map(map([("filter", text(filter.text()))]))
}

/// Returns the group of a shared subscription; empty for others.
fn share(filter: Filter<'_>) -> Attr {
    text(filter.group().unwrap_or(""))
}

/// Returns the properties of a message under the names of the standard. User properties are lists,
/// because a name may occur more than once.
fn properties(properties: Properties<'_>) -> Attr {
    let mut all: Vec<(Box<str>, Attr)> = Vec::new();
    let mut user: Vec<(Box<str>, Vec<Attr>)> = Vec::new();
    for property in properties {
        let (name, value) = match property {
            Property::ContentType(value) => ("contentType", text(value)),
            Property::ResponseTopic(value) => ("responseTopic", text(value)),
            Property::MessageExpiryInterval(seconds) => {
                ("messageExpiryInterval", Attr::Number(seconds.into()))
            }
            Property::PayloadFormatIndicator(is_text) => {
                ("payloadFormatIndicator", Attr::Bool(is_text))
            }
            Property::WillDelayInterval(seconds) => {
                ("willDelayInterval", Attr::Number(seconds.into()))
            }
            Property::UserProperty(name, value) => {
                match user.iter_mut().find(|(known, _)| **known == *name) {
                    Some((_, values)) => values.push(text(value)),
                    None => user.push((name.into(), vec![text(value)])),
                }
                continue;
            }
            _ => continue,
        };
        all.push((name.into(), value));
    }
    let user = user.into_iter().map(|(name, values)| (name, Attr::List(values))).collect();
    all.push(("user".into(), Attr::Map(user)));
    Attr::Map(all.into_iter().collect())
}

pub(super) fn map<const N: usize>(entries: [(&str, Attr); N]) -> AttrMap {
    entries.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

pub(super) fn text(text: &str) -> Attr {
    Attr::String(text.into())
}

fn version(version: Version) -> Attr {
    text(match version {
        Version::V311 => "3.1.1",
        Version::V5 => "5.0",
    })
}

fn number(number: usize) -> Attr {
    // A packet has fewer bytes than 32 bits can count.
    Attr::Number(u32::try_from(number).unwrap_or(u32::MAX).into())
}

/// The attribute that holds the topic or filter.
pub(super) const TOPIC: &str = "topic";

//! The questions of a gate.

use crate::packet::{Connect, Properties, Publish, Qos, Reason, Subscription, Will};
use crate::topic::{Filter, Name};

/// Decides on what a client wants. Errors are denials: a judge that cannot decide denies.
pub trait Judge {
    /// Decides whether the client may connect, and remembers its principal.
    ///
    /// # Errors
    /// The reason code of CONNACK: 0x86 for an unknown principal, 0x87 for a denial.
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason>;

    /// Decides whether the client that connected may stay.
    fn stay(&mut self) -> Verdict;

    /// Takes notice of the client id that the broker assigned.
    fn assigned(&mut self, _client_id: &str) {}

    /// Decides whether the will may be published.
    fn will(&mut self, will: &Message<'_>) -> Verdict;

    /// Decides whether a message may be published.
    fn publish(&mut self, message: &Message<'_>) -> Verdict;

    /// Decides whether a message may be delivered to the client.
    fn receive(&mut self, message: &Message<'_>) -> Verdict;

    /// Decides whether the client may have a subscription.
    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict;

    /// Decides whether the client may end a subscription.
    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict;
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// A message, or a will, with its topic: an alias is resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message<'p> {
    /// The topic.
    pub topic: Name<'p>,
    /// The quality of service.
    pub qos: Qos,
    /// The message is to be retained, or was.
    pub retain: bool,
    /// The message was sent before.
    pub dup: bool,
    /// The bytes of the payload.
    pub size: usize,
    /// The properties.
    pub properties: Properties<'p>,
}

impl Verdict {
    /// Returns true if it may.
    #[must_use]
    pub const fn is_allowed(self) -> bool {
        matches!(self, Self::Allow)
    }
}

impl<'p> Message<'p> {
    pub(crate) fn of_publish(publish: &Publish<'p>, topic: Name<'p>) -> Self {
        Self {
            topic,
            qos: publish.delivery.qos(),
            retain: publish.retain,
            dup: publish.delivery.is_dup(),
            size: publish.payload.len(),
            properties: publish.properties,
        }
    }

    pub(crate) const fn of_will(will: &Will<'p>) -> Self {
        Self {
            topic: will.topic,
            qos: will.qos,
            retain: will.retain,
            dup: false,
            size: will.payload.len(),
            properties: will.properties,
        }
    }

    /// Returns true if only the broker publishes under the topic.
    pub(super) fn is_of_broker(&self) -> bool {
        let rest = self.topic.text().strip_prefix("$SYS");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

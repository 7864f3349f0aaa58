//! The counters of clients of MQTT.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wardgate_mqtt::broker::Counts;

/// The counters of a gate, and of the broker of this server behind it.
#[derive(Debug, Default)]
pub(crate) struct MqttCounters {
    accepted: AtomicU64,
    gone: AtomicU64,
    ended: [AtomicU64; Ended::ALL.len()],
    has_broker: AtomicBool,
    received: AtomicU64,
    delivered: AtomicU64,
    dropped_full: AtomicU64,
    dropped_gone: AtomicU64,
    dropped_large: AtomicU64,
    not_retained: AtomicU64,
    retained: AtomicU64,
    retained_bytes: AtomicU64,
    subscriptions: AtomicU64,
}

/// The end of a connection, as its label has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The client has left.
    Left,
    /// The broker has refused or left the client, or sent what it must not.
    Broker,
    /// The client sent what it must not.
    Fault,
    /// An action was denied.
    Denied,
    /// A right was withdrawn.
    Withdrawn,
    /// The client was silent for too long.
    Silent,
    /// The client did not read what was sent to it.
    Slow,
    /// Another client has connected with its client id.
    TakenOver,
    /// The server stops, or needs the place.
    Stopped,
}

impl Ended {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Left, "left"),
        (Self::Broker, "broker"),
        (Self::Fault, "fault"),
        (Self::Denied, "denied"),
        (Self::Withdrawn, "withdrawn"),
        (Self::Silent, "silent"),
        (Self::Slow, "slow"),
        (Self::TakenOver, "taken-over"),
        (Self::Stopped, "stopped"),
    ];
}

impl MqttCounters {
    /// Counts a client that was accepted.
    pub(crate) fn entered(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a client that was accepted and has gone.
    pub(crate) fn left(&self) {
        self.gone.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a connection.
    pub(crate) fn ended(&self, ended: Ended) {
        let counters = Ended::ALL.iter().zip(&self.ended);
        for (_, count) in counters.filter(|((known, _), _)| *known == ended) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes notice that this server is the broker.
    pub(crate) fn has_broker(&self) {
        self.has_broker.store(true, Ordering::Relaxed);
    }

    /// Counts what the broker did.
    pub(crate) fn routed(&self, counts: &Counts) {
        let add = |count: &AtomicU64, more: u64| {
            if more > 0 {
                count.fetch_add(more, Ordering::Relaxed);
            }
        };
        add(&self.received, counts.received);
        add(&self.delivered, counts.delivered);
        add(&self.dropped_full, counts.dropped_full);
        add(&self.dropped_gone, counts.dropped_gone);
        add(&self.dropped_large, counts.dropped_large);
        add(&self.not_retained, counts.not_retained);
    }

    /// Notes what the broker has: retained messages with their bytes, and subscriptions.
    pub(crate) fn gauge(&self, retained: (usize, usize), subscriptions: usize) {
        let set = |gauge: &AtomicU64, size: usize| {
            gauge.store(u64::try_from(size).unwrap_or(u64::MAX), Ordering::Relaxed);
        };
        set(&self.retained, retained.0);
        set(&self.retained_bytes, retained.1);
        set(&self.subscriptions, subscriptions);
    }

    /// Writes everything down.
    pub(crate) fn write(&self, text: &mut String) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let accepted = read(&self.accepted);
        let clients = accepted.saturating_sub(read(&self.gone));
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "# HELP wardgate_mqtt_clients Clients that are connected.\n\
             # TYPE wardgate_mqtt_clients gauge\n\
             wardgate_mqtt_clients {clients}\n\
             # HELP wardgate_mqtt_accepted_total Clients that were allowed to connect.\n\
             # TYPE wardgate_mqtt_accepted_total counter\n\
             wardgate_mqtt_accepted_total {accepted}\n\
             # HELP wardgate_mqtt_ended_total Connections that have ended, by cause.\n\
             # TYPE wardgate_mqtt_ended_total counter"
        );
        for ((_, name), count) in Ended::ALL.iter().zip(&self.ended) {
            let _ = writeln!(text, "wardgate_mqtt_ended_total{{cause=\"{name}\"}} {}", read(count));
        }
        if self.has_broker.load(Ordering::Relaxed) {
            self.write_broker(text);
        }
    }

    fn write_broker(&self, text: &mut String) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let _ = writeln!(
            text,
            "# HELP wardgate_mqtt_received_total Messages that were published.\n\
             # TYPE wardgate_mqtt_received_total counter\n\
             wardgate_mqtt_received_total {}\n\
             # HELP wardgate_mqtt_delivered_total Messages that were handed to the connections of readers.\n\
             # TYPE wardgate_mqtt_delivered_total counter\n\
             wardgate_mqtt_delivered_total {}\n\
             # HELP wardgate_mqtt_dropped_total Messages that readers did not get, by reason.\n\
             # TYPE wardgate_mqtt_dropped_total counter\n\
             wardgate_mqtt_dropped_total{{reason=\"full\"}} {}\n\
             wardgate_mqtt_dropped_total{{reason=\"gone\"}} {}\n\
             wardgate_mqtt_dropped_total{{reason=\"large\"}} {}\n\
             # HELP wardgate_mqtt_not_retained_total Messages that were not retained for want of room.\n\
             # TYPE wardgate_mqtt_not_retained_total counter\n\
             wardgate_mqtt_not_retained_total {}\n\
             # HELP wardgate_mqtt_retained Retained messages.\n\
             # TYPE wardgate_mqtt_retained gauge\n\
             wardgate_mqtt_retained {}\n\
             # HELP wardgate_mqtt_retained_bytes Bytes of retained messages.\n\
             # TYPE wardgate_mqtt_retained_bytes gauge\n\
             wardgate_mqtt_retained_bytes {}\n\
             # HELP wardgate_mqtt_subscriptions Subscriptions of all clients.\n\
             # TYPE wardgate_mqtt_subscriptions gauge\n\
             wardgate_mqtt_subscriptions {}",
            read(&self.received),
            read(&self.delivered),
            read(&self.dropped_full),
            read(&self.dropped_gone),
            read(&self.dropped_large),
            read(&self.not_retained),
            read(&self.retained),
            read(&self.retained_bytes),
            read(&self.subscriptions),
        );
    }
}

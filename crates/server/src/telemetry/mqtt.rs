//! The counters of clients of MQTT.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one gate.
#[derive(Debug, Default)]
pub(crate) struct MqttCounters {
    accepted: AtomicU64,
    gone: AtomicU64,
    ended: [AtomicU64; Ended::ALL.len()],
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
    /// The server stops, or needs the place.
    Stopped,
}

impl Ended {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Left, "left"),
        (Self::Broker, "broker"),
        (Self::Fault, "fault"),
        (Self::Denied, "denied"),
        (Self::Withdrawn, "withdrawn"),
        (Self::Silent, "silent"),
        (Self::Slow, "slow"),
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
    }
}

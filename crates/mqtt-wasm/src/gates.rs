//! The gates of an instance, by numbers, and the judge that asks the host.
//!
//! A question to the host is a packet: what the client wants, and nothing else of its bytes. The
//! host answers with [`ALLOWED`]; any other number denies.

use std::num::NonZeroU16;

use wardgate_mqtt::gate::{Close, Deliver, Denied, Gate, Judge, Message, Password, Side};
use wardgate_mqtt::gate::{Settings, Steps, Verdict};
use wardgate_mqtt::packet::{
    Connect, Delivery, List, Packet, Properties, Publish, Qos, Reason, Subscribe, Subscription,
    Unsubscribe, Version, encode,
};
use wardgate_mqtt::{Filter, Limits};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Decides about the packet at an address, by the level of the protocol. `size` is the number
    /// of bytes of the payload, which the packet lacks.
    fn judge(action: u32, level: u8, address: usize, length: usize, size: usize) -> u32;
}

/// Gates, each with what it made last.
pub(crate) struct Gates {
    gates: Vec<Option<Opened>>,
    /// The numbers without a gate.
    free: Vec<u32>,
    /// The packet of a question, reused so that the next one allocates no memory.
    question: Vec<u8>,
}

pub(crate) struct Opened {
    gate: Gate,
    version: Version,
    pub(crate) steps: Steps,
}

/// An event of a gate: bytes of a side, a time, or a loss.
#[derive(Clone, Copy)]
pub(crate) enum Event<'b> {
    Client(&'b [u8]),
    Server(&'b [u8]),
    Tick(u64),
    Reconsider,
    ServerLost,
    ClientLost,
    Close(Reason),
}

/// Asks the host.
struct Host<'q> {
    question: &'q mut Vec<u8>,
    version: &'q mut Version,
}

impl Gates {
    pub(crate) const fn new() -> Self {
        Self { gates: Vec::new(), free: Vec::new(), question: Vec::new() }
    }

    /// Makes a gate, and returns its number.
    pub(crate) fn open(&mut self, settings: Settings, now: u64) -> u32 {
        let gate = Gate::new(settings, now);
        let opened = Opened { gate, version: Version::V5, steps: Steps::default() };
        let number = self.free.pop().unwrap_or_else(|| {
            self.gates.push(None);
            u32::try_from(self.gates.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.gates.get_mut(index(number)) {
            *place = Some(opened);
        }
        number
    }

    /// Frees a gate.
    pub(crate) fn close(&mut self, gate: u32) {
        if self.gates.get_mut(index(gate)).and_then(Option::take).is_some() {
            self.free.push(gate);
        }
    }

    /// Tells a gate what happens, and returns it with its steps; `None` if there is no such gate.
    pub(crate) fn tell(&mut self, gate: u32, event: Event<'_>) -> Option<&Opened> {
        let opened = self.gates.get_mut(index(gate))?.as_mut()?;
        let Opened { gate, version, steps } = opened;
        begin(steps);
        let mut host = Host { question: &mut self.question, version };
        match event {
            Event::Client(bytes) => gate.from_client(bytes, &mut host, steps),
            Event::Server(bytes) => gate.from_server(bytes, &mut host, steps),
            Event::Tick(now) => gate.tick(now, steps),
            Event::Reconsider => gate.reconsider(&mut host, steps),
            Event::ServerLost => gate.server_lost(steps),
            Event::ClientLost => gate.client_lost(&mut host, steps),
            Event::Close(reason) => gate.close(reason, steps),
        }
        if self.question.capacity() > RETAINED {
            self.question = Vec::new();
        }
        Some(opened)
    }
}

impl Host<'_> {
    fn ask(&mut self, action: u32, packet: &Packet<'_>, size: usize) -> u32 {
        self.question.clear();
        // A packet that was decoded has a form, and what has none is denied.
        match encode(packet, *self.version, self.question) {
            Ok(()) => self.put(action, size),
            Err(_) => DENIED,
        }
    }

    fn put(&self, action: u32, size: usize) -> u32 {
        let address = self.question.as_ptr().expose_provenance();
        judge(action, self.version.level(), address, self.question.len(), size)
    }

    fn about(&mut self, action: u32, message: &Message<'_>) -> Verdict {
        let Message { topic, qos, retain, dup, size, properties } = *message;
        let id = NonZeroU16::MIN;
        let delivery = match qos {
            Qos::AtMostOnce => Delivery::AtMostOnce,
            Qos::AtLeastOnce => Delivery::AtLeastOnce { id, dup },
            Qos::ExactlyOnce => Delivery::ExactlyOnce { id, dup },
        };
        let publish = Publish { topic: Some(topic), delivery, retain, properties, payload: &[] };
        verdict(self.ask(action, &Packet::Publish(publish), size))
    }
}

impl Judge for Host<'_> {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        *self.version = connect.version;
        match self.ask(CONNECT, &Packet::Connect(*connect), 0) {
            ALLOWED => Ok(()),
            code => {
                let reason = u8::try_from(code).map(Reason).unwrap_or_default();
                Err(if reason.is_failure() { reason } else { Reason::NOT_AUTHORIZED })
            }
        }
    }

    fn stay(&mut self) -> Verdict {
        self.question.clear();
        verdict(self.put(STAY, 0))
    }

    fn assigned(&mut self, client_id: &str) {
        self.question.clear();
        self.question.extend_from_slice(client_id.as_bytes());
        self.put(ASSIGNED, 0);
    }

    fn will(&mut self, will: &Message<'_>) -> Verdict {
        self.about(WILL, will)
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        self.about(PUBLISH, message)
    }

    fn receive(&mut self, message: &Message<'_>) -> Verdict {
        self.about(RECEIVE, message)
    }

    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict {
        let subscriptions = [*subscription];
        let subscribe = Subscribe {
            id: NonZeroU16::MIN,
            properties: Properties::EMPTY,
            subscriptions: List::of(&subscriptions),
        };
        verdict(self.ask(SUBSCRIBE, &Packet::Subscribe(subscribe), 0))
    }

    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict {
        let filters = [filter];
        let unsubscribe = Unsubscribe {
            id: NonZeroU16::MIN,
            properties: Properties::EMPTY,
            filters: List::of(&filters),
        };
        verdict(self.ask(UNSUBSCRIBE, &Packet::Unsubscribe(unsubscribe), 0))
    }
}

/// Returns the settings of a gate. Bits of `choices`: denied messages of 3.1.1 are dropped, each
/// delivery is judged, the password goes to the broker.
pub(crate) fn settings(limits: Limits, choices: u32, connect: u32, connack: u32) -> Settings {
    let has = |bit: u32| choices & bit != 0;
    Settings {
        limits,
        denied: if has(1) { Denied::Drop } else { Denied::Close },
        deliver: if has(2) { Deliver::Each } else { Deliver::Subscribed },
        password: if has(4) { Password::Pass } else { Password::Remove },
        connect_millis: connect.into(),
        connack_millis: connack.into(),
    }
}

/// Returns the number of a side; 0 if the connection goes on.
pub(crate) fn side(close: Option<Close>) -> usize {
    match close.map(|close| close.side) {
        None => 0,
        Some(Side::Client) => 1,
        Some(Side::Server) => 2,
        Some(Side::Gate) => 3,
    }
}

/// Empties steps, and frees buffers that a long packet needed.
fn begin(steps: &mut Steps) {
    for buffer in [&mut steps.to_server, &mut steps.to_client] {
        buffer.clear();
        if buffer.capacity() > RETAINED {
            *buffer = Vec::new();
        }
    }
    steps.close = None;
}

fn verdict(answer: u32) -> Verdict {
    if answer == ALLOWED { Verdict::Allow } else { Verdict::Deny }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

const ALLOWED: u32 = 1;
const DENIED: u32 = 0;

/// The actions, as the host knows them.
const CONNECT: u32 = 0;
const STAY: u32 = 1;
const ASSIGNED: u32 = 2;
const WILL: u32 = 3;
const PUBLISH: u32 = 4;
const RECEIVE: u32 = 5;
const SUBSCRIBE: u32 = 6;
const UNSUBSCRIBE: u32 = 7;

/// The capacity of buffers that stay allocated for the next call, in bytes. A gate is one of many.
const RETAINED: usize = 1 << 12;

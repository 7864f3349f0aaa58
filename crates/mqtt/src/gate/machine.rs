//! The state of a connection, its end, and time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::alias::Aliases;
use super::close::{Action, Cause, Close, Side, Stop};
use super::ids::Ids;
use super::judge::{Judge, Message, Verdict};
use super::subscriptions::Subscriptions;
use super::{Deliver, Settings, Steps};
use crate::limits::{Limits, SERVER_SLACK_BYTES};
use crate::packet::{Connack, End, Packet, Properties, Qos, Reason, Version, encode};
use crate::topic::Name;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) settings: Settings,
    pub(super) state: State,
    pub(super) version: Version,
    /// The bounds on packets of the client; those of the broker narrow them.
    pub(super) client_limits: Limits,
    /// CONNECT named an authentication method.
    pub(super) has_method: bool,
    /// Each delivery is judged.
    pub(super) judges_deliveries: bool,
    pub(super) will: Option<KeptWill>,
    pub(super) subscriptions: Subscriptions,
    /// The aliases of the client.
    pub(super) client_aliases: Aliases,
    /// The aliases of the broker.
    pub(super) server_aliases: Aliases,
    /// The largest packet that the client takes.
    pub(super) client_takes: usize,
    /// The messages of the client with QoS 1 and 2 that the broker may have unacknowledged; 5.0.
    pub(super) receive_maximum: usize,
    pub(super) flows: Flows,
    /// Answers of the gate that wait for CONNACK.
    pub(super) early: Vec<u8>,
    /// PINGREQ of the client without PINGRESP.
    pub(super) pings: u64,
    /// PINGRESP that come before the one that the gate asked for.
    pub(super) own_ping: Option<u64>,
    pub(super) clock: Clock,
}

/// The progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing of the client was decoded yet.
    Begun,
    /// CONNECT was decoded, and CONNACK is not there yet.
    Asked,
    /// The broker has accepted the client.
    Open,
    /// It is over.
    Closed,
}

/// The messages that are under way.
#[derive(Debug)]
pub(super) struct Flows {
    /// Those of the client, QoS 1 and 2, that the broker has to acknowledge; 5.0.
    pub(super) sent: Ids,
    /// Those of the client, QoS 2, whose flow the broker has begun.
    pub(super) sent_twice: Ids,
    /// Those of the client, QoS 2, that the gate acknowledges itself.
    pub(super) refused: Ids,
    /// Those of the broker, QoS 2, that were passed on, where deliveries are judged.
    pub(super) delivered: Ids,
    /// Those of the broker, QoS 2, that the gate acknowledges itself.
    pub(super) withheld: Ids,
}

/// A will without its payload.
#[derive(Debug)]
pub(super) struct KeptWill {
    topic: Box<str>,
    qos: Qos,
    retain: bool,
    size: usize,
    properties: Box<[u8]>,
}

/// Times, in milliseconds.
#[derive(Debug)]
pub(super) struct Clock {
    now: u64,
    begun: u64,
    /// When CONNECT was first seen to be there.
    asked: Option<u64>,
    /// One and a half times the keep-alive; zero for none.
    pub(super) silence: u64,
    /// A packet of the client came since the last tick.
    pub(super) was_heard: bool,
    heard: u64,
    /// A packet went to the broker since the last tick.
    pub(super) was_passed_on: bool,
    passed_on: u64,
}

impl Machine {
    pub(super) const fn new(settings: Settings, now: u64) -> Self {
        Self {
            settings,
            state: State::Begun,
            version: Version::V5,
            client_limits: settings.limits,
            has_method: false,
            judges_deliveries: matches!(settings.deliver, Deliver::Each),
            will: None,
            subscriptions: Subscriptions::new(),
            client_aliases: Aliases::new(),
            server_aliases: Aliases::new(),
            client_takes: usize::MAX,
            receive_maximum: usize::MAX,
            flows: Flows::new(),
            early: Vec::new(),
            pings: 0,
            own_ping: None,
            clock: Clock::new(now),
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Returns the bounds on packets of the broker. It may have other publishers, whose topics are
    /// as long as the standards allow.
    pub(super) fn server_limits(&self) -> Limits {
        Limits { packet_bytes: server_bytes(&self.settings.limits), ..Limits::WIDEST }
    }

    pub(super) fn tick(&mut self, now: u64, steps: &mut Steps) {
        match self.state {
            State::Closed => return,
            State::Begun => self.clock.now = now,
            State::Asked | State::Open => self.clock.advance(now),
        }
        if let Some((cause, reason)) = self.overdue() {
            return self.stop_self(cause, reason, steps);
        }
        // A client whose packets are all refused here is not silent, but is so to the broker.
        if self.state == State::Open && self.clock.is_quiet() && self.own_ping.is_none() {
            self.own_ping = Some(self.pings);
            self.put(Side::Server, &Packet::Pingreq, steps);
        }
    }

    /// Returns what has not come in time.
    fn overdue(&self) -> Option<(Cause, Reason)> {
        let (clock, settings) = (&self.clock, &self.settings);
        match self.state {
            State::Begun if clock.since(clock.begun) >= settings.connect_millis => {
                Some((Cause::ConnectTimeout, Reason::KEEP_ALIVE_TIMEOUT))
            }
            State::Asked if clock.since_asked() >= settings.connack_millis => {
                Some((Cause::ConnackTimeout, Reason::SERVER_UNAVAILABLE))
            }
            State::Asked | State::Open if clock.is_silent() => {
                Some((Cause::KeepAlive, Reason::KEEP_ALIVE_TIMEOUT))
            }
            _ => None,
        }
    }

    pub(super) fn reconsider(&mut self, judge: &mut dyn Judge, steps: &mut Steps) {
        if !matches!(self.state, State::Asked | State::Open) {
            return;
        }
        let may_publish_will = self.may_publish_will(judge);
        let lost = if !judge.stay().is_allowed() {
            Some(Action::Connect)
        } else if !self.subscriptions.all(|asked| judge.subscribe(asked).is_allowed()) {
            Some(Action::Subscribe)
        } else if !may_publish_will {
            Some(Action::Will)
        } else {
            None
        };
        if let Some(action) = lost {
            if !may_publish_will {
                self.discard_will(steps);
            }
            self.stop_self(Cause::Withdrawn(action), Reason::NOT_AUTHORIZED, steps);
        }
    }

    /// Refuses a client whose broker is away, and leaves one without a word whose broker left
    /// without one.
    pub(super) fn server_lost(&mut self, steps: &mut Steps) {
        let stop = Stop::new(Cause::Lost, Reason::SERVER_UNAVAILABLE);
        match self.state {
            State::Begun | State::Asked => self.stop(Side::Server, stop, 0, steps),
            State::Open | State::Closed => self.end(Side::Server, stop, 0, steps),
        }
    }

    pub(super) fn client_lost(&mut self, judge: &mut dyn Judge, steps: &mut Steps) {
        if matches!(self.state, State::Asked | State::Open) && !self.may_publish_will(judge) {
            self.discard_will(steps);
        }
        self.end(Side::Client, Stop::new(Cause::Lost, Reason::SUCCESS), 0, steps);
    }

    pub(super) fn close(&mut self, reason: Reason, steps: &mut Steps) {
        self.stop_self(Cause::Host, reason, steps);
    }

    fn may_publish_will(&self, judge: &mut dyn Judge) -> bool {
        let Some(will) = &self.will else { return true };
        judge.will(&will.message()) == Verdict::Allow
    }

    /// Tells the broker that the client leaves, so that it does not publish the will
    /// [MQTT-3.14.4-3].
    fn discard_will(&mut self, steps: &mut Steps) {
        let end = End { reason: Reason::SUCCESS, properties: Properties::EMPTY };
        self.put(Side::Server, &Packet::Disconnect(end), steps);
        self.will = None;
    }

    fn stop_self(&mut self, cause: Cause, reason: Reason, steps: &mut Steps) {
        self.stop(Side::Gate, Stop::new(cause, reason), 0, steps);
    }

    /// Closes the connection and says why, to the client and to a broker whose packet was wrong.
    pub(super) fn stop(&mut self, side: Side, stop: Stop, offset: u64, steps: &mut Steps) {
        if matches!(stop.cause, Cause::Disconnect | Cause::Refused) {
            return self.end(side, stop, offset, steps);
        }
        let is_wrong = side == Side::Server && !matches!(stop.cause, Cause::Lost);
        let is_connected = matches!(self.state, State::Asked | State::Open);
        // A fault of the broker is none of the client's packets.
        let reason = if is_wrong { Reason::UNSPECIFIED_ERROR } else { stop.reason };
        match (self.state, self.version) {
            (State::Asked, _) => self.refuse(reason, steps),
            (State::Open, Version::V5) => self.disconnect(Side::Client, reason, steps),
            _ => {}
        }
        if is_wrong && is_connected && self.version == Version::V5 {
            self.disconnect(Side::Server, stop.reason, steps);
        }
        self.end(side, stop, offset, steps);
    }

    /// Closes the connection without a word.
    pub(super) fn end(&mut self, side: Side, stop: Stop, offset: u64, steps: &mut Steps) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        let at = u64::try_from(stop.at).unwrap_or(u64::MAX);
        let offset = offset.saturating_add(at);
        steps.close = Some(Close { side, cause: stop.cause, reason: stop.reason, offset });
        self.subscriptions = Subscriptions::new();
        self.flows = Flows::new();
        self.early = Vec::new();
        self.client_aliases = Aliases::new();
        self.server_aliases = Aliases::new();
        self.will = None;
    }

    /// Refuses CONNECT. 3.1.1 has no code for some reasons; the connection then closes without one.
    pub(super) fn refuse(&mut self, reason: Reason, steps: &mut Steps) {
        let reason = match self.version {
            Version::V5 => Some(reason.of_connack()),
            Version::V311 => reason.return_code(),
        };
        let Some(reason) = reason else { return };
        let connack = Connack { session_present: false, reason, properties: Properties::EMPTY };
        self.put(Side::Client, &Packet::Connack(connack), steps);
    }

    pub(super) fn disconnect(&mut self, to: Side, reason: Reason, steps: &mut Steps) {
        let end = End { reason: reason.of_disconnect(), properties: Properties::EMPTY };
        self.put(to, &Packet::Disconnect(end), steps);
    }

    /// Appends a packet of the gate for a side.
    pub(super) fn put(&mut self, to: Side, packet: &Packet<'_>, steps: &mut Steps) {
        let out = self.out(to, steps);
        // A packet that the gate makes has a form; one that had none would be left out.
        let _ = encode(packet, self.version, out);
    }

    /// Appends a packet for a side as it came.
    pub(super) fn pass(&mut self, to: Side, raw: &[u8], steps: &mut Steps) {
        self.out(to, steps).extend_from_slice(raw);
    }

    fn out<'s>(&mut self, to: Side, steps: &'s mut Steps) -> &'s mut Vec<u8> {
        match to {
            Side::Server => {
                self.clock.was_passed_on = true;
                &mut steps.to_server
            }
            _ => &mut steps.to_client,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let will = self.will.as_ref().map_or(0, KeptWill::bytes);
        let aliases = self.client_aliases.bytes().saturating_add(self.server_aliases.bytes());
        let tables = self.flows.bytes().saturating_add(self.subscriptions.bytes());
        let early = self.early.capacity();
        will.saturating_add(aliases).saturating_add(tables).saturating_add(early)
    }
}

/// Returns the largest packet that a broker may send.
pub(super) fn server_bytes(limits: &Limits) -> u32 {
    limits.packet_bytes.saturating_add(SERVER_SLACK_BYTES).min(Limits::PACKET_BYTES)
}

impl Flows {
    const fn new() -> Self {
        Self {
            sent: Ids::new(),
            sent_twice: Ids::new(),
            refused: Ids::new(),
            delivered: Ids::new(),
            withheld: Ids::new(),
        }
    }

    fn bytes(&self) -> usize {
        let all = [&self.sent, &self.sent_twice, &self.refused, &self.delivered, &self.withheld];
        all.into_iter().map(Ids::bytes).sum()
    }
}

impl KeptWill {
    pub(super) fn of(will: &Message<'_>) -> Self {
        Self {
            topic: will.topic.text().into(),
            qos: will.qos,
            retain: will.retain,
            size: will.size,
            properties: will.properties.bytes().into(),
        }
    }

    fn message(&self) -> Message<'_> {
        Message {
            topic: Name::of_checked(&self.topic),
            qos: self.qos,
            retain: self.retain,
            dup: false,
            size: self.size,
            properties: Properties::of_checked(&self.properties),
        }
    }

    fn bytes(&self) -> usize {
        self.topic.len().saturating_add(self.properties.len())
    }
}

impl Clock {
    const fn new(now: u64) -> Self {
        Self {
            now,
            begun: now,
            asked: None,
            silence: 0,
            was_heard: false,
            heard: now,
            was_passed_on: false,
            passed_on: now,
        }
    }

    /// Lets time pass after CONNECT.
    fn advance(&mut self, now: u64) {
        self.now = now;
        self.asked.get_or_insert(now);
        if core::mem::take(&mut self.was_heard) {
            self.heard = now;
        }
        if core::mem::take(&mut self.was_passed_on) {
            self.passed_on = now;
        }
    }

    const fn since(&self, then: u64) -> u64 {
        self.now.saturating_sub(then)
    }

    fn since_asked(&self) -> u64 {
        self.asked.map_or(0, |asked| self.since(asked))
    }

    /// Returns true if the client has sent nothing for too long.
    const fn is_silent(&self) -> bool {
        self.silence > 0 && self.since(self.heard) >= self.silence
    }

    /// Returns true if the client has sent something and the broker has heard nothing of it for
    /// half of the keep-alive.
    const fn is_quiet(&self) -> bool {
        let is_behind = self.heard > self.passed_on;
        self.silence > 0 && is_behind && self.since(self.passed_on) >= self.silence / 3
    }

    /// Sets the keep-alive in seconds. One and a half of the longest is less than 100,000
    /// seconds, so nothing overflows.
    pub(super) fn set_keep_alive(&mut self, seconds: u16) {
        self.silence = u64::from(seconds).saturating_mul(1500);
    }
}

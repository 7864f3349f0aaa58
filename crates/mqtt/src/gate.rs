//! The gate: the protocol machine between one client and the broker behind it, without I/O.
//!
//! Bytes of both sides and the verdicts of a [`Judge`] go in; [`Steps`] come out: bytes for each
//! side, and the end of the connection. What is allowed is passed on as it came. The gate holds no
//! message: of a packet that is not there in full it keeps the bytes, and beyond that only tables
//! that [`Limits`] bounds.
//!
//! Three rules keep client, gate and broker in step:
//!
//! 1. A packet that the gate does not pass on is answered by the gate, to its end: a QoS 2
//!    message that was withheld is acknowledged and released by the gate alone, in either direction.
//! 2. An alias is what its sender says. The gate notes for each alias whether the receiver has seen
//!    it, and writes the topic into the next message that uses it if not.
//! 3. The list of subscriptions holds at least those that the broker has. Filters join it when
//!    they are asked for, and leave it when the broker says that they are gone.
//!
//! A session that the broker resumes has subscriptions that this gate never saw. Its
//! deliveries are judged one by one.

mod alias;
mod client;
mod close;
mod connect;
mod ids;
mod inbox;
mod judge;
mod machine;
mod server;
mod subscriptions;

use alloc::vec::Vec;

use crate::limits::Limits;
use crate::packet::Reason;
pub use close::{Action, Cause, Close, Side};
use inbox::Inbox;
pub use judge::{Judge, Message, Verdict};
use machine::Machine;

/// The protocol machine of one client.
///
/// # Examples
/// ```
/// use wardgate_mqtt::gate::{Gate, Judge, Message, Settings, Steps, Verdict};
/// use wardgate_mqtt::packet::{Connect, Reason, Subscription};
/// use wardgate_mqtt::Filter;
///
/// struct Everything;
///
/// impl Judge for Everything {
///     fn connect(&mut self, _: &Connect<'_>) -> Result<(), Reason> { Ok(()) }
///     fn stay(&mut self) -> Verdict { Verdict::Allow }
///     fn will(&mut self, _: &Message<'_>) -> Verdict { Verdict::Allow }
///     fn publish(&mut self, _: &Message<'_>) -> Verdict { Verdict::Allow }
///     fn receive(&mut self, _: &Message<'_>) -> Verdict { Verdict::Allow }
///     fn subscribe(&mut self, _: &Subscription<'_>) -> Verdict { Verdict::Allow }
///     fn unsubscribe(&mut self, _: Filter<'_>) -> Verdict { Verdict::Allow }
/// }
///
/// let mut gate = Gate::new(Settings::default(), 0);
/// let mut steps = Steps::default();
/// let connect = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a";
/// gate.from_client(connect, &mut Everything, &mut steps);
/// assert_eq!(steps.to_server, connect);
/// assert!(steps.to_client.is_empty() && steps.close.is_none());
/// ```
#[derive(Debug)]
pub struct Gate {
    client: Inbox,
    server: Inbox,
    machine: Machine,
}

/// What a gate does beyond the standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The bounds on packets and tables.
    pub limits: Limits,
    /// The answer to a denied PUBLISH of 3.1.1.
    pub denied: Denied,
    /// The deliveries that are judged.
    pub deliver: Deliver,
    /// What becomes of the password of CONNECT.
    pub password: Password,
    /// The milliseconds until CONNECT must be there.
    pub connect_millis: u64,
    /// The milliseconds from CONNECT until the broker must have accepted or refused it.
    pub connack_millis: u64,
}

/// The answer to a denied PUBLISH of QoS 1 or 2 in 3.1.1, which has no code for it
/// [MQTT-3.3.5-2]. In 5.0 the acknowledgement has the reason code 0x87; QoS 0 is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Denied {
    /// The connection is closed.
    #[default]
    Close,
    /// The message is acknowledged and dropped.
    Drop,
}

/// The deliveries that are judged by [`Judge::receive`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deliver {
    /// Those of sessions that the broker resumed; others follow from judged subscriptions.
    #[default]
    Subscribed,
    /// Each of them.
    Each,
}

/// What becomes of the password of CONNECT. Where the judge takes it for a proof, it is often none
/// of the broker's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Password {
    /// The broker gets it.
    #[default]
    Pass,
    /// The broker gets CONNECT without it.
    Remove,
}

/// What is to be done. The gate appends; the host takes away what it has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Bytes for the broker.
    pub to_server: Vec<u8>,
    /// Bytes for the client.
    pub to_client: Vec<u8>,
    /// Both connections are to be closed after the bytes are written.
    pub close: Option<Close>,
}

impl Gate {
    /// Makes the machine of a client whose connection was accepted at `now`, in milliseconds of any
    /// clock that does not go back.
    #[must_use]
    pub const fn new(settings: Settings, now: u64) -> Self {
        Self { client: Inbox::new(), server: Inbox::new(), machine: Machine::new(settings, now) }
    }

    /// Takes bytes of the client.
    pub fn from_client(&mut self, bytes: &[u8], judge: &mut dyn Judge, steps: &mut Steps) {
        let machine = &mut self.machine;
        self.client.take(bytes, |bytes, at| machine.take_client(bytes, at, judge, steps));
        self.drop_buffers();
    }

    /// Takes bytes of the broker.
    pub fn from_server(&mut self, bytes: &[u8], judge: &mut dyn Judge, steps: &mut Steps) {
        let machine = &mut self.machine;
        self.server.take(bytes, |bytes, at| machine.take_server(bytes, at, judge, steps));
        self.drop_buffers();
    }

    /// Lets time pass. Waits end at the first call at or after their time; once a second is
    /// often enough.
    pub fn tick(&mut self, now: u64, steps: &mut Steps) {
        self.machine.tick(now, steps);
        self.drop_buffers();
    }

    /// Judges the connection, its will and its subscriptions anew, after policies have changed or
    /// a token has expired. Closes the connection if a right is gone, because MQTT cannot
    /// take a subscription back otherwise.
    pub fn reconsider(&mut self, judge: &mut dyn Judge, steps: &mut Steps) {
        self.machine.reconsider(judge, steps);
        self.drop_buffers();
    }

    /// Takes notice that the connection to the broker could not be made, or has ended.
    pub fn server_lost(&mut self, steps: &mut Steps) {
        self.machine.server_lost(steps);
        self.drop_buffers();
    }

    /// Takes notice that the connection of the client has ended. The broker publishes its will,
    /// unless that is no longer allowed.
    pub fn client_lost(&mut self, judge: &mut dyn Judge, steps: &mut Steps) {
        self.machine.client_lost(judge, steps);
        self.drop_buffers();
    }

    /// Closes the connection for a reason of the host.
    pub fn close(&mut self, reason: Reason, steps: &mut Steps) {
        self.machine.close(reason, steps);
        self.drop_buffers();
    }

    /// Returns true if the broker has accepted the client, and neither has left.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.machine.is_open()
    }

    /// Returns the bytes that the gate holds: parts of packets and tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let buffers = self.client.bytes().saturating_add(self.server.bytes());
        buffers.saturating_add(self.machine.bytes())
    }

    fn drop_buffers(&mut self) {
        if self.machine.is_closed() {
            self.client.clear();
            self.server.clear();
        }
    }
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        limits: Limits::DEFAULT,
        denied: Denied::Close,
        deliver: Deliver::Subscribed,
        password: Password::Pass,
        connect_millis: 5_000,
        connack_millis: 10_000,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

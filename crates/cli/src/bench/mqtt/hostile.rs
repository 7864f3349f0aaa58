//! The memory of a server with clients that want to exhaust it.
//!
//! Each case has a fresh server, whose other clients are served meanwhile, and a bound on the memory
//! that the server may take: a run fails beyond it.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU16;

use wardgate_mqtt::packet::Packet;

use super::client::{Client, LOAD, Numbered};
use super::programs::Program;
use super::table::{Row, Unit};
use super::{Server, idle};
use crate::bench::units::approximate;

/// Clients of one kind, and the memory that they may cost.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Does the harm, and calls `others` now and then.
    attack: Attack,
    /// Bytes that the server may take at most.
    bound: u64,
}

type Attack = fn(SocketAddr, others: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String>;

/// The resident memory of a server, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) before: u64,
    pub(crate) peak: u64,
    /// What is left once those clients have gone.
    pub(crate) after: u64,
}

impl Case {
    /// Attacks a fresh server; returns `None` where the system does not tell its memory.
    ///
    /// # Errors
    /// Another client was not served, or the server took more memory than it may.
    pub(crate) fn measure(&self, program: &Program) -> Result<Option<Memory>, String> {
        let mut other = Client::connect(program.address(), LOAD, "other")?;
        other.subscribe("other")?;
        let before = program.resident();
        (self.attack)(program.address(), &mut || other.subscribe("other"))?;
        other.subscribe("other")?;
        let after = program.settled();
        let (Some(before), Some(after), Some(peak)) = (before, after, program.peak()) else {
            return Ok(None);
        };
        let taken = peak.saturating_sub(before);
        match taken > self.bound {
            true => Err(format!("{taken} bytes of memory were taken, {} are allowed", self.bound)),
            false => Ok(Some(Memory { before, peak, after })),
        }
    }

    pub(crate) fn fault(&self, server: Server, error: &str) -> String {
        format!("{}: {server:?}: {error}", self.name)
    }

    /// Returns the rows of the table for this case.
    pub(crate) fn rows(&self, figures: &[(Server, Option<Memory>)]) -> [Row; 3] {
        let row = |word: &str, of: fn(&Memory) -> u64| {
            let figure = |(server, memory): &(Server, Option<Memory>)| {
                Some((*server, approximate(memory.as_ref().map(of)?)))
            };
            let figures = figures.iter().filter_map(figure).collect();
            Row { name: format!("{}, {word}", self.name), unit: Unit::Bytes, figures }
        };
        [row("before", |it| it.before), row("peak", |it| it.peak), row("after", |it| it.after)]
    }
}

/// Publishes more than the sockets take to clients that read nothing.
fn slow_readers(
    address: SocketAddr,
    others: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let mut readers = Vec::new();
    for number in 0..SLOW_READERS {
        let mut reader = Client::connect(address, LOAD, &format!("slow-{number}"))?;
        reader.subscribe(TOPIC)?;
        readers.push(reader);
    }
    let mut publisher = Client::connect(address, LOAD, "publisher")?;
    let mut messages = Numbered::new(TOPIC, SLOW_MESSAGE);
    let mut bytes = Vec::new();
    for number in 0..SLOW_MESSAGES {
        bytes.clear();
        messages.write(number, &mut bytes)?;
        publisher.write(&bytes)?;
        if number.is_multiple_of(64) {
            others()?;
        }
    }
    // An answer comes behind all messages.
    publisher.subscribe("done")
}

/// Sends all but the last byte of the longest CONNECT, again and again.
fn half_open(
    address: SocketAddr,
    others: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let mut connect = b"\x10\xfd\x7f\x00\x04MQTT\x04\x02\x00\x3c".to_vec();
    connect.resize(CONNECT_BYTES - 1, b'x');
    let mut crowd = Vec::new();
    for number in 0..idle::most(STRANGERS, 1) {
        let mut stranger = TcpStream::connect(address).map_err(|error| error.to_string())?;
        // A stranger that is pushed out already cannot write.
        let _ = stranger.write_all(&connect);
        crowd.push(stranger);
        if number.is_multiple_of(500) {
            others()?;
        }
    }
    Ok(())
}

/// Subscribes to far more than one client may.
fn storms(
    address: SocketAddr,
    others: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let mut crowd = Vec::new();
    for client in 0..STORMS {
        let mut storm = Client::connect(address, LOAD, &format!("storm-{client}"))?;
        for number in 1..=STORM_PACKETS {
            let Some(id) = NonZeroU16::new(number) else { continue };
            let texts: Vec<String> = (0..64)
                .map(|filter| format!("{number}/{filter}/{}", "x".repeat(FILTER_BYTES)))
                .collect();
            storm.ask(id, &texts)?;
        }
        others()?;
        for _ in 0..STORM_PACKETS {
            storm.next(|packet| match packet {
                Packet::Suback(_) => Ok(()),
                other => Err(format!("SUBSCRIBE is answered with {other:?}")),
            })?;
        }
        crowd.push(storm);
    }
    Ok(())
}

/// Connects again and again with one client id, and keeps the old connections.
fn reconnects(
    address: SocketAddr,
    others: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let mut crowd = Vec::new();
    for number in 0..RECONNECTS {
        let mut client = Client::connect(address, LOAD, "same")?;
        client.subscribe(TOPIC)?;
        crowd.push(client);
        if number.is_multiple_of(100) {
            others()?;
        }
    }
    Ok(())
}

/// Bounds follow from those of the server, with room for the allocator: 256 KiB wait for a slow
/// reader; 1,024 beginnings of a CONNECT of 16 KiB are held, in buffers that grow by doubling; a client
/// has filters of 256 KiB; and one id is one client, beside those that end.
pub(crate) const CASES: [Case; 4] = [
    Case { name: "20 slow readers", attack: slow_readers, bound: 20 << 20 },
    Case { name: "half-open connections", attack: half_open, bound: 48 << 20 },
    Case { name: "16 SUBSCRIBE storms", attack: storms, bound: 16 << 20 },
    Case { name: "1,000 reconnects", attack: reconnects, bound: 16 << 20 },
];

/// The clients that a server must have room for.
pub(crate) const CLIENTS: u32 = 10_000;

const TOPIC: &str = "load";

const SLOW_READERS: u32 = 20;
/// Bytes of a message for slow readers.
const SLOW_MESSAGE: usize = 16 << 10;
/// 16 MiB, more than the buffers of two sockets.
const SLOW_MESSAGES: u64 = 1024;

const STRANGERS: u32 = 10_000;
/// Bytes of the longest CONNECT that a server reads.
const CONNECT_BYTES: usize = 16 << 10;

const STORMS: u32 = 16;
/// Packets of each storm, with 64 filters each: six times as many as a client may have.
const STORM_PACKETS: u16 = 100;
/// Bytes by which each filter is long.
const FILTER_BYTES: usize = 240;

const RECONNECTS: u32 = 1000;

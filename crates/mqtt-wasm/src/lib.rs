//! MQTT as a module: topics, what filters cover, sets of filters, packets, and gates.
//!
//! Law: the calls take and return numbers alone. Text and bytes cross in the room: the host writes
//! them at the address of [`room`], and reads an answer at the address in [`words`]. A set contains
//! the numbers that the host gave; what they stand for stays with the host. The one import is
//! `judge`, by which a gate asks the host; during it the host must make no call.
#![forbid(unsafe_code)]

mod faults;
mod gates;
mod sets;

use std::cell::RefCell;
use std::ops::Range;

use faults::Wrong;
use gates::{Event, Gates, Opened};
use sets::Sets;
use wardgate_mqtt::packet::{Decoded, PacketError, Reason, Version, decode as decode_packet};
use wardgate_mqtt::{Cover, Filter, Full, Limits, Name, TopicError, cover as cover_by};
use wasm_bindgen::prelude::wasm_bindgen;

/// The state of an instance.
struct State {
    /// The buffer that the host writes.
    room: Vec<u8>,
    /// The numbers that the host reads beside the result of a call: see [`words`].
    words: [usize; WORDS],
    /// The witness of the last cover.
    witness: String,
    /// The numbers that the last search found.
    found: Vec<u32>,
    limits: Limits,
    sets: Sets,
    gates: Gates,
}

// Without a start at run time, which each call would have to look for.
thread_local!(static STATE: RefCell<State> = const {
    RefCell::new(State {
        room: Vec::new(),
        words: [0; WORDS],
        witness: String::new(),
        found: Vec::new(),
        limits: Limits::DEFAULT,
        sets: Sets::new(),
        gates: Gates::new(),
    })
});

/// Returns the address of room for `length` bytes, or 0 if memory is exhausted. Addresses from
/// earlier calls are void.
#[wasm_bindgen]
#[must_use]
pub fn room(length: usize) -> usize {
    with(|state| state.room_for(length).unwrap_or(0))
}

/// Returns the address of words of four bytes, which stay where they are. After a fault, they are
/// the offset of the fault in the bytes, the reason code of 5.0, and number and value of its words
/// (see `faults`). Otherwise the first is the address of the answer, or the number of bytes that a
/// packet has at least; [`tell`] has words of its own.
#[wasm_bindgen]
#[must_use]
pub fn words() -> usize {
    with(|state| state.words.as_ptr().expose_provenance())
}

/// Sets the limits of packets and gates: eleven numbers of four bytes in the room, in the order of
/// their fields. A number that is larger than that of the standard becomes it.
#[wasm_bindgen]
pub fn limit() {
    with(|state| state.limits = state.read_limits());
}

/// Returns 1 if the filter in the first `filter` bytes of the room matches the name in the `name`
/// bytes after it, else 0; -1 after a fault, as in all calls below.
#[wasm_bindgen]
#[must_use]
pub fn matches(filter: usize, name: usize) -> i32 {
    with(|state| {
        let result = state.matches(filter, name);
        state.result(result)
    })
}

/// Decides which part of the names of the filter in the room other filters match: 0 for none, 1 for
/// all, else the length of a name that they do not match, plus 1. Each filter has its length in two
/// bytes before it, and the first `length` bytes of the room are theirs.
#[wasm_bindgen]
#[must_use]
pub fn cover(length: usize) -> i32 {
    with(|state| {
        let result = state.cover(length);
        state.result(result)
    })
}

/// Checks the packet at the front of the first `length` bytes of the room, by the protocol level 4
/// or 5, and returns the number of its bytes; 0 if they are the beginning of a packet.
#[wasm_bindgen]
#[must_use]
pub fn decode(level: u8, length: usize) -> i32 {
    with(|state| {
        let limits = state.limits;
        let result = state.decode(level, 0..length, &limits);
        state.result(result)
    })
}

/// Checks the packet between two offsets of the room, which the host has written, as [`decode`]
/// does, within the limits of the standard alone.
#[wasm_bindgen]
#[must_use]
pub fn check(level: u8, start: usize, end: usize) -> i32 {
    with(|state| {
        let result = state.decode(level, start..end, &Limits::WIDEST);
        state.result(result)
    })
}

/// Makes a set of filters whose hashing is unpredictable without the seed, and returns its number.
#[wasm_bindgen(js_name = openSet)]
#[must_use]
pub fn open_set(low: u32, high: u32) -> u32 {
    with(|state| state.sets.open(wide(low, high)))
}

/// Frees a set. Its number may stand for another set later.
#[wasm_bindgen(js_name = closeSet)]
pub fn close_set(set: u32) {
    with(|state| state.sets.close(set));
}

/// Inserts the filter in the first `length` bytes of the room with the number `value`, which no
/// other filter of the set has. Returns 0.
#[wasm_bindgen]
#[must_use]
pub fn insert(set: u32, length: usize, value: u32) -> i32 {
    with(|state| {
        let result = state.insert(set, length, value);
        state.result(result)
    })
}

/// Removes the filter with the number `value` from a set. Returns 1, or 0 if there is none.
#[wasm_bindgen]
#[must_use]
pub fn remove(set: u32, value: u32) -> i32 {
    with(|state| i32::from(state.sets.remove(set, value)))
}

/// Answers with the numbers of all filters of a set that match the name in the first `length` bytes
/// of the room, four bytes each, and returns their count.
#[wasm_bindgen]
#[must_use]
pub fn find(set: u32, length: usize) -> i32 {
    with(|state| {
        let result = state.find(set, length);
        state.result(result)
    })
}

/// Makes a gate within the limits, and returns its number. Bits of `choices`: denied messages of
/// 3.1.1 are dropped, each delivery is judged, the password goes to the broker. Times are in
/// milliseconds.
#[wasm_bindgen(js_name = openGate)]
#[must_use]
pub fn open_gate(choices: u32, connect: u32, connack: u32, low: u32, high: u32) -> u32 {
    with(|state| {
        let settings = gates::settings(state.limits, choices, connect, connack);
        state.gates.open(settings, wide(low, high))
    })
}

/// Frees a gate. Its number may stand for another gate later.
#[wasm_bindgen(js_name = closeGate)]
pub fn close_gate(gate: u32) {
    with(|state| state.gates.close(gate));
}

/// Tells a gate what happens: 0 and 1, the client and the broker sent the first `low` bytes of the
/// room; 2, it is the time of both numbers; 3, policies have changed; 4 and 5, the broker and the
/// client have left; 6, the host closes for the reason `low`.
///
/// The words are then address and length of the bytes for the broker, and of those for the client;
/// the side that the connection ends for (0 while it goes on, 1 the client, 2 the broker, 3 the
/// gate), the reason code, 1 if it is a regular end, the offset in two words, and number and value
/// of the words for the cause. Returns 1 if the bytes for the other side are those of the room, 0
/// if they are not, and -1 if there is no such gate.
#[wasm_bindgen]
#[must_use]
pub fn tell(gate: u32, event: u32, low: u32, high: u32) -> i32 {
    with(|state| state.tell(gate, event, low, high).unwrap_or(-1))
}

impl State {
    fn room_for(&mut self, length: usize) -> Option<usize> {
        let wanted = length.max(RETAINED);
        // A long packet must not occupy its room for ever. Before the first call there is no room,
        // and so no address.
        if self.room.len() != wanted {
            self.room = Vec::new();
            self.room.try_reserve_exact(wanted).ok()?;
            self.room.resize(wanted, 0);
        }
        Some(self.room.as_mut_ptr().expose_provenance())
    }

    /// Returns the result of a call for the host.
    fn result(&mut self, result: Result<i32, Wrong>) -> i32 {
        result.unwrap_or_else(|Wrong { offset, reason, number, value }| {
            self.set_words([offset, usize::from(reason.0), usize::from(number), value]);
            -1
        })
    }

    fn matches(&self, filter: usize, name: usize) -> Result<i32, Wrong> {
        let (filter, rest) = self.room.split_at_checked(filter).unwrap_or_default();
        let name = read_name(rest.get(..name).unwrap_or_default())?;
        Ok(i32::from(read_filter(filter)?.matches(name)))
    }

    fn cover(&mut self, length: usize) -> Result<i32, Wrong> {
        let mut rest = self.room.get(..length).unwrap_or_default();
        let asked = read_filter(take(&mut rest).unwrap_or_default())?;
        let mut by = Vec::new();
        while let Some(text) = take(&mut rest) {
            by.push(read_filter(text)?);
        }
        Ok(match cover_by(asked, &by) {
            Cover::None => 0,
            Cover::All => 1,
            Cover::Part { witness } => {
                self.witness = witness;
                self.set_words([address(self.witness.as_bytes())]);
                number(self.witness.len()).saturating_add(1)
            }
        })
    }

    fn decode(&mut self, level: u8, at: Range<usize>, limits: &Limits) -> Result<i32, Wrong> {
        let version = if level == Version::V311.level() { Version::V311 } else { Version::V5 };
        let bytes = self.room.get(at).unwrap_or_default();
        match decode_packet(version, bytes, limits) {
            Ok(Decoded::Whole(_, used)) => Ok(number(used)),
            Ok(Decoded::More(least)) => {
                self.set_words([least]);
                Ok(0)
            }
            Err(PacketError { fault, offset }) => {
                let (number, value) = faults::of_packet(fault);
                let reason = PacketError { fault, offset }.reason();
                Err(Wrong { offset, reason, number, value })
            }
        }
    }

    fn insert(&mut self, set: u32, length: usize, value: u32) -> Result<i32, Wrong> {
        let filter = read_filter(self.room.get(..length).unwrap_or_default())?;
        match self.sets.insert(set, filter, value) {
            Ok(()) => Ok(0),
            Err(Full) => {
                let reason = Reason::QUOTA_EXCEEDED;
                Err(Wrong { offset: 0, reason, number: faults::FULL, value: 0 })
            }
        }
    }

    fn find(&mut self, set: u32, length: usize) -> Result<i32, Wrong> {
        let name = read_name(self.room.get(..length).unwrap_or_default())?;
        self.found.clear();
        self.sets.find(set, name, &mut self.found);
        self.set_words([self.found.as_ptr().expose_provenance()]);
        Ok(number(self.found.len()))
    }

    fn tell(&mut self, gate: u32, event: u32, low: u32, high: u32) -> Option<i32> {
        let given = self.room.get(..usize::try_from(low).ok()?).unwrap_or_default();
        let event = match event {
            0 => Event::Client(given),
            1 => Event::Server(given),
            2 => Event::Tick(wide(low, high)),
            3 => Event::Reconsider,
            4 => Event::ServerLost,
            5 => Event::ClientLost,
            _ => Event::Close(Reason(u8::try_from(low).unwrap_or(Reason::UNSPECIFIED_ERROR.0))),
        };
        let Opened { steps, .. } = self.gates.tell(gate, event)?;
        let is_same = match event {
            Event::Client(bytes) => steps.to_server == bytes,
            Event::Server(bytes) => steps.to_client == bytes,
            _ => false,
        };
        let close = steps.close;
        let (number, value) = close.map_or((0, 0), |close| faults::of_close(close.cause));
        let half = |half: u64| usize::try_from(half & u64::from(u32::MAX)).unwrap_or(0);
        self.words = [
            address(&steps.to_server),
            steps.to_server.len(),
            address(&steps.to_client),
            steps.to_client.len(),
            gates::side(close),
            close.map_or(0, |close| usize::from(close.reason.0)),
            usize::from(close.is_some_and(|close| close.is_regular())),
            close.map_or(0, |close| half(close.offset)),
            close.map_or(0, |close| half(close.offset >> 32)),
            usize::from(number),
            value,
        ];
        Some(i32::from(is_same))
    }

    fn set_words<const N: usize>(&mut self, words: [usize; N]) {
        if let Some(first) = self.words.first_chunk_mut() {
            *first = words;
        }
    }

    fn read_limits(&self) -> Limits {
        let mut numbers = [0; 11];
        for (number, bytes) in numbers.iter_mut().zip(self.room.as_chunks().0) {
            *number = u32::from_le_bytes(*bytes);
        }
        let [packet, connect, topic, levels, filters, user, user_bytes, rest @ ..] = numbers;
        let [aliases, receive_maximum, subscriptions, subscription_bytes] = rest;
        let short = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        Limits {
            packet_bytes: packet.min(Limits::PACKET_BYTES),
            connect_bytes: connect.min(Limits::PACKET_BYTES),
            topic_bytes: short(topic),
            topic_levels: u8::try_from(levels).unwrap_or(u8::MAX).min(Limits::TOPIC_LEVELS),
            filters: short(filters),
            user_properties: short(user),
            user_property_bytes: user_bytes,
            aliases: short(aliases),
            receive_maximum: short(receive_maximum),
            subscriptions: short(subscriptions),
            subscription_bytes,
        }
    }
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(work)
}

fn read_name(text: &[u8]) -> Result<Name<'_>, Wrong> {
    // The host writes text: other bytes become an empty name, which is invalid.
    let text = std::str::from_utf8(text).unwrap_or_default();
    Name::new(text).map_err(|error| wrong(error, Reason::TOPIC_NAME_INVALID))
}

fn read_filter(text: &[u8]) -> Result<Filter<'_>, Wrong> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    Filter::new(text).map_err(|error| wrong(error, Reason::TOPIC_FILTER_INVALID))
}

fn wrong(error: TopicError, reason: Reason) -> Wrong {
    let (number, value) = faults::of_topic(error);
    Wrong { offset: 0, reason, number, value }
}

/// Takes a text with its length in two bytes, the upper one first; `None` at the end.
fn take<'r>(rest: &mut &'r [u8]) -> Option<&'r [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (text, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    *rest = after;
    Some(text)
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn address(bytes: &[u8]) -> usize {
    bytes.as_ptr().expose_provenance()
}

/// Converts a number for the border. Packets and sets are smaller than `i32::MAX`: see `limits` of
/// `wardgate_mqtt`.
fn number(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The number of words that the host reads beside a result.
const WORDS: usize = 11;

/// The length of the room that stays allocated for the next call, in bytes.
const RETAINED: usize = 1 << 16;

#[cfg(test)]
mod tests;

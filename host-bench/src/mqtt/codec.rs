//! PUBLISH to bytes and back.
//!
//! All codecs write the same bytes before any is timed. "Written" is a packet that was there;
//! "made and written" begins with the texts of topic and payload. Where a codec writes into a buffer
//! it gets one with room. Those that share buffers get one that they may share: nothing is copied
//! for them.

use std::cell::RefCell;
use std::hint::black_box;
use std::num::NonZeroU16;
use std::path::Path;

use wardgate_mqtt::packet::{
    Decoded, Delivery, Packet, Properties, Publish, Version, decode, encode,
};
use wardgate_mqtt::{Limits, Name};

use super::{node, peers};
use crate::arguments::Arguments;
use crate::entry::{Entry, figures};
use crate::measure::Side;
use crate::report::Section;

/// A PUBLISH of QoS 1 in one version, with a payload of one size.
pub(super) struct Codec {
    pub(super) version: Version,
    pub(super) payload: Vec<u8>,
    /// The packet.
    pub(super) wire: Vec<u8>,
}

/// A message that was decoded.
pub(super) trait Message {
    fn topic(&self) -> &[u8];

    fn payload(&self) -> &[u8];
}

impl Codec {
    /// Returns all versions and sizes.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let sizes = |version| [64, 1024].map(|size| Self::new(version, size));
        [Version::V311, Version::V5].into_iter().flat_map(sizes)
    }

    fn new(version: Version, size: usize) -> Self {
        let payload = vec![7; size];
        let mut wire = Vec::new();
        // Rows compare their bytes with these.
        let _ = Name::new(TOPIC)
            .map(|topic| encode(&Packet::Publish(publish(topic, &payload)), version, &mut wire));
        Self { version, payload, wire }
    }

    /// Measures both directions.
    pub(super) fn sections(
        &self,
        root: &Path,
        arguments: &Arguments,
    ) -> Result<[Section; 2], String> {
        let (size, level) = (self.payload.len(), self.version.level());
        let version = if self.version == Version::V5 { "5.0" } else { "3.1.1" };
        let section = |verb: &str, gerund: &str, note| {
            let title = format!("MQTT {version}: {gerund} PUBLISH with {size} bytes");
            Section::new(format!("mqtt-{verb}-v{level}-{size}"), title, note)
        };
        let bounds = arguments.bounds();
        let mut encoding = section("encode", "encoding", ENCODE_NOTE)
            .native(arguments, || figures(self.encoders()?, bounds))?;
        let mut decoding = section("decode", "decoding", DECODE_NOTE)
            .native(arguments, || figures(self.decoders()?, bounds))?;
        if arguments.node {
            let [encode, decode] = node::packets(root, arguments, level, size)?;
            encoding = encoding.node(arguments, || Ok(encode))?;
            decoding = decoding.node(arguments, || Ok(decode))?;
        }
        Ok([encoding, decoding])
    }

    /// Returns a row for each codec and each way to write.
    pub(super) fn encoders(&self) -> Result<Vec<Entry<'_>>, String> {
        let Self { version, payload, .. } = self;
        let topic = Name::new(TOPIC).map_err(|error| error.to_string())?;
        let packet = Packet::Publish(publish(topic, payload));
        let write = move |out: &mut Vec<u8>| {
            out.clear();
            encode(black_box(&packet), *version, out).is_ok()
        };
        let make = move |out: &mut Vec<u8>| {
            out.clear();
            let Ok(topic) = Name::new(black_box(TOPIC)) else { return false };
            encode(&Packet::Publish(publish(topic, black_box(payload))), *version, out).is_ok()
        };
        let mut entries = vec![
            self.writer("Wardgate, written", Side::Ours, Vec::with_capacity(ROOM), write)?,
            self.writer("Wardgate, made and written", Side::Ours, Vec::with_capacity(ROOM), make)?,
        ];
        entries.extend(peers::encoders(self)?);
        Ok(entries)
    }

    /// Returns a row for each codec.
    pub(super) fn decoders(&self) -> Result<Vec<Entry<'_>>, String> {
        let Self { version, wire, .. } = self;
        let limits = Limits::default();
        let read = move || match decode(*version, black_box(wire), &limits) {
            Ok(Decoded::Whole(Packet::Publish(publish), _)) => Some(publish),
            _ => None,
        };
        let mut entries = vec![self.reader("Wardgate", Side::Ours, read)?];
        entries.extend(peers::decoders(self)?);
        Ok(entries)
    }

    /// Makes a row that writes into a buffer.
    pub(super) fn writer<'a, B: AsRef<[u8]> + 'a>(
        &'a self,
        name: &str,
        side: Side,
        mut buffer: B,
        write: impl Fn(&mut B) -> bool + 'a,
    ) -> Result<Entry<'a>, String> {
        if !write(&mut buffer) || buffer.as_ref() != self.wire {
            return Err(format!("{name}: {:02x?} but {:02x?}", buffer.as_ref(), self.wire));
        }
        let (buffer, length) = (RefCell::new(buffer), self.wire.len());
        Ok(Entry::new(name, side, move |_| {
            let mut buffer = buffer.borrow_mut();
            write(&mut buffer) && black_box(buffer.as_ref()).len() == length
        }))
    }

    /// Makes a row that reads the packet.
    pub(super) fn reader<'a, M: Message + 'a>(
        &'a self,
        name: &str,
        side: Side,
        read: impl Fn() -> Option<M> + 'a,
    ) -> Result<Entry<'a>, String> {
        let is_right =
            |message: M| message.topic() == TOPIC.as_bytes() && message.payload() == self.payload;
        if !read().is_some_and(is_right) {
            return Err(format!("{name}: the packet was read otherwise"));
        }
        let length = self.payload.len();
        Ok(Entry::new(name, side, move |_| {
            let message = read();
            black_box(&message).as_ref().is_some_and(|message| message.payload().len() == length)
        }))
    }
}

impl Message for Publish<'_> {
    fn topic(&self) -> &[u8] {
        self.topic.map_or(b"", |topic| topic.text().as_bytes())
    }

    fn payload(&self) -> &[u8] {
        self.payload
    }
}

fn publish<'p>(topic: Name<'p>, payload: &'p [u8]) -> Publish<'p> {
    Publish {
        topic: Some(topic),
        delivery: Delivery::AtLeastOnce { id: NonZeroU16::MIN, dup: false },
        retain: false,
        properties: Properties::EMPTY,
        payload,
    }
}

pub(super) const TOPIC: &str = "device/gear-001/state";

/// The capacity of a buffer.
pub(super) const ROOM: usize = 2048;

const ENCODE_NOTE: &str = "QoS 1, a topic of 21 bytes. \"written\" is a packet that was there, \"made and written\" \
    begins with the texts of topic and payload, and checks what a codec checks. In Node, QoS 0.";
const DECODE_NOTE: &str = "QoS 1, a topic of 21 bytes. Wardgate and mqttrs borrow from the bytes, the others get buffers that \
    they may share. Wardgate alone checks all that the standard says of a PUBLISH. In Node, QoS 0.";

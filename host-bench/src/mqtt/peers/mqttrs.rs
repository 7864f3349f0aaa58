//! mqttrs, which knows 3.1.1 alone, borrows, and writes into a slice.

use std::hint::black_box;

use mqttrs::{Packet, Pid, Publish, QosPid, decode_slice, encode_slice};

use super::{Writers, writers};
use crate::entry::Entry;
use crate::measure::Side;
use crate::mqtt::codec::{Codec, Message, ROOM, TOPIC};

pub(super) fn encoders(codec: &Codec) -> Writers<'_> {
    let packet = || {
        Packet::Publish(Publish {
            dup: false,
            qospid: QosPid::AtLeastOnce(Pid::new()),
            retain: false,
            topic_name: black_box(TOPIC),
            payload: black_box(&codec.payload),
        })
    };
    let write = |packet: &Packet<'_>, out: &mut Slice| {
        out.filled = encode_slice(packet, &mut out.bytes).unwrap_or(0);
        out.filled > 0
    };
    writers(codec, NAME, Slice::new, packet, write)
}

pub(super) fn decoder(codec: &Codec) -> Result<Entry<'_>, String> {
    codec.reader(NAME, Side::Rival, || match decode_slice(black_box(&codec.wire)) {
        Ok(Some(Packet::Publish(publish))) => Some(publish),
        _ => None,
    })
}

/// A slice, whose first bytes are those of the last packet.
struct Slice {
    bytes: Vec<u8>,
    filled: usize,
}

impl Slice {
    fn new() -> Self {
        Self { bytes: vec![0; ROOM], filled: 0 }
    }
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }
}

impl Message for Publish<'_> {
    fn topic(&self) -> &[u8] {
        self.topic_name.as_bytes()
    }

    fn payload(&self) -> &[u8] {
        self.payload
    }
}

pub(crate) const NAME: &str = "mqttrs 0.4.1";

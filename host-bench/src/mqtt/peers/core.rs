//! mqtt-protocol-core, which returns the bytes that it writes and reads what follows a fixed header.

use std::hint::black_box;
use std::sync::Arc;

use mqtt_protocol_core::mqtt::packet::{Qos, v3_1_1, v5_0};

use super::{Writers, writers};
use crate::entry::Entry;
use crate::measure::Side;
use crate::mqtt::codec::{Codec, Message, TOPIC};

pub(super) fn encoders_of_3(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let builder = v3_1_1::Publish::builder().topic_name(black_box(TOPIC)).ok()?;
        let builder = builder.qos(Qos::AtLeastOnce).packet_id(1_u16);
        builder.payload(black_box(codec.payload.as_slice())).build().ok()
    };
    let write = |publish: &Option<v3_1_1::Publish>, out: &mut Vec<u8>| {
        publish.as_ref().map(|publish| *out = publish.to_continuous_buffer()).is_some()
    };
    writers(codec, NAME, Vec::new, packet, write)
}

pub(super) fn encoders_of_5(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let builder = v5_0::Publish::builder().topic_name(black_box(TOPIC)).ok()?;
        let builder = builder.qos(Qos::AtLeastOnce).packet_id(1_u16);
        builder.payload(black_box(codec.payload.as_slice())).build().ok()
    };
    let write = |publish: &Option<v5_0::Publish>, out: &mut Vec<u8>| {
        publish.as_ref().map(|publish| *out = publish.to_continuous_buffer()).is_some()
    };
    writers(codec, NAME, Vec::new, packet, write)
}

pub(super) fn decoder_of_3(codec: &Codec) -> Result<Entry<'_>, String> {
    let (flags, body) = body(&codec.wire);
    codec.reader(NAME, Side::Rival, move || {
        let (publish, _) = v3_1_1::Publish::parse(flags, Arc::clone(black_box(&body))).ok()?;
        Some(publish)
    })
}

pub(super) fn decoder_of_5(codec: &Codec) -> Result<Entry<'_>, String> {
    let (flags, body) = body(&codec.wire);
    codec.reader(NAME, Side::Rival, move || {
        let (publish, _) = v5_0::Publish::parse(flags, Arc::clone(black_box(&body))).ok()?;
        Some(publish)
    })
}

/// Returns the flags of a packet and what follows its fixed header.
fn body(wire: &[u8]) -> (u8, Arc<[u8]>) {
    let flags = wire.first().map_or(0, |first| first & 0xF);
    let header = 2 + wire.iter().skip(1).take_while(|byte| **byte >= 0x80).count();
    (flags, wire.get(header..).unwrap_or_default().into())
}

impl Message for v3_1_1::Publish {
    fn topic(&self) -> &[u8] {
        self.topic_name().as_bytes()
    }

    fn payload(&self) -> &[u8] {
        self.payload().as_slice()
    }
}

impl Message for v5_0::Publish {
    fn topic(&self) -> &[u8] {
        self.topic_name().as_bytes()
    }

    fn payload(&self) -> &[u8] {
        self.payload().as_slice()
    }
}

pub(crate) const NAME: &str = "mqtt-protocol-core 0.7.9";

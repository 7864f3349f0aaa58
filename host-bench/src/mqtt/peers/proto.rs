//! mqtt-proto, which returns the bytes that it writes.

use std::hint::black_box;

use bytes::Bytes;
use mqtt_proto::{Pid, QosPid, TopicName, VarBytes, v3, v5};

use super::{Writers, writers};
use crate::entry::Entry;
use crate::measure::Side;
use crate::mqtt::codec::{Codec, Message, TOPIC};

pub(super) fn encoders_of_3(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let (topic, payload) = parts(codec)?;
        Some(v3::Packet::from(v3::Publish::new(QosPid::Level1(Pid::default()), topic, payload)))
    };
    let write = |packet: &Option<v3::Packet>, out: &mut Written| {
        out.0 = packet.as_ref().and_then(|packet| packet.encode().ok());
        out.0.is_some()
    };
    writers(codec, NAME, Written::default, packet, write)
}

pub(super) fn encoders_of_5(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let (topic, payload) = parts(codec)?;
        Some(v5::Packet::from(v5::Publish::new(QosPid::Level1(Pid::default()), topic, payload)))
    };
    let write = |packet: &Option<v5::Packet>, out: &mut Written| {
        out.0 = packet.as_ref().and_then(|packet| packet.encode().ok());
        out.0.is_some()
    };
    writers(codec, NAME, Written::default, packet, write)
}

pub(super) fn decoder_of_3(codec: &Codec) -> Result<Entry<'_>, String> {
    codec.reader(NAME, Side::Rival, || match v3::Packet::decode(black_box(&codec.wire)) {
        Ok(Some(v3::Packet::Publish(publish))) => Some(publish),
        _ => None,
    })
}

pub(super) fn decoder_of_5(codec: &Codec) -> Result<Entry<'_>, String> {
    codec.reader(NAME, Side::Rival, || match v5::Packet::decode(black_box(&codec.wire)) {
        Ok(Some(v5::Packet::Publish(publish))) => Some(publish),
        _ => None,
    })
}

fn parts(codec: &Codec) -> Option<(TopicName, Bytes)> {
    let topic = TopicName::try_from(black_box(TOPIC)).ok()?;
    Some((topic, Bytes::copy_from_slice(black_box(&codec.payload))))
}

/// The bytes of the last packet.
#[derive(Default)]
struct Written(Option<VarBytes>);

impl AsRef<[u8]> for Written {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref().map(AsRef::as_ref).unwrap_or_default()
    }
}

impl Message for v3::Publish {
    fn topic(&self) -> &[u8] {
        self.topic_name.as_bytes()
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

impl Message for v5::Publish {
    fn topic(&self) -> &[u8] {
        self.topic_name.as_bytes()
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

pub(crate) const NAME: &str = "mqtt-proto 0.4.0";

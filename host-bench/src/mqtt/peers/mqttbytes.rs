//! mqttbytes, which later became a part of rumqttc.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use mqttbytes::{QoS, check, v4, v5};

use super::{MOST, Writers, room, writers};
use crate::entry::Entry;
use crate::measure::Side;
use crate::mqtt::codec::{Codec, Message, TOPIC};

pub(super) fn encoders_of_3(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let payload = black_box(codec.payload.as_slice());
        let publish = v4::Publish::new(black_box(TOPIC), QoS::AtLeastOnce, payload);
        v4::Publish { pkid: 1, ..publish }
    };
    let write = |publish: &v4::Publish, out: &mut BytesMut| {
        out.clear();
        publish.write(out).is_ok()
    };
    writers(codec, NAME, room, packet, write)
}

pub(super) fn encoders_of_5(codec: &Codec) -> Writers<'_> {
    let packet = || {
        let payload = black_box(codec.payload.as_slice());
        let publish = v5::Publish::new(black_box(TOPIC), QoS::AtLeastOnce, payload);
        v5::Publish { pkid: 1, ..publish }
    };
    let write = |publish: &v5::Publish, out: &mut BytesMut| {
        out.clear();
        publish.write(out).is_ok()
    };
    writers(codec, NAME, room, packet, write)
}

pub(super) fn decoder_of_3(codec: &Codec) -> Result<Entry<'_>, String> {
    let bytes = Bytes::copy_from_slice(&codec.wire);
    codec.reader(NAME, Side::Rival, move || {
        let header = check(black_box(&bytes).iter(), MOST).ok()?;
        v4::Publish::read(header, bytes.clone()).ok()
    })
}

pub(super) fn decoder_of_5(codec: &Codec) -> Result<Entry<'_>, String> {
    let bytes = Bytes::copy_from_slice(&codec.wire);
    codec.reader(NAME, Side::Rival, move || {
        let header = check(black_box(&bytes).iter(), MOST).ok()?;
        v5::Publish::read(header, bytes.clone()).ok()
    })
}

impl Message for v4::Publish {
    fn topic(&self) -> &[u8] {
        self.topic.as_bytes()
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

impl Message for v5::Publish {
    fn topic(&self) -> &[u8] {
        self.topic.as_bytes()
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

pub(crate) const NAME: &str = "mqttbytes 0.6.0";

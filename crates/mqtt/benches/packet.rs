//! PUBLISH to bytes and back, beside `mqttbytes` in the same run.
//!
//! `cargo bench -p wardgate-mqtt --bench packet`. Both codecs read what both wrote before anything
//! is timed. Times are the least of several rounds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    reason = "a measurement that cannot go on fails"
)]

use std::hint::black_box;
use std::num::NonZeroU16;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use mqttbytes::{QoS, v4, v5};
use wardgate_mqtt::packet::{
    Decoded, Delivery, Packet, Properties, Publish, Version, decode, encode,
};
use wardgate_mqtt::{Limits, Name};

fn main() {
    println!("{:<34} {:>9} {:>9} {:>6}", "ns for each", "packet", "mqttbytes", "ratio");
    for (version, level) in [(Version::V311, "v4"), (Version::V5, "v5")] {
        for size in [64, 1024] {
            rows(version, level, size);
        }
    }
}

fn rows(version: Version, level: &str, size: usize) {
    let payload = vec![7; size];
    let packet = Packet::Publish(Publish {
        topic: Some(Name::new("device/gear-001/state").unwrap()),
        delivery: Delivery::AtLeastOnce { id: NonZeroU16::MIN, dup: false },
        retain: false,
        properties: Properties::EMPTY,
        payload: &payload,
    });
    let mut ours = Vec::with_capacity(2048);
    encode(&packet, version, &mut ours).unwrap();
    let mut theirs = BytesMut::with_capacity(2048);
    let peer = Peer::new(version, &payload);
    peer.write(&mut theirs);
    assert_eq!(ours, theirs);
    let whole = Ok(Decoded::Whole(packet, ours.len()));
    assert_eq!(decode(version, &ours, &Limits::default()), whole);
    assert!(Peer::read(version, &mut theirs.clone()) == peer);

    let (mut out, capacity) = (Vec::with_capacity(2048), 2048);
    let encoding = best(|| {
        out.clear();
        encode(black_box(&packet), version, &mut out).unwrap();
        black_box(out.len());
    });
    assert_eq!(out.capacity(), capacity);
    let mut out = BytesMut::with_capacity(2048);
    let writing = best(|| {
        out.clear();
        black_box(&peer).write(&mut out);
        black_box(out.len());
    });
    row(&format!("encode PUBLISH {level} {size} B"), encoding, writing);

    let limits = Limits::default();
    let decoding = best(|| {
        black_box(decode(version, black_box(&ours), &limits).is_ok());
    });
    // The others take bytes out of a buffer: filling it again is part of theirs, and timed alone.
    let mut stream = BytesMut::with_capacity(1 << 16);
    let filling = best(|| {
        stream.clear();
        stream.extend_from_slice(black_box(&ours));
        black_box(stream.len());
    });
    let reading = best(|| {
        let mut stream = BytesMut::from(black_box(&*ours));
        black_box(Peer::read(version, &mut stream));
    });
    row(&format!("decode PUBLISH {level} {size} B"), decoding, reading - filling);
}

fn row(name: &str, ours: f64, theirs: f64) {
    println!("{name:<34} {ours:>9.1} {theirs:>9.1} {:>6.2}", theirs / ours);
}

fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        (0..20_000).for_each(|_| run());
        best = best.min(start.elapsed().as_nanos() as f64 / 20_000.0);
    }
    best
}

/// The packet of the other codec.
#[derive(PartialEq)]
enum Peer {
    V4(v4::Publish),
    V5(v5::Publish),
}

impl Peer {
    fn new(version: Version, payload: &[u8]) -> Self {
        let (topic, qos) = ("device/gear-001/state", QoS::AtLeastOnce);
        match version {
            Version::V311 => {
                let mut publish = v4::Publish::new(topic, qos, payload);
                publish.pkid = 1;
                Self::V4(publish)
            }
            Version::V5 => {
                let mut publish = v5::Publish::new(topic, qos, Bytes::copy_from_slice(payload));
                publish.pkid = 1;
                Self::V5(publish)
            }
        }
    }

    fn write(&self, out: &mut BytesMut) {
        match self {
            Self::V4(publish) => publish.write(out).unwrap(),
            Self::V5(publish) => publish.write(out).unwrap(),
        };
    }

    fn read(version: Version, stream: &mut BytesMut) -> Self {
        match version {
            Version::V311 => match v4::read(stream, 1 << 20) {
                Ok(v4::Packet::Publish(publish)) => Self::V4(publish),
                other => panic!("{other:?}"),
            },
            Version::V5 => match v5::read(stream, 1 << 20) {
                Ok(v5::Packet::Publish(publish)) => Self::V5(publish),
                other => panic!("{other:?}"),
            },
        }
    }
}

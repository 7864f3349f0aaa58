//! PUBLISH through the gate, beside decoding it and copying its bytes.
//!
//! `cargo bench -p wardgate-mqtt --bench gate`. What comes out is compared with what went in before
//! anything is timed. Times are the least of several rounds, without those of a judge.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    reason = "a measurement that cannot go on fails"
)]

use std::hint::black_box;
use std::time::Instant;

use wardgate_mqtt::gate::{Gate, Judge, Message, Settings, Steps, Verdict};
use wardgate_mqtt::packet::{
    Connack, Connect, Delivery, Packet, Properties, Publish, Reason, Subscription, Version, decode,
    encode,
};
use wardgate_mqtt::{Filter, Limits, Name};

fn main() {
    println!("{:<34} {:>9} {:>9}", "ns for each", "gate", "codec");
    for (version, level) in [(Version::V311, "v4"), (Version::V5, "v5")] {
        for size in [64, 1024] {
            rows(version, level, size);
        }
    }
}

fn rows(version: Version, level: &str, size: usize) {
    let payload = vec![7; size];
    let packet = encoded(
        version,
        &Packet::Publish(Publish {
            topic: Some(Name::new("device/gear-001/state").unwrap()),
            delivery: Delivery::AtMostOnce,
            retain: false,
            properties: Properties::EMPTY,
            payload: &payload,
        }),
    );
    let mut gate = open(version);
    let mut steps = Steps::default();
    gate.from_client(&packet, &mut Everything, &mut steps);
    assert_eq!((&steps.to_server, steps.to_client.len()), (&packet, 0));
    let through = best(|| {
        steps.to_server.clear();
        gate.from_client(black_box(&packet), &mut Everything, &mut steps);
        black_box(steps.to_server.len());
    });
    assert!(steps.close.is_none());
    let limits = Limits::default();
    let mut out = Vec::with_capacity(2048);
    let codec = best(|| {
        out.clear();
        assert!(decode(version, black_box(&packet), &limits).is_ok());
        out.extend_from_slice(black_box(&packet));
        black_box(out.len());
    });
    println!("{:<34} {through:>9.1} {codec:>9.1}", format!("PUBLISH {level} {size} B"));
}

/// Returns a gate that client and broker have opened.
fn open(version: Version) -> Gate {
    let connect = Connect {
        version,
        clean_start: true,
        keep_alive: 60,
        properties: Properties::EMPTY,
        client_id: "c",
        will: None,
        user_name: None,
        password: None,
    };
    let connack =
        Connack { session_present: false, reason: Reason::SUCCESS, properties: Properties::EMPTY };
    let (mut gate, mut steps) = (Gate::new(Settings::default(), 0), Steps::default());
    let bytes = encoded(version, &Packet::Connect(connect));
    gate.from_client(&bytes, &mut Everything, &mut steps);
    let bytes = encoded(version, &Packet::Connack(connack));
    gate.from_server(&bytes, &mut Everything, &mut steps);
    assert!(gate.is_open());
    gate
}

fn encoded(version: Version, packet: &Packet<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(packet, version, &mut bytes).unwrap();
    bytes
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

/// Allows everything.
struct Everything;

impl Judge for Everything {
    fn connect(&mut self, _: &Connect<'_>) -> Result<(), Reason> {
        Ok(())
    }

    fn stay(&mut self) -> Verdict {
        Verdict::Allow
    }

    fn will(&mut self, _: &Message<'_>) -> Verdict {
        Verdict::Allow
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        black_box(message.topic);
        Verdict::Allow
    }

    fn receive(&mut self, _: &Message<'_>) -> Verdict {
        Verdict::Allow
    }

    fn subscribe(&mut self, _: &Subscription<'_>) -> Verdict {
        Verdict::Allow
    }

    fn unsubscribe(&mut self, _: Filter<'_>) -> Verdict {
        Verdict::Allow
    }
}

//! What is measured one after the other: messages from end to end, and connections.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use wardgate_mqtt::packet::Version;

use super::client::{Client, LOAD, Numbered};

/// Returns the median of the seconds that a message takes from the publisher to the reader.
pub(crate) fn latency(address: SocketAddr, duration: Duration) -> Result<f64, String> {
    let mut reader = Client::connect(address, LOAD, "reader")?;
    reader.subscribe(TOPIC)?;
    let mut publisher = Client::connect(address, LOAD, "publisher")?;
    let (mut messages, mut bytes) = (Numbered::new(TOPIC, 64), Vec::new());
    let mut number = 0;
    let turn = || {
        bytes.clear();
        messages.write(number, &mut bytes)?;
        let start = Instant::now();
        publisher.write(&bytes)?;
        reader.next(|packet| messages.check(packet, number))?;
        number += 1;
        Ok(start.elapsed())
    };
    let found = median(duration, turn)?;
    publisher.leave()?;
    reader.leave()?;
    Ok(found)
}

/// Returns the median of the seconds of a connection, from its first packet of TCP to CONNACK.
pub(crate) fn connect(
    address: SocketAddr,
    version: Version,
    duration: Duration,
) -> Result<f64, String> {
    let mut number = 0_u32;
    let turn = || {
        number += 1;
        let start = Instant::now();
        let client = Client::connect(address, version, &format!("client-{number}"))?;
        let time = start.elapsed();
        client.leave().map(|()| time)
    };
    median(duration, turn)
}

/// Repeats for a while, a tenth of it without measuring, and returns the median of the seconds.
fn median(
    duration: Duration,
    mut turn: impl FnMut() -> Result<Duration, String>,
) -> Result<f64, String> {
    let (begin, mut times) = (Instant::now(), Vec::new());
    while begin.elapsed() < duration || times.is_empty() {
        let time = turn()?;
        if begin.elapsed() * 10 > duration && times.len() < MOST {
            times.push(time.as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(f64::NAN))
}

const TOPIC: &str = "bench/turns";

/// The most times that are kept.
const MOST: usize = 1_000_000;

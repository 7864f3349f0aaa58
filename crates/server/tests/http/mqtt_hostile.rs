//! Clients of MQTT that want to stop the broker: what they hold is bounded, and others are served.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, Packet, Reason, Version, decode};

use crate::mqtt::End;
use crate::mqtt_broker::{Broker, open};
use crate::notation::packet;

#[test]
fn thousands_of_half_open_connections_push_out_no_client() {
    let broker = Broker::start(&open(), "");
    // Some on each thread.
    let mut clients: Vec<_> = (0..4).map(|number| broker.client(&format!("c{number}"))).collect();
    let half = b"\x10\x80\x80\x04\x00\x04MQTT\x04\x02\x00\x3c";
    let mut crowd = Vec::new();
    for number in 0..connections() {
        let mut stranger = broker.open();
        // Some say nothing, some begin.
        let _ = stranger.0.write_all(&half[..number % half.len()]);
        crowd.push(stranger);
        if number % 500 == 0 {
            clients.iter_mut().for_each(is_served);
            // Strangers without a place hold no socket either.
            let sockets = broker.sockets();
            assert!(sockets <= 1024 + 2 * 500, "{sockets} sockets after {number} strangers");
        }
    }
    // Those that came first are closed, and a client that says what it wants comes in.
    let half = crowd.len() / 2;
    crowd.iter_mut().take(half).for_each(hears_nothing);
    is_served(&mut broker.client("bob"));
    clients.iter_mut().for_each(is_served);
    // The server notices when it comes to it that bob has left.
    while broker.metric("wardgate_mqtt_clients") > 4 {}
    assert_eq!(broker.metric("wardgate_mqtt_clients"), 4);
}

#[test]
fn a_packet_in_pieces_hangs_nobody() {
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 'a/b' 00");
    ada.expect("90: 0001 00");
    let mut slow = broker.client("slow");
    let message = packet(&format!("30: 'a/b' {}", "07".repeat(3000)));
    for byte in message.chunks(1) {
        is_served(&mut ada);
        slow.0.write_all(byte).unwrap();
    }
    ada.expect(&format!("30: 'a/b' {}", "07".repeat(3000)));
}

#[test]
fn bytes_that_make_no_packet_are_no_sign_of_life() {
    let broker = Broker::start(&open(), "");
    let mut slow = broker.open();
    slow.send("10: 'MQTT' 04 02 0001 'slow'");
    slow.expect("20: 00 00");
    let mut ada = broker.client("ada");
    // A packet of 262,000 bytes comes one by one; the keep-alive of one second ends it.
    slow.0.write_all(b"\x30\xf0\xfe\x0f\x00\x03a/b").unwrap();
    while slow.0.write_all(&[7]).is_ok() {
        is_served(&mut ada);
    }
    while broker.metric("wardgate_mqtt_ended_total{cause=\"silent\"}") < 1 {}
    is_served(&mut ada);
}

#[test]
fn a_storm_of_subscriptions_is_bounded() {
    const PACKETS: usize = 1500;
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client("ada");
    let mut storm = broker.client5("storm", "02", "").0;
    let mut reader = storm.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        for number in 1..=PACKETS {
            let filters: String = (0..64).map(|n| format!("'a/{number}/{n}' 00 ")).collect();
            storm.write_all(&packet(&format!("82: {number:04X} 00 {filters}"))).unwrap();
        }
        storm
    });
    let reasons = answers(&mut reader, PACKETS, || is_served(&mut ada));
    let granted = reasons.iter().filter(|reason| **reason == Reason::SUCCESS).count();
    let refused = reasons.iter().filter(|reason| **reason == Reason::QUOTA_EXCEEDED).count();
    assert_eq!((granted + refused, reasons.len()), (PACKETS * 64, PACKETS * 64));
    assert!((64..=1000).contains(&granted), "{granted}");
    drop((writer.join().unwrap(), reader));
    while broker.metric("wardgate_mqtt_subscriptions") > 0 {}
    is_served(&mut ada);
}

/// Reads that many SUBACKs, and returns their reason codes.
fn answers(reader: &mut TcpStream, packets: usize, mut meanwhile: impl FnMut()) -> Vec<Reason> {
    let (mut kept, mut reasons, mut found) = (Vec::new(), Vec::new(), 0);
    let mut bytes = vec![0; 65_536];
    while found < packets {
        let read = reader.read(&mut bytes).unwrap();
        assert!(read > 0, "closed after {found} answers");
        kept.extend_from_slice(&bytes[..read]);
        let mut used = 0;
        while let Ok(Decoded::Whole(packet, length)) =
            decode(Version::V5, &kept[used..], &Limits::default())
        {
            let Packet::Suback(suback) = packet else { panic!("{packet:?}") };
            reasons.extend(suback.reasons.iter());
            used += length;
            found += 1;
        }
        kept.drain(..used);
        meanwhile();
    }
    reasons
}

fn is_served(client: &mut End<TcpStream>) {
    client.send("C0:");
    client.expect("D0:");
}

/// Reads the end of a connection that nothing was said to.
fn hears_nothing(stranger: &mut End<TcpStream>) {
    let mut rest = Vec::new();
    match stranger.0.read_to_end(&mut rest) {
        Ok(_) => assert_eq!(rest, b""),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

/// Returns how many half-open connections a process may hold one end of, with room for those that the
/// server keeps or has yet to close, and for other tests; 10,000 at most.
fn connections() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok());
    soft.map_or(2000, |soft| soft.saturating_sub(OTHER_FILES).clamp(200, 10_000))
}

/// Open files that are not the strangers' ends: the server keeps 1,024 half-open connections, and
/// closes others while more come in.
const OTHER_FILES: usize = 8000;

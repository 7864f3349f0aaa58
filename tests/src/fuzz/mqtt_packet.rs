//! Bytes as packets of MQTT 3.1.1 and 5.0.
//!
//! What decodes is written as the bytes that it was read from, but for ends that may be left out, and
//! decodes to the same packet again.

use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, Packet, PacketError, Version, decode, encode};

use super::mqtt_notation::packet;

/// Decodes the bytes in both versions, in the default bounds and in the widest.
pub fn mqtt_packet(input: &[u8]) {
    for version in [Version::V311, Version::V5] {
        let narrow = check(version, input, &Limits::DEFAULT);
        let wide = check(version, input, &Limits::WIDEST);
        // Wider bounds accept more, and read it the same.
        if let Ok(Decoded::Whole(..)) = narrow {
            assert_eq!(narrow, wide, "the bounds change a packet");
        }
    }
}

/// Decodes the bytes, and proves that a packet among them says what it is.
fn check<'p>(
    version: Version,
    input: &'p [u8],
    limits: &Limits,
) -> Result<Decoded<'p>, PacketError> {
    let found = decode(version, input, limits);
    match &found {
        Ok(Decoded::Whole(packet, used)) => {
            let bytes = input.get(..*used);
            assert!(bytes.is_some(), "a packet is longer than the bytes");
            whole(version, packet, bytes.unwrap_or_default(), limits);
        }
        Ok(Decoded::More(least)) => assert!(*least > input.len(), "{least} bytes are there"),
        Err(error) => {
            assert!(error.offset <= input.len().max(1), "{error} is beyond the bytes");
            assert!(error.reason().is_failure(), "{error} has no code of a failure");
        }
    }
    found
}

fn whole(version: Version, packet: &Packet<'_>, bytes: &[u8], limits: &Limits) {
    let version = if let Packet::Connect(connect) = packet { connect.version } else { version };
    let mut out = Vec::new();
    let written = encode(packet, version, &mut out);
    assert_eq!(written, Ok(()), "{packet:?} was decoded and has no form");
    let is_shorter = out.len() < bytes.len() && may_leave_out(packet);
    assert!(out == bytes || is_shorter, "{bytes:02x?} became {out:02x?}");
    let again = decode(version, &out, limits);
    assert_eq!(again, Ok(Decoded::Whole(*packet, out.len())), "{out:02x?}");
    for end in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let beginning = decode(version, bytes.get(..end).unwrap_or_default(), limits);
        let is_more =
            matches!(beginning, Ok(Decoded::More(least)) if least > end && least <= bytes.len());
        assert!(is_more, "{end} bytes of {bytes:02x?} are {beginning:?}");
    }
}

/// Returns true if the packet has an end that may be left out: a reason code for success, and no
/// properties.
fn may_leave_out(packet: &Packet<'_>) -> bool {
    match packet {
        Packet::Puback(ack) | Packet::Pubrec(ack) | Packet::Pubrel(ack) | Packet::Pubcomp(ack) => {
            ack.properties.is_empty()
        }
        Packet::Disconnect(end) | Packet::Auth(end) => end.properties.is_empty(),
        _ => false,
    }
}

/// Returns packets of every type.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    PACKETS.iter().map(|text| packet(text)).collect()
}

const PACKETS: [&str; 34] = [
    "10: 'MQTT' 04 C2 003C 'client' 'name' 'password'",
    "10: 'MQTT' 04 2E 003C '' 'will/topic' 'payload'",
    "10: 'MQTT' 05 02 003C 00 ''",
    "10: 'MQTT' 05 EE 003C 1B 1100000005 210005 2700000400 220005 1901 1701 26 'a' 'b' 'client' \
     14 1800000002 0101 0200000009 03 't' 08 'r' 'w/t' 'payload' 'name' 'password'",
    "10: 'MQTT' 05 02 0000 0D 15 'method' 16 'd' 'c'",
    "20: 00 00",
    "20: 01 00",
    "20: 00 05",
    "20: 00 00 2A 1100000000 210040 2401 2501 2700040000 12 'auto-1' 220010 1F 'r' 2801 2901 2A01 \
     130014",
    "20: 00 87 09 1F 'reason'",
    "30: 'a/b' \"payload\"",
    "31: 'a' 00 \"payload\"",
    "32: 'a/b' 0001 \"payload\"",
    "3D: 'a/b' 0002 00 \"payload\"",
    "30: '' 03 230001 \"x\"",
    "30: 'a' 24 0101 0200000005 230003 08 'r/t' 09 'c' 26 'n' 'v' 26 'n' 'w' 0B 8001 03 't' \"x\"",
    "40: 0001",
    "40: 0001 10",
    "40: 0001 00 00",
    "50: 0001 87 04 1F 'r'",
    "62: 0001",
    "62: 0001 92",
    "70: FFFF",
    "82: 0001 'a/+/#' 02 '$share/g/a' 01",
    "82: 0001 02 0B05 'a' 2D '#' 16",
    "90: 0001 00 01 02 80",
    "90: 0001 00 00 87 9E",
    "A2: 0001 'a' '$SYS/#'",
    "A2: 0001 07 26 'n' 'v' '+'",
    "B0: 0001",
    "B0: 0001 00 11 00",
    "C0:",
    "E0: 8E 04 1F 'r'",
    "F0: 18 0C 15 'method' 16 ''",
];

#[cfg(test)]
mod tests {
    use super::{Decoded, Limits, Version, decode, seeds};

    #[test]
    fn seeds_are_packets() {
        for seed in seeds() {
            let is_whole = [Version::V311, Version::V5]
                .map(|version| decode(version, &seed, &Limits::DEFAULT))
                .iter()
                .any(|found| matches!(found, Ok(Decoded::Whole(_, used)) if *used == seed.len()));
            assert!(is_whole, "{seed:02x?}");
        }
    }
}

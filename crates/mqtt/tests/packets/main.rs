//! Packets: the statements that concern one packet, round trips, random bytes, and a codec of
//! others.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod encoding;
mod generate;
#[path = "../gate/notation.rs"]
mod notation;
mod others;
mod random;
mod statements;

use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, Packet, PacketError, Version, decode, encode};

const VERSIONS: [Version; 2] = [Version::V311, Version::V5];

/// Decodes bytes that must be one packet.
fn whole(version: Version, bytes: &[u8]) -> Result<Packet<'_>, PacketError> {
    match decode(version, bytes, &Limits::default())? {
        Decoded::Whole(packet, used) => {
            assert_eq!(used, bytes.len(), "{bytes:02x?}");
            Ok(packet)
        }
        Decoded::More(least) => panic!("{bytes:02x?} is part of {least}"),
    }
}

fn encoded(version: Version, packet: &Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(packet, version, &mut out).unwrap();
    out
}

//! Round trips of generated packets, and bytes at random.

use fastrand::Rng;
use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, Packet, Version, decode};

use super::{VERSIONS, encoded, generate, whole};

#[test]
fn packets_come_back_as_they_were() {
    for (version, seed) in VERSIONS.into_iter().zip(1..) {
        let mut random = Rng::with_seed(seed);
        for _ in 0..PACKETS {
            generate::packet(&mut random, version, &mut |packet| {
                let bytes = encoded(version, &packet);
                let back =
                    whole(version, &bytes).unwrap_or_else(|error| panic!("{error} {packet:?}"));
                assert_eq!(back, packet);
                assert_eq!(encoded(version, &back), bytes);
            });
        }
    }
}

#[test]
fn the_beginning_of_a_packet_asks_for_more() {
    for (version, seed) in VERSIONS.into_iter().zip(3..) {
        let mut random = Rng::with_seed(seed);
        for _ in 0..PACKETS / 20 {
            generate::packet(&mut random, version, &mut |packet| {
                let bytes = encoded(version, &packet);
                for end in 0..bytes.len() {
                    let found = decode(version, &bytes[..end], &Limits::default());
                    let Ok(Decoded::More(least)) = found else { panic!("{end} {bytes:02x?}") };
                    assert!(least > end && least <= bytes.len(), "{least} {end} {bytes:02x?}");
                }
                let mut two = bytes.clone();
                two.extend_from_slice(&bytes);
                let found = decode(version, &two, &Limits::default());
                assert_eq!(found, Ok(Decoded::Whole(packet, bytes.len())));
            });
        }
    }
}

#[test]
fn changed_packets_are_decoded_or_refused() {
    let mut seen = [0_usize; 3];
    for (version, seed) in VERSIONS.into_iter().zip(5..) {
        let mut random = Rng::with_seed(seed);
        for _ in 0..PACKETS {
            let mut bytes = Vec::new();
            generate::packet(&mut random, version, &mut |packet| bytes = encoded(version, &packet));
            change(&mut random, &mut bytes);
            check(version, &bytes, &mut seen);
        }
    }
    assert!(seen.iter().all(|count| *count > PACKETS / 20), "{seen:?}");
}

#[test]
fn random_bytes_are_decoded_or_refused() {
    let mut seen = [0_usize; 3];
    let mut random = Rng::with_seed(7);
    for _ in 0..PACKETS {
        let mut bytes: Vec<u8> = (0..random.usize(0..40)).map(|_| random.u8(..)).collect();
        // Half of them have a length that fits.
        let length = u8::try_from(bytes.len().saturating_sub(2)).unwrap();
        if let (Some(second), true) = (bytes.get_mut(1), random.bool()) {
            *second = length;
        }
        check(VERSIONS[random.usize(..2)], &bytes, &mut seen);
    }
}

/// Decodes bytes, and proves that a packet among them says what it is.
pub(crate) fn check(version: Version, bytes: &[u8], seen: &mut [usize; 3]) {
    match decode(version, bytes, &Limits::default()) {
        Ok(Decoded::Whole(packet, used)) => {
            assert!(used <= bytes.len());
            let again = encoded(version_of(&packet, version), &packet);
            assert!(again.len() <= used, "{bytes:02x?}");
            assert_eq!(whole(version, &again), Ok(packet), "{bytes:02x?}");
            seen[0] += 1;
        }
        Ok(Decoded::More(least)) => {
            assert!(least > bytes.len());
            seen[1] += 1;
        }
        Err(error) => {
            assert!(error.offset <= bytes.len().max(1), "{error} {bytes:02x?}");
            assert!(error.reason().is_failure() && !error.to_string().is_empty());
            seen[2] += 1;
        }
    }
}

fn version_of(packet: &Packet<'_>, version: Version) -> Version {
    if let Packet::Connect(connect) = packet { connect.version } else { version }
}

pub(crate) fn change(random: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..random.usize(0..3) {
        let at = random.usize(..bytes.len());
        match random.u8(0..6) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] ^= 1 << random.u8(0..8),
            2 => bytes[at] = 0,
            3 => bytes.insert(at, random.u8(..)),
            4 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes.truncate(at.max(1)),
        }
    }
}

/// The packets of each version in a test.
const PACKETS: usize = 40_000;

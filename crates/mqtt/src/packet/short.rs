//! The short way to write a PUBLISH without properties.
//!
//! Numbers are written with more bytes than they have, and what is too much is taken back: a length
//! that is known when the program is compiled takes a store, any other a call. Topics and payloads
//! written in the same way, by their first and last bytes, took no less than two calls.

use alloc::vec::Vec;

use super::encode::publish_flags;
use super::{Publish, Version, kind};

/// Writes a PUBLISH behind the bytes of `out`; returns false, and writes nothing, if the packet is
/// for the long way: it has properties, or is longer than two megabytes, or `out` has too little
/// room.
#[inline]
pub(super) fn publish(publish: &Publish<'_>, version: Version, out: &mut Vec<u8>) -> bool {
    let topic = publish.topic.map_or("", |topic| topic.text()).as_bytes();
    let Ok(topic_length) = u16::try_from(topic.len()) else { return false };
    let id = publish.delivery.id().map_or(0, |id| id.get().swap_bytes());
    let between = usize::from(id != 0) * 2 + usize::from(version == Version::V5);
    let length = topic.len().saturating_add(between + 2).saturating_add(publish.payload.len());
    let room = out.capacity().saturating_sub(out.len());
    if !publish.properties.is_empty() || length > MOST || room < length.saturating_add(SPARE) {
        return false;
    }
    let (number, bytes) = number(length);
    let first = u64::from(kind::PUBLISH << 4 | publish_flags(publish));
    let topic_length = u64::from(topic_length.swap_bytes());
    let head = first | number << 8 | topic_length << (8 + 8 * bytes);
    let bytes = usize::try_from(bytes).unwrap_or(0);
    put(&head.to_le_bytes(), bytes + 3, out);
    out.extend_from_slice(topic);
    // The identifier, and in 5.0 the length of no properties.
    put(&u32::from(id).to_le_bytes(), between, out);
    out.extend_from_slice(publish.payload);
    true
}

/// Returns a variable byte integer of up to three bytes, and their number.
#[inline]
fn number(length: usize) -> (u64, u32) {
    let length = u64::try_from(length).unwrap_or(0);
    let (low, middle) = (length & 0x7f, length >> 7 & 0x7f);
    match length {
        0..0x80 => (length, 1),
        0x80..0x4000 => (low | 0x80 | middle << 8, 2),
        _ => (low | 0x80 | (middle | 0x80) << 8 | length >> 14 << 16, 3),
    }
}

/// Writes the first bytes of a block.
#[inline]
fn put<const N: usize>(block: &[u8; N], bytes: usize, out: &mut Vec<u8>) {
    let end = out.len() + bytes;
    out.extend_from_slice(block);
    out.truncate(end);
}

/// The longest packet that is written here.
const MOST: usize = (1 << 21) - 1;

/// The bytes that are written too much, and those of the fixed header.
const SPARE: usize = 16;

#[cfg(test)]
mod tests {
    use core::num::NonZeroU16;

    use super::*;
    use crate::limits::Limits;
    use crate::packet::{Delivery, Packet, Properties, encode};
    use crate::topic::Name;

    /// Writes a message both ways; the long one is that of a buffer without room.
    fn check(topic: &str, size: usize, delivery: Delivery, version: Version) {
        let payload = alloc::vec![7; size];
        let publish = Publish {
            topic: Some(Name::within(topic, &Limits::WIDEST).unwrap()),
            delivery,
            retain: size % 2 == 1,
            properties: Properties::EMPTY,
            payload: &payload,
        };
        let mut long = Vec::new();
        encode(&Packet::Publish(publish), version, &mut long).unwrap();
        let mut out = Vec::with_capacity(1 + long.len() + SPARE);
        out.push(9);
        let capacity = out.capacity();
        assert!(super::publish(&publish, version, &mut out), "{topic} {size} {version:?}");
        assert_eq!((out[0], &out[1..], out.capacity()), (9, &*long, capacity), "{topic} {size}");
        let mut out = Vec::with_capacity(long.len());
        assert!(!super::publish(&publish, version, &mut out) && out.is_empty());
    }

    #[test]
    fn both_ways_write_the_same() {
        let id = NonZeroU16::new(0x1234).unwrap();
        let deliveries = [
            Delivery::AtMostOnce,
            Delivery::AtLeastOnce { id, dup: true },
            Delivery::ExactlyOnce { id, dup: false },
        ];
        // Around each length of the length.
        let sizes = [0, 1, 63, 100, 127, 128, 16_300, 16_383, 16_384, 70_000, 1_000_000];
        for version in [Version::V311, Version::V5] {
            for delivery in deliveries {
                for topic in ["a", "a/b", &"t".repeat(300), &"t".repeat(65_535)] {
                    sizes.iter().for_each(|size| check(topic, *size, delivery, version));
                    (110..140).for_each(|size| check("a/b", size, delivery, version));
                }
            }
        }
    }
}

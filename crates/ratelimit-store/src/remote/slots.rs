//! The slots of a cluster, and the nodes that have them.

use core::fmt::Write;

use super::reply::Reply;
use crate::demand::Key;

/// The slots of every cluster.
pub(super) const SLOTS: u16 = 16_384;

/// Returns the slot of a key: the checksum of the digest in its name.
pub(super) fn slot(key: &Key) -> u16 {
    let mut digest = String::with_capacity(32);
    for byte in key.bytes() {
        // Writing to a text does not fail.
        let _ = write!(digest, "{byte:02x}");
    }
    crc16(digest.as_bytes()) % SLOTS
}

/// Slots from one to another, both included, and the host and the port of their master.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) host: String,
    pub(super) port: u16,
}

/// Reads the reply to `CLUSTER SLOTS`. A node that does not know its own name is that of `asked`.
pub(super) fn ranges(reply: &Reply, asked: &str) -> Option<Vec<Range>> {
    let Reply::List(ranges) = reply else { return None };
    ranges.iter().map(|range| self::range(range, asked)).collect()
}

fn range(value: &Reply, asked: &str) -> Option<Range> {
    let Reply::List(parts) = value else { return None };
    let [Reply::Integer(first), Reply::Integer(last), Reply::List(master), ..] = &parts[..] else {
        return None;
    };
    let [host, Reply::Integer(port), ..] = &master[..] else { return None };
    let host = match host {
        Reply::Text(bytes) if bytes.is_empty() => asked,
        Reply::Text(bytes) => core::str::from_utf8(bytes).ok()?,
        Reply::Nil => asked,
        _ => return None,
    };
    let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
    let port = u16::try_from(*port).ok()?;
    (first <= last && last < SLOTS).then(|| Range { first, last, host: host.to_owned(), port })
}

/// The checksum of XMODEM, as clusters use it.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte) << 8, |sum: u16, _| {
            let reduced = if sum & 0x8000 == 0 { 0 } else { 0x1021 };
            sum << 1 ^ reduced
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_specification() {
        // From the specification of Redis Cluster.
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(crc16(b""), 0);
    }

    #[test]
    fn ranges_come_from_replies() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        let master = |host| Reply::List(vec![host, Reply::Integer(7000), text("id")]);
        let range = |first, last, master| {
            Reply::List(vec![Reply::Integer(first), Reply::Integer(last), master, Reply::Nil])
        };
        let read = |value| ranges(&Reply::List(vec![value]), "seed");
        let expected = |host: &str| {
            Some(vec![Range { first: 0, last: 5460, host: host.to_owned(), port: 7000 }])
        };
        assert_eq!(read(range(0, 5460, master(text("a")))), expected("a"));
        assert_eq!(read(range(0, 5460, master(text("")))), expected("seed"));
        assert_eq!(read(range(0, 5460, master(Reply::Nil))), expected("seed"));
        for wrong in [
            range(0, 16_384, master(text("a"))),
            range(5, 4, master(text("a"))),
            range(-1, 4, master(text("a"))),
            range(0, 1, text("a")),
            range(0, 1, master(Reply::Integer(1))),
            Reply::Nil,
        ] {
            assert_eq!(read(wrong), None);
        }
    }
}

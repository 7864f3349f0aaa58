//! Logs that nobody would write in good faith.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use wardgate_engine::table::Evaluation;
use wardgate_native::Policies;
use wardgate_replay::limits::MAX_LINE_BYTES;
use wardgate_replay::replay::{Replay, Sides};
use wardgate_replay::source;
use wardgate_replay::tally::Report;

use crate::generate::{OLD, table};

const ENTRY: &str = r#"{"timestamp":"2026-10-01T00:00:00Z","checkResources":{"inputs":[{"principal":{"id":"ann","roles":["guest"]},"resource":{"kind":"album","id":"a","attr":{"public":true}},"actions":["view"]}],"outputs":[{"actions":{"view":{"effect":"EFFECT_ALLOW"}}}]}}"#;

fn replay(log: impl Read + Send) -> io::Result<Report> {
    let new = Policies::of(table(OLD, Evaluation::Strict));
    let replay = Replay::new(Sides { old: Some(&new), new: &new });
    replay.run(std::iter::once_with(|| source::open(log)), 2).map_err(|error| error.error)
}

/// Returns the decisions that are the same, and the lines that are unreadable.
fn counted(log: impl Read + Send) -> (u64, u64) {
    let report = replay(log).unwrap();
    assert_eq!(report.buckets.all(), report.buckets.same);
    (report.buckets.same, report.unreadable)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn nothing_is_decided_about_an_empty_log() {
    assert_eq!(counted(&b""[..]), (0, 0));
    assert_eq!(counted(&b"\n\n  \n"[..]), (0, 0));
    assert_eq!(counted(&gzip(b"")[..]), (0, 0));
}

#[test]
fn lines_that_are_no_entries_are_counted_with_their_numbers() {
    let lines = [
        ENTRY.as_bytes(),
        b"\xff\xfe",
        b"{\"timestamp\":\"\xff\"}",
        b"[1e400]",
        b"{\"a\":1,\"a\":2,",
        &b"[".repeat(1_000_000),
        &b"{\"a\":".repeat(1_000_000),
        b"{\"checkResources\":{\"inputs\":[],\"inputs\":[]}}",
        ENTRY.as_bytes(),
    ];
    let report = replay(&lines.join(&b'\n')[..]).unwrap();
    assert_eq!((report.buckets.same, report.unreadable, report.lines), (2, 7, 9));
    let numbers: Vec<u64> = report.faults.iter().map(|fault| fault.place.line).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6]);
}

#[test]
fn a_line_without_an_end_is_skipped_in_bounded_memory() {
    let gigabyte = io::repeat(b'x').take(1 << 30);
    let log = gigabyte.chain(&b"\n"[..]).chain(ENTRY.as_bytes());
    assert_eq!(counted(log), (1, 1));
    let quoted = (&b"{\"a\":\""[..]).chain(io::repeat(b'a').take(1 << 24)).chain(&b"\"}\n"[..]);
    assert_eq!(counted(quoted.chain(ENTRY.as_bytes())), (1, 1));
}

#[test]
fn a_line_may_be_as_long_as_the_bound() {
    let padding = " ".repeat(MAX_LINE_BYTES - ENTRY.len() - 1);
    assert_eq!(counted(format!("{{{padding}{}", &ENTRY[1..]).as_bytes()), (1, 0));
}

#[test]
fn packed_logs_are_unpacked_in_bounded_memory() {
    let packed = gzip(ENTRY.as_bytes());
    assert_eq!(counted(&packed[..]), (1, 0));
    // Two members are one log, and their lines go on.
    assert_eq!(counted(&[gzip(b"\n"), packed.clone(), gzip(b"\n{\n")].concat()[..]), (1, 1));
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    io::copy(&mut io::repeat(b'x').take(1 << 28), &mut bomb).unwrap();
    bomb.write_all(b"\n").unwrap();
    bomb.write_all(ENTRY.as_bytes()).unwrap();
    assert_eq!(counted(&bomb.finish().unwrap()[..]), (1, 1));
    for cut in [3, 9, packed.len() / 2, packed.len() - 1] {
        assert!(replay(&packed[..cut]).is_err(), "{cut}");
    }
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 8;
    assert!(replay(&flipped[..]).is_err());
}

#[test]
fn frames_of_zstd_are_one_log() {
    // `zstd -1` of the entry and a line end.
    assert_eq!(counted(&[ZSTD, ZSTD].concat()[..]), (2, 0));
    for cut in [4, 6, ZSTD.len() / 2, ZSTD.len() - 1] {
        assert!(replay(&ZSTD[..cut]).is_err(), "{cut}");
    }
    // A window of the largest size.
    assert!(replay(&b"\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"[..]).is_err());
}

const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x48\xa5\x05\x00\x42\x4d\x28\x20\x50\x89\xaa\x31\x52\xd3\x72\xdf\x5a\x62\xb0\xd5\x01\x79\xaa\
    \x66\xc5\xea\x60\xd6\x73\x68\x74\x8e\x3a\x20\x0f\x9f\xcc\x54\xc4\xd4\x86\x39\x95\x39\xe7\x05\x03\x0c\x46\xc0\x41\
    \x43\x40\xb1\x58\x28\xd6\xa1\x5a\x08\x64\x97\x2a\x61\x6c\x3e\xca\x54\x5e\xd8\xa5\x70\xa2\x3f\xd6\x2c\xa8\xd2\x67\
    \xce\x8d\x0e\xea\x6a\x2d\x8e\xd8\x96\xba\x83\x30\x7d\x3e\x33\xd1\xb1\xa4\xf5\x07\x5b\x91\xa5\xee\x3e\x53\x19\xbe\
    \x8d\x08\x27\xfa\xdb\xa5\x71\x9f\x19\x4b\xeb\x8f\xb5\xd4\x97\xd4\x96\x62\xcb\xb5\x65\xa2\x3f\x18\x1b\x5b\x4b\xfd\
    \xad\x72\xb1\x79\x4b\x10\x51\x9b\xa0\x3e\x1b\x20\xa4\x08\x29\x42\x0d\x04\x3a\x20\xc4\x01\x20\x81\x12\xeb\x8d\x49\
    \xf0\x2d\xb3\xe0\x32\x05\x00\x60\x08\xd1\x02\x66\x61\x0a\xc4\x35\x07\xd7\xc8\x42\x14\xc6\x25\xfb\x72";

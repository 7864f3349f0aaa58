#![expect(clippy::as_conversions, reason = "offsets of a file in memory")]

use super::*;
use crate::rules::change::{Change, Kind};

/// A file in memory that fails on demand, and may take a part before it does.
#[derive(Clone, Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    room: Option<usize>,
    sync_fails: bool,
    truncate_fails: bool,
}

impl Medium for Memory {
    fn length(&mut self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let from = self.bytes.get(at as usize..).unwrap_or_default();
        // Small pieces, so that no code relies on reads that fill the buffer.
        let read = from.len().min(into.len()).min(100);
        into[..read].copy_from_slice(&from[..read]);
        Ok(read)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let room = self.room.unwrap_or(usize::MAX).saturating_sub(at as usize);
        let taken = bytes.len().min(room);
        self.bytes.truncate(at as usize);
        self.bytes.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn truncate(&mut self, to: u64) -> io::Result<()> {
        if self.truncate_fails {
            return Err(io::ErrorKind::Other.into());
        }
        self.bytes.truncate(to as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.sync_fails { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    }
}

fn added(name: &str) -> Change {
    Change { kind: Kind::Added, rule: name.as_bytes().to_vec() }
}

type Opened = (Vec<Change>, Log<Memory>, Option<Torn>);

fn open(bytes: &[u8]) -> Result<Opened, JournalError> {
    let mut changes = Vec::new();
    let medium = Memory { bytes: bytes.to_vec(), ..Memory::default() };
    let (log, torn) = Log::open(medium, &mut |change| changes.push(change))?;
    Ok((changes, log, torn))
}

/// A file of frames with two changes each, and where each frame ends.
fn file(durably: bool) -> (Vec<u8>, Vec<usize>, Vec<Change>) {
    let (_, mut log, _) = open(b"").unwrap();
    let (mut ends, mut changes) = (vec![log.end as usize], Vec::new());
    for number in 0..4 {
        let pair = [added(&format!("rule {number}")), added(&"x".repeat(1500))];
        if durably { log.append_durably(&pair) } else { log.append(&pair) }.unwrap();
        ends.push(log.end as usize);
        changes.extend(pair);
    }
    (log.medium.bytes, ends, changes)
}

#[test]
fn every_cut_leaves_the_frames_before_it() {
    for durably in [false, true] {
        let (bytes, ends, changes) = file(durably);
        for cut in 0..=bytes.len() {
            let (found, mut log, torn) = open(&bytes[..cut]).unwrap();
            let frames = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            assert_eq!(found, changes[..frames * 2], "cut at {cut}");
            let rest = cut.saturating_sub(ends[frames]);
            assert_eq!(torn.map_or(0, |torn| torn.bytes.len()), rest, "cut at {cut}");
            log.cut().unwrap();
            log.append_durably(&[added("after")]).unwrap();
            let (again, _, torn) = open(&log.medium.bytes).unwrap();
            assert_eq!((again.len(), torn), (frames * 2 + 1, None), "cut at {cut}");
        }
    }
}

#[test]
fn no_damage_is_taken_for_an_end() {
    let (bytes, ..) = file(true);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(open(&damaged).is_err(), "byte {at}");
    }
}

#[test]
fn a_missing_frame_in_the_middle_is_damage() {
    let (bytes, ends, _) = file(true);
    let without = [&bytes[..ends[1]], &bytes[ends[2]..]].concat();
    assert!(matches!(open(&without), Err(JournalError::Damaged { .. })));
}

#[test]
fn a_hole_in_the_last_frame_is_an_end() {
    let (mut bytes, ends, changes) = file(true);
    let sector = ends[3].next_multiple_of(512);
    bytes[sector..sector + 512].fill(0);
    let (found, _, torn) = open(&bytes).unwrap();
    assert_eq!(found, changes[..6]);
    assert_eq!(torn.unwrap().offset, ends[3] as u64);
}

#[test]
fn a_hole_in_durable_changes_is_damage() {
    let (mut bytes, ends, _) = file(true);
    let sector = ends[2].next_multiple_of(512);
    bytes[sector..sector + 512].fill(0);
    let offset = ends[2] as u64;
    assert!(matches!(open(&bytes), Err(JournalError::Damaged { offset: at }) if at == offset));
}

#[test]
fn a_hole_in_unsynced_changes_is_an_end() {
    let (mut bytes, ends, changes) = file(false);
    let sector = ends[1].next_multiple_of(512);
    bytes[sector..sector + 512].fill(0);
    let (found, _, torn) = open(&bytes).unwrap();
    assert_eq!(found, changes[..2]);
    assert_eq!(torn.unwrap().bytes.len(), bytes.len() - ends[1]);
}

#[test]
fn another_file_is_not_touched() {
    for bytes in [&b"apiVersion: api.cerbos.dev/v1"[..], b"x", b"wardgate-rules\0\x02", &[0; 17]] {
        assert!(matches!(open(bytes), Err(JournalError::Foreign)), "{bytes:?}");
    }
    for unfinished in [&b""[..], b"wardgate", &[0; 16]] {
        assert!(open(unfinished).is_ok(), "{unfinished:?}");
    }
}

#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    let (bytes, ends, changes) = file(true);
    for room in ends[4]..ends[4] + 60 {
        let (_, mut log, _) = open(&bytes).unwrap();
        log.medium.room = Some(room);
        assert!(matches!(log.append_durably(&[added("more")]), Err(JournalError::Write(_))));
        assert_eq!(log.medium.bytes, bytes);
        log.medium.room = None;
        log.append_durably(&[added("again")]).unwrap();
        assert_eq!(open(&log.medium.bytes).unwrap().0.len(), changes.len() + 1);
    }
}

#[test]
fn nothing_is_written_after_a_failure_that_cannot_be_undone() {
    let (bytes, ends, changes) = file(true);
    let (_, mut log, _) = open(&bytes).unwrap();
    log.medium.room = Some(ends[4] + 10);
    log.medium.truncate_fails = true;
    assert!(matches!(log.append(&[added("more")]), Err(JournalError::Write(_))));
    log.medium.room = None;
    assert!(matches!(log.append(&[added("more")]), Err(JournalError::Broken)));
    assert_eq!(open(&log.medium.bytes).unwrap().0, changes);
}

#[test]
fn a_change_that_the_disk_refused_is_not_in_the_file() {
    let (bytes, _, changes) = file(true);
    let (_, mut log, _) = open(&bytes).unwrap();
    log.medium.sync_fails = true;
    assert!(matches!(log.append_durably(&[added("more")]), Err(JournalError::Write(_))));
    assert!(matches!(log.append(&[added("more")]), Err(JournalError::Broken)));
    assert_eq!(open(&log.medium.bytes).unwrap().0, changes);
}

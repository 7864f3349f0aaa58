#![expect(clippy::as_conversions, reason = "a small number of a test")]

use std::thread;

use fastrand::Rng;

use super::*;
use crate::decision_log::{Evidence, SearchCounts};

const TRACE: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// The smallest ring.
fn small() -> (RingWriter, RingReader) {
    ring(0)
}

fn entry(id: &str) -> Entry<'_> {
    Entry { micros: -1, principal: id, resource: "a1", kind: "album", ..Entry::default() }
}

fn whole() -> Entry<'static> {
    Entry {
        micros: 1_790_000_000_000_000,
        policies: u32::MAX,
        caller: 7,
        is_general: true,
        principal: "ada",
        resource: "document one",
        kind: "document",
        version: "default",
        scope: "acme.legal",
        trace: Some(TRACE),
        request: "call-1",
        evidence: Evidence::Read(&[0, 1, 2, 255]),
        search: None,
    }
}

#[track_caller]
fn check(entry: &Entry<'_>, actions: &[(&str, Effect)]) {
    let (mut writer, mut reader) = small();
    assert!(writer.write(entry, actions));
    let Some(Drained::Entry(0, read)) = reader.next() else { panic!("nothing was written") };
    assert_eq!((read.entry, read.is_cut), (*entry, false));
    assert_eq!(read.actions().collect::<Vec<_>>(), actions);
    assert!(reader.next().is_none());
}

#[test]
fn an_entry_is_read_as_it_was_written() {
    let all =
        [("view", Effect::Allowed), ("", Effect::Denied), ("edit:all of it", Effect::Limited)];
    check(&whole(), &all);
    check(&whole(), &[]);
    check(&Entry::default(), &all);
    check(&Entry { trace: None, ..whole() }, &all);
    check(&Entry { evidence: Evidence::Request(b"{}"), ..whole() }, &all);
    check(&Entry { evidence: Evidence::Digest(&[3; 32]), ..whole() }, &all);
    let search = Some(SearchCounts { asked: u64::MAX, allowed: 3 });
    check(&Entry { search, ..whole() }, &all);
    check(&Entry { search, ..Entry::default() }, &all[..1]);
    for length in 0..40 {
        let text = "é".repeat(length);
        check(&Entry { principal: &text, scope: &text, ..whole() }, &[(&text, Effect::Denied)]);
    }
}

#[test]
fn long_texts_are_cut_and_said_to_be() {
    let (mut writer, mut reader) = small();
    let long = "x".repeat(70_000);
    let large = vec![7; 70_000];
    let entry = Entry { principal: &long, evidence: Evidence::Request(&large), ..whole() };
    let actions = [(long.as_str(), Effect::Denied); 300];
    assert!(writer.write(&entry, &actions));
    let Some(Drained::Entry(0, read)) = reader.next() else { panic!("nothing was written") };
    assert!(read.is_cut);
    assert_eq!((read.entry.principal.len(), read.entry.evidence), (1024, Evidence::TooLarge));
    assert_eq!(read.actions().map(|(name, _)| name.len()).collect::<Vec<_>>(), [1024; 255]);
    let entry = Entry { evidence: Evidence::TooLarge, ..whole() };
    assert!(writer.write(&entry, &[]));
    let Some(Drained::Entry(1, read)) = reader.next() else { panic!("nothing was written") };
    assert_eq!((read.entry, read.is_cut), (entry, true));
}

#[test]
fn the_largest_entry_fits_the_smallest_ring() {
    let (mut writer, mut reader) = small();
    let (text, evidence) = ("x".repeat(1024), vec![7; 16 << 10]);
    let entry = Entry {
        principal: &text,
        resource: &text,
        kind: &text,
        version: &text,
        scope: &text,
        request: &text,
        evidence: Evidence::Read(&evidence),
        search: Some(SearchCounts::default()),
        ..whole()
    };
    let actions = [(text.as_str(), Effect::Allowed); 255];
    for sequence in 0..10 {
        assert!(writer.has_room());
        assert!(writer.write(&entry, &actions));
        let Some(Drained::Entry(found, read)) = reader.next() else { panic!("{sequence}") };
        assert_eq!((found, read.entry, read.actions().count()), (sequence, entry, 255));
    }
}

#[test]
fn entries_that_do_not_fit_are_counted_and_named() {
    let (mut writer, mut reader) = small();
    let mut written = 0;
    while writer.write(&entry("ada"), &[("view", Effect::Allowed)]) {
        written += 1;
    }
    assert!(!writer.write(&entry("eve"), &[]));
    assert!(!writer.has_room());
    for sequence in 0..written {
        let Some(Drained::Entry(found, _)) = reader.next() else { panic!("{sequence}") };
        assert_eq!(found, sequence);
    }
    // The last one could be under way still.
    let Some(Drained::Lost { first, count: 1 }) = reader.next() else { panic!() };
    assert_eq!(first, written);
    let Some(Drained::Lost { first, count: 1 }) = reader.finish() else { panic!() };
    assert_eq!(first, written + 1);
    assert!(reader.next().is_none() && reader.finish().is_none());
    assert!(writer.write(&entry("bob"), &[]));
    let Some(Drained::Entry(found, read)) = reader.next() else { panic!() };
    assert_eq!((found, read.entry.principal), (written + 2, "bob"));
}

#[test]
fn a_gap_between_entries_is_told_before_the_next_one() {
    let (mut writer, mut reader) = small();
    while writer.write(&entry("ada"), &[]) {}
    assert!(matches!(reader.next(), Some(Drained::Entry(0, _))));
    assert!(matches!(reader.next(), Some(Drained::Entry(1, _))));
    assert!(writer.write(&entry("bob"), &[]));
    let mut last = 1;
    loop {
        match reader.next() {
            Some(Drained::Entry(sequence, read)) if read.entry.principal == "ada" => {
                last = sequence
            }
            Some(Drained::Lost { first, count }) => {
                assert_eq!((first, count), (last + 1, 1));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(
        matches!(reader.next(), Some(Drained::Entry(_, read)) if read.entry.principal == "bob")
    );
}

#[test]
fn a_reader_knows_that_the_writer_is_gone() {
    let (mut writer, mut reader) = small();
    assert!(writer.write(&entry("ada"), &[]));
    assert!(!reader.is_closed());
    drop(writer);
    assert!(reader.is_closed());
    assert!(matches!(reader.next(), Some(Drained::Entry(0, _))));
    assert!(reader.finish().is_none());
}

/// What entry `sequence` of the test of threads is about.
fn text_of(sequence: u64) -> String {
    let mut random = Rng::with_seed(sequence);
    let length = if random.usize(..50) == 0 { random.usize(..900) } else { random.usize(..30) };
    (0..length).map(|_| random.alphanumeric()).collect()
}

#[test]
fn two_threads_agree_on_every_entry() {
    const COUNT: u64 = 300_000;
    let (mut writer, mut reader) = small();
    let writing = thread::spawn(move || {
        let written = (0..COUNT).filter(|sequence| {
            let text = text_of(*sequence);
            writer.write(&Entry { resource: &text, ..entry("ada") }, &[(&text, Effect::Allowed)])
        });
        written.count() as u64
    });
    let (mut next, mut found, mut lost) = (0, 0, 0);
    while next < COUNT {
        let drained = if writing.is_finished() { reader.finish() } else { reader.next() };
        match drained {
            Some(Drained::Entry(sequence, read)) => {
                assert_eq!(sequence, next);
                let text = text_of(sequence);
                assert_eq!(read.entry, Entry { resource: &text, ..entry("ada") });
                assert_eq!(read.actions().collect::<Vec<_>>(), [(text.as_str(), Effect::Allowed)]);
                (next, found) = (next + 1, found + 1);
            }
            Some(Drained::Lost { first, count }) => {
                assert_eq!(first, next);
                (next, lost) = (next + count, lost + count);
            }
            None => thread::yield_now(),
        }
    }
    assert_eq!((writing.join().unwrap(), found + lost), (found, COUNT));
}

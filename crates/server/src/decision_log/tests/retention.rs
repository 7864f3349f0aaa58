//! Old segments are deleted, and the rest is read, proved and goes on as before.

use std::collections::HashSet;
use std::time::Duration;

use wardgate_decision_log::redaction::LogSecret;
use wardgate_native::decision_log::{Effect, Entry, Form};

use super::recording::settings;
use super::*;
use crate::config::{Keep, OnFull};
use crate::decision_log::folder::Folder;
use crate::decision_log::retention::Retention;
use crate::decision_log::segments::Disk;

/// How long records stay in these tests, in microseconds.
const PERIOD: i64 = 100;

fn delete(folder: &Temporary, now: i64, sealed: u64) -> usize {
    let retention = Retention::new(&folder.0, Some(Duration::from_micros(PERIOD as u64)), None);
    let bytes = retention.bytes();
    let deleted = retention.delete_old(now, sealed).unwrap();
    retention.measure();
    assert_eq!(deleted > 0, retention.bytes() < bytes);
    deleted
}

/// Returns the numbers of the first frames of the segments.
fn first_frames(folder: &Temporary) -> Vec<u64> {
    let segments = Folder::new(&folder.0).segments().unwrap();
    segments.into_iter().map(|segment| segment.first_frame).collect()
}

#[test]
fn segments_whose_records_are_old_are_deleted_and_later_ones_stay_provable() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 5000).unwrap();
    // The time of a record is its number.
    add_frames(&mut writer, 300);
    seal(&mut writer);
    let older = fs::read(folder.0.join("checkpoint")).unwrap();
    add_frames(&mut writer, 320);
    seal(&mut writer);
    let (records, all) = (writer.next(), first_frames(&folder));
    let values = |frame: &u64| folder.0.join(format!("private/{frame:012}.wgv"));
    fs::create_dir(folder.0.join("private")).unwrap();
    all.iter().for_each(|frame| fs::write(values(frame), b"values").unwrap());
    let proof = prove(&folder.0, 400).unwrap();
    let mut left = all.len();
    for now in [0, PERIOD, 150, 350, 350, 500, 550] {
        left -= delete(&folder, now, 620);
        let found = verify(&folder.0, &key(), Some(&older), None).unwrap();
        assert_eq!((found.frames, found.records, found.unsealed), (620, records, 0));
        // What is left begins with the segment of the oldest record that must stay.
        let (deleted, oldest) = (found.deleted as i64, now - PERIOD);
        assert!(deleted <= oldest.max(0) && deleted + 60 > oldest, "{deleted}");
        assert_eq!(first_frames(&folder), all[all.len() - left..]);
        all.iter().for_each(|frame| {
            assert_eq!(values(frame).exists(), *frame >= first_frames(&folder)[0])
        });
        proof.verify(&key()).unwrap();
        prove(&folder.0, records - 1).unwrap().verify(&key()).unwrap();
    }
    let deleted = verified(&folder).unwrap().deleted;
    assert!(deleted > 300);
    assert_eq!(prove(&folder.0, 0).unwrap_err().code(), "log-missing");
    // Only frames of whole tiles are deleted, and never the segment that grows.
    delete(&folder, i64::MAX, 620);
    assert!(first_frames(&folder)[0] <= 512 && first_frames(&folder).len() > 1);
    // The log goes on, also if the tiles were not on the disk yet that are not whole.
    drop(writer);
    for path in folder.files().iter().filter(|path| path.to_string_lossy().contains(".p/")) {
        fs::remove_file(path).unwrap();
    }
    let (mut writer, _) = open(&folder.0, 5000).unwrap();
    add_frames(&mut writer, 3);
    seal(&mut writer);
    let found = verify(&folder.0, &key(), Some(&older), None).unwrap();
    assert_eq!((found.frames, found.records), (623, records + 3));
    prove(&folder.0, records + 2).unwrap().verify(&key()).unwrap();
}

#[test]
fn nothing_is_deleted_that_no_checkpoint_covers_or_that_has_a_newer_record() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 5000).unwrap();
    add_frames(&mut writer, 10);
    // The clock was ahead for one record of the first segment.
    assert!(writer.add(&record(5), 1_000_000));
    add_frames(&mut writer, 590);
    let all = first_frames(&folder);
    assert_eq!(delete(&folder, 2_000_000, writer.sealed()), 0);
    seal(&mut writer);
    assert_eq!(delete(&folder, 10_000, writer.sealed()), 0);
    assert_eq!(
        Retention::new(&folder.0, None, None).delete_old(i64::MAX, writer.sealed()).unwrap(),
        0
    );
    assert_eq!(first_frames(&folder), all);
    // A tile that is missing would make later records unprovable.
    let tile = folder.0.join("tile/entries/000");
    fs::rename(&tile, tile.with_extension("away")).unwrap();
    let retention = Retention::new(&folder.0, Some(Duration::from_micros(1)), None);
    assert_eq!(retention.delete_old(2_000_000, writer.sealed()).unwrap_err().code(), "log-write");
    assert_eq!(first_frames(&folder), all);
    fs::rename(tile.with_extension("away"), &tile).unwrap();
    assert!(delete(&folder, 2_000_000, writer.sealed()) > 3);
    verified(&folder).unwrap();
}

#[test]
fn each_segment_can_be_read_without_those_before() {
    let folder = Temporary::new();
    let (writer, _) = open(&folder.0, 10_000).unwrap();
    let settings = settings(Form::Clear, OnFull::Block(Duration::from_secs(60)), Keep::System);
    let recorder = Recorder::start(&folder.0, writer, LogSecret::new([9; 32]), settings).unwrap();
    for number in 1..=3 {
        recorder.policies(number, 7, [3; 32], "bundle");
        for at in 0..1500 {
            let kind = ["album", "photo", "comment"][at % 3];
            let entry =
                Entry { micros: 5, policies: number, principal: "ada", kind, ..Entry::default() };
            assert!(
                recorder.record(&entry, &[("view", Effect::Allowed), ("edit", Effect::Denied)])
            );
            assert!(at % 7 > 0 || recorder.keep());
        }
    }
    recorder.close().unwrap();
    let (mut reader, mut path, mut segments) = (LogReader::open(&folder.0).unwrap(), None, 0);
    let (mut policies, mut targets, mut decisions) = (HashSet::new(), HashSet::new(), 0);
    while let Some(stored) = reader.next_frame().unwrap() {
        if path.as_ref() != Some(&stored.path) {
            path = Some(stored.path.clone());
            (policies, targets) = (HashSet::new(), HashSet::new());
            segments += 1;
        }
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Policies(found) => _ = policies.insert(found.number),
                Body::Target(target) => _ = targets.insert((target.policies, target.number)),
                Body::Decision(decision) => {
                    assert!(policies.contains(&decision.policies), "{}", stored.path.display());
                    for outcome in &decision.outcomes {
                        assert!(targets.contains(&(decision.policies, outcome.target)));
                    }
                    decisions += 1;
                }
                _ => {}
            }
        }
    }
    assert_eq!(decisions, 4500);
    assert!(segments > 10, "{segments}");
    verified(&folder).unwrap();
}

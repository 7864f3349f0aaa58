//! Logs that somebody has changed: `verify` names the first wrong place.

use std::time::Duration;

use wardgate_decision_log::redaction::LogSecret;
use wardgate_native::decision_log::Form;

use super::recording::settings;
use super::*;
use crate::config::{Keep, OnFull};
use crate::decision_log::core::Core;
use crate::decision_log::intake::Intake;
use crate::decision_log::private::Private;

/// Returns the file and the offset at which the log is wrong.
fn wrong_place(folder: &Temporary) -> Option<(PathBuf, usize)> {
    match verified(folder) {
        Err(LogError::Damaged { path, offset, .. }) => Some((path, offset as usize)),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

/// A log in one segment, all of which is sealed if `sealed` is the number of frames.
fn one_segment(frames: u64, sealed: u64) -> Temporary {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
    for number in 0..frames {
        let next = writer.next() as i64;
        assert!(writer.add(&record(next), next));
        writer.write(0).unwrap();
        if number + 1 == sealed {
            seal(&mut writer);
        }
    }
    folder
}

#[test]
fn no_changed_byte_of_a_tile_goes_unnoticed() {
    // All bytes of partial tiles, and some of full ones: each of the two has one digest behind it.
    for (frames, step) in [(7, 1), (300, 211)] {
        let folder = one_segment(frames, frames);
        let is_tile = |path: &PathBuf| path.starts_with(folder.0.join("tile"));
        let step = if std::env::var_os("SLOW_TESTS").is_some() { 1 } else { step };
        let tiles: Vec<PathBuf> = folder.files().into_iter().filter(is_tile).collect();
        assert!(tiles.len() >= 2);
        for tile in tiles {
            let bytes = fs::read(&tile).unwrap();
            for at in (0..bytes.len()).step_by(step) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x10;
                fs::write(&tile, damaged).unwrap();
                assert_eq!(wrong_place(&folder).unwrap(), (tile.clone(), 0), "byte {at}");
            }
            fs::write(&tile, bytes).unwrap();
        }
        verified(&folder).unwrap();
    }
}

#[test]
fn frames_that_are_cut_swapped_repeated_or_deleted_are_found_where_they_were() {
    // Of the last two frames no checkpoint tells.
    let folder = one_segment(7, 5);
    let (path, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
    let mut ends = frame_ends(&folder);
    ends.insert(0, START.len());
    let frames: Vec<&[u8]> = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
    let write =
        |frames: &[&[u8]]| fs::write(&path, [&START[..], &frames.concat()].concat()).unwrap();
    for at in 0..frames.len() {
        let here = Some((path.clone(), ends[at]));
        let mut changed = frames.clone();
        changed.remove(at);
        write(&changed);
        // The end may be missing where nothing tells of it.
        assert_eq!(wrong_place(&folder), here.clone().filter(|_| at < 6), "frame {at} deleted");
        for other in at + 1..frames.len() {
            let mut changed = frames.clone();
            changed.swap(at, other);
            write(&changed);
            assert_eq!(wrong_place(&folder), here, "frames {at} and {other} swapped");
        }
        for to in 0..=frames.len() {
            let mut changed = frames.clone();
            changed.insert(to, frames[at]);
            write(&changed);
            // One copy is right: the one that comes first, or else the frame itself.
            let wrong = if to <= at { to + usize::from(to == at) } else { to };
            assert_eq!(
                wrong_place(&folder),
                Some((path.clone(), ends[wrong])),
                "{at} again at {to}"
            );
        }
    }
    for cut in START.len()..bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        match verified(&folder) {
            Ok(found) => assert!(cut >= ends[5] && found.frames >= 5, "cut at {cut}"),
            Err(error) => assert!(cut < ends[5] && error.code() == "log-truncated", "cut at {cut}"),
        }
    }
    // A piece out of the middle.
    for cut in [1, 40, 128, 156] {
        for at in (START.len()..ends[6] - cut).step_by(13) {
            fs::write(&path, [&bytes[..at], &bytes[at + cut..]].concat()).unwrap();
            let (_, found) = wrong_place(&folder).unwrap();
            let begin = *ends.iter().rfind(|end| **end <= at).unwrap();
            assert_eq!(found, begin, "{cut} bytes cut out at {at}");
        }
    }
}

#[test]
fn segments_under_other_names_are_found() {
    let folder = small_log();
    let segments: Vec<PathBuf> = folder
        .files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "wgl"))
        .collect();
    assert!(segments.len() > 2);
    for (at, path) in segments.iter().enumerate() {
        for number in 0..12 {
            let other = folder.0.join(format!("{number:012}.wgl"));
            if segments.contains(&other) {
                continue;
            }
            fs::rename(path, &other).unwrap();
            let error = verified(&folder).unwrap_err();
            let is_there = matches!(&error, LogError::Damaged { path, .. } if *path == other
                || segments.get(at + 1) == Some(path) || at > 0 && *path == segments[at - 1]);
            // Without the first one the log may begin elsewhere, but not with these frames.
            assert!(is_there || at == 0 && error.code() == "log-checkpoint", "{number}: {error}");
            fs::rename(&other, path).unwrap();
        }
    }
    verified(&folder).unwrap();
}

#[test]
fn a_writer_whose_lock_was_stolen_stops_at_its_next_frame() {
    for is_replaced in [false, true] {
        let folder = Temporary::new();
        let (mut first, _) = open(&folder.0, 10_000).unwrap();
        add_frames(&mut first, 5);
        seal(&mut first);
        fs::remove_file(folder.0.join(".lock")).unwrap();
        let second = is_replaced.then(|| open(&folder.0, 10_000).unwrap().0);
        assert!(first.add(&record(5), 5));
        let before: Vec<Vec<u8>> =
            folder.files().iter().map(|path| fs::read(path).unwrap()).collect();
        for _ in 0..2 {
            assert_eq!(first.write(0).unwrap_err().code(), "log-lock-lost");
            assert_eq!(first.sync().unwrap_err().code(), "log-lock-lost");
            assert_eq!(first.seal(0, &[0; 32]).unwrap_err().code(), "log-lock-lost");
        }
        let after: Vec<Vec<u8>> =
            folder.files().iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(before, after);
        let mut second = second.unwrap_or_else(|| open(&folder.0, 10_000).unwrap().0);
        add_frames(&mut second, 5);
        seal(&mut second);
        assert_eq!(verified(&folder).unwrap().frames, 10);
    }
}

#[test]
fn a_clock_that_goes_back_or_far_ahead_or_stands_still_is_recorded() {
    const DAY: i64 = 24 * 3600 * 1_000_000;
    let folder = Temporary::new();
    let (writer, _) = open(&folder.0, 10_000).unwrap();
    let secret = || LogSecret::new([9; 32]);
    let private = Private::open(&folder.0, secret(), writer.next()).unwrap();
    let settings = settings(Form::Clear, OnFull::Drop, Keep::Disk);
    let settings = RecorderSettings { heartbeat: Duration::ZERO, ..settings };
    let mut core = Core::new(writer, private, settings);
    let (intake, now) = (Intake::new(core.lock()), 20_000 * DAY);
    for time in [now, now, now - DAY, now - DAY, now + 365 * DAY, now] {
        core.tick(&intake, time).unwrap();
    }
    core.finish(&intake, Body::Clock(Clock { before: 0, now: 0 }), now).unwrap();
    let (mut reader, mut clocks) = (LogReader::open(&folder.0).unwrap(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            let Body::Clock(clock) = Record::read(bytes).unwrap().body else { panic!() };
            clocks.push((clock.before, clock.now));
        }
    }
    assert_eq!(clocks, [(now, now - DAY), (now + 365 * DAY, now), (0, 0)]);
    let found = verified(&folder).unwrap();
    assert_eq!((found.times.unwrap().1, found.unsealed), (now + 365 * DAY, 0));
}

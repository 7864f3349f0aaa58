#![expect(clippy::as_conversions, reason = "small numbers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::frame::START;
use wardgate_decision_log::record::{Body, Clock, Record, ShortText};
use wardgate_decision_log::signer::LogSigner;

use super::*;

mod failing;
mod full_disk;
mod killing;
mod memory_disk;
mod recording;
mod retention;
mod rolling;
mod tail;
mod tampering;

const ORIGIN: &str = "log.example/a";

/// A folder that goes with the test.
pub(super) struct Temporary(pub(super) PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wardgate-decision-log-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::remove_dir_all(&path).unwrap_or_default();
        Self(path)
    }

    /// Returns all files below the folder, in order.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }

    /// Returns what is in the folder if its process is killed while this runs: first what is on its way to frames, then
    /// those. Tiles are made again.
    fn as_killed(&self) -> Self {
        let copy = Self::new();
        fs::create_dir_all(copy.0.join("private")).unwrap();
        let mut names: Vec<_> = ["private/tail.0", "private/tail.1", "private/keys.wgk"].into();
        names.extend(["checkpoint", "identity"]);
        let segments = |path: &PathBuf| path.extension().is_some_and(|end| end == "wgl");
        let copied = |path: PathBuf| {
            let name = path.strip_prefix(&self.0).unwrap();
            fs::copy(&path, copy.0.join(name)).unwrap_or_default();
        };
        names.into_iter().map(|name| self.0.join(name)).for_each(copied);
        self.files().into_iter().filter(segments).for_each(copied);
        copy
    }

    pub(super) fn last_segment(&self) -> PathBuf {
        let mut files = self.files();
        files.retain(|path| path.extension().is_some_and(|end| end == "wgl"));
        files.pop().unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

pub(super) fn signer() -> LogSigner {
    LogSigner::new(ORIGIN, &[7; 32]).unwrap()
}

pub(super) fn key() -> LogKey {
    LogKey::read(&signer().verifier().to_string()).unwrap()
}

pub(super) fn open(
    path: &Path,
    segment_bytes: u64,
) -> Result<(LogWriter, Option<PathBuf>), LogError> {
    LogWriter::open(
        path,
        signer(),
        LogSettings { segment_bytes, pause: Duration::ZERO, ..LogSettings::default() },
        &[1; 16],
    )
}

fn record(number: i64) -> Vec<u8> {
    let body = Body::Clock(Clock { before: number + 1, now: number });
    Record { stream: 1, caller: 0, sequence: number as u32, body }.to_bytes()
}

/// Adds frames of `number % 3` records each.
pub(super) fn add_frames(writer: &mut LogWriter, frames: u64) {
    for number in 0..frames {
        for _ in 0..number % 3 {
            let next = writer.next() as i64;
            assert!(writer.add(&record(next), next));
        }
        writer.write(number as i64).unwrap();
    }
}

pub(super) fn seal(writer: &mut LogWriter) {
    writer.seal(1_790_000_000, &[0; 32]).unwrap();
}

/// A log of nine records in ten frames, of which the last three are not sealed.
fn small_log() -> Temporary {
    let folder = Temporary::new();
    let (mut writer, torn) = open(&folder.0, 400).unwrap();
    assert_eq!(torn, None);
    add_frames(&mut writer, 7);
    seal(&mut writer);
    add_frames(&mut writer, 3);
    folder
}

fn verified(folder: &Temporary) -> Result<Verified, LogError> {
    verify(&folder.0, &key(), None, None)
}

#[test]
fn a_log_goes_on_where_it_ended() {
    let folder = Temporary::new();
    for round in 0..4 {
        let (mut writer, torn) = open(&folder.0, 10_000).unwrap();
        assert_eq!((writer.next(), torn), (round * 199, None));
        add_frames(&mut writer, 100);
        seal(&mut writer);
        assert!(!writer.is_unsealed());
        add_frames(&mut writer, 101);
    }
    let found = verified(&folder).unwrap();
    assert_eq!((found.frames, found.records, found.lost), (804, 796, 0));
    assert_eq!(found.checkpoint.unwrap().checkpoint.head.size, 703);
    assert_eq!(found.unsealed, 100);
    let mut reader = LogReader::open(&folder.0).unwrap();
    let mut number = 0;
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            assert_eq!(bytes, record(number));
            number += 1;
        }
    }
    assert_eq!(number, 796);
}

#[test]
fn missing_and_damaged_tiles_are_made_again() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 10_000).unwrap();
    add_frames(&mut writer, 600);
    seal(&mut writer);
    let tiles: Vec<PathBuf> =
        folder.files().into_iter().filter(|path| path.starts_with(folder.0.join("tile"))).collect();
    let contents: Vec<Vec<u8>> = tiles.iter().map(|path| fs::read(path).unwrap()).collect();
    drop(writer);
    // The log goes on from the partial tiles; those that are full are only for readers.
    for (tile, content) in tiles.iter().zip(&contents) {
        for other in [vec![0; content.len()], content[..7].to_vec()] {
            fs::write(tile, other).unwrap();
            let error = verified(&folder).map(|_| ()).map_err(|error| error.to_string());
            drop(open(&folder.0, 10_000).map(|(mut writer, _)| seal(&mut writer)));
            let is_partial = tile.to_string_lossy().contains(".p/");
            let named = |error: &String| error.contains(&*tile.to_string_lossy());
            assert!(is_partial || error.is_err_and(|error| named(&error)), "{}", tile.display());
            assert!(!is_partial || fs::read(tile).unwrap() == *content, "{}", tile.display());
            fs::write(tile, content).unwrap();
        }
    }
    fs::remove_dir_all(folder.0.join("tile")).unwrap();
    let (mut writer, _) = open(&folder.0, 10_000).unwrap();
    seal(&mut writer);
    tiles
        .iter()
        .zip(contents)
        .for_each(|(tile, content)| assert_eq!(fs::read(tile).unwrap(), content));
    verified(&folder).unwrap();
}

#[test]
fn one_process_writes_and_only_with_the_key_of_the_log() {
    let folder = Temporary::new();
    let first = open(&folder.0, 700).unwrap();
    assert_eq!(open(&folder.0, 700).unwrap_err().code(), "log-in-use");
    drop(first);
    let other = LogSigner::new(ORIGIN, &[8; 32]).unwrap();
    let refused = LogWriter::open(&folder.0, other, LogSettings::default(), &[1; 16]);
    assert_eq!(refused.unwrap_err().code(), "log-foreign");
    fs::write(folder.0.join("identity"), "something else").unwrap();
    assert_eq!(open(&folder.0, 700).unwrap_err().code(), "log-foreign");
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let folder = small_log();
    verified(&folder).unwrap();
    let covered = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "wgl") || path.ends_with("checkpoint")
    };
    for path in folder.files().into_iter().filter(covered) {
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, damaged).unwrap();
            let error = verified(&folder).expect_err("byte {at}");
            let is_there = matches!(&error, LogError::Damaged { path: found, offset, .. }
                if *found == path && *offset <= at as u64);
            assert!(is_there || path.ends_with("checkpoint"), "{}: {at}: {error}", path.display());
        }
        fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn frames_cannot_be_left_out_swapped_or_repeated() {
    let folder = small_log();
    let mut segments = folder.files();
    segments.retain(|path| path.extension().is_some_and(|end| end == "wgl"));
    assert!(segments.len() > 2);
    let contents: Vec<Vec<u8>> = segments.iter().map(|path| fs::read(path).unwrap()).collect();
    for (at, other) in
        (0..segments.len()).flat_map(|at| (0..segments.len()).map(move |to| (at, to)))
    {
        if at == other {
            fs::remove_file(&segments[at]).unwrap();
        } else {
            fs::write(&segments[at], &contents[other]).unwrap();
        }
        // The oldest records may be deleted, and the end is missing where no checkpoint covers it.
        match verified(&folder) {
            Ok(found) if at == other && at == 0 => assert!(found.deleted > 0),
            Ok(found) => assert!(at == other && at + 1 == segments.len() && found.deleted == 0),
            Err(error) => assert!(at != other || at > 0 && at + 1 < segments.len(), "{error}"),
        }
        fs::write(&segments[at], &contents[at]).unwrap();
    }
    verified(&folder).unwrap();
}

#[test]
fn a_sealed_end_that_is_missing_stops_the_start() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
    add_frames(&mut writer, 5);
    seal(&mut writer);
    let sealed = fs::metadata(folder.last_segment()).unwrap().len() as usize;
    add_frames(&mut writer, 3);
    drop(writer);
    let (path, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
    let ends = frame_ends(&folder);
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let opened = open(&folder.0, 1 << 20);
        if cut < sealed {
            assert_eq!(opened.unwrap_err().code(), "log-truncated", "cut at {cut}");
            continue;
        }
        let (writer, torn) = opened.unwrap();
        let whole = *ends.iter().rfind(|end| **end <= cut).unwrap();
        assert_eq!(torn.is_some(), whole < cut, "cut at {cut}");
        if let Some(torn) = torn {
            assert_eq!(fs::read(torn).unwrap(), bytes[whole..cut]);
        }
        drop(writer);
        verified(&folder).unwrap();
    }
}

/// Returns where the frames of the last segment end.
fn frame_ends(folder: &Temporary) -> Vec<usize> {
    let (mut reader, mut ends) = (LogReader::open(&folder.0).unwrap(), Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        ends.push(stored.offset as usize + stored.frame().unwrap().bytes());
    }
    ends
}

#[test]
fn another_past_under_the_same_key_is_found_by_an_older_checkpoint() {
    let (folder, other) = (Temporary::new(), Temporary::new());
    let (mut writer, _) = open(&folder.0, 700).unwrap();
    add_frames(&mut writer, 4);
    seal(&mut writer);
    let older = fs::read(folder.0.join("checkpoint")).unwrap();
    add_frames(&mut writer, 4);
    seal(&mut writer);
    verify(&folder.0, &key(), Some(&older), None).unwrap();
    let (mut writer, _) = open(&other.0, 700).unwrap();
    assert!(writer.add(&record(7), 7));
    add_frames(&mut writer, 8);
    seal(&mut writer);
    verify(&other.0, &key(), None, None).unwrap();
    let error = verify(&other.0, &key(), Some(&older), None).unwrap_err();
    assert!(error.to_string().contains("the older checkpoint"), "{error}");
}

#[test]
fn checkpoints_are_verified_by_either_key() {
    let folder = Temporary::new();
    let second = SecondKey::of(&signer()).unwrap().verifier().to_string();
    let second = LogKey::read_either(&second, verify_ed25519).unwrap();
    let settings = LogSettings { also_ed25519: true, ..LogSettings::default() };
    let (mut writer, _) = LogWriter::open(&folder.0, signer(), settings, &[1; 16]).unwrap();
    add_frames(&mut writer, 5);
    seal(&mut writer);
    drop(writer);
    for key in [key(), second.clone()] {
        let found = verify(&folder.0, &key, None, None).unwrap();
        assert_eq!((found.unsealed, found.checkpoint.unwrap().checkpoint.head.size), (0, 5));
        prove(&folder.0, 1).unwrap().verify(&key).unwrap();
    }
    let text = fs::read_to_string(folder.0.join("ed25519.vkey")).unwrap();
    assert_eq!(LogKey::read_either(text.trim_end(), verify_ed25519).unwrap().name(), ORIGIN);
    // What an operator does is signed by both, too.
    let path = folder.last_segment();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 300]).unwrap();
    accept_loss(&folder.0, signer(), ShortText::new("restored").unwrap()).unwrap();
    verify(&folder.0, &second, None, None).unwrap();

    let checkpoint = fs::read_to_string(folder.0.join("checkpoint")).unwrap();
    let mut lines: Vec<&str> = checkpoint.lines().collect();
    let line = lines.pop().unwrap();
    let refused = |line: Option<&str>| {
        let all: Vec<&str> = lines.iter().copied().chain(line).collect();
        fs::write(folder.0.join("checkpoint"), all.join("\n") + "\n").unwrap();
        verify(&folder.0, &key(), None, None).unwrap();
        verify(&folder.0, &second, None, None).unwrap_err().to_string()
    };
    assert!(refused(None).contains("the key of the log did not sign"));
    let (name, signature) = line.rsplit_once(' ').unwrap();
    // The last bytes of the signature are another number.
    let at = signature.len() - 8;
    let other = if &signature[at..=at] == "A" { "B" } else { "A" };
    let changed = format!("{}{other}{}", &signature[..at], &signature[at + 1..]);
    assert!(refused(Some(&format!("{name} {changed}"))).contains("is wrong"));
    // Without the setting there is one signature, and no key.
    let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
    seal(&mut writer);
    assert!(!folder.0.join("ed25519.vkey").exists());
    assert!(verify(&folder.0, &second, None, None).is_err());
}

#[test]
fn a_full_disk_loses_no_record_that_was_added() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 400).unwrap();
    add_frames(&mut writer, 3);
    // The next segment cannot be made: a folder has its name.
    let blocked = folder.0.join("000000000003.wgl");
    fs::create_dir(&blocked).unwrap();
    let mut failed = 0;
    for number in 0..4 {
        let next = writer.next();
        let is_added = writer.add(&record(next as i64), next as i64);
        assert_eq!(is_added, failed == 0, "{number}");
        failed += usize::from(writer.write(0).is_err());
    }
    assert!(failed > 0);
    fs::remove_dir(&blocked).unwrap();
    writer.write(0).unwrap();
    seal(&mut writer);
    let records = writer.next();
    drop(writer);
    assert_eq!(verified(&folder).unwrap().records, records);
}

#[test]
fn a_log_whose_end_is_missing_goes_on_once_that_is_accepted() {
    let reason = || ShortText::new("the disk was restored").unwrap();
    for (frames, cut) in [(5, 16), (5, 300), (5, 700), (256, 39_000), (300, 5000)] {
        let folder = Temporary::new();
        let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
        add_frames(&mut writer, frames);
        seal(&mut writer);
        let records = writer.next();
        drop(writer);
        assert_eq!(accept_loss(&folder.0, signer(), reason()).unwrap_err().code(), "log-missing");
        let older = fs::read(folder.0.join("checkpoint")).unwrap();
        let proof = prove(&folder.0, 0).unwrap();
        let (path, bytes) = (folder.last_segment(), fs::read(folder.last_segment()).unwrap());
        let ends = frame_ends(&folder);
        fs::write(&path, &bytes[..cut]).unwrap();
        let found = ends.iter().filter(|end| **end <= cut).count() as u64;

        let loss = accept_loss(&folder.0, signer(), reason()).unwrap();
        assert_eq!((loss.frames, loss.found), (frames, found));
        // It starts again, and what others have seen of it holds: it is the same log.
        let (mut writer, torn) = open(&folder.0, 1 << 20).unwrap();
        assert_eq!((writer.next(), torn), (records + 3, None));
        add_frames(&mut writer, 3);
        seal(&mut writer);
        drop(writer);
        let seen = verify(&folder.0, &key(), Some(&older), None).unwrap();
        assert_eq!((seen.records, seen.frames), (records + 6, frames + 4));
        assert_eq!(seen.loss.unwrap().reason, reason());
        assert!(seen.missing > 0 && seen.missing <= records);
        proof.verify(&key()).unwrap();
        prove(&folder.0, records + 1).unwrap().verify(&key()).unwrap();
        assert_eq!(prove(&folder.0, records - 1).unwrap_err().code(), "log-missing");
        // Nothing more may be missing.
        if found > 1 {
            fs::write(&path, &bytes[..ends[0]]).unwrap();
            assert_eq!(verified(&folder).unwrap_err().code(), "log-damaged");
            // Neither before a segment without frames that begins where the accepted loss does.
            fs::write(folder.0.join(format!("{found:012}.wgl")), START).unwrap();
            assert_eq!(verified(&folder).unwrap_err().code(), "log-damaged");
        }
    }
}

#[test]
fn a_log_whose_end_and_tiles_are_missing_does_not_go_on() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
    add_frames(&mut writer, 5);
    seal(&mut writer);
    drop(writer);
    fs::remove_file(folder.last_segment()).unwrap();
    fs::remove_dir_all(folder.0.join("tile")).unwrap();
    let reason = ShortText::new("why").unwrap();
    let error = accept_loss(&folder.0, signer(), reason).unwrap_err();
    assert_eq!(error.code(), "log-checkpoint");
}

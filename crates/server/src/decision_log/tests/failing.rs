//! Segments on a disk that fails or loses power: what was told to be kept is there, and the log opens.

use wardgate_decision_log::frame::{Draft, Frame, FramePosition, Head};

use super::memory_disk::{Failure, MemoryDisk, Random};
use super::*;
use crate::decision_log::segments::{Disk, Segments};

/// A log on a disk in memory, and everything that was to be written.
struct Written {
    disk: MemoryDisk,
    segments: Segments<MemoryDisk>,
    /// Every frame of which a part may be in a file.
    frames: Vec<Vec<u8>>,
    position: FramePosition,
    /// The frames that were written.
    written: usize,
    /// The frames that were told to be on the disk.
    kept: usize,
    failures: usize,
}

impl Written {
    fn new(disk: MemoryDisk, segment_bytes: u64) -> Self {
        let (mut segments, last, _) = Segments::open(disk.shared()).unwrap();
        assert!(last.is_none());
        segments.set_segment_bytes(segment_bytes);
        let position = FramePosition { first: 0, durable: 0, before: [0; 32] };
        let frames = Vec::new();
        Self { disk, segments, frames, position, written: 0, kept: 0, failures: 0 }
    }

    /// Writes a frame with records; if that fails, `failed` is called, and it is tried again.
    fn append(&mut self, records: usize, failed: &mut dyn FnMut(&Self)) {
        let mut draft = Draft::default();
        for number in 0..records {
            let number = self.position.first as i64 + number as i64;
            draft.add(&record(number), number);
        }
        let mut bytes = Vec::new();
        let head = draft.write(self.position, 0, &mut bytes);
        self.frames.push(bytes.clone());
        while self.roll().and_then(|()| self.segments.append(&head, &mut bytes)).is_err() {
            self.failures += 1;
            failed(self);
        }
        self.written += 1;
        let durable = self.segments.first_unsynced().unwrap_or(head.next());
        self.position = FramePosition { first: head.next(), durable, before: head.digest() };
    }

    fn roll(&mut self) -> Result<(), LogError> {
        if self.segments.is_full() { self.segments.close() } else { Ok(()) }
    }

    fn sync(&mut self, failed: &mut dyn FnMut(&Self)) {
        while self.segments.sync().is_err() {
            self.failures += 1;
            failed(self);
        }
        self.kept = self.written;
        self.position.durable = self.position.first;
    }

    /// Checks what a start finds after a kill, and after losses of power.
    fn check(&self, seeds: std::ops::Range<u64>) {
        assert!(reader_frames(&self.disk).len() >= self.written);
        self.check_start(&self.disk.copied(), self.written);
        for seed in seeds {
            self.check_start(&self.disk.without_power(seed), self.kept);
        }
    }

    fn check_start(&self, disk: &MemoryDisk, least: usize) {
        let (_, heads) = opened(disk);
        let found = reader_frames(disk);
        assert_eq!(found.len(), heads);
        assert!(found.len() >= least && found.len() <= self.frames.len(), "{}", found.len());
        assert_eq!(found, self.frames[..found.len()]);
    }

    /// Goes on with what a start finds.
    fn restart(self, disk: MemoryDisk, segment_bytes: u64) -> Self {
        let Self { mut frames, failures, .. } = self;
        let (mut segments, found) = opened(&disk);
        segments.set_segment_bytes(segment_bytes);
        frames.truncate(found);
        let last = frames.last().map(|frame| Head::read(frame).unwrap());
        let first = last.map_or(0, |head| head.next());
        let before = last.map_or([0; 32], |head| head.digest());
        let position = FramePosition { first, durable: first, before };
        Self { disk, segments, frames, position, written: found, kept: found, failures }
    }
}

/// Opens the log on a disk, and returns how many frames it has.
fn opened(disk: &MemoryDisk) -> (Segments<MemoryDisk>, usize) {
    let (segments, last, _) = Segments::open(disk.shared()).unwrap();
    (segments, last.map_or(0, |last| last.end()) as usize)
}

/// Returns the frames that a reader finds: a segment ends where the next one begins.
fn reader_frames(disk: &MemoryDisk) -> Vec<Vec<u8>> {
    let (segments, mut frames) = (disk.segments().unwrap(), Vec::new());
    for (at, segment) in segments.iter().enumerate() {
        assert_eq!(segment.first_frame, frames.len() as u64);
        let bytes = disk.bytes(&segment.path);
        let mut rest = bytes.get(START.len()..).unwrap_or_default();
        let end = segments.get(at + 1).map_or(u64::MAX, |next| next.first_frame);
        while (frames.len() as u64) < end
            && let Ok(frame) = Frame::read(rest)
        {
            let (whole, behind) = rest.split_at(frame.bytes());
            frames.push(whole.to_vec());
            rest = behind;
        }
    }
    frames
}

/// Writes two frames, each of which is synced, on a disk that fails, and returns how often. If it goes on failing, it is
/// repaired after some tries.
fn write_two(failure: Failure) -> usize {
    let mut written = Written::new(MemoryDisk::new(1), 1 << 20);
    written.disk.fail(Some(failure));
    let mut tries = 0;
    let mut failed = |written: &Written| {
        written.check(0..6);
        tries += 1;
        if tries > 4 {
            written.disk.fail(None);
        }
    };
    for _ in 0..2 {
        written.append(2, &mut failed);
        written.sync(&mut failed);
        assert_eq!(written.kept, written.written);
        written.check(6..12);
    }
    written.failures
}

#[test]
fn no_failure_at_any_call_and_byte_loses_what_was_kept() {
    let mut clean = Written::new(MemoryDisk::new(1), 1 << 20);
    for _ in 0..2 {
        clean.append(2, &mut |_| {});
        clean.sync(&mut |_| {});
    }
    let calls = clean.disk.calls();
    assert!(calls.iter().filter(|bytes| **bytes > 128).count() == 2, "{calls:?}");
    let (mut cases, mut failures) = (0, 0);
    for (at, bytes) in calls.iter().enumerate() {
        for taken in 0..=*bytes {
            for count in [1, 2, 3, usize::MAX] {
                let failed = write_two(Failure { at, count, taken });
                assert!(failed > 0, "call {at} fails in silence");
                (cases, failures) = (cases + 1, failures + failed);
            }
        }
    }
    assert!(cases > 1000 && failures > cases, "{cases}: {failures}");
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_kept() {
    let is_slow = std::env::var_os("SLOW_TESTS").is_some();
    let cases = if is_slow { 1_000_000 } else { 2_000 };
    let (mut failures, mut starts, mut segments) = (0, 0, 0);
    for seed in 0..cases {
        let mut random = Random(seed);
        let mut written = Written::new(MemoryDisk::new(seed), 1200);
        for _ in 0..4 + random.below(12) {
            if random.below(3) == 0 {
                let (at, taken) = (written.disk.calls().len() + random.below(6), random.below(900));
                written.disk.fail(Some(Failure { at, count: 1 + random.below(3), taken }));
            }
            let mut failed = |_: &Written| {};
            match random.below(8) {
                0..4 => written.append(random.below(20), &mut failed),
                4..6 => written.sync(&mut failed),
                6 => {
                    let disk = written.disk.copied();
                    written.check_start(&disk.copied(), written.written);
                    written = written.restart(disk, 1200);
                    starts += 1;
                }
                _ => {
                    let disk = written.disk.without_power(random.below(1 << 30) as u64);
                    written.check_start(&disk.copied(), written.kept);
                    written = written.restart(disk, 1200);
                    starts += 1;
                }
            }
        }
        written.check(seed..seed + 2);
        failures += written.failures;
        segments += written.disk.segments().unwrap().len() as u64;
    }
    println!(
        "{cases} cases, {failures} failures of the disk, {starts} starts in between, {segments} segments"
    );
    assert!(failures > 0 && starts > 0 && segments > cases);
}

#[test]
fn a_log_goes_on_in_a_new_segment_after_a_failed_sync() {
    for (before, behind) in [(0, 0), (0, 3), (3, 0), (3, 2), (6, 5)] {
        let folder = Temporary::new();
        let (mut writer, _) = open(&folder.0, 1500).unwrap();
        add_frames(&mut writer, before);
        writer.sync().unwrap();
        add_frames(&mut writer, behind);
        for _ in 0..2 {
            writer.break_off();
            add_frames(&mut writer, 3);
            verified(&folder).unwrap();
        }
        seal(&mut writer);
        let (records, frames) = (writer.next(), before + behind + 6);
        drop(writer);
        let found = verified(&folder).unwrap();
        assert_eq!((found.frames, found.records, found.unsealed), (frames, records, 0));
        let (mut writer, torn) = open(&folder.0, 1500).unwrap();
        assert_eq!((writer.next(), torn), (records, None));
        // Tiles are made again out of the segments that count.
        fs::remove_dir_all(folder.0.join("tile")).unwrap();
        drop(writer);
        (writer, _) = open(&folder.0, 1500).unwrap();
        add_frames(&mut writer, 2);
        seal(&mut writer);
        assert_eq!(verified(&folder).unwrap().frames, frames + 2);
    }
}

#[test]
fn syncs_that_fail_in_a_row_make_no_segment_before_a_pause_is_over() {
    let folder = Temporary::new();
    let settings = LogSettings { pause: Duration::from_secs(3600), ..LogSettings::default() };
    let (mut writer, _) = LogWriter::open(&folder.0, signer(), settings, &[1; 16]).unwrap();
    add_frames(&mut writer, 3);
    writer.sync().unwrap();
    add_frames(&mut writer, 3);
    // The first one costs no pause.
    writer.break_off();
    add_frames(&mut writer, 3);
    let files = folder.files();
    writer.break_off();
    assert!(writer.add(&record(9), 9));
    for _ in 0..50 {
        assert_eq!(writer.write(0).unwrap_err().code(), "log-broken");
        assert_eq!(writer.sync().unwrap_err().code(), "log-broken");
        assert_eq!(writer.seal(1, &[0; 32]).unwrap_err().code(), "log-broken");
    }
    assert!(writer.is_broken() && !writer.is_ready());
    assert_eq!(folder.files(), files);
    drop(writer);
    assert_eq!(verified(&folder).unwrap().frames, 9);
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_one_before() {
    let folder = Temporary::new();
    let (mut writer, _) = open(&folder.0, 1500).unwrap();
    add_frames(&mut writer, 3);
    seal(&mut writer);
    let before = fs::read(folder.0.join("checkpoint")).unwrap();
    add_frames(&mut writer, 3);
    // Folders have the names of a tile, and of its new file.
    for blocked in ["tile/0/000.p/6", "checkpoint.new"] {
        let blocked = folder.0.join(blocked);
        fs::create_dir(&blocked).unwrap();
        assert_eq!(writer.seal(1, &[0; 32]).unwrap_err().code(), "log-write");
        assert!(writer.is_unsealed());
        fs::remove_dir(&blocked).unwrap();
        assert_eq!(fs::read(folder.0.join("checkpoint")).unwrap(), before);
        assert_eq!(verified(&folder).unwrap().unsealed, 3);
    }
    seal(&mut writer);
    assert_eq!(verified(&folder).unwrap().unsealed, 0);
}

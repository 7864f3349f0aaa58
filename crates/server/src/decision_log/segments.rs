//! The segments of a log while it is written.
//!
//! Frames that are not known to be on the disk stay in memory, too. After a failed sync nobody knows what is on the disk,
//! so nothing more is written into that segment: a new one begins with those frames, and is named by the first of them. It
//! gets its name once they are on the disk, so at no moment fewer frames can be read than before. Where a
//! segment begins the one before ends, whatever is behind that frame.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use wardgate_decision_log::frame::{Head, START};

use super::error::{LogError, Result};
use super::folder::Segment;
use super::frames::Frames;
use crate::journal::error::JournalError;
use crate::journal::log::{Log, Medium};
use crate::journal::recover::Torn;

/// The place of segments: a folder, or a simulation of its failures in tests.
pub(super) trait Disk {
    /// The bytes of a file.
    type File: Medium;

    /// Returns the segments in their order.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn segments(&self) -> Result<Vec<Segment>>;

    /// Returns the path of the segment whose first frame has this number.
    fn segment(&self, first_frame: u64) -> PathBuf;

    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// Those of the system.
    fn open(&self, path: &Path) -> io::Result<Self::File>;

    /// Gives a file the name of another one, which goes.
    ///
    /// # Errors
    /// Those of the system. The names are as before.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names of all files are on the disk.
    ///
    /// # Errors
    /// Those of the system.
    fn sync_names(&self) -> io::Result<()>;

    /// Saves the end of a file that is about to be cut off, and returns where.
    ///
    /// # Errors
    /// Those of the system.
    fn save_torn(&self, path: &Path, torn: &Torn) -> io::Result<PathBuf>;
}

/// The segments of a log, of which the last one grows.
#[derive(Debug)]
pub(super) struct Segments<D: Disk> {
    disk: D,
    /// The bytes after which a new segment begins.
    segment_bytes: u64,
    current: Option<Current<D::File>>,
    /// The number of the next frame.
    frames: u64,
    /// The last frames, which are not known to be on the disk.
    unsynced: VecDeque<Unsynced>,
    /// The bytes of these frames.
    unsynced_bytes: usize,
    /// The last failed sync after which the log went on, until it is taken.
    failed: Option<FailedSync>,
}

/// The segment that grows.
#[derive(Debug)]
struct Current<F> {
    first_frame: u64,
    path: PathBuf,
    log: Log<F>,
    /// True if it began after a failure, in between: the next segment begins as soon as one may.
    is_short: bool,
}

/// A sync that failed: what the disk has of this segment from a frame on is unknown, and these frames are in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailedSync {
    pub(super) segment: u64,
    pub(super) frame: u64,
}

/// A frame that is not known to be on the disk.
#[derive(Debug)]
struct Unsynced {
    /// The number of its first record.
    first: u64,
    /// The number of the record after its last one.
    next: u64,
    bytes: Vec<u8>,
}

/// The last segment as it was found at the start: its path and the heads of its frames.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) first_frame: u64,
    pub(super) path: PathBuf,
    pub(super) heads: Vec<Head>,
}

impl<D: Disk> Segments<D> {
    /// Opens the last segment that has frames, and cuts off what was never whole. The last value is the file to which that went.
    ///
    /// # Errors
    /// A file is damaged, or cannot be read or written.
    pub(super) fn open(disk: D) -> Result<(Self, Option<Last>, Option<PathBuf>)> {
        let (mut found, mut torn) = (disk.segments()?, None);
        let mut opened = None;
        while let Some(Segment { first_frame, path }) = found.pop() {
            let (log, heads, saved) = recover(&disk, &path, (first_frame, found.last()))?;
            torn = torn.or(saved);
            if !heads.is_empty() || found.is_empty() {
                let last = Last { first_frame, path: path.clone(), heads };
                opened = Some((Current { first_frame, path, log, is_short: false }, last));
                break;
            }
            // Nothing was ever in it. If its name came back, frames behind it would go unread.
            let removed = disk.remove(&path).and_then(|()| disk.sync_names());
            removed.map_err(LogError::write(&path))?;
        }
        let (current, last) = opened.unzip();
        let frames = last.as_ref().map_or(0, Last::end);
        let segments = Self {
            disk,
            segment_bytes: u64::MAX,
            current,
            frames,
            unsynced: VecDeque::new(),
            unsynced_bytes: 0,
            failed: None,
        };
        Ok((segments, last, torn))
    }

    /// Sets the bytes after which a new segment begins.
    pub(super) fn set_segment_bytes(&mut self, bytes: u64) {
        self.segment_bytes = bytes;
    }

    /// Goes on with a new segment at a frame behind the last one.
    pub(super) fn skip_to(&mut self, frame: u64) {
        self.current = None;
        self.frames = frame;
    }

    /// Returns the number of frames.
    pub(super) const fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the number of the first frame of the segment that grows, or begins with the next frame.
    pub(super) fn current(&self) -> u64 {
        match &self.current {
            Some(current) if current.log.is_broken() => self.first_unsynced_frame(),
            Some(current) => current.first_frame,
            None => self.frames,
        }
    }

    fn first_unsynced_frame(&self) -> u64 {
        self.frames.saturating_sub(u64::try_from(self.unsynced.len()).unwrap_or(u64::MAX))
    }

    /// Returns the number of the first record that is not known to be on the disk, if there is one.
    pub(super) fn first_unsynced(&self) -> Option<u64> {
        self.unsynced.front().map(|frame| frame.first)
    }

    /// Returns true if the segment that grows takes no more frames, since what is on the disk is unknown.
    pub(super) fn is_broken(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.log.is_broken())
    }

    /// Returns the last failed sync after which the log went on, once.
    pub(super) const fn take_failed_sync(&mut self) -> Option<FailedSync> {
        self.failed.take()
    }

    /// Writes a frame, and takes its bytes. Before there are too many in memory, they are synced.
    ///
    /// # Errors
    /// It cannot be written; its bytes stay where they are.
    pub(super) fn append(&mut self, head: &Head, bytes: &mut Vec<u8>) -> Result<()> {
        self.restore()?;
        if self.unsynced_bytes.saturating_add(bytes.len()) > MAX_UNSYNCED_BYTES {
            self.sync()?;
        }
        if self.current.is_none() {
            self.current = Some(self.begin(head.first)?);
        }
        let Some(Current { path, log, .. }) = &mut self.current else { return Ok(()) };
        log.append_frame(bytes, head.next()).map_err(LogError::segment(path))?;
        self.frames = self.frames.saturating_add(1);
        self.unsynced_bytes = self.unsynced_bytes.saturating_add(bytes.len());
        let bytes = std::mem::take(bytes);
        self.unsynced.push_back(Unsynced { first: head.first, next: head.next(), bytes });
        Ok(())
    }

    /// Returns true if the next frame should begin a segment.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_with(0)
    }

    /// Returns true if a frame behind so many bytes should begin a segment.
    pub(super) fn is_full_with(&self, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.current.as_ref().is_some_and(|Current { log, is_short, .. }| {
            let bytes = log.bytes().saturating_add(bytes);
            *is_short || bytes >= self.segment_bytes && bytes > FIRST
        })
    }

    /// Returns true if so many bytes fill a segment.
    pub(super) fn would_fill(&self, bytes: usize) -> bool {
        u64::try_from(bytes).unwrap_or(u64::MAX) >= self.segment_bytes
    }

    /// Lets the next frame begin a segment.
    ///
    /// # Errors
    /// What was written cannot be synced.
    pub(super) fn close(&mut self) -> Result<()> {
        self.sync()?;
        // One without frames has the name of the next.
        match &mut self.current {
            Some(current) if current.log.bytes() <= FIRST => current.is_short = false,
            current => *current = None,
        }
        Ok(())
    }

    /// Returns when all frames are on the disk.
    ///
    /// # Errors
    /// The system reports a failure. The frames are written into a new segment at the next try.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.restore()?;
        if let Some(Current { path, log, .. }) = &mut self.current {
            log.sync().map_err(LogError::segment(path))?;
        }
        self.forget();
        Ok(())
    }

    /// Keeps the frames no longer that are on the disk.
    fn forget(&mut self) {
        self.unsynced.clear();
        self.unsynced_bytes = 0;
    }

    /// Makes a segment for the next frame.
    fn begin(&self, first: u64) -> Result<Current<D::File>> {
        let path = self.disk.segment(self.frames);
        let log = self.make(&path, first)?;
        self.disk.sync_names().map_err(LogError::write(&path))?;
        Ok(Current { first_frame: self.frames, path, log, is_short: false })
    }

    /// Makes a file for frames. What is there is of a try that failed before its first frame counted.
    fn make(&self, path: &Path, first: u64) -> Result<Log<D::File>> {
        let file = self.disk.open(path).and_then(|mut file| file.truncate(0).map(|()| file));
        let file = file.map_err(LogError::write(path))?;
        let opened = Log::open_frames::<Frames>(file, first, &mut |_| {});
        opened.map(|(log, _)| log).map_err(LogError::segment(path))
    }

    /// After a failure that is final for its segment, begins a new one with all frames that are not known to be on the disk.
    fn restore(&mut self) -> Result<()> {
        let Some(broken) = self.current.as_ref().filter(|current| current.log.is_broken()) else {
            return Ok(());
        };
        let (segment, next) = (broken.first_frame, broken.log.next());
        let first_frame = self.first_unsynced_frame();
        let path = self.disk.segment(first_frame);
        let new = path.with_added_extension("new");
        let mut log = self.make(&new, self.first_unsynced().unwrap_or(next))?;
        for frame in &self.unsynced {
            log.append_frame(&frame.bytes, frame.next).map_err(LogError::segment(&new))?;
        }
        log.sync().map_err(LogError::segment(&new))?;
        let named = self.disk.rename(&new, &path).and_then(|()| self.disk.sync_names());
        named.map_err(LogError::write(&path))?;
        self.current = Some(Current { first_frame, path, log, is_short: true });
        self.failed = Some(FailedSync { segment, frame: first_frame });
        self.forget();
        Ok(())
    }

    /// Takes the segment that grows for one whose sync has failed.
    #[cfg(test)]
    pub(super) fn break_off(&mut self) {
        self.current.iter_mut().for_each(|current| current.log.break_off());
    }
}

impl Last {
    /// Returns the number of frames of the log.
    pub(super) fn end(&self) -> u64 {
        self.first_frame.saturating_add(u64::try_from(self.heads.len()).unwrap_or(u64::MAX))
    }
}

/// A segment that was opened, the heads of its frames, and where its end went.
type Recovered<F> = (Log<F>, Vec<Head>, Option<PathBuf>);

/// Reads a segment, of which its first frame and the segment before are known, and moves an end that was never whole into a
/// file of its own.
fn recover<D: Disk>(
    disk: &D,
    path: &Path,
    (first_frame, before): (u64, Option<&Segment>),
) -> Result<Recovered<D::File>> {
    let mut heads = Vec::new();
    let open = |path: &Path| disk.open(path).map_err(LogError::write(path));
    let opened = match (read(open(path)?, 0, &mut heads), before) {
        // A frame behind the first one may know only records of other segments to be on the disk.
        (Err(JournalError::Damaged { offset: FIRST }), Some(before)) => {
            let first = end_at(open(&before.path)?, before, first_frame)?;
            read(open(path)?, first, &mut heads)
        }
        (opened, _) => opened,
    };
    let (mut log, torn) = opened.map_err(LogError::segment(path))?;
    let saved = torn.map(|torn| disk.save_torn(path, &torn)).transpose();
    let saved = saved.map_err(LogError::write(path))?;
    log.cut().map_err(LogError::segment(path))?;
    Ok((log, heads, saved))
}

/// Reads a segment whose first record has a number.
fn read<M: Medium>(
    file: M,
    first: u64,
    heads: &mut Vec<Head>,
) -> Result<(Log<M>, Option<Torn>), JournalError> {
    heads.clear();
    Log::open_frames::<Frames>(file, first, &mut |head| heads.push(head))
}

/// Returns the number of the record after those of a segment that ends before a frame.
fn end_at<M: Medium>(file: M, segment: &Segment, frame: u64) -> Result<u64> {
    let mut heads = Vec::new();
    read(file, 0, &mut heads).map_err(LogError::segment(&segment.path))?;
    let count = usize::try_from(frame.saturating_sub(segment.first_frame)).unwrap_or(usize::MAX);
    Ok(heads.iter().take(count).next_back().map_or(0, Head::next))
}

/// The offset of the first frame.
const FIRST: u64 = 16;
const _: () = assert!(START.len() == 16);

/// The most bytes of frames that are not known to be on the disk, without the last one.
const MAX_UNSYNCED_BYTES: usize = 16 << 20;

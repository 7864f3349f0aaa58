//! The one writer of a log: records into frames, frames into segments, and checkpoints over them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::frame::{Draft, FramePosition, HEAD_BYTES, Head, START};
use wardgate_decision_log::merkle;
use wardgate_decision_log::signer::LogSigner;

use super::error::{LogError, Result};
use super::folder::{Folder, Lock, Segment};
use super::frames::Frames;
use super::reading::LogReader;
use super::tree::Tree;
use crate::journal::files::{open, save_torn, sync_names};
use crate::journal::log::Log;

/// The settings of a writer.
#[derive(Clone, Copy, Debug)]
pub struct LogSettings {
    /// The bytes after which a new segment begins.
    pub segment_bytes: u64,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { segment_bytes: 64 << 20 }
    }
}

/// The writer of a log. Frames whose writing fails are kept, and written before all later ones.
#[derive(Debug)]
pub struct LogWriter {
    folder: Folder,
    signer: LogSigner,
    settings: LogSettings,
    /// INVARIANT: held as long as this writes.
    _lock: Lock,
    segment: Option<Current>,
    tree: Tree,
    draft: Draft,
    /// The bytes and the head of a frame that is not in a file yet.
    frame: Option<(Head, Vec<u8>)>,
    /// The place of the next frame.
    position: FramePosition,
    /// The size of the newest checkpoint.
    sealed: u64,
}

/// The segment that grows.
#[derive(Debug)]
struct Current {
    first_frame: u64,
    path: PathBuf,
    log: Log<File>,
}

/// The last segment of a log, and the heads of its frames.
struct Last {
    first_frame: u64,
    current: Current,
    heads: Vec<Head>,
}

/// What is in the folder of a log: its last segment, and its newest checkpoint.
struct Found {
    folder: Folder,
    lock: Lock,
    last: Option<Last>,
    sealed: merkle::Head,
    /// The file to which an unfinished end went.
    torn: Option<PathBuf>,
}

impl Found {
    fn open(path: &Path, signer: &LogSigner, instance: &[u8; 16]) -> Result<Self> {
        let folder = Folder::new(path);
        let lock = folder.lock()?;
        let verifier = signer.verifier().to_string();
        folder.identify(&verifier, instance)?;
        let (last, torn) = last_segment(&folder)?;
        let sealed = sealed(&folder, &verifier)?;
        Ok(Self { folder, lock, last, sealed, torn })
    }
}

impl LogWriter {
    /// Opens the log in a folder, or makes it. `instance` is a random number for a new log. The second value is the file to
    /// which an unfinished end went, if there was one.
    ///
    /// # Errors
    /// Another process writes it, it is of another key, a file is damaged or cannot be written, or its end is missing.
    pub fn open(
        path: &Path,
        signer: LogSigner,
        settings: LogSettings,
        instance: &[u8; 16],
    ) -> Result<(Self, Option<PathBuf>)> {
        let Found { folder, lock, last, sealed, torn } = Found::open(path, &signer, instance)?;
        let found = last.as_ref().map_or(0, Last::end);
        if sealed.size > found {
            return Err(LogError::Truncated { sealed: sealed.size, found });
        }
        let tree = tree(&folder, signer.origin(), sealed, last.as_ref())?;
        let head = last.as_ref().and_then(|last| last.heads.last());
        let position = head.map_or(BEGINNING, behind);
        let segment = last.map(|last| last.current);
        let writer = Self {
            folder,
            signer,
            settings,
            _lock: lock,
            segment,
            tree,
            draft: Draft::default(),
            frame: None,
            position,
            sealed: sealed.size,
        };
        Ok((writer, torn))
    }

    /// Opens a log whose end is missing, to go on behind its newest checkpoint. The second value is the number of frames that
    /// were found. What is missing stays missing, but the log of frames is the same one: its tiles tell it.
    pub(super) fn open_truncated(path: &Path, signer: LogSigner) -> Result<(Self, u64)> {
        let Found { folder, lock, last, sealed, .. } = Found::open(path, &signer, &[0; 16])?;
        let found = last.as_ref().map_or(0, Last::end);
        if sealed.size <= found {
            return Err(LogError::Missing(
                "no frame is missing that a checkpoint covers".to_owned(),
            ));
        }
        let lost = || {
            let what = "its tiles are missing too: begin a new log in another folder";
            LogError::Checkpoint(what.to_owned())
        };
        let tree = Tree::read(folder.path(), signer.origin(), sealed.size)?;
        let tree = tree.filter(|tree| tree.head() == sealed).ok_or_else(lost)?;
        if let Some(last) = &last {
            compare(&tree, signer.origin(), last, sealed.size)?;
        }
        let position = behind(&tree.last_head()?.ok_or_else(lost)?);
        let writer = Self {
            folder,
            signer,
            settings: LogSettings::default(),
            _lock: lock,
            segment: None,
            tree,
            draft: Draft::default(),
            frame: None,
            position,
            sealed: sealed.size,
        };
        Ok((writer, found))
    }

    /// Returns the number of frames.
    pub(super) const fn frames(&self) -> u64 {
        self.tree.size()
    }

    /// Returns the number of the next record.
    #[must_use]
    pub fn next(&self) -> u64 {
        let unwritten = self.frame.as_ref().map_or(self.position.first, |(head, _)| head.next());
        unwritten.saturating_add(u64::try_from(self.draft.count()).unwrap_or(u64::MAX))
    }

    /// Returns the number of the record after the last one in a file.
    pub(super) const fn written(&self) -> u64 {
        self.position.first
    }

    /// Returns the number of the first frame of the segment that grows.
    pub(super) fn segment(&self) -> u64 {
        self.segment.as_ref().map_or(0, |current| current.first_frame)
    }

    /// Returns true if no record was added that is not in a file.
    pub(super) fn is_empty(&self) -> bool {
        self.frame.is_none() && self.draft.count() == 0
    }

    /// Returns true if records can be added. If not, [`LogWriter::write`] must succeed before.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.frame.is_none()
    }

    /// Adds a record with its time, in microseconds since 1970. Returns false, and adds nothing, if the frame is full:
    /// it must be written before.
    pub fn add(&mut self, record: &[u8], micros: i64) -> bool {
        self.is_ready() && self.draft.add(record, micros)
    }

    /// Writes the records that were added as a frame, also if there are none. `now` is in microseconds since 1970.
    ///
    /// # Errors
    /// The frame cannot be written. It is kept for the next try.
    pub fn write(&mut self, now: i64) -> Result<()> {
        self.write_kept()?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES.saturating_add(self.draft.bytes()));
        let head = self.draft.write(self.position, now, &mut bytes);
        self.frame = Some((head, bytes));
        self.write_kept()
    }

    fn write_kept(&mut self) -> Result<()> {
        let Some((head, bytes)) = self.frame.take() else { return Ok(()) };
        let written = self.write_frame(&head, &bytes);
        if written.is_err() {
            self.frame = Some((head, bytes));
        }
        written
    }

    fn write_frame(&mut self, head: &Head, bytes: &[u8]) -> Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let is_full = |current: &Current| {
            current.log.bytes().saturating_add(length) > self.settings.segment_bytes
                && current.log.bytes() > u64::try_from(START.len()).unwrap_or(0)
        };
        if self.segment.as_ref().is_some_and(is_full) {
            self.sync()?;
            self.segment = None;
        }
        let current = match &mut self.segment {
            Some(current) => current,
            empty => empty.insert(begin(&self.folder, self.tree.size(), head.first)?),
        };
        let written = current.log.append_frame(bytes, head.next());
        written.map_err(LogError::segment(&current.path))?;
        self.tree.append(head);
        self.position.first = head.next();
        self.position.before = head.digest();
        Ok(())
    }

    /// Returns when all frames are on the disk.
    ///
    /// # Errors
    /// The system reports a failure. The content of the disk is unknown then, so nothing is written any more.
    pub fn sync(&mut self) -> Result<()> {
        let Some(Current { path, log, .. }) = &mut self.segment else { return Ok(()) };
        log.sync().map_err(LogError::segment(path))?;
        self.position.durable = self.position.first;
        Ok(())
    }

    /// Returns true if there are frames that the newest checkpoint does not cover.
    #[must_use]
    pub const fn is_unsealed(&self) -> bool {
        self.sealed < self.tree.size()
    }

    /// Seals all frames: they are on the disk, then their tiles, then the checkpoint. The time is in seconds since 1970.
    ///
    /// # Errors
    /// A file cannot be written. The checkpoint before is unchanged.
    pub fn seal(&mut self, seconds: u64, randomness: &[u8; 32]) -> Result<()> {
        self.sync()?;
        self.tree.write()?;
        let head = self.tree.head();
        let note = self.signer.sign(head, seconds, randomness);
        let note =
            note.map_err(|_| LogError::Checkpoint("the library found no signature".to_owned()))?;
        self.folder.replace("checkpoint", note.to_string().as_bytes())?;
        self.sealed = head.size;
        Ok(())
    }
}

/// Makes a segment.
fn begin(folder: &Folder, first_frame: u64, first: u64) -> Result<Current> {
    let path = folder.segment(first_frame);
    let file = open(&path).map_err(LogError::write(&path))?;
    // What is there is of a start that failed before its first frame was written.
    file.set_len(0).map_err(LogError::write(&path))?;
    let opened = Log::open_frames::<Frames>(file, first, &mut |_| {});
    let (log, _) = opened.map_err(LogError::segment(&path))?;
    sync_names(folder.path()).map_err(LogError::write(&path))?;
    Ok(Current { first_frame, path, log })
}

/// Finds the last segment that has frames, and cuts off what was never whole.
fn last_segment(folder: &Folder) -> Result<(Option<Last>, Option<PathBuf>)> {
    let (mut segments, mut torn) = (folder.segments()?, None);
    while let Some(Segment { first_frame, path }) = segments.pop() {
        let (current, heads, cut) = recover(first_frame, &path)?;
        torn = torn.or(cut);
        if !heads.is_empty() || segments.is_empty() {
            return Ok((Some(Last { first_frame, current, heads }), torn));
        }
        // Nothing was ever in it.
        fs::remove_file(&path).map_err(LogError::write(&path))?;
    }
    Ok((None, torn))
}

impl Last {
    /// Returns the number of frames of the log.
    fn end(&self) -> u64 {
        self.first_frame.saturating_add(u64::try_from(self.heads.len()).unwrap_or(u64::MAX))
    }
}

/// Reads a segment, and moves an end that was never whole into a file of its own.
fn recover(first_frame: u64, path: &Path) -> Result<(Current, Vec<Head>, Option<PathBuf>)> {
    let file = open(path).map_err(LogError::write(path))?;
    let mut heads = Vec::new();
    let opened = Log::open_frames::<Frames>(file, 0, &mut |head| heads.push(head));
    let (mut log, torn) = opened.map_err(LogError::segment(path))?;
    let saved =
        torn.map(|torn| save_torn(path, &torn)).transpose().map_err(LogError::write(path))?;
    log.cut().map_err(LogError::segment(path))?;
    Ok((Current { first_frame, path: path.to_owned(), log }, heads, saved))
}

/// Returns the size and root of the newest checkpoint.
fn sealed(folder: &Folder, verifier: &str) -> Result<merkle::Head> {
    let empty = merkle::Head { size: 0, root: merkle::empty() };
    let Some(note) = folder.checkpoint()? else { return Ok(empty) };
    let refused = |what: String| LogError::Checkpoint(what);
    let key = LogKey::read(verifier).ok_or_else(|| refused("its key is none".to_owned()))?;
    let opened = key.open(&note).map_err(|error| refused(error.to_string()))?;
    Ok(opened.checkpoint.head)
}

/// Returns the place of the frame after one.
fn behind(head: &Head) -> FramePosition {
    FramePosition { first: head.next(), durable: head.next(), before: head.digest() }
}

/// Returns the log of frames: its beginning out of tiles with the root of the checkpoint, or else of segments, and then
/// the frames that no checkpoint covers.
fn tree(folder: &Folder, origin: &str, sealed: merkle::Head, last: Option<&Last>) -> Result<Tree> {
    let is_sealed = |tree: &Tree| tree.head() == sealed;
    let tree = Tree::read(folder.path(), origin, sealed.size)?.filter(is_sealed);
    let mut tree = match tree {
        Some(tree) => tree,
        None => {
            let mut tree = Tree::new(folder.path(), origin);
            grow(&mut tree, folder, sealed.size)?;
            tree
        }
    };
    if !is_sealed(&tree) {
        let what = "the frames in the folder have another root".to_owned();
        return Err(LogError::Checkpoint(what));
    }
    let Some(last) = last else { return Ok(tree) };
    compare(&tree, origin, last, sealed.size)?;
    grow(&mut tree, folder, last.end())?;
    Ok(tree)
}

/// Compares the last segment with the frames that a checkpoint of this size covers.
fn compare(tree: &Tree, origin: &str, last: &Last, size: u64) -> Result<()> {
    for (number, head) in (last.first_frame..size).zip(&last.heads) {
        if tree.leaf(number) != Some(merkle::leaf(&head.entry(origin))) {
            let what = format!("frame {number} is another one than the checkpoint covers");
            return Err(LogError::damaged(&last.current.path, 0, what));
        }
    }
    Ok(())
}

/// Adds the frames of the segments up to a size.
fn grow(tree: &mut Tree, folder: &Folder, size: u64) -> Result<()> {
    let mut reader = LogReader::open_at(folder.path(), tree.size())?;
    let mut before = None;
    while tree.size() < size {
        let Some(stored) = reader.next_frame()?.filter(|stored| stored.number <= tree.size())
        else {
            let what =
                format!("frames from {} on are neither in tiles nor in segments", tree.size());
            return Err(LogError::Checkpoint(what));
        };
        let head = stored.frame()?.head;
        if before.is_some_and(|before| before != head.before) {
            let what = "the frame follows another one than this";
            return Err(LogError::damaged(&stored.path, stored.offset, what));
        }
        before = Some(head.digest());
        if stored.number == tree.size() {
            tree.append(&head);
        }
        // Few tiles are in memory at a time.
        if tree.size().is_multiple_of(1 << 16) {
            tree.write()?;
        }
    }
    Ok(())
}

/// The place of the first frame of a log.
const BEGINNING: FramePosition = FramePosition { first: 0, durable: 0, before: [0; 32] };

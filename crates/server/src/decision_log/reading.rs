//! Frames out of the segments of a log, one after another. Nothing is written, and a writer may be at work.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use wardgate_decision_log::frame::{Frame, FrameError, HEAD_BYTES, Head, START};
use wardgate_decision_log::record::{Body, Loss, Record};

use super::error::{LogError, Result};
use super::folder::{Folder, Segment};
use super::segments::Disk;

/// A reader of the frames of a log.
#[derive(Debug)]
pub struct LogReader {
    folder: Folder,
    segments: std::vec::IntoIter<Segment>,
    current: Option<Source>,
    next_frame: u64,
    /// The frame that is missing before the next one.
    gap: Option<u64>,
}

/// A frame of a log, whose records are those of its head.
#[derive(Clone, Debug)]
pub struct StoredFrame {
    /// The number of the frame.
    pub number: u64,
    /// The file.
    pub path: PathBuf,
    /// The offset of the frame in the file.
    pub offset: u64,
    bytes: Vec<u8>,
}

/// A segment that is read.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    file: BufReader<File>,
    offset: u64,
}

impl LogReader {
    /// Reads the log in a folder from its first frame on.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_at(path, 0)
    }

    /// Reads the log in a folder from the segment on that has a frame.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn open_at(path: &Path, frame: u64) -> Result<Self> {
        let folder = Folder::new(path);
        let mut all = folder.segments()?;
        let begin = all.iter().rposition(|segment| segment.first_frame <= frame).unwrap_or(0);
        let segments = all.split_off(begin).into_iter();
        Ok(Self { folder, segments, current: None, next_frame: 0, gap: None })
    }

    /// Returns the key of the log in its text form.
    ///
    /// # Errors
    /// The folder has no log.
    pub fn verifier(&self) -> Result<String> {
        let path = self.folder.path().display();
        let missing = || LogError::Foreign(format!("there is no decision log in `{path}`"));
        self.folder.verifier()?.ok_or_else(missing)
    }

    /// Returns the newest checkpoint, if there is one.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>> {
        self.folder.checkpoint()
    }

    /// Looks for segments that came since. After an end [`LogReader::next_frame`] may go on then.
    pub(super) fn look_again(&mut self) -> Result<()> {
        let mut segments = self.folder.segments()?;
        let current = self.current.as_ref().map(|source| source.path.clone());
        segments.retain(|segment| match &current {
            Some(path) => segment.path > *path,
            None => segment.first_frame >= self.next_frame,
        });
        self.segments = segments.into_iter();
        Ok(())
    }

    /// Returns the checkpoints that were shipped to this folder under names with this end, the smallest first.
    pub(super) fn shipped_notes(&self, end: &str) -> Result<Vec<(u64, PathBuf)>> {
        self.folder.shipped_notes(end)
    }

    /// Returns the next frame. Returns `None` at the end, and before a frame of which only a part is in the last
    /// segment: its writer was killed, or is at work. Frames are missing only where an operator has accepted their loss: the frame
    /// behind them has the record of it.
    ///
    /// # Errors
    /// A file cannot be read, or is not as it was written.
    pub fn next_frame(&mut self) -> Result<Option<StoredFrame>> {
        loop {
            let number = self.next_frame;
            let following = self.segments.as_slice().first();
            let is_last = following.is_none();
            // A segment ends where the next one begins: behind that the disk may have failed.
            let is_within = following.is_none_or(|next| next.first_frame != number);
            let current = self.current.as_mut().filter(|_| is_within);
            let frame = current.map(|source| source.frame(number, is_last));
            if let Some(frame) = frame.transpose()?.flatten() {
                if let Some(found) = self.gap.take()
                    && frame.loss()?.is_none_or(|loss| loss.found != found)
                {
                    let what = format!("expected frame {found} at its beginning");
                    return Err(LogError::damaged(&frame.path, 0, what));
                }
                self.next_frame = number.saturating_add(1);
                return Ok(Some(frame));
            }
            let Some(segment) = self.segments.next() else { return Ok(None) };
            if self.current.is_some() && segment.first_frame < number {
                let what = format!("expected frame {number} at its beginning");
                return Err(LogError::damaged(&segment.path, 0, what));
            }
            if self.current.is_some() && segment.first_frame > number {
                // A segment without frames between hides no second gap.
                self.gap.get_or_insert(number);
            }
            match Source::open(&segment.path, self.segments.len() == 0) {
                // The oldest segment was deleted meanwhile.
                Err(LogError::Read(_, error))
                    if error.kind() == io::ErrorKind::NotFound && self.current.is_none() => {}
                opened => {
                    self.next_frame = segment.first_frame;
                    self.current = opened?;
                }
            }
        }
    }
}

impl Source {
    /// Opens a segment. Returns `None` for the last one if its beginning is not written yet.
    fn open(path: &Path, is_last: bool) -> Result<Option<Self>> {
        let file = File::open(path).map_err(LogError::read(path))?;
        let mut source = Self { path: path.to_owned(), file: BufReader::new(file), offset: 0 };
        let mut start = Vec::new();
        source.fill(START.len(), &mut start)?;
        if start == START {
            return Ok(Some(source));
        }
        let is_unfinished = is_last && start.len() < START.len() && START.starts_with(&start);
        let what = "it is no segment of a decision log";
        if is_unfinished { Ok(None) } else { Err(LogError::damaged(path, 0, what)) }
    }

    /// Reads the next frame. Returns `None` at the end of the file, and of the last one also where it ends within
    /// a frame.
    fn frame(&mut self, number: u64, is_last: bool) -> Result<Option<StoredFrame>> {
        let offset = self.offset;
        let mut bytes = Vec::new();
        self.fill(HEAD_BYTES, &mut bytes)?;
        if bytes.is_empty() || bytes.len() < HEAD_BYTES && is_last {
            return self.go_back(offset);
        }
        let head = Head::read(&bytes).map_err(|error| self.fault(offset, error))?;
        self.fill(head.frame_bytes(), &mut bytes)?;
        if bytes.len() < head.frame_bytes() && is_last {
            return self.go_back(offset);
        }
        Frame::read(&bytes).map_err(|error| self.fault(offset, error))?;
        Ok(Some(StoredFrame { number, path: self.path.clone(), offset, bytes }))
    }

    /// Goes back to the beginning of a frame that is not whole: its writer may be at work.
    fn go_back(&mut self, offset: u64) -> Result<Option<StoredFrame>> {
        self.file.seek(SeekFrom::Start(offset)).map_err(LogError::read(&self.path))?;
        self.offset = offset;
        Ok(None)
    }

    /// Reads until `bytes` has so many, or the file ends.
    fn fill(&mut self, length: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let missing = length.saturating_sub(bytes.len());
        let most = u64::try_from(missing).unwrap_or(u64::MAX);
        let read = self.file.by_ref().take(most).read_to_end(bytes);
        let read = read.map_err(LogError::read(&self.path))?;
        self.offset = self.offset.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(())
    }

    fn fault(&self, offset: u64, error: FrameError) -> LogError {
        LogError::damaged(&self.path, offset, error.to_string())
    }
}

impl StoredFrame {
    /// Returns the frame with its records.
    ///
    /// # Errors
    /// Never: it was read before.
    pub fn frame(&self) -> Result<Frame<'_>> {
        let fault =
            |error: FrameError| LogError::damaged(&self.path, self.offset, error.to_string());
        Frame::read(&self.bytes).map_err(fault)
    }

    /// Returns the offset behind the frame in its file.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(u64::try_from(self.bytes.len()).unwrap_or(u64::MAX))
    }

    /// Returns the record in this frame by which an operator accepted the loss of frames up to this one.
    pub(super) fn loss(&self) -> Result<Option<Loss>> {
        let frame = self.frame()?;
        let mut losses =
            frame.records.iter().filter_map(|record| match Record::read(record)?.body {
                Body::Loss(loss) => Some(loss),
                _ => None,
            });
        Ok(losses.find(|loss| loss.frames == self.number))
    }
}

//! The deletion of segments whose records are too old, and the bytes that are left.
//!
//! A segment is deleted with the values beside it. Its tiles stay, and are on the disk before, so later records stay
//! provable. Neither the segment that grows is deleted nor one that a checkpoint and whole tiles do not cover, nor one that
//! must be shipped and is not.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wardgate_decision_log::frame::{HEAD_BYTES, Head, START};
use wardgate_decision_log::tile::Tile;

use super::error::{LogError, Result};
use super::folder::{Folder, Segment};
use super::private::{Private, values_path};
use super::reading::LogReader;
use super::segments::Disk;
use super::shipping::Shipped;
use crate::journal::files::sync_names;

/// How long records stay, and what they take.
#[derive(Debug)]
pub(super) struct Retention {
    folder: Folder,
    /// How long a record stays at least.
    period: Option<Duration>,
    /// The segments that were shipped, if they are shipped: only these are deleted.
    shipped: Option<Arc<Shipped>>,
    bytes: AtomicU64,
}

impl Retention {
    pub(super) fn new(log: &Path, period: Option<Duration>, shipped: Option<Arc<Shipped>>) -> Self {
        let (folder, bytes) = (Folder::new(log), AtomicU64::new(0));
        let retention = Self { folder, period, shipped, bytes };
        retention.measure();
        retention
    }

    /// Returns the bytes of the segments and of the values beside them, as they were measured last.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Measures the bytes of the log.
    pub(super) fn measure(&self) {
        // Without a folder to read, writing fails too, and that is told.
        self.bytes.store(self.folder.bytes().unwrap_or(0), Ordering::Relaxed);
    }

    /// Deletes the oldest segments whose records are too old at a time, in microseconds since 1970. The newest checkpoint
    /// covers `sealed` frames. Returns how many are deleted.
    ///
    /// # Errors
    /// A file is damaged, or cannot be read, synced or deleted.
    pub(super) fn delete_old(&self, now: i64, sealed: u64) -> Result<usize> {
        let Some(period) = self.period else { return Ok(0) };
        let period = i64::try_from(period.as_micros()).unwrap_or(i64::MAX);
        let (before, mut deleted) = (now.saturating_sub(period), 0);
        for pair in self.folder.segments()?.windows(2) {
            let [segment, next] = pair else { break };
            // Behind these frames tiles are not whole.
            let is_covered = next.first_frame <= sealed & !255 && next.first_frame < sealed;
            if !is_covered || !self.is_older(segment, next.first_frame, before)? {
                break;
            }
            if self.shipped.as_ref().is_some_and(|shipped| !shipped.contains(segment.first_frame)) {
                let segment = segment.path.display();
                tracing::warn!(%segment, "old decisions stay, since they are not shipped");
                break;
            }
            self.sync_tiles(segment.first_frame, next.first_frame)?;
            self.delete(segment)?;
            deleted = usize::saturating_add(deleted, 1);
        }
        Ok(deleted)
    }

    /// Returns true if all records of a segment, which ends before a frame, are older than a time.
    fn is_older(&self, segment: &Segment, end: u64, before: i64) -> Result<bool> {
        // Most often its first frame tells.
        if first_head(&segment.path)?.is_none_or(|head| head.highest >= before) {
            return Ok(false);
        }
        let mut reader = LogReader::open_at(self.folder.path(), segment.first_frame)?;
        while let Some(stored) = reader.next_frame()?.filter(|stored| stored.number < end) {
            if stored.frame()?.head.highest >= before {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns when the tiles of frames are on the disk.
    fn sync_tiles(&self, from: u64, to: u64) -> Result<()> {
        for index in from >> 8..to.div_ceil(256) {
            let tile = Tile { level: 0, index, width: 256 };
            for name in [tile.path(), tile.entries_path()] {
                let path = self.folder.path().join(name);
                let synced = File::open(&path).and_then(|file| file.sync_all());
                let synced = synced.and_then(|()| path.parent().map_or(Ok(()), sync_names));
                synced.map_err(LogError::write(&path))?;
            }
        }
        Ok(())
    }

    /// Deletes a segment: first its values, which nothing else names.
    fn delete(&self, segment: &Segment) -> Result<()> {
        let private = Private::folder(self.folder.path());
        for path in [&values_path(&private, segment.first_frame), &segment.path] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(LogError::Write(path.clone(), error));
                }
                _ => {}
            }
        }
        self.folder.sync_names().map_err(LogError::write(self.folder.path()))
    }
}

/// Returns the head of the first frame of a segment, if there is one.
fn first_head(path: &Path) -> Result<Option<Head>> {
    let length = START.len().saturating_add(HEAD_BYTES);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(LogError::read(path))?;
    let most = u64::try_from(length).unwrap_or(u64::MAX);
    io::Read::read_to_end(&mut io::Read::take(file, most), &mut bytes)
        .map_err(LogError::read(path))?;
    Ok(bytes.get(START.len()..).and_then(|head| Head::read(head).ok()))
}

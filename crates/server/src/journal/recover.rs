//! The recovery of the journal of changes, and the judgement of its end.
//!
//! A kill, or a machine that loses power, may leave a last frame that is cut off or has holes:
//! pieces that the disk never received, which read as zeros. Such an end was never known to be on
//! the disk, so it may be dropped. Damage is different: a change that was acknowledged must not
//! vanish with it. Three facts decide:
//!
//! - A later frame says which changes were on the disk when it was written. If the bad one is among
//!   them, the file is damaged.
//! - A frame that has all its bytes and no hole was written in full. If its check fails, the file
//!   is damaged.
//! - A head has a check of its own, so that a damaged length is not taken for a frame that is cut
//!   off.

use super::log::{Medium, read_up_to};
use crate::journal::error::{JournalError, Result};
use crate::journal::format::{Extent, Format};

/// The pieces in which disks write: a piece is there or is not.
const SECTOR_BYTES: u64 = 512;

/// The content of the file.
pub(crate) struct Recovered {
    /// The offset of the next frame.
    pub(crate) end: u64,
    /// The number of the next change.
    pub(crate) next: u64,
    /// The bytes behind the last good frame.
    pub(crate) torn: Option<Torn>,
}

/// An end that was never known to be on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    /// The offset of its first byte.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Passes the content of all frames to `each`, in order, and returns their end. A file without frames goes on
/// with the number `empty`.
pub(crate) fn frames<M: Medium, F: Format>(
    medium: &mut M,
    (start, empty): (u64, u64),
    each: &mut dyn FnMut(F::Content),
) -> Result<Recovered> {
    let length = medium.length().map_err(JournalError::Read)?;
    let (mut end, mut next, mut torn) = (start, None, None);
    let mut buffer = Vec::new();
    while end < length {
        let Some((extent, content)) = frame_at::<M, F>(medium, end, length, &mut buffer)? else {
            torn = Some(judge::<M, F>(medium, end, length, next.unwrap_or(empty))?);
            break;
        };
        if next.is_some_and(|next| next != extent.first) {
            return Err(JournalError::Damaged { offset: end });
        }
        each(content);
        next = Some(extent.next);
        end = end.saturating_add(wide(extent.bytes));
    }
    Ok(Recovered { end, next: next.unwrap_or(empty), torn })
}

/// Reads the frame that begins at an offset, if there is a good one.
fn frame_at<M: Medium, F: Format>(
    medium: &mut M,
    at: u64,
    length: u64,
    buffer: &mut Vec<u8>,
) -> Result<Option<(Extent, F::Content)>> {
    buffer.clear();
    buffer.resize(F::HEAD_BYTES, 0);
    let read = read_up_to(medium, at, buffer)?;
    let Some(extent) = F::head(buffer.get(..read).unwrap_or_default()) else { return Ok(None) };
    if wide(extent.bytes) > length.saturating_sub(at) {
        return Ok(None);
    }
    buffer.resize(extent.bytes, 0);
    let read = read_up_to(medium, at, buffer)?;
    Ok(buffer.get(..read).and_then(F::read))
}

/// Returns the end that begins at an offset, if it may be dropped.
fn judge<M: Medium, F: Format>(medium: &mut M, at: u64, length: u64, next: u64) -> Result<Torn> {
    let damaged = Err(JournalError::Damaged { offset: at });
    let rest = usize::try_from(length.saturating_sub(at))
        .map_err(|_| JournalError::Damaged { offset: at })?;
    let mut bytes = vec![0; rest];
    let read = read_up_to(medium, at, &mut bytes)?;
    bytes.truncate(read);
    if is_attested::<F>(&bytes, next) {
        return damaged;
    }
    let head = F::head(&bytes);
    let needed = head.map_or(F::HEAD_BYTES, |head| head.bytes);
    let frame = head.and_then(|_| bytes.get(..needed)).unwrap_or(&bytes);
    if bytes.len() >= needed && !has_hole(frame, at) {
        return damaged;
    }
    Ok(Torn { offset: at, bytes })
}

/// Returns true if a later frame says that change `next` was on the disk.
fn is_attested<F: Format>(bytes: &[u8], next: u64) -> bool {
    let windows = bytes.windows(F::MAGIC.len()).enumerate().skip(1);
    let frames = windows.filter(|(_, window)| window == F::MAGIC);
    frames
        .filter_map(|(at, _)| F::read(bytes.get(at..)?))
        .any(|(extent, _)| extent.first > next && extent.durable > next)
}

/// Tells whether a piece of the bytes, which begin at `offset` of the file, was never written.
fn has_hole(bytes: &[u8], offset: u64) -> bool {
    let first = SECTOR_BYTES.saturating_sub(offset % SECTOR_BYTES);
    let first = usize::try_from(first).unwrap_or(bytes.len()).min(bytes.len());
    let sector = usize::try_from(SECTOR_BYTES).unwrap_or(usize::MAX);
    let (head, tail) = bytes.split_at(first);
    std::iter::once(head)
        .chain(tail.chunks(sector))
        .any(|piece| !piece.is_empty() && piece.iter().all(|byte| *byte == 0))
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

//! A volume of few bytes, simulated for the files that a test writes on its thread.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

thread_local! {
    /// The folder of the volume, and the bytes that its files may have.
    static VOLUME: RefCell<Option<(PathBuf, u64)>> = const { RefCell::new(None) };
}

/// Lets files below a folder have no more than so many bytes, or any number.
pub(crate) fn limit(folder: &Path, bytes: Option<u64>) {
    VOLUME.set(bytes.map(|bytes| (folder.to_owned(), bytes)));
}

/// Fails if so many bytes more have no room.
pub(crate) fn check(more: usize) -> io::Result<()> {
    let more = u64::try_from(more).unwrap_or(u64::MAX);
    VOLUME.with_borrow(|volume| match volume {
        Some((folder, bytes)) if used(folder)?.saturating_add(more) > *bytes => {
            Err(io::ErrorKind::StorageFull.into())
        }
        _ => Ok(()),
    })
}

/// Returns the bytes of all files below a folder.
pub(crate) fn used(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        bytes += if found.is_dir() { used(&entry.path())? } else { found.len() };
    }
    Ok(bytes)
}

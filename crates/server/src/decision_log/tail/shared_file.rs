//! A file that several threads use, and which may be mapped into memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use mmap_io::{MemoryMappedFile, MmapMode};

use crate::journal::log::Medium;

/// A file that a thread syncs while others write.
#[derive(Clone, Debug)]
pub(in super::super) struct SharedFile {
    file: Arc<File>,
    /// The bytes that the file had when it was mapped. A write there is a copy: the system has it when the process is killed.
    mapped: Option<MemoryMappedFile>,
}

impl SharedFile {
    pub(super) fn new(file: File) -> Self {
        Self { file: Arc::new(file), mapped: None }
    }

    /// Maps the bytes that the file has, all of which must be on the disk: a page for which the disk has no room any more would end the
    /// process. Where the file system maps none, the file is written as before.
    pub(super) fn mapped(self, path: &Path) -> Self {
        let mapped = self
            .file
            .try_clone()
            .ok()
            .and_then(|file| MemoryMappedFile::from_file(file, MmapMode::ReadWrite, path).ok());
        Self { mapped, ..self }
    }
}

impl Medium for SharedFile {
    fn length(&mut self) -> io::Result<u64> {
        self.file.metadata().map(|found| found.len())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.try_clone().and_then(|mut file| file.read_at(at, into))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // What is behind the mapped bytes is an error there.
        if let Some(mapped) = &self.mapped
            && mapped.update_region(at, bytes).is_ok()
        {
            return Ok(());
        }
        #[cfg(unix)]
        let written = std::os::unix::fs::FileExt::write_all_at(&*self.file, bytes, at);
        #[cfg(not(unix))]
        let written = self.file.try_clone().and_then(|mut file| file.write_at(at, bytes));
        written
    }

    fn truncate(&mut self, to: u64) -> io::Result<()> {
        self.file.set_len(to)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

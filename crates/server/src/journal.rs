//! A journal of changes that survives a crash: frames, their recovery, and the file on its disk.

pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod format;
pub(crate) mod frame;
pub(crate) mod limits;
pub(crate) mod log;
pub(crate) mod recover;
#[cfg(test)]
pub(crate) mod volume;

//! Every bound on a frame of a journal.

/// Bytes of the changes that are written as one.
pub(crate) const MAX_FRAME_BYTES: usize = 16 << 20;

/// Changes of one frame, which share one wait for the disk.
pub(crate) const MAX_FRAME_CHANGES: usize = 16 << 10;

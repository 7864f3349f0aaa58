//! Every bound on the file of changes and on those who write it.

use std::time::Duration;

/// Bytes of the changes that are written as one.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// Changes that are written as one: so many may share one wait for the disk.
pub const MAX_FRAME_CHANGES: usize = 16 << 10;

/// Changes that wait for the writer. Whoever brings more waits for a place.
pub const MAX_WAITING: usize = 4096;

/// Bytes of the file below which it is left as it is.
pub const COMPACT_FROM_BYTES: u64 = 1 << 20;

/// The shortest time between two waits for the disk that a configuration may ask for.
pub const MIN_SYNC_INTERVAL: Duration = Duration::from_millis(1);

/// The longest one.
pub const MAX_SYNC_INTERVAL: Duration = Duration::from_secs(60);

/// Folders within folders of rules.
pub const MAX_FOLDER_DEPTH: usize = 16;

/// Bytes of one file of rules: what a set of them holds.
pub const MAX_RULE_FILE_BYTES: u64 = 1 << 31;

/// Files of rules.
pub const MAX_RULE_FILES: usize = 100_000;

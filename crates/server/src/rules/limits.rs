//! Every bound on the file of changes and on those who write it.

/// Changes that wait for the writer. Whoever brings more waits for a place.
pub const MAX_WAITING: usize = 4096;

/// Bytes of the file below which it is left as it is.
pub const COMPACT_FROM_BYTES: u64 = 1 << 20;

/// Folders within folders of rules.
pub const MAX_FOLDER_DEPTH: usize = 16;

/// Bytes of one file of rules: what a set of them holds.
pub const MAX_RULE_FILE_BYTES: u64 = 1 << 31;

/// Files of rules.
pub const MAX_RULE_FILES: usize = 100_000;

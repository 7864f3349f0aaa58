//! Every bound on the store of rules.

/// Changes that wait for the writer. A client beyond them waits for a slot.
pub const MAX_WAITING: usize = 4096;

/// Bytes of the file below which it is left as it is.
pub const COMPACT_FROM_BYTES: u64 = 1 << 20;

/// Folders within folders of rules.
pub const MAX_FOLDER_DEPTH: usize = 16;

/// Bytes of one file of rules: the capacity of a set.
pub const MAX_RULE_FILE_BYTES: u64 = 1 << 31;

/// Files of rules.
pub const MAX_RULE_FILES: usize = 100_000;

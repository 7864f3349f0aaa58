//! Every bound on a directory, in one place.

/// Policies of one repository.
pub const MAX_POLICIES: usize = 200_000;

/// Files and directories that are looked at.
pub const MAX_ENTRIES: usize = 1_000_000;

/// How deep directories may nest.
pub const MAX_DIRECTORY_DEPTH: usize = 64;

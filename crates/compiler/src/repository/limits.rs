//! Every bound on a directory, in one place.

/// Policies of one repository.
pub const MAX_POLICIES: usize = 200_000;

/// Files and directories that are looked at.
pub const MAX_ENTRIES: usize = 1_000_000;

/// How deep directories may nest.
pub const MAX_DIRECTORY_DEPTH: usize = 64;

/// Bytes of the longest `.wardgateignore`.
pub const MAX_IGNORE_BYTES: usize = 1 << 16;

/// Patterns of one `.wardgateignore`. Each is compared with every path.
pub const MAX_IGNORE_PATTERNS: usize = 1_000;

/// Bytes of the longest scope. All the scopes above one are looked up, which would take the square of
/// its length.
pub const MAX_SCOPE_BYTES: usize = 1024;

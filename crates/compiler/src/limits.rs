//! Every bound on the input of the compiler, in one place.

/// Bytes of the largest policy file.
pub const MAX_FILE_BYTES: usize = 32 << 20;

/// The largest depth of nested values.
pub const MAX_NODE_DEPTH: usize = 64;

/// Values of one file. A policy of 100,000 rules has about two million.
pub const MAX_NODES: usize = 4_000_000;

/// Values that anchors and aliases of one file repeat.
pub const MAX_REPEATED_NODES: usize = 200_000;

/// Documents of one file.
pub const MAX_DOCUMENTS: usize = 1_000;

/// Spaces that are put in front of lines between brackets.
pub const MAX_PADDING: usize = 256;

/// Bytes that are read again because of lines that stop the scanner.
pub const MAX_BYTES_READ_AGAIN: usize = 64 << 20;

/// Lines of one file on which text goes on after its closing quote, that are reported.
pub const MAX_MASKED: usize = 32;

/// Policies of one repository.
pub const MAX_POLICIES: usize = 200_000;

/// Files and directories that are looked at.
pub const MAX_ENTRIES: usize = 1_000_000;

/// The largest depth of nested directories.
pub const MAX_DIRECTORY_DEPTH: usize = 64;

/// Bytes of the longest `.wardgateignore`.
pub const MAX_IGNORE_BYTES: usize = 1 << 16;

/// Patterns of one `.wardgateignore`. Each is compared with every path.
pub const MAX_IGNORE_PATTERNS: usize = 1_000;

/// Bytes of the longest scope. All the scopes above one are looked up, which would take the square
/// of its length.
pub const MAX_SCOPE_BYTES: usize = 1024;

/// The largest depth of a nested expression.
pub const MAX_EXPRESSION_DEPTH: u32 = 250;

/// Code points of the longest expression.
pub const MAX_EXPRESSION_CODE_POINTS: usize = 100_000;

/// Errors reported for one expression; further ones would repeat the first.
pub const MAX_EXPRESSION_ERRORS: usize = 100;

/// Bytes of the longest name of a rate limit: stores accept no longer ones.
pub const MAX_LIMIT_NAME_BYTES: usize = 128;

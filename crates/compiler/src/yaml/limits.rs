//! Every bound on the input, in one place.

/// Bytes of the largest policy file.
pub const MAX_FILE_BYTES: usize = 32 << 20;

/// How deep values may nest.
pub const MAX_DEPTH: usize = 64;

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

//! Every bound on the input, in one place.

/// Bytes of the largest policy file.
pub const MAX_FILE_BYTES: usize = 4 << 20;

/// How deep values may nest.
pub const MAX_DEPTH: usize = 64;

/// Values of one file, those that aliases repeat included.
pub const MAX_NODES: usize = 200_000;

/// Documents of one file.
pub const MAX_DOCUMENTS: usize = 1_000;

/// Spaces that are put in front of lines between brackets.
pub const MAX_PADDING: usize = 256;

/// Bytes that are read again because of such lines.
pub const MAX_BYTES_READ_AGAIN: usize = 64 << 20;

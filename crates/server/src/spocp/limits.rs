//! Every bound on input of clients of SPOCP over TCP.

/// Digits of a length. More of them claim more than any configuration allows.
pub const MAX_DIGITS: usize = 7;

/// Arguments of one request. Only `LIST` takes more than three.
pub const MAX_ARGUMENTS: usize = 64;

/// Changes of one connection that are on their way to the file at the same time.
pub const MAX_UNSETTLED: usize = 256;

/// Bytes of replies that wait for a client to read them before anything else is answered.
pub const MAX_REPLIES: usize = 64 << 10;

/// Rules that `LIST` looks at before it lets others have a turn.
pub const LIST_CHUNK: usize = 256;

/// Bytes of a token of `AUTH`.
pub const MAX_TOKEN_BYTES: usize = 4096;

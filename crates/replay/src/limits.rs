//! Every bound on logs.

/// Bytes of the longest line that is read. The longest message of gRPC has as many by default.
pub const MAX_LINE_BYTES: usize = 4 << 20;

/// Bytes of lines that a thread takes at once.
pub(crate) const BLOCK_BYTES: usize = 256 << 10;

/// The most threads, each of which has a block and a part of the report.
pub const MAX_THREADS: usize = 8;

/// The most groups of changed decisions.
pub const MAX_GROUPS: usize = 500;

/// The most principals, and the most resources, that are counted for one group.
pub const MAX_DISTINCT: usize = 1000;

/// The most samples of one group.
pub const MAX_SAMPLES: usize = 5;

/// Bytes of the samples that one thread keeps, roughly.
pub(crate) const MAX_SAMPLE_BYTES: usize = 4 << 20;

/// The most unreadable lines that are told one by one.
pub const MAX_FAULTS: usize = 5;

/// Bytes of the reason why a line is unreadable.
pub(crate) const MAX_REASON_BYTES: usize = 200;

/// The most kinds of resources whose attributes are watched.
pub const MAX_KINDS: usize = 1024;

/// The most attributes that are watched. Each has a bit.
pub const MAX_ATTRIBUTES: usize = 128;

/// The most actions of a kind whose attributes are worked out once.
pub(crate) const MAX_TARGETS: usize = 256;

/// The most different counts of decisions that wait for the end of the log.
pub(crate) const MAX_WAITING: usize = 1024;

/// The most combinations of a rule, a role and an action that are counted. With more, nothing is claimed.
pub const MAX_USES: usize = 100_000;

/// The answers that a thread remembers.
pub(crate) const MEMO_ENTRIES: usize = 2048;

/// Bytes of the longest question whose answer is remembered.
pub(crate) const MAX_MEMO_BYTES: usize = 2048;

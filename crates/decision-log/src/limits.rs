//! The bounds on everything that is read.

/// The most bytes of a record: the request of an evidence has 16 KiB at most, ids and names the rest.
pub const MAX_RECORD_BYTES: usize = 32 << 10;

/// The most bytes of the records of a frame.
pub const MAX_FRAME_BYTES: usize = 1 << 20;

/// The most records of a frame.
pub const MAX_FRAME_RECORDS: usize = 4096;

/// The most actions of a decision record.
pub const MAX_ACTIONS: usize = 255;

/// The most bytes of an id, a name or a text in a record. Longer ids are cut, and the record says so.
pub const MAX_TEXT_BYTES: usize = 1024;

/// The most bytes of an evidence.
pub const MAX_EVIDENCE_BYTES: usize = 16 << 10;

/// The most bytes of the settings in a record.
pub const MAX_SETTINGS_BYTES: usize = 4096;

/// The most bytes of an origin: with it the leaf of a frame stays below 200 bytes.
pub const MAX_ORIGIN_BYTES: usize = 80;

/// The most bytes of a key name. The message that is signed has one byte for its length.
pub const MAX_KEY_NAME_BYTES: usize = 255;

/// The most bytes of a note: sixteen of the longest signatures of today, and a text.
pub const MAX_NOTE_BYTES: usize = 256 << 10;

/// The most signatures of a note.
pub const MAX_SIGNATURES: usize = 32;

/// The most digests of a proof: a path has one for each level of a tree of 2^63 leaves.
pub const MAX_PATH: usize = 63;

/// The most bytes of a sealed value.
pub const MAX_SEALED_BYTES: usize = MAX_EVIDENCE_BYTES;

/// The most bytes of a frame of an isolate: a queue takes 128 KB for a message.
pub const MAX_PART_BYTES: usize = 128_000;

/// The most bytes of a segment of a sequencer, without what one frame of an isolate may add.
pub const MAX_DRAFTED_BYTES: usize = 8 << 20;

/// The most bytes of a segment that a sequencer reads: what it drafted, and records of what is lost.
pub const MAX_FOLLOWED_BYTES: usize = 24 << 20;

/// The most isolates that a sequencer knows at a time. Each has a number of 16 bits in the log.
pub const MAX_ISOLATES: usize = 60_000;

/// The most separate ranges of sequences that a sequencer knows of an isolate.
pub const MAX_RANGES: usize = 256;

/// The most policies whose numbers a sequencer knows.
pub const MAX_NUMBERED_POLICIES: usize = 64;

/// The most subjects whose keys a sequencer knows, at 56 bytes each in their object. Values of others are left out of the log.
pub const MAX_SUBJECTS: usize = 1 << 18;

/// The most bytes of a request to a witness: the old size, the longest proof, and a note.
pub const MAX_ADD_CHECKPOINT_BYTES: usize = MAX_NOTE_BYTES + (4 << 10);

/// The most bytes of a policy of witnesses: twice as many keys of ML-DSA-44 as C2SP recommends at least, and comments.
pub const MAX_POLICY_BYTES: usize = 512 << 10;

/// The most logs, the most witnesses and the most groups of a policy of witnesses. C2SP recommends 32 at least.
pub const MAX_POLICY_LINES: usize = 64;

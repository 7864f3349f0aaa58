//! The reasons for which frames are not taken, and logs are not gone on with.

use core::fmt;

use crate::checkpoint::CheckpointError;
use crate::frame::FrameError;

/// The reason for which a frame is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is longer than frames of isolates are.
    Large,
    /// It is none, or damaged.
    Frame(FrameError),
    /// Bytes follow it.
    Trailing,
    /// It does not begin with the record of an isolate, or is of another version.
    Version,
    /// A record of it is none.
    Record,
    /// A record is of a kind that isolates do not write.
    Kind,
    /// It has no decision.
    Empty,
    /// The sequences of its decisions do not follow one another.
    Sequence,
    /// A decision names policies or a target that the frame does not define.
    Name,
    /// A part of its decisions is in the log, and another is not.
    Overlap,
    /// It came after a record had said that its decisions are lost.
    Late,
    /// It is so old that it may have been taken before.
    Old,
    /// It is of a later time than now.
    Future,
    /// Too many frames of its isolate are missing.
    Gaps,
    /// There are too many isolates.
    Isolates,
    /// The next segment is full.
    Full,
}

/// The reason for which a sequencer cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequencerError {
    /// The checkpoint is none of the key.
    Checkpoint(CheckpointError),
    /// The state is not one that a sequencer of this log wrote, or not of the log of the checkpoint.
    State,
    /// A segment is damaged, or does not follow the one before.
    Segment,
    /// A segment was written by something else than a sequencer of this log.
    Foreign,
    /// The frames of the log are others than those of the checkpoint.
    Forked,
    /// The checkpoint is about more frames than there are.
    Truncated,
    /// The library found no signature.
    Unsigned,
    /// The keys of subjects are damaged.
    Keys,
}

impl Refusal {
    /// Returns true if the frame may be taken later.
    #[must_use]
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Full | Self::Isolates | Self::Gaps)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Large => "expected a frame of at most 128,000 bytes, found a longer one",
            Self::Frame(error) => return error.fmt(f),
            Self::Trailing => "expected one frame, found bytes behind it",
            Self::Version => {
                "expected a frame that can be read alone, found one of another form or version"
            }
            Self::Record => "expected a record, found other bytes",
            Self::Kind => "expected records that an isolate writes, found another kind",
            Self::Empty => "expected a frame with decisions, found none",
            Self::Sequence => "expected decisions whose sequences follow one another",
            Self::Name => "a decision names policies or a target that its frame does not define",
            Self::Overlap => "a part of the decisions is in the log already",
            Self::Late => "the log has a record that these decisions are lost",
            Self::Old => "the frame is too old: it may have been taken before",
            Self::Future => "the frame is of a later time than now",
            Self::Gaps => "too many frames of the isolate are missing",
            Self::Isolates => "there are too many isolates",
            Self::Full => "the next segment is full",
        })
    }
}

impl core::error::Error for Refusal {}

impl fmt::Display for SequencerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkpoint(error) => return error.fmt(f),
            Self::State => "the object `sequencer` is not of the log of the checkpoint, or damaged",
            Self::Segment => "a segment is damaged, or does not follow the one before",
            Self::Foreign => "no sequencer of this log wrote a segment",
            Self::Forked => "the frames of the log are others than those of its checkpoint",
            Self::Truncated => "the checkpoint is about more frames than there are",
            Self::Unsigned => "no signature was found",
            Self::Keys => "the keys of subjects are damaged",
        })
    }
}

impl core::error::Error for SequencerError {}

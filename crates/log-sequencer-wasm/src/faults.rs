//! The numbers of faults, whose words the host has, as those of `decision-log-wasm`. The mirror is `npm/src/log/log-faults.ts`.

use wardgate_decision_log::checkpoint::CheckpointError;
use wardgate_decision_log::frame::FrameError;
use wardgate_decision_log::note::NoteError;
use wardgate_decision_log::sequencer::{Refusal, SequencerError};

/// The number of a private key that is none.
pub(crate) const SECRET: i32 = -2;

/// The number of a log that is not open.
pub(crate) const CLOSED: i32 = -55;

/// Returns the number of a frame that a sequencer does not take. From -41 down it may take it later.
pub(crate) const fn of_refusal(refusal: Refusal) -> i32 {
    match refusal {
        Refusal::Frame(error) => of_frame(error),
        Refusal::Record => -24,
        Refusal::Large => -30,
        Refusal::Trailing => -31,
        Refusal::Version => -32,
        Refusal::Kind => -33,
        Refusal::Empty => -34,
        Refusal::Sequence => -35,
        Refusal::Name => -36,
        Refusal::Overlap => -37,
        Refusal::Late => -38,
        Refusal::Old => -39,
        Refusal::Future => -40,
        Refusal::Gaps => -41,
        Refusal::Isolates => -42,
        Refusal::Full => -43,
    }
}

const fn of_frame(error: FrameError) -> i32 {
    match error {
        FrameError::Short => -20,
        FrameError::Head => -21,
        FrameError::Records => -22,
        FrameError::Root => -23,
    }
}

/// Returns the number of a log that a sequencer cannot go on with.
pub(crate) const fn of_sequencer(error: SequencerError) -> i32 {
    match error {
        SequencerError::State => -50,
        SequencerError::Segment => -51,
        SequencerError::Forked => -52,
        SequencerError::Truncated => -53,
        SequencerError::Unsigned => -54,
        SequencerError::Foreign => -56,
        SequencerError::Keys => -57,
        SequencerError::Checkpoint(CheckpointError::Form) => -13,
        SequencerError::Checkpoint(CheckpointError::Unsigned) => -14,
        SequencerError::Checkpoint(CheckpointError::Forged) => -15,
        SequencerError::Checkpoint(CheckpointError::Note(NoteError::Long)) => -16,
        SequencerError::Checkpoint(CheckpointError::Note(NoteError::Characters)) => -17,
        SequencerError::Checkpoint(CheckpointError::Note(NoteError::Form)) => -18,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = include_str!("../../../npm/src/log/log-faults.ts");

    fn check(number: i32, words: &str) {
        let row = format!("[{number}, \"{words}\"]");
        assert!(WORDS.contains(&row), "{row}");
    }

    #[test]
    fn the_host_has_the_words_of_refusals() {
        let frames = [FrameError::Short, FrameError::Head, FrameError::Records, FrameError::Root];
        let others = [
            Refusal::Record,
            Refusal::Large,
            Refusal::Trailing,
            Refusal::Version,
            Refusal::Kind,
            Refusal::Empty,
            Refusal::Sequence,
            Refusal::Name,
            Refusal::Overlap,
            Refusal::Late,
            Refusal::Old,
            Refusal::Future,
            Refusal::Gaps,
            Refusal::Isolates,
            Refusal::Full,
        ];
        for refusal in frames.map(Refusal::Frame).into_iter().chain(others) {
            // The words of a record are those of the module that verifies frames.
            check(of_refusal(refusal), &refusal.to_string());
            assert_eq!(of_refusal(refusal) <= -41, refusal.is_passing());
        }
    }

    #[test]
    fn the_host_has_the_words_of_logs_that_cannot_go_on() {
        let notes = [NoteError::Long, NoteError::Characters, NoteError::Form];
        let checkpoints =
            [CheckpointError::Form, CheckpointError::Unsigned, CheckpointError::Forged]
                .into_iter()
                .chain(notes.map(CheckpointError::Note));
        let others = [
            SequencerError::State,
            SequencerError::Segment,
            SequencerError::Forked,
            SequencerError::Truncated,
            SequencerError::Unsigned,
            SequencerError::Foreign,
            SequencerError::Keys,
        ];
        for error in checkpoints.map(SequencerError::Checkpoint).chain(others) {
            check(of_sequencer(error), &error.to_string());
        }
        for number in [SECRET, CLOSED] {
            assert!(WORDS.contains(&format!("[{number}, \"")), "{number}");
        }
    }
}

//! The numbers of faults, whose words the host has: as text in the module they would take its room.
//! The mirror is `npm/src/log/log-faults.ts`.

use wardgate_decision_log::checkpoint::CheckpointError;
use wardgate_decision_log::frame::FrameError;
use wardgate_decision_log::note::NoteError;
use wardgate_decision_log::proof::ProofError;

/// The number of a key that is none.
pub(crate) const KEY: i32 = -1;

/// The number of a record that is none.
pub(crate) const RECORD: i32 = -24;

/// The number of records that are too many for a frame.
pub(crate) const FULL: i32 = -25;

/// Returns the number of a refused proof.
pub(crate) const fn of_proof(error: ProofError) -> i32 {
    match error {
        ProofError::Form => -10,
        ProofError::Record => -11,
        ProofError::Frame => -12,
        ProofError::Checkpoint(CheckpointError::Form) => -13,
        ProofError::Checkpoint(CheckpointError::Unsigned) => -14,
        ProofError::Checkpoint(CheckpointError::Forged) => -15,
        ProofError::Checkpoint(CheckpointError::Note(NoteError::Long)) => -16,
        ProofError::Checkpoint(CheckpointError::Note(NoteError::Characters)) => -17,
        ProofError::Checkpoint(CheckpointError::Note(NoteError::Form)) => -18,
    }
}

/// Returns the number of a refused frame.
pub(crate) const fn of_frame(error: FrameError) -> i32 {
    match error {
        FrameError::Short => -20,
        FrameError::Head => -21,
        FrameError::Records => -22,
        FrameError::Root => -23,
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
    fn the_host_has_the_words_of_faults() {
        let notes = [NoteError::Long, NoteError::Characters, NoteError::Form];
        let checkpoints =
            [CheckpointError::Form, CheckpointError::Unsigned, CheckpointError::Forged]
                .into_iter()
                .chain(notes.map(CheckpointError::Note));
        let proofs = [ProofError::Form, ProofError::Record, ProofError::Frame];
        for error in proofs.into_iter().chain(checkpoints.map(ProofError::Checkpoint)) {
            check(of_proof(error), &error.to_string());
        }
        for error in [FrameError::Short, FrameError::Head, FrameError::Records, FrameError::Root] {
            check(of_frame(error), &error.to_string());
        }
        for number in [KEY, RECORD, FULL] {
            assert!(WORDS.contains(&format!("[{number}, \"")), "{number}");
        }
    }
}

//! A log made of the frames of isolates.

use wardgate_decision_log::sequencer::{Condition, Sequencer, Taken, Write};
use wardgate_decision_log::signer::LogSigner;

use crate::faults;

/// The bytes of the random number of a sequencer.
const INSTANCE_BYTES: usize = 16;

/// Opens the log of a key, and answers with the name of the segment that has its next frame, and the lines of its
/// identity. The bytes are a random number, the key, the state and the checkpoint.
pub(crate) fn open(
    bytes: &[u8],
    [key, state, checkpoint]: [usize; 3],
) -> Result<(Sequencer, Vec<u8>), i32> {
    let split = bytes.split_first_chunk::<INSTANCE_BYTES>().and_then(|(instance, rest)| {
        let (key, rest) = rest.split_at_checked(key)?;
        let (state, rest) = rest.split_at_checked(state)?;
        Some((*instance, key, state, rest.get(..checkpoint)?))
    });
    let (instance, key, state, checkpoint) = split.ok_or(faults::SECRET)?;
    let key = core::str::from_utf8(key).ok().and_then(LogSigner::read).ok_or(faults::SECRET)?;
    let is_there = |bytes: &&[u8]| !bytes.is_empty();
    let objects = (Some(state).filter(is_there), Some(checkpoint).filter(is_there));
    let opened = Sequencer::open(key, instance, objects).map_err(faults::of_sequencer)?;
    let answer = format!("{}{}", opened.next_segment(), opened.identity());
    Ok((opened, answer.into_bytes()))
}

/// Takes a frame, and returns 0 for a new one, 1 for one that is known, or the number of a fault.
pub(crate) fn take(sequencer: &mut Sequencer, frame: &[u8], now: i64) -> i32 {
    match sequencer.take(frame, now) {
        Ok(Taken::New) => 0,
        Ok(Taken::Known) => 1,
        Err(refusal) => faults::of_refusal(refusal),
    }
}

/// Returns the writes of a commit, one behind the other: condition (1), name after its length (2), content after its length (4).
pub(crate) fn commit(
    sequencer: &mut Sequencer,
    randomness: &[u8; 32],
    now: i64,
) -> Result<Vec<u8>, i32> {
    let writes = sequencer.commit(now, randomness).map_err(faults::of_sequencer)?;
    let mut out = Vec::new();
    writes.iter().for_each(|write| put(write, &mut out));
    Ok(out)
}

fn put(write: &Write, out: &mut Vec<u8>) {
    out.push(match write.condition {
        Condition::Always => 0,
        Condition::New => 1,
        Condition::Unchanged => 2,
        Condition::Deletion => 3,
    });
    out.extend(u16::try_from(write.name.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend(write.name.as_bytes());
    out.extend(u32::try_from(write.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(&write.bytes);
}

//! A log made of the frames of isolates.

use wardgate_decision_log::sequencer::{Condition, Sequencer, Taken, Write};
use wardgate_decision_log::signer::LogSigner;

use crate::faults;

/// The bytes of the random number of a sequencer, and of the seed of keys.
const INSTANCE_BYTES: usize = 16;
const SEED_BYTES: usize = 32;

/// Opens the log of a key, and answers with the name of the segment that has its next frame, and the lines of its
/// identity. The bytes are a random number, a random seed, the key, the state, the checkpoint, and the keys of subjects if
/// values are hidden.
pub(crate) fn open(
    bytes: &[u8],
    [key, state, checkpoint]: [usize; 3],
    keys: Option<usize>,
) -> Result<(Sequencer, Vec<u8>), i32> {
    let split = bytes.split_first_chunk::<INSTANCE_BYTES>().and_then(|(instance, rest)| {
        let (seed, rest) = rest.split_first_chunk::<SEED_BYTES>()?;
        let (key, rest) = rest.split_at_checked(key)?;
        let (state, rest) = rest.split_at_checked(state)?;
        let (checkpoint, rest) = rest.split_at_checked(checkpoint)?;
        let keys = keys.map(|length| Some((rest.get(..length)?, *seed)));
        Some(((*instance, key, state, checkpoint), keys))
    });
    let ((instance, key, state, checkpoint), keys) = split.ok_or(faults::SECRET)?;
    let key = core::str::from_utf8(key).ok().and_then(LogSigner::read).ok_or(faults::SECRET)?;
    let is_there = |bytes: &&[u8]| !bytes.is_empty();
    let objects = (Some(state).filter(is_there), Some(checkpoint).filter(is_there));
    let mut opened = Sequencer::open(key, instance, objects).map_err(faults::of_sequencer)?;
    if let Some(hidden) = keys {
        let (keys, seed) = hidden.ok_or(faults::SECRET)?;
        opened = opened.hiding(keys, seed).map_err(faults::of_sequencer)?;
    }
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

/// Deletes the keys of subjects, each of whose ids is behind its length (2), and returns how many had one. What is no text ends
/// the ids.
pub(crate) fn erase(sequencer: &mut Sequencer, ids: &[u8], before: u32, now: i64) -> i32 {
    let mut rest = ids;
    let subjects = core::iter::from_fn(|| {
        let (length, behind) = rest.split_first_chunk()?;
        let (id, behind) = behind.split_at_checked(u16::from_le_bytes(*length).into())?;
        rest = behind;
        core::str::from_utf8(id).ok()
    });
    i32::try_from(sequencer.erase(subjects, before, now)).unwrap_or(i32::MAX)
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

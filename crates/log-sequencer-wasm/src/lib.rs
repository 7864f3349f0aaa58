//! One decision log of the frames of many isolates, as a module of its own: signing has no place in the module that pages load to
//! verify.
//!
//! Law: the calls take and return numbers alone, and the module imports nothing. Bytes cross in the
//! room: the host writes them at the address of [`room`], and reads an answer at the addresses in
//! [`words`]. A call that refuses its bytes returns a negative number, whose words are in
//! `npm/src/log/log-faults.ts`. Times are the halves `low` and `high` of microseconds since 1970.
#![forbid(unsafe_code)]

mod faults;
mod sequencing;

use std::cell::RefCell;

use wardgate_decision_log::sequencer::Sequencer;
use wasm_bindgen::prelude::wasm_bindgen;

/// The state of an instance.
struct State {
    /// The buffer that the host writes.
    room: Vec<u8>,
    /// The address and the length of the last answer.
    words: [usize; 2],
    answer: Vec<u8>,
    /// The log that is open, if there is one.
    sequencer: Option<Sequencer>,
}

// Without a start at run time, which each call would have to look for.
thread_local!(static STATE: RefCell<State> = const {
    RefCell::new(State { room: Vec::new(), words: [0; 2], answer: Vec::new(), sequencer: None })
});

/// Returns the address of room for `length` bytes, or 0 if memory is exhausted. Addresses from
/// earlier calls are void.
#[wasm_bindgen]
#[must_use]
pub fn room(length: usize) -> usize {
    with(|state| state.room_for(length).unwrap_or(0))
}

/// Returns the address of two words of four bytes, which stay where they are: address and length of the answer.
#[wasm_bindgen]
#[must_use]
pub fn words() -> usize {
    with(|state| state.words.as_ptr().expose_provenance())
}

/// Opens the log of a private key for writing, in place of the one before. The room has 48 random bytes, and the key, the objects
/// `sequencer`, `checkpoint` and `private/keys.wgk` in so many bytes each, 0 for an object that is not there; -1 for the last one leaves
/// values as they are. Returns 0, and answers with the name of the next segment (16) and the first lines of the object `identity`, or
/// returns the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn open(key: usize, sequencer: usize, checkpoint: usize, keys: i32) -> i32 {
    with(|state| state.open([key, sequencer, checkpoint], usize::try_from(keys).ok()))
}

/// Goes on with the next segment, which is in the first `length` bytes of the room, at a time. Returns 0, and
/// answers with the name of the next one, or returns the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn follow(length: usize, low: u32, high: i32) -> i32 {
    with(|state| state.follow(length, micros(low, high)))
}

/// Returns 0 if the log that is open has all frames of its checkpoint, or the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn whole() -> i32 {
    with(|state| match &state.sequencer {
        None => faults::CLOSED,
        Some(sequencer) => sequencer.must_be_whole().map_or_else(faults::of_sequencer, |()| 0),
    })
}

/// Takes the frame of an isolate in the first `length` bytes of the room. Returns 0, 1 if it was taken before, or the
/// number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn take(length: usize, low: u32, high: i32) -> i32 {
    with(|state| {
        let State { sequencer, room, .. } = state;
        let Some(sequencer) = sequencer else { return faults::CLOSED };
        sequencing::take(sequencer, room.get(..length).unwrap_or_default(), micros(low, high))
    })
}

/// Deletes the keys of subjects, whose ids are in the first `length` bytes of the room, each after its length (2). Returns how many had a
/// key, with those that were deleted `before` and are not recorded yet, or the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn erase(length: usize, before: u32, low: u32, high: i32) -> i32 {
    with(|state| {
        let State { sequencer, room, .. } = state;
        let Some(sequencer) = sequencer else { return faults::CLOSED };
        let ids = room.get(..length).unwrap_or_default();
        sequencing::erase(sequencer, ids, before, micros(low, high))
    })
}

/// Makes a segment of the frames that were taken, and signs a checkpoint. The room has 32 random bytes. Returns 0, and
/// answers with the writes in their order: the condition (1), 0 none, 1 for a new object, 2 for one that is unchanged, 3 for a
/// deletion; the name after its length (2); the content after its length (4). Otherwise returns the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn commit(low: u32, high: i32) -> i32 {
    with(|state| state.commit(micros(low, high)))
}

impl State {
    fn room_for(&mut self, length: usize) -> Option<usize> {
        let wanted = length.max(RETAINED);
        // Long bytes must not occupy their room for ever.
        if self.room.len() != wanted {
            self.room = Vec::new();
            self.room.try_reserve_exact(wanted).ok()?;
            self.room.resize(wanted, 0);
        }
        Some(self.room.as_mut_ptr().expose_provenance())
    }

    fn open(&mut self, lengths: [usize; 3], keys: Option<usize>) -> i32 {
        self.sequencer = None;
        match sequencing::open(&self.room, lengths, keys) {
            Err(fault) => fault,
            Ok((sequencer, answer)) => {
                self.sequencer = Some(sequencer);
                self.answer_with(answer)
            }
        }
    }

    fn follow(&mut self, length: usize, now: i64) -> i32 {
        let Some(sequencer) = &mut self.sequencer else { return faults::CLOSED };
        match sequencer.follow(self.room.get(..length).unwrap_or_default(), now) {
            Err(error) => faults::of_sequencer(error),
            Ok(()) => {
                let name = sequencer.next_segment();
                self.answer_with(name.into_bytes())
            }
        }
    }

    fn commit(&mut self, now: i64) -> i32 {
        let Some(sequencer) = &mut self.sequencer else { return faults::CLOSED };
        let randomness = self.room.first_chunk().copied().unwrap_or_default();
        match sequencing::commit(sequencer, &randomness, now) {
            Err(fault) => fault,
            Ok(writes) => self.answer_with(writes),
        }
    }

    fn answer_with(&mut self, answer: Vec<u8>) -> i32 {
        self.answer = answer;
        self.words = [self.answer.as_ptr().expose_provenance(), self.answer.len()];
        0
    }
}

/// Returns a time of its halves.
fn micros(low: u32, high: i32) -> i64 {
    (i64::from(high) << 32) | i64::from(low)
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(work)
}

/// The length of the room that stays allocated for the next call, in bytes.
const RETAINED: usize = 1 << 13;

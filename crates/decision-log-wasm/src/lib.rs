//! The bytes of a decision log as a module: verifies proofs and frames, and makes frames of records.
//!
//! Law: the calls take and return numbers alone, and the module imports nothing. Bytes cross in the
//! room: the host writes them at the address of [`room`], and reads an answer at the addresses in
//! [`words`]. A call that refuses its bytes returns a negative number, whose words are in
//! `npm/src/log/log-faults.ts`, and changes nothing.
#![forbid(unsafe_code)]

mod faults;
mod framing;
mod verifying;

use std::cell::RefCell;

use verifying::Verifier;
use wardgate_decision_log::record::request_digest;
use wasm_bindgen::prelude::wasm_bindgen;

/// The state of an instance.
struct State {
    /// The buffer that the host writes.
    room: Vec<u8>,
    /// The numbers that the host reads beside the result of a call: see [`words`].
    words: [usize; WORDS],
    /// The last answer.
    answer: Vec<u8>,
    verifier: Verifier,
}

// Without a start at run time, which each call would have to look for.
thread_local!(static STATE: RefCell<State> = const {
    RefCell::new(State {
        room: Vec::new(),
        words: [0; WORDS],
        answer: Vec::new(),
        verifier: Verifier::new(),
    })
});

/// Returns the address of room for `length` bytes, or 0 if memory is exhausted. Addresses from
/// earlier calls are void.
#[wasm_bindgen]
#[must_use]
pub fn room(length: usize) -> usize {
    with(|state| state.room_for(length).unwrap_or(0))
}

/// Returns the address of words of four bytes, which stay where they are:
///
/// | word | content |
/// |---|---|
/// | 0, 1 | address and length of the answer |
/// | 2 | after a refusal, the offset in the bytes |
/// | 3, 4 | the number of the proved record, its lower half first |
/// | 5, 6 | the number of its frame in the log |
/// | 7, 8 | the number of frames of the checkpoint |
/// | 9, 10 | the time of the checkpoint, in seconds since 1970 |
/// | 11 | the length of the origin, which begins the answer; the root of 32 bytes and the record follow |
#[wasm_bindgen]
#[must_use]
pub fn words() -> usize {
    with(|state| state.words.as_ptr().expose_provenance())
}

/// Verifies the proof in the first `proof` bytes of the room with the key of the log in the `key`
/// bytes behind it. Returns 0, and answers with origin, root and record, or the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn prove(proof: usize, key: usize) -> i32 {
    with(|state| state.prove(proof, key))
}

/// Verifies the frame at the front of the first `length` bytes of the room: its head, that its
/// records are those of the head, and the form of each. Returns its length, and answers with the
/// digest of its head, or returns the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn frame(length: usize) -> i32 {
    with(|state| state.frame(length))
}

/// Writes a frame. The first `length` bytes of the room are the digest of the head before it, 32 zeros if
/// there is none, the number of its first record (8) and its records. A frame without records has the time
/// in microseconds since 1970 whose halves are `low` and `high`. Returns 0, and answers with the digest of
/// its head and the frame, or returns the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn write(length: usize, low: u32, high: i32) -> i32 {
    with(|state| state.write(length, (i64::from(high) << 32) | i64::from(low)))
}

/// Answers with the pseudonym of the id in the `id` bytes of the room behind a key of 32 bytes. The field
/// is 1 for a principal and 2 for a resource. Returns 0, or the number of a fault.
#[wasm_bindgen]
#[must_use]
pub fn pseudonym(field: u32, id: usize) -> i32 {
    with(|state| state.pseudonym(field, id))
}

/// Answers with the digest of the request in the first `length` bytes of the room, as the evidence of a request that is too long.
/// Returns 0.
#[wasm_bindgen]
#[must_use]
pub fn digest(length: usize) -> i32 {
    with(|state| {
        let digest = request_digest(state.room.get(..length).unwrap_or_default());
        state.answer_with(digest.to_vec())
    })
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

    fn prove(&mut self, proof: usize, key: usize) -> i32 {
        let end = proof.saturating_add(key);
        let (proof, key) = self
            .room
            .get(..end)
            .and_then(|bytes| bytes.split_at_checked(proof))
            .unwrap_or_default();
        match self.verifier.prove(proof, key) {
            Err(fault) => self.refuse(fault, 0),
            Ok(proved) => {
                let numbers = [proved.number, proved.index, proved.head.size, proved.seconds];
                self.put_numbers(numbers);
                self.put(WORDS - 1, proved.origin.len());
                let parts = [proved.origin.as_bytes(), &proved.head.root, &proved.record];
                self.answer_with(parts.concat())
            }
        }
    }

    fn frame(&mut self, length: usize) -> i32 {
        match verifying::frame(self.room.get(..length).unwrap_or_default()) {
            Err((fault, offset)) => self.refuse(fault, offset),
            Ok((bytes, digest)) => {
                self.answer_with(digest.to_vec());
                i32::try_from(bytes).unwrap_or(i32::MAX)
            }
        }
    }

    fn write(&mut self, length: usize, now: i64) -> i32 {
        match framing::write(self.room.get(..length).unwrap_or_default(), now) {
            Err((fault, offset)) => self.refuse(fault, offset),
            Ok(frame) => self.answer_with(frame),
        }
    }

    fn pseudonym(&mut self, field: u32, id: usize) -> i32 {
        let bytes = self.room.get(..id.saturating_add(framing::KEY_BYTES));
        match bytes.and_then(|bytes| framing::pseudonym(field, bytes)) {
            None => self.refuse(faults::KEY, 0),
            Some(pseudonym) => self.answer_with(pseudonym.to_vec()),
        }
    }

    fn answer_with(&mut self, answer: Vec<u8>) -> i32 {
        self.answer = answer;
        self.put(0, self.answer.as_ptr().expose_provenance());
        self.put(1, self.answer.len());
        0
    }

    fn refuse(&mut self, fault: i32, offset: usize) -> i32 {
        self.put(2, offset);
        fault
    }

    fn put(&mut self, at: usize, value: usize) {
        if let Some(word) = self.words.get_mut(at) {
            *word = value;
        }
    }

    fn put_numbers(&mut self, numbers: [u64; 4]) {
        let halves =
            numbers.into_iter().flat_map(|number| [number & u64::from(u32::MAX), number >> 32]);
        for (at, half) in (3..).zip(halves) {
            self.put(at, usize::try_from(half).unwrap_or(usize::MAX));
        }
    }
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(work)
}

/// The number of words beside a result.
const WORDS: usize = 12;

/// The length of the room that stays allocated for the next call, in bytes.
const RETAINED: usize = 1 << 13;

#[cfg(test)]
mod tests;

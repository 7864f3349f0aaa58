//! The module of `wardgate/analysis`: similar rules, groups of rules, and comparisons of policies.
//!
//! Law: the calls take and return numbers alone, and the module imports nothing. A message crosses in the
//! room: the host writes it at the address of [`room`], and reads an answer at the address and the length in
//! [`words`]. The answers are the JSON of the command, byte for byte. One instance has one index, and
//! its memory ends with the instance. [`message`] has the form of messages.
#![forbid(unsafe_code)]

mod answering;
mod message;
mod options;
mod refusal;

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

use answering::Indexed;
use message::Message;
use refusal::Refusal;

/// The state of an instance.
struct State {
    /// The buffer that the host writes.
    room: Vec<u8>,
    /// The address and the length of the last answer.
    words: [usize; 2],
    answer: Vec<u8>,
    /// The policies, if there are any.
    indexed: Option<Indexed>,
}

// Without a start at run time, which each call would have to look for.
thread_local!(static STATE: RefCell<State> = const {
    RefCell::new(State { room: Vec::new(), words: [0; 2], answer: Vec::new(), indexed: None })
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

/// Indexes the files of a message in place of those before; its head has the options. Returns 0, or 1 and answers with
/// the diagnostics for which there is no index, or 2 and answers with the refusal.
#[wasm_bindgen]
#[must_use]
pub fn open(length: usize) -> i32 {
    with(|state| {
        state.indexed = None;
        state.answered(length, |message, indexed| {
            *indexed = Some(Indexed::open(&message)?);
            Ok(String::new())
        })
    })
}

/// Replaces the policies of one file, or takes a new one. Returns the same as [`open`]; after diagnostics the index is
/// as before.
#[wasm_bindgen]
#[must_use]
pub fn replace(length: usize) -> i32 {
    with(|state| {
        state.answered(length, |message, indexed| {
            Indexed::among(indexed)?.replace(message).map(|()| String::new())
        })
    })
}

/// Answers with the rules that are most like those of a policy or a draft. Returns the same as [`open`].
#[wasm_bindgen]
#[must_use]
pub fn similar(length: usize) -> i32 {
    with(|state| {
        state.answered(length, |message, indexed| Indexed::among(indexed)?.similar(&message))
    })
}

/// Answers with the groups of rules. Returns the same as [`open`].
#[wasm_bindgen]
#[must_use]
pub fn groups(length: usize) -> i32 {
    with(|state| {
        state.answered(length, |message, indexed| Indexed::among(indexed)?.groups(&message))
    })
}

/// Answers with the merges and the groups of the rules in the files of a message. Returns the same as [`open`].
#[wasm_bindgen]
#[must_use]
pub fn analyze(length: usize) -> i32 {
    with(|state| state.answered(length, |message, _| answering::analyze(&message)))
}

/// Answers with the comparison of the files of a message before and after a change. Returns the same as [`open`]; diagnostics
/// are those of both sides.
#[wasm_bindgen]
#[must_use]
pub fn compare(length: usize) -> i32 {
    with(|state| state.answered(length, |message, _| answering::compare(message)))
}

impl State {
    fn room_for(&mut self, length: usize) -> Option<usize> {
        let wanted = length.max(RETAINED);
        // A set of files must not occupy its room for ever.
        if self.room.len() != wanted {
            self.room = Vec::new();
            self.room.try_reserve_exact(wanted).ok()?;
            self.room.resize(wanted, 0);
        }
        Some(self.room.as_mut_ptr().expose_provenance())
    }

    /// Answers the message in the first `length` bytes of the room.
    fn answered(
        &mut self,
        length: usize,
        act: impl FnOnce(Message<'_>, &mut Option<Indexed>) -> Result<String, Refusal>,
    ) -> i32 {
        let message = Message::read(self.room.get(..length).unwrap_or_default());
        let answered = message.and_then(|message| act(message, &mut self.indexed));
        let (status, answer) = match answered {
            Ok(answer) => (DONE, answer),
            Err(refusal) => refusal.written(),
        };
        self.answer = answer.into_bytes();
        self.words = [self.answer.as_ptr().expose_provenance(), self.answer.len()];
        status
    }
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// The smallest size of the room, which the host assumes too.
const RETAINED: usize = 8192;

/// The result of a call that has an answer.
const DONE: i32 = 0;

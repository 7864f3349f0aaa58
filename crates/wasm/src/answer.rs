//! The answer of a check in words, which JavaScript reads after the call.
//!
//! The words are: the number of words of the decision, length and address of a JSON text, the address
//! of the words of the limits of the table, 0 if it has none, and of the text of charges; then the
//! words of the [decision](CodedDecision) and of its charges. The text is the whole decision if it has no words; else the outputs
//! and errors, if there are any. `npm/src/wasm/abi.ts` reads them.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use wardgate_engine::decide::coded::CodedDecision;
use wardgate_engine::wire;

use crate::shared::shared;

#[derive(Default)]
struct Answer {
    words: Vec<u32>,
    json: String,
    /// The text of charges.
    text: String,
}

shared!(static ANSWER: RefCell<Option<Answer>> = RefCell::new(None));

/// Stores an answer until the next one, and returns its address.
pub(crate) fn store(decision: CodedDecision, limits: usize) -> *const u32 {
    let CodedDecision { words, rest, charges } = decision;
    let is_whole = words.is_empty();
    let json = if is_whole { wire::decision_json(&rest) } else { wire::details_json(&rest) };
    let mut answer = Answer { words: Vec::new(), json, text: charges.text };
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let address = |text: &str| number(text.as_ptr().addr());
    answer.words.extend([
        number(words.len()),
        number(answer.json.len()),
        address(&answer.json),
        number(limits),
        address(&answer.text),
    ]);
    answer.words.extend(words);
    answer.words.extend(charges.words);
    let address = answer.words.as_ptr();
    ANSWER.with(|last| last.replace(Some(answer)));
    address
}

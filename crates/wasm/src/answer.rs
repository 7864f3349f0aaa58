//! The answer of a check in words, which JavaScript reads after the call.
//!
//! The words are: their number, length and address of a JSON text, and those of the
//! [decision](CodedDecision). The text is the whole decision if it has no words; else the outputs
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
}

shared!(static ANSWER: RefCell<Option<Answer>> = RefCell::new(None));

/// Stores an answer until the next one, and returns its address.
pub(crate) fn store(decision: &CodedDecision) -> *const u32 {
    let CodedDecision { words, rest } = decision;
    let is_whole = words.is_empty();
    let json = if is_whole { wire::decision_json(rest) } else { wire::details_json(rest) };
    let mut answer = Answer { words: Vec::with_capacity(words.len().saturating_add(3)), json };
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let text = [number(answer.json.len()), number(answer.json.as_ptr().addr())];
    answer.words.push(number(words.len()));
    answer.words.extend(text);
    answer.words.extend(words);
    let address = answer.words.as_ptr();
    ANSWER.with(|last| last.replace(Some(answer)));
    address
}

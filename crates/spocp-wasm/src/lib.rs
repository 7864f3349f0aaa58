//! A set of rules of SPOCP as a module: packed rules in once, then queries in and answers out.
//!
//! Law: one instance contains one set, and its memory ends with the instance. The calls take and
//! return numbers alone, and the module imports nothing, so that any host of WebAssembly can run
//! it. Bytes cross in the room: the host writes a query at the address of [`room`], and reads an
//! answer at the address of [`answer`]. The host that starts an instance vouches for the rules: it
//! has opened their bundle before, and this module verifies nothing.
#![forbid(unsafe_code)]

use std::cell::RefCell;

use wardgate_spocp::packed::unpack;
use wardgate_spocp::{Error, Normal, RuleId, RuleSet, file};
use wasm_bindgen::prelude::wasm_bindgen;

/// The state of an instance.
#[derive(Default)]
struct State {
    /// The buffer that the host writes.
    room: Vec<u8>,
    /// The buffer that the host reads.
    answer: Vec<u8>,
    rules: RuleSet,
    /// The last query, reused so that reading the next one allocates no memory.
    query: Normal,
    /// The error in the last query.
    wrong: Option<Error>,
}

thread_local!(static STATE: RefCell<State> = RefCell::default());

/// Returns the address of room for `length` bytes, or 0 if memory is exhausted. Addresses from
/// earlier calls are void.
#[wasm_bindgen]
#[must_use]
pub fn room(length: usize) -> usize {
    with(|state| state.room_for(length).unwrap_or(0))
}

/// Returns the address of the last answer.
#[wasm_bindgen]
#[must_use]
pub fn answer() -> usize {
    with(|state| state.answer.as_ptr().expose_provenance())
}

/// Takes the rules in the first `length` bytes of the room, in the encoding of
/// `wardgate_spocp::packed`. Returns the number of rules; -1 if the bytes are no rules, and then
/// the set is unchanged.
#[wasm_bindgen]
#[must_use]
pub fn open(length: usize) -> i32 {
    with(|state| state.open(length).unwrap_or(NONE))
}

/// Returns 1 if a rule allows the query in the first `length` bytes of the room, 0 if none does,
/// and -1 if the bytes are no query; then [`wrong`] gives the reason.
#[wasm_bindgen]
#[must_use]
pub fn allows(length: usize) -> i32 {
    with(|state| state.ask(length, |state| i32::from(state.rules.allows(&state.query))))
}

/// Answers with the number of the first rule that allows the query, 4 bytes. Returns the length of
/// the answer: 0 if no rule allows it, -1 if the bytes are no query.
#[wasm_bindgen]
#[must_use]
pub fn first(length: usize) -> i32 {
    with(|state| state.ask(length, |state| state.answer_with(state.rules.first(&state.query))))
}

/// Answers with the numbers of all rules that allow the query, in order. Returns the same as
/// [`first`].
#[wasm_bindgen]
#[must_use]
pub fn matches(length: usize) -> i32 {
    with(|state| state.ask(length, |state| state.answer_with(state.rules.matches(&state.query))))
}

/// Answers with the canonical form of a rule, and returns its length; -1 if the rule does not
/// exist.
#[wasm_bindgen]
#[must_use]
pub fn canonical(rule: u32) -> i32 {
    with(|state| state.write(rule, |rule| rule.expression().to_canonical()))
}

/// Answers with the advanced form of a rule, and returns its length; -1 if the rule does not exist.
#[wasm_bindgen]
#[must_use]
pub fn advanced(rule: u32) -> i32 {
    with(|state| state.write(rule, |rule| rule.expression().to_advanced()))
}

/// Answers with the message of the error in the last query, and returns its length; -1 if the query
/// was valid.
#[wasm_bindgen]
#[must_use]
pub fn wrong() -> i32 {
    with(|state| match state.wrong {
        Some(error) => state.answer_in(error.to_string().into_bytes()),
        None => NONE,
    })
}

/// Returns the offset of the error in the last query; -1 if the query was valid.
#[wasm_bindgen(js_name = wrongAt)]
#[must_use]
pub fn wrong_at() -> i32 {
    with(|state| state.wrong.map_or(NONE, |error| number(error.offset)))
}

impl State {
    fn room_for(&mut self, length: usize) -> Option<usize> {
        let wanted = length.max(RETAINED);
        // A long query must not occupy its room for ever. Before the first call there is no room,
        // and so no address.
        if self.room.len() != wanted {
            self.room = Vec::new();
            self.room.try_reserve_exact(wanted).ok()?;
            self.room.resize(wanted, 0);
        }
        Some(self.room.as_mut_ptr().expose_provenance())
    }

    fn open(&mut self, length: usize) -> Option<i32> {
        let rules = unpack(self.room.get(..length)?)?;
        // The room is as long as the rules were.
        self.room = Vec::new();
        self.rules = rules;
        Some(number(self.rules.len()))
    }

    /// Reads the query, and answers it.
    fn ask(&mut self, length: usize, answer: impl FnOnce(&mut Self) -> i32) -> i32 {
        let text = self.room.get(..length).unwrap_or_default();
        match file::read(text, &mut self.query) {
            Ok(()) => {
                self.wrong = None;
                answer(self)
            }
            Err(error) => {
                self.wrong = Some(error);
                NONE
            }
        }
    }

    fn answer_with(&mut self, rules: impl IntoIterator<Item = RuleId>) -> i32 {
        let bytes = rules.into_iter().flat_map(|rule| rule.number().to_le_bytes()).collect();
        self.answer_in(bytes)
    }

    fn write(&mut self, rule: u32, form: impl FnOnce(&Normal) -> Vec<u8>) -> i32 {
        let rule = self.rules.rule(RuleId::new(rule));
        rule.map_or(NONE, |rule| self.answer_in(form(&rule)))
    }

    fn answer_in(&mut self, bytes: Vec<u8>) -> i32 {
        self.answer = bytes;
        number(self.answer.len())
    }
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(work)
}

/// Converts a number for the border. Rules and answers are fewer than `i32::MAX`: see `limits` of
/// `wardgate_spocp`.
fn number(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The result of a call without an answer.
const NONE: i32 = -1;

/// The length of the room that stays allocated for the next call, in bytes.
const RETAINED: usize = 1 << 12;

#[cfg(test)]
mod tests {
    use super::*;
    use wardgate_spocp::packed::pack;

    fn holding(rules: &[&str]) -> State {
        let mut set = RuleSet::new();
        for rule in rules {
            set.insert(&Normal::from_advanced(rule.as_bytes()).unwrap()).unwrap();
        }
        let mut state = State::default();
        let length = put(&mut state, &pack(&set));
        assert_eq!(state.open(length), Some(number(rules.len())));
        state
    }

    fn put(state: &mut State, bytes: &[u8]) -> usize {
        state.room_for(bytes.len()).unwrap();
        state.room[..bytes.len()].copy_from_slice(bytes);
        bytes.len()
    }

    fn matches(state: &mut State, query: &str) -> (i32, Vec<u8>) {
        let length = put(state, query.as_bytes());
        let count = state.ask(length, |state| state.answer_with(state.rules.matches(&state.query)));
        (count, state.answer.clone())
    }

    #[test]
    fn a_query_is_read_in_both_forms() {
        let mut state = holding(&["(http (action GET))", "(http)"]);
        let both = (8, vec![0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(matches(&mut state, "(http (action GET))"), both);
        assert_eq!(matches(&mut state, "(4:http(6:action3:GET))"), both);
        assert_eq!(matches(&mut state, "(ftp)").0, 0);
    }

    #[test]
    fn an_invalid_query_reports_its_offset() {
        let mut state = holding(&["(http)"]);
        assert_eq!(matches(&mut state, "(http").0, NONE);
        assert_eq!(state.wrong.map(|error| error.offset), Some(5));
        assert_eq!(matches(&mut state, "(http)").0, 4);
        assert!(state.wrong.is_none());
    }

    #[test]
    fn invalid_rules_leave_the_set_unchanged() {
        let mut state = holding(&["(http)"]);
        let length = put(&mut state, &[1, 0, 0, 0, b'x', 9]);
        assert_eq!(state.open(length), None);
        assert_eq!(state.open(usize::MAX), None);
        assert_eq!(matches(&mut state, "(http)").0, 4);
    }

    #[test]
    fn the_room_of_a_long_query_is_freed() {
        let mut state = holding(&["(http)"]);
        assert_eq!(matches(&mut state, &format!("({})", "a".repeat(3 * RETAINED))).0, 0);
        assert_eq!(matches(&mut state, "(http x)").0, 4);
        assert_eq!(state.room.len(), RETAINED);
    }
}

//! Where JavaScript and the module lay down bytes for each other.
//!
//! Bytes stay where they are until room is made for more.

use std::cell::RefCell;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What lies there.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    secrets: Secrets,
}

/// What seals and opens.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    pub(crate) key: [u8; 32],
    pub(crate) nonce: [u8; 12],
    pub(crate) associated: Vec<u8>,
}

impl Desk {
    /// Returns a message of `message` bytes and the signature of `signature` bytes behind it.
    pub(crate) fn signed(&self, message: usize, signature: usize) -> (&[u8], &[u8]) {
        let both = self.input.get(..message.saturating_add(signature)).unwrap_or_default();
        both.split_at_checked(message).unwrap_or_default()
    }

    /// Returns the first `bytes` bytes to be sealed in their place, where their tag goes, and the secrets.
    pub(crate) fn text(&mut self, bytes: usize) -> Option<(&mut [u8], &mut [u8; 16], &Secrets)> {
        let text = self.input.get_mut(..bytes)?;
        Some((text, self.output.first_chunk_mut()?, &self.secrets))
    }
}

/// Makes room for `input` bytes that come in and `output` bytes that go out.
#[wasm_bindgen]
pub fn reserve(input: usize, output: usize) {
    with(|desk| {
        desk.input.resize(input, 0);
        desk.output.resize(output, 0);
    });
}

/// Returns where the bytes that come in lie.
#[wasm_bindgen]
pub fn input() -> *const u8 {
    with(|desk| desk.input.as_ptr())
}

/// Returns where the bytes that go out lie.
#[wasm_bindgen]
pub fn output() -> *const u8 {
    with(|desk| desk.output.as_ptr())
}

/// Returns the memory of the module.
#[wasm_bindgen]
pub fn linear_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// Takes a key and a nonce from the desk, and the associated data of `length` bytes behind them.
#[wasm_bindgen]
pub fn take_secrets(length: usize) -> bool {
    with(|desk| read_secrets(&desk.input, length).map(|secrets| desk.secrets = secrets)).is_some()
}

fn read_secrets(input: &[u8], length: usize) -> Option<Secrets> {
    let (key, rest) = input.split_first_chunk()?;
    let (nonce, rest) = rest.split_first_chunk()?;
    Some(Secrets { key: *key, nonce: *nonce, associated: rest.get(..length)?.to_vec() })
}

/// Does something at the desk.
pub(crate) fn with<T>(act: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(act)
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

//! The memory through which JavaScript and the module exchange bytes.
//!
//! Bytes stay in their place until room is made for more.

use std::cell::RefCell;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// The bytes, and the secrets.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    secrets: Secrets,
}

/// The key, the nonce and the associated data.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    pub(crate) key: [u8; 32],
    pub(crate) nonce: [u8; 12],
    pub(crate) associated: Vec<u8>,
}

impl Buffers {
    /// Returns a message of `message` bytes and the signature of `signature` bytes behind it.
    pub(crate) fn signed(&self, message: usize, signature: usize) -> (&[u8], &[u8]) {
        let both = self.input.get(..message.saturating_add(signature)).unwrap_or_default();
        both.split_at_checked(message).unwrap_or_default()
    }

    /// Returns the first `bytes` bytes to be sealed in their place, where their tag goes, and the
    /// secrets.
    pub(crate) fn text(&mut self, bytes: usize) -> Option<(&mut [u8], &mut [u8; 16], &Secrets)> {
        let text = self.input.get_mut(..bytes)?;
        Some((text, self.output.first_chunk_mut()?, &self.secrets))
    }
}

/// Makes room for `input` bytes that come in and `output` bytes that go out.
#[wasm_bindgen]
pub fn reserve(input: usize, output: usize) {
    with(|buffers| {
        buffers.input.resize(input, 0);
        buffers.output.resize(output, 0);
    });
}

/// Returns the address of the bytes that come in.
#[wasm_bindgen]
pub fn input() -> *const u8 {
    with(|buffers| buffers.input.as_ptr())
}

/// Returns the address of the bytes that go out.
#[wasm_bindgen]
pub fn output() -> *const u8 {
    with(|buffers| buffers.output.as_ptr())
}

/// Returns the memory of the module.
#[wasm_bindgen]
pub fn linear_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// Takes a key and a nonce from the buffers, and the associated data of `length` bytes behind them.
#[wasm_bindgen]
pub fn take_secrets(length: usize) -> bool {
    with(|buffers| read_secrets(&buffers.input, length).map(|secrets| buffers.secrets = secrets))
        .is_some()
}

fn read_secrets(input: &[u8], length: usize) -> Option<Secrets> {
    let (key, rest) = input.split_first_chunk()?;
    let (nonce, rest) = rest.split_first_chunk()?;
    Some(Secrets { key: *key, nonce: *nonce, associated: rest.get(..length)?.to_vec() })
}

/// Runs `act` in the buffers.
pub(crate) fn with<T>(act: impl FnOnce(&mut Buffers) -> T) -> T {
    BUFFERS.with_borrow_mut(act)
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

//! Operations on bytes before they are opened, and the facts about a bundle afterwards.
//!
//! The bytes returned here are untrusted: they go to `open` like any bundle.

use alloc::string::String;
use alloc::vec::Vec;

use wardgate_bundle::{Conditions, Header, Kind, sealed};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::failure::Failure;
use crate::{handles, terms};

/// Returns true if the prefix of `bytes` is that of a delta.
#[wasm_bindgen(js_name = isDelta)]
pub fn is_delta(bytes: &[u8]) -> bool {
    Kind::of(bytes) == Ok(Kind::Delta)
}

/// Returns the bundle or delta that is sealed in `bytes`.
///
/// # Errors
/// The bytes are not sealed, too many, or sealed with another key.
#[wasm_bindgen]
pub fn unseal(bytes: &[u8], key: &[u8], max_bytes: u32) -> Result<Vec<u8>, JsValue> {
    let key = key
        .try_into()
        .map_err(|_| Failure::Range("option `unsealKey` must have 32 bytes".into()))?;
    Ok(sealed::unseal(bytes, key, &at_most(max_bytes)).map_err(Failure::from)?)
}

/// Returns the bundle that a delta makes of its base, under the terms of an open bundle.
///
/// # Errors
/// The delta is damaged, not signed, too large, or for another base; or the handle is closed.
#[wasm_bindgen]
pub fn apply(handle: u32, base: &[u8], delta: &[u8]) -> Result<Vec<u8>, JsValue> {
    let terms = handles::terms_of(handle)?;
    Ok(terms::apply(&terms, base, delta)?)
}

/// Returns the header of an open bundle and the keys that signed it: see [`Header::json`].
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen]
pub fn header(handle: u32) -> Result<String, JsValue> {
    Ok(handles::header(handle, Header::json)?)
}

/// Returns the offset at which the rules of SPOCP begin in the bytes of an open bundle; they end
/// with the bytes. Returns 0 if the handle is closed. The rules are verified with the rest, and not
/// parsed here.
#[unsafe(export_name = "rulesAt")]
extern "C" fn rules_at(handle: u32) -> usize {
    handles::rules(handle).unwrap_or(0)
}

fn at_most(max_bytes: u32) -> Conditions<'static> {
    let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    Conditions { max_bytes, ..Conditions::default() }
}

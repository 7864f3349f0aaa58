//! What happens to bytes before they are opened, and what is known of them afterwards.
//!
//! What is returned here as bytes is believed by nobody: it goes to `open` like any bundle.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use wardgate_bundle::{Conditions, Header, KeyId, Kind, sealed};
use wardgate_engine::table::Evaluation;
use wardgate_engine::wire::Json;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::failure::Failure;
use crate::handles;

/// Whether bytes begin like a delta.
#[wasm_bindgen(js_name = isDelta)]
pub fn is_delta(bytes: &[u8]) -> bool {
    Kind::of(bytes) == Ok(Kind::Delta)
}

/// Returns what is sealed in `bytes`: a bundle or a delta.
///
/// # Errors
/// The bytes are not sealed, too many, or not sealed with this key.
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
    Ok(handles::terms_of(handle)?.apply(base, delta)?)
}

/// Returns what the signers said of an open bundle, and who they are:
/// `{"name", "revision", "created", "notBefore"?, "expires"?, "evaluation", "content", "signers"}`.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen]
pub fn header(handle: u32) -> Result<String, JsValue> {
    Ok(handles::header(handle, header_json)?)
}

fn header_json(header: &Header, signers: &[KeyId]) -> String {
    let label = &header.label;
    let mut json = Json::default();
    json.open('{');
    json.field("name", &label.name);
    let dates = [("notBefore", label.not_before), ("expires", label.expires)];
    let numbers = [("revision", Some(label.revision)), ("created", Some(label.created))];
    for (name, value) in numbers.into_iter().chain(dates) {
        if let Some(value) = value {
            json.key(name);
            json.number(exact(value));
        }
    }
    let evaluation = match header.evaluation {
        Evaluation::Strict => "strict",
        Evaluation::Lenient => "lenient",
    };
    json.field("evaluation", evaluation);
    json.field("content", &hexadecimal(&header.content));
    json.key("signers");
    json.open('[');
    signers.iter().for_each(|key| json.string(&key.to_string()));
    json.close(']');
    json.close('}');
    json.finish()
}

#[expect(clippy::as_conversions, reason = "the numbers of a header are below 2^53")]
fn exact(number: u64) -> f64 {
    number as f64
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn at_most(max_bytes: u32) -> Conditions<'static> {
    let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    Conditions { max_bytes, ..Conditions::default() }
}

//! The JavaScript border: opens bundles, reads requests, answers with decisions.
//!
//! Nothing is decided here. A request is read completely before anything else happens, so code of the
//! caller that runs meanwhile (a getter) cannot see the engine at work. Answers cross as canonical
//! JSON: the same bytes that every other host writes.
//!
//! The module does without the standard library: what formats and prints the message of a panic, which
//! nobody would read, is a tenth of its size. A panic is a trap.
#![no_std]

extern crate alloc;
// Elsewhere the crate is only checked and its tests run, with the usual allocator and panics.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod arena;
mod batch;
mod clock;
mod failure;
mod frame;
mod handles;
#[cfg(target_arch = "wasm32")]
mod heap;
mod js;
mod path;
pub mod plans;
mod request;
mod shared;
mod value;

use alloc::format;
use alloc::string::{String, ToString};

use wardgate_bundle::{Conditions, Trust};
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use failure::Failure;
use request::Asked;

/// Opens a bundle and returns the number that names it in later calls.
///
/// # Errors
/// The bundle or the trust is refused.
#[wasm_bindgen]
pub fn open(bundle: &[u8], trust: &str) -> Result<u32, JsValue> {
    Ok(handles::add(opened(bundle, trust)?)?)
}

/// Opens a bundle in the place of an earlier one, which stays when the new one is refused.
///
/// # Errors
/// The bundle or the trust is refused, or the handle is closed.
#[wasm_bindgen]
pub fn reload(handle: u32, bundle: &[u8], trust: &str) -> Result<(), JsValue> {
    Ok(handles::replace(handle, opened(bundle, trust)?)?)
}

/// Closes a bundle.
#[wasm_bindgen]
pub fn close(handle: u32) {
    handles::remove(handle);
}

/// Decides one action: `{ principal, action, resource }`.
///
/// # Errors
/// The request cannot be read, or the handle is closed.
#[wasm_bindgen(js_name = isAllowed)]
pub fn is_allowed(handle: u32, request: &JsValue, now: f64) -> Result<bool, JsValue> {
    let request = request::read(request, Asked::Action)?;
    let action = request.actions.first().map_or("", String::as_str);
    Ok(handles::table(handle)?.is_allowed(&request, action, clock::timestamp(now)?))
}

/// Decides several actions, `{ principal, actions, resource }`, and returns the decision as JSON.
///
/// # Errors
/// The request cannot be read, or the handle is closed.
#[wasm_bindgen]
pub fn check(handle: u32, request: &JsValue, now: f64) -> Result<String, JsValue> {
    let request = request::read(request, Asked::Actions)?;
    let decision = handles::table(handle)?.check(&request, clock::timestamp(now)?);
    Ok(wire::decision_json(&decision))
}

/// Decides one action and returns, as JSON, the decision and every rule that was considered.
///
/// # Errors
/// The request cannot be read, or the handle is closed.
#[wasm_bindgen]
pub fn explain(handle: u32, request: &JsValue, now: f64) -> Result<String, JsValue> {
    let request = request::read(request, Asked::Action)?;
    let explanation = handles::table(handle)?.explain(&request, clock::timestamp(now)?);
    Ok(wire::explanation_json(&explanation))
}

fn opened(bundle: &[u8], trust: &str) -> Result<PolicyTable, Failure> {
    let trust = match trust {
        "unsigned" => Trust::Unsigned,
        other => {
            return Err(Failure::Range(format!("trust must be \"unsigned\", found `{other}`")));
        }
    };
    wardgate_bundle::open(bundle, trust, &Conditions::default())
        .map(|opened| opened.table)
        .map_err(|error| Failure::Refused { code: "bundle", message: error.to_string() })
}

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn trap(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

//! The JavaScript border: opens bundles, reads requests, answers with decisions.
//!
//! This crate makes no decisions. It reads a request completely before any other step, so code of
//! the caller that runs meanwhile (a getter) cannot see the engine at work. Answers cross as
//! canonical JSON: the same bytes that every other host writes.
//!
//! The module does without the standard library: the code that formats and prints the message of a
//! panic would be a tenth of its size, and no host shows the message. A panic is a trap.
#![no_std]

extern crate alloc;
// On other targets the crate is only checked and tested, with the usual allocator and panics.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod arena;
mod batch;
pub mod bundles;
mod clock;
mod failure;
pub mod fast_paths;
mod frame;
mod handles;
#[cfg(target_arch = "wasm32")]
mod heap;
mod js;
mod path;
mod request;
mod room;
mod shared;
mod signatures;
#[cfg(feature = "sign")]
mod signing;
mod steps;
mod terms;
mod value;

use alloc::string::String;

use wardgate_engine::decision::Decision;
use wardgate_engine::wire;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use failure::Failure;
use request::{ActionField, Shared};
use terms::Moment;

/// Opens a bundle and returns its number for later calls. `terms` encodes whom the host trusts and
/// what it accepts: see [`terms`].
///
/// # Errors
/// The bundle or the terms are refused.
#[wasm_bindgen]
pub fn open(bundle: &[u8], terms: &[u8], now: f64, min_revision: f64) -> Result<u32, JsValue> {
    let moment = Moment::new(now, min_revision)?;
    let terms = handles::terms(terms)?;
    let opened = moment.open(bundle, &terms)?;
    Ok(handles::add(opened, terms)?)
}

/// Opens a bundle in place of an earlier one, which remains if the new one is refused. The terms
/// are the same, so that prepared keys are reused.
///
/// # Errors
/// The bundle is refused, or the handle is closed.
#[wasm_bindgen]
pub fn reload(handle: u32, bundle: &[u8], now: f64, min_revision: f64) -> Result<(), JsValue> {
    let moment = Moment::new(now, min_revision)?;
    let terms = handles::terms_of(handle)?;
    let opened = moment.open(bundle, &terms)?;
    Ok(handles::replace(handle, opened)?)
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
    let request = request::read(request, ActionField::Action, &mut Shared::default(), 0)?;
    let action = request.actions.first().map_or("", String::as_str);
    Ok(handles::table(handle)?.is_allowed(&request, action, clock::timestamp(now)?))
}

/// Decides several actions, `{ principal, actions, resource }`, and returns the decision as JSON.
/// `shared` encodes the parts that the request shares with those before and after it, and their
/// sharer.
///
/// # Errors
/// The request cannot be read, or the handle is closed.
#[wasm_bindgen]
pub fn check(handle: u32, request: &JsValue, now: f64, shared: u32) -> Result<String, JsValue> {
    let mut parts = Shared::taken(shared);
    let decision = read_and_check(handle, request, now, &mut parts, shared);
    parts.leave();
    Ok(wire::decision_json(&decision?))
}

fn read_and_check(
    handle: u32,
    request: &JsValue,
    now: f64,
    parts: &mut Shared,
    shared: u32,
) -> Result<Decision, Failure> {
    let mut request = request::read(request, ActionField::Actions, parts, shared)?;
    let (table, now) = (handles::table(handle)?, clock::timestamp(now)?);
    let decision = steps::shared(|budget| table.check_within(&request, now, budget));
    parts.take_back(&mut request, shared);
    Ok(decision)
}

/// Decides one action and returns, as JSON, the decision and every rule that was considered.
///
/// # Errors
/// The request cannot be read, or the handle is closed.
#[wasm_bindgen]
pub fn explain(handle: u32, request: &JsValue, now: f64) -> Result<String, JsValue> {
    let request = request::read(request, ActionField::Action, &mut Shared::default(), 0)?;
    let explanation = handles::table(handle)?.explain(&request, clock::timestamp(now)?);
    Ok(wire::explanation_json(&explanation))
}

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// Returns the number of allocations so far, so that a test can prove that a call makes none.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
extern "C" fn allocations() -> u32 {
    HEAP.count()
}

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn trap(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

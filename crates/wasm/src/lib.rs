//! The JavaScript border: opens bundles, reads requests, answers with decisions.
//!
//! This crate makes no decisions. JavaScript writes a request completely into the memory of the
//! module before any other step, so code of the caller that runs meanwhile (a getter) cannot see the
//! engine at work. Decisions return as ids of the table's strings, or as canonical JSON: the same
//! bytes that every other host writes.
//!
//! The module does without the standard library: the code that formats and prints the message of a
//! panic would be a tenth of its size, and no host shows the message. A panic is a trap.
#![no_std]

extern crate alloc;
// On other targets the crate is only checked and tested, with the usual allocator and panics.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

mod answer;
mod arena;
mod batch;
pub mod bundles;
mod clock;
pub mod failure;
pub mod fast_paths;
mod frame;
mod handles;
#[cfg(target_arch = "wasm32")]
mod heap;
mod js;
mod reader;
mod request;
mod room;
mod shared;
mod signatures;
#[cfg(feature = "sign")]
mod signing;
mod steps;
mod terms;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use core::ptr::null;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use failure::Failure;
use request::Shared;
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

/// Decides one action of the request in the first `length` bytes of the room: see [`request`].
/// Returns 1 for Allow, 0 for Deny, and 2 if the handle is closed or the time is no time: then
/// [`failure::last_failure`] throws the reason.
#[wasm_bindgen(js_name = isAllowed)]
pub fn is_allowed(handle: u32, length: usize, now: f64) -> u32 {
    match Reading::new(handle, length, now, 0) {
        Ok(Reading { table, request, now, .. }) => {
            let action = request.actions.first().map_or("", String::as_str);
            u32::from(table.is_allowed(&request, action, now))
        }
        Err(failure) => {
            failure.store();
            2
        }
    }
}

/// Decides several actions, and returns the address of the answer: see [`answer`]. Returns 0 if the
/// call failed, as above. `shared` encodes the parts that the request shares with those before and
/// after it, and their sharer.
#[unsafe(no_mangle)]
extern "C" fn check(handle: u32, length: usize, now: f64, shared: u32) -> *const u32 {
    match Reading::new(handle, length, now, shared) {
        Ok(reading) => {
            let Reading { table, request, now, .. } = &reading;
            let decision = steps::shared(|budget| table.check_coded(request, *now, budget));
            let words = table.limit_words();
            let limits = if words.is_empty() { 0 } else { words.as_ptr().addr() };
            reading.leave();
            answer::store(decision, limits)
        }
        Err(failure) => {
            failure.store();
            null()
        }
    }
}

/// Decides several actions and returns the decision as JSON.
///
/// # Errors
/// The handle is closed, or the time is no time.
#[wasm_bindgen(js_name = checkText)]
pub fn check_text(handle: u32, length: usize, now: f64, shared: u32) -> Result<String, JsValue> {
    let reading = Reading::new(handle, length, now, shared)?;
    let Reading { table, request, now, .. } = &reading;
    let decision = steps::shared(|budget| table.check_within(request, *now, budget));
    reading.leave();
    Ok(wire::decision_json(&decision))
}

/// Decides one action and returns, as JSON, the decision and every rule that was considered.
///
/// # Errors
/// The handle is closed, or the time is no time.
#[wasm_bindgen]
pub fn explain(handle: u32, length: usize, now: f64) -> Result<String, JsValue> {
    let Reading { table, request, now, .. } = Reading::new(handle, length, now, 0)?;
    Ok(wire::explanation_json(&table.explain(&request, now)))
}

/// A request that was read, and what decides it.
struct Reading {
    table: Rc<PolicyTable>,
    request: Request,
    now: Timestamp,
    shared: u32,
    parts: Option<Box<Shared>>,
}

impl Reading {
    /// Reads the request in the first `length` bytes of the room.
    #[inline(never)]
    fn new(handle: u32, length: usize, now: f64, shared: u32) -> Result<Self, Failure> {
        let mut parts = Shared::taken(shared);
        let request = request::read(length, parts.as_deref_mut(), shared)?;
        let (table, now) = (handles::table(handle)?, clock::timestamp(now)?);
        Ok(Self { table, request, now, shared, parts })
    }

    /// Leaves the shared parts to the next request.
    fn leave(self) {
        if let Some(parts) = self.parts {
            parts.leave(self.request, self.shared);
        }
    }
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

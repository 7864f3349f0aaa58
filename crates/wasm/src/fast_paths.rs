//! The facts about fast paths that JavaScript needs to fill frames, as JSON: see `wire` of the
//! engine.

use alloc::string::String;

use wardgate_engine::wire;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::handles;

/// Returns the fast paths for resources of one kind, with one version and scope of policies.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = planList)]
pub fn fast_path_list(
    handle: u32,
    kind: &str,
    version: &str,
    scope: &str,
) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::fast_path_list_json(&table, kind, version, scope))
}

/// Returns one fast path.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = planOf)]
pub fn fast_path_of(handle: u32, fast_path: u32) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::fast_path_json(&table, fast_path))
}

/// Returns the ids of the principals with principal policies.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen]
pub fn principals(handle: u32) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::principals_json(&table))
}

/// Returns the actions that rules about resources of this kind name.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen]
pub fn actions(handle: u32, kind: &str) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::actions_json(&table, kind))
}

/// Returns the names of the attributes that policies read.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = readNames)]
pub fn read_names(handle: u32) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::read_names_json(&table))
}

/// Returns a string of the table, as answers name it.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = textOf)]
pub fn text_of(handle: u32, id: u32) -> Result<String, JsValue> {
    Ok(handles::table(handle)?.string(id).into())
}

//! The JavaScript border of the compiler: files and options in, bundles, layouts, results of tests
//! and diagnostics out.
//!
//! The module compiles as the command does: the same files and options give the same bytes and the
//! same diagnostics. It is a module of its own, so that the runtime module holds no parser.
#![forbid(unsafe_code)]

mod answer;
mod compiling;
mod failure;
mod formatting;
mod options;
mod testing;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use failure::Failure;

/// Compiles files, `[[path, bytes], ...]`, to `{ bundle?, accessors?, types?, diagnostics }`.
///
/// # Errors
/// A failure that the policies do not cause, as `[kind, message, code]`; see [`failure`].
#[wasm_bindgen]
pub fn compile(files: JsValue, options: JsValue) -> Result<JsValue, JsValue> {
    let files = serde_wasm_bindgen::from_value(files)?;
    let options = serde_wasm_bindgen::from_value(options)?;
    let answer = compiling::compile(files, options).map_err(|failure| thrown(&failure))?;
    Ok(serde_wasm_bindgen::to_value(&answer)?)
}

/// Runs the test suites among files, `[[path, bytes], ...]`, to `{ results?, junit?, diagnostics
/// }`.
///
/// # Errors
/// As for [`compile`].
#[wasm_bindgen]
pub fn test(files: JsValue, options: JsValue) -> Result<JsValue, JsValue> {
    let files = serde_wasm_bindgen::from_value(files)?;
    let options = serde_wasm_bindgen::from_value(options)?;
    let answer = testing::test(files, &options).map_err(|failure| thrown(&failure))?;
    Ok(serde_wasm_bindgen::to_value(&answer)?)
}

/// Lays out one file, `[path, bytes]`, to `{ text?, outcome?, diagnostics }`.
///
/// # Errors
/// As for [`compile`].
#[wasm_bindgen]
pub fn format(file: JsValue) -> Result<JsValue, JsValue> {
    let file = serde_wasm_bindgen::from_value(file)?;
    Ok(serde_wasm_bindgen::to_value(&formatting::format(file))?)
}

/// Returns the value of which `npm/src` makes an error. An `Error` that leaves the module is a
/// fault of the border.
fn thrown(failure: &Failure) -> JsValue {
    serde_wasm_bindgen::to_value(failure).unwrap_or_default()
}

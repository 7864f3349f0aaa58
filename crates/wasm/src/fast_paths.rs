//! The facts about fast paths that JavaScript needs to fill frames, as JSON: see `wire` of the
//! engine.

use alloc::string::String;

use wardgate_engine::fastpath::Subject;
use wardgate_engine::wire;
use wardgate_fastpath::Verdict;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{frame, handles};

/// Returns the fast paths for resources of one kind, with one version and scope of policies; `null`
/// if no policy is about the kind, and the empty text if the general path decides. A principal with
/// policies of its own may have others.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = planList)]
pub fn fast_path_list(
    handle: u32,
    kind: &str,
    version: &str,
    scope: &str,
    principal: Option<String>,
) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::coverage_json(&table, [kind, version, scope], principal.as_deref()))
}

/// Returns the kinds that have fast paths, with the number of the list of each.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = planKinds)]
pub fn fast_path_kinds(handle: u32) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    Ok(wire::fast_path_kinds_json(&table))
}

/// Returns the fast path of an action that a list does not name, with verdicts or without; -1 if the
/// general path decides. `at` is the offset of the list.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = planFor)]
pub fn fast_path_for(
    handle: u32,
    at: u32,
    action: &str,
    has_verdicts: bool,
) -> Result<i32, JsValue> {
    let table = handles::table(handle)?;
    let list = table.fast_paths().list(at);
    let id = list.and_then(|list| match has_verdicts {
        true => table.verdicts_of_action(list, action),
        false => table.fast_path_of_action(list, action),
    });
    Ok(id.and_then(|id| i32::try_from(id).ok()).unwrap_or(-1))
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

/// Returns what an answer stands for, as JSON. An answer of `verdict` is the decision on an action;
/// if it says that rules emit outputs, these instead: for `count` roles and the values that the
/// frame still has, with `used` and `now` as in the call of `verdict`; the empty text if the general
/// path must make them. Without a fast path ([`u32::MAX`]) it is an answer of `grants`: the names of
/// derived roles. One export for all costs the module less than three.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = answerText)]
#[allow(clippy::too_many_arguments, reason = "the glue has no other form for a call with texts")]
pub fn answer_text(
    handle: u32,
    kind: &str,
    version: &str,
    scope: &str,
    principal: &str,
    fast_path: u32,
    answer: u32,
    count: u32,
    used: u32,
    now: f64,
) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    let subject = Subject { kind, version, scope, principal };
    let entry = answer & 0xffff;
    let verdict = match answer >> 28 {
        _ if fast_path == u32::MAX => return Ok(wire::granted_json(&table, subject, answer)),
        0 => Verdict::Nothing,
        1 => Verdict::Allow(entry),
        2 => Verdict::Deny(entry),
        _ => {
            let outputs = frame::outputs(handle, subject, (fast_path, count), (used, now));
            return Ok(outputs.unwrap_or_default());
        }
    };
    Ok(wire::verdict_json(&table, subject, fast_path, verdict))
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

/// Returns a string of the table, as answers name it; for ids from 2^31 on the source text of the
/// program with the rest of the id, which is empty in a table without explanations.
///
/// # Errors
/// The handle is closed.
#[wasm_bindgen(js_name = textOf)]
pub fn text_of(handle: u32, id: u32) -> Result<String, JsValue> {
    let table = handles::table(handle)?;
    let text = if id < SOURCES { table.string(id) } else { table.source(id ^ SOURCES) };
    Ok(text.into())
}

/// The first id that names the source of a program. No table has so many strings.
const SOURCES: u32 = 1 << 31;

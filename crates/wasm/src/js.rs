//! The one function of JavaScript that the module calls.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// Returns an array. The types of the `js-sys` crate are not used, because they bring unused
    /// closures into the module.
    #[wasm_bindgen(js_namespace = Array, js_name = of)]
    pub(crate) fn array_of(kind: &str, what: &str, code: &str) -> JsValue;
}

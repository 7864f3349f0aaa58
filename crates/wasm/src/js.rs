//! The few questions that the border asks of a JavaScript value.
//!
//! Each may run code of the caller (a getter, a proxy), so each catches what that code throws: an
//! exception that crossed the module's frames would leave its stack in disorder.

use alloc::string::String;

use wardgate_engine::text::has;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::failure::Failure;

#[wasm_bindgen]
extern "C" {
    /// What has a length: an array or a string. The types of the `js-sys` crate are not used, because
    /// they bring closures into the module that nothing calls.
    type Sized;

    #[wasm_bindgen(method, getter)]
    fn length(this: &Sized) -> u32;

    /// An option, because only then the glue makes it a number before it returns: a length may be an
    /// object too, and run code when it is to be a number.
    #[wasm_bindgen(catch, method, getter, js_name = length)]
    fn claimed_length(this: &Sized) -> Result<Option<u32>, JsValue>;

    #[wasm_bindgen(js_namespace = Array, js_name = of)]
    pub(crate) fn array_of(kind: &str, what: &JsValue, code: &str) -> JsValue;

    #[wasm_bindgen(catch, js_namespace = Object, js_name = keys)]
    fn object_keys(value: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["Object", "prototype", "toString"], js_name = call)]
    fn object_tag(value: &JsValue) -> Result<String, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Array, js_name = isArray)]
    fn array_is_array(value: &JsValue) -> Result<bool, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Array, js_name = from)]
    fn array_from(value: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = Reflect, js_name = get)]
    fn reflect_get(value: &JsValue, key: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["Date", "prototype", "getTime"], js_name = call)]
    fn date_time(value: &JsValue) -> Result<f64, JsValue>;

    #[wasm_bindgen(catch, js_namespace = ["Date", "prototype", "toISOString"], js_name = call)]
    fn date_iso(value: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = ["String", "prototype", "isWellFormed"], js_name = call)]
    fn string_is_well_formed(value: &JsValue) -> bool;
}

/// What a value is, as far as a request is concerned.
pub(crate) enum Kind {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String(JsValue),
    List,
    Object,
    Map,
    Date,
    /// Nothing that JSON could hold; the word names it.
    Other(String),
}

/// Returns what `value` is.
pub(crate) fn kind(value: &JsValue) -> Result<Kind, Failure> {
    if value.is_undefined() {
        return Ok(Kind::Undefined);
    }
    if value.is_null() {
        return Ok(Kind::Null);
    }
    if let Some(known) = value.as_bool() {
        return Ok(Kind::Bool(known));
    }
    if let Some(number) = value.as_f64() {
        return Ok(Kind::Number(number));
    }
    if value.is_string() {
        return Ok(Kind::String(value.clone()));
    }
    if !value.is_object() {
        return Ok(Kind::Other(primitive(value).into()));
    }
    if array_is_array(value).map_err(Failure::Thrown)? {
        return Ok(Kind::List);
    }
    let tag = object_tag(value).map_err(Failure::Thrown)?;
    Ok(match tag.as_str() {
        "[object Object]" => Kind::Object,
        "[object Map]" => Kind::Map,
        "[object Date]" => Kind::Date,
        _ => Kind::Other(tag.strip_prefix("[object ").unwrap_or(&tag).trim_end_matches(']').into()),
    })
}

impl Kind {
    /// The word for this kind in a message.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(number) if number.is_nan() => "NaN",
            Self::Number(number) if number.is_infinite() => "Infinity",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List => "array",
            Self::Object => "object",
            Self::Map => "Map",
            Self::Date => "Date",
            Self::Other(word) => word,
        }
    }
}

fn primitive(value: &JsValue) -> &'static str {
    if value.is_function() {
        "function"
    } else if value.is_symbol() {
        "symbol"
    } else {
        "bigint"
    }
}

/// Returns the own enumerable names of an object: what it inherits is never part of a request.
pub(crate) fn keys(object: &JsValue) -> Result<JsValue, Failure> {
    object_keys(object).map_err(Failure::Thrown)
}

/// Returns the member `key` of an object.
pub(crate) fn member(object: &JsValue, key: &JsValue) -> Result<JsValue, Failure> {
    reflect_get(object, key).map_err(Failure::Thrown)
}

/// Returns how many elements a list of the caller has; `None` if it does not say.
///
/// A proxy of an array is an array too, and what it says of its length may be anything.
pub(crate) fn elements(list: &JsValue) -> Result<Option<u32>, Failure> {
    list.unchecked_ref::<Sized>().claimed_length().map_err(Failure::Thrown)
}

/// Returns how many elements an array that the host made has, or units a string.
pub(crate) fn length(value: &JsValue) -> u32 {
    value.unchecked_ref::<Sized>().length()
}

/// Returns the `[key, value]` pairs of a map.
pub(crate) fn pairs(map: &JsValue) -> Result<JsValue, Failure> {
    array_from(map).map_err(Failure::Thrown)
}

/// Returns a date as text in UTC; `None` when it is not a point in time.
pub(crate) fn iso(date: &JsValue) -> Result<Option<JsValue>, Failure> {
    if date_time(date).map_err(Failure::Thrown)?.is_nan() {
        return Ok(None);
    }
    date_iso(date).map(Some).map_err(Failure::Thrown)
}

/// Returns the text of a string; `None` when half of a surrogate pair stands alone in it.
///
/// The copy into the module puts U+FFFD in the place of such a half, which would make two different
/// strings equal.
pub(crate) fn text(string: &JsValue) -> Option<String> {
    let copy = string.as_string()?;
    let whole = !has(&copy, char::REPLACEMENT_CHARACTER) || string_is_well_formed(string);
    whole.then_some(copy)
}

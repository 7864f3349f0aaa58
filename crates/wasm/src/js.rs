//! The operations on JavaScript values that the border uses.
//!
//! Each may run code of the caller (a getter, a proxy), so each catches its exceptions: an
//! exception that crossed the module's frames would leave its stack in disorder.

use alloc::string::String;

use wardgate_engine::text::has;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::failure::Failure;

#[wasm_bindgen]
extern "C" {
    /// A value with a length: an array or a string. The types of the `js-sys` crate are not used,
    /// because they bring unused closures into the module.
    type Sized;

    #[wasm_bindgen(method, getter)]
    fn length(this: &Sized) -> u32;

    /// Returns an option, because only then the glue converts it to a number before it returns: a
    /// length may be an object too, and run code when it is converted.
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

/// The kind of a value in a request.
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
    /// A kind that JSON does not have; the word names it.
    Other(String),
}

/// Returns the kind of `value`.
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
    /// Returns the word for this kind in a message.
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

/// Returns the own enumerable names of an object: inherited ones are never part of a request.
pub(crate) fn keys(object: &JsValue) -> Result<JsValue, Failure> {
    object_keys(object).map_err(Failure::Thrown)
}

/// Returns the member `key` of an object.
pub(crate) fn member(object: &JsValue, key: &JsValue) -> Result<JsValue, Failure> {
    reflect_get(object, key).map_err(Failure::Thrown)
}

/// Returns the number of elements of a list of the caller; `None` if it reports none.
///
/// A proxy of an array is an array too, and may report any length.
pub(crate) fn elements(list: &JsValue) -> Result<Option<u32>, Failure> {
    list.unchecked_ref::<Sized>().claimed_length().map_err(Failure::Thrown)
}

/// Returns the number of elements of an array that the host made, or of units of a string.
pub(crate) fn length(value: &JsValue) -> u32 {
    value.unchecked_ref::<Sized>().length()
}

/// Returns the `[key, value]` pairs of a map.
pub(crate) fn pairs(map: &JsValue) -> Result<JsValue, Failure> {
    array_from(map).map_err(Failure::Thrown)
}

/// Returns a date as text in UTC; `None` if it is not a point in time.
pub(crate) fn iso(date: &JsValue) -> Result<Option<JsValue>, Failure> {
    if date_time(date).map_err(Failure::Thrown)?.is_nan() {
        return Ok(None);
    }
    date_iso(date).map(Some).map_err(Failure::Thrown)
}

/// Returns the text of a string; `None` if it contains an unpaired surrogate.
///
/// The copy into the module replaces such a surrogate by U+FFFD, which would make two different
/// strings equal.
pub(crate) fn text(string: &JsValue) -> Option<String> {
    let copy = string.as_string()?;
    let whole = !has(&copy, char::REPLACEMENT_CHARACTER) || string_is_well_formed(string);
    whole.then_some(copy)
}

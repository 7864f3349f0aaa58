//! Generated attributes: their names, and values that are as expected, extreme, or of another type.
//!
//! The words are few, so that values meet each other and the constants of the policies again and
//! again. Numbers are written so that every reader of JSON gets the same double from them.

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value as Json, json};

/// Returns attributes under these names, now and then one of them missing, and few under unusual
/// names.
pub(super) fn attributes(named: Vec<(&'static str, BoxedStrategy<Json>)>) -> BoxedStrategy<Json> {
    let one = |(name, value): (&'static str, BoxedStrategy<Json>)| {
        weighted(0.85, value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let all: Vec<_> = named.into_iter().map(one).collect();
    (all, unusual_names())
        .prop_map(|(found, unusual_names)| {
            Json::Object(found.into_iter().flatten().chain(unusual_names).collect::<Map<_, _>>())
        })
        .boxed()
}

/// Returns attributes under names that mean something to JavaScript, or that need quotes.
fn unusual_names() -> BoxedStrategy<Vec<(String, Json)>> {
    let one = (select(UNUSUAL_NAMES.to_vec()), text())
        .prop_map(|(name, value): (&str, Json)| (name.to_owned(), value));
    let some = proptest::collection::vec(one, 1..4);
    prop_oneof![4 => Just(Vec::new()), 1 => some].boxed()
}

pub(super) fn text() -> BoxedStrategy<Json> {
    // Longer than the 64 KB that pass to the module at once, and rare because they are slow.
    let long = select(vec!["sam", "red"]).prop_map(|word| word.repeat(23_000).into());
    let usual = select(TEXTS.to_vec()).prop_map(Json::from);
    prop_oneof![7000 => usual, 1000 => any_value(), 2 => long].boxed()
}

pub(super) fn status() -> BoxedStrategy<Json> {
    mostly(select(vec!["open", "draft", "closed", "archived"]).prop_map(Json::from).boxed())
}

pub(super) fn address() -> BoxedStrategy<Json> {
    mostly(select(ADDRESSES.to_vec()).prop_map(Json::from).boxed())
}

pub(super) fn time() -> BoxedStrategy<Json> {
    mostly(select(TIMES.to_vec()).prop_map(Json::from).boxed())
}

pub(super) fn number() -> BoxedStrategy<Json> {
    mostly(prop_oneof![4 => usual_number(), 1 => extreme_number()].boxed())
}

pub(super) fn flag() -> BoxedStrategy<Json> {
    mostly(any::<bool>().prop_map(Json::from).boxed())
}

pub(super) fn list() -> BoxedStrategy<Json> {
    mostly(any_list())
}

pub(super) fn map() -> BoxedStrategy<Json> {
    mostly(any_map())
}

/// Returns mostly `usual` values, or else any value.
fn mostly(usual: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    prop_oneof![7 => usual, 1 => any_value()].boxed()
}

fn any_value() -> BoxedStrategy<Json> {
    let text = select(TEXTS.to_vec()).prop_map(Json::from);
    let flag = any::<bool>().prop_map(Json::from);
    prop_oneof![
        text,
        usual_number(),
        extreme_number(),
        flag,
        Just(Json::Null),
        any_list(),
        any_map(),
        address_text(),
    ]
    .boxed()
}

fn address_text() -> impl Strategy<Value = Json> {
    select(ADDRESSES.to_vec()).prop_map(Json::from)
}

fn usual_number() -> BoxedStrategy<Json> {
    select(vec![json!(0), json!(1), json!(2), json!(3), json!(2.5), json!(-1)]).boxed()
}

/// Returns 2^53 and its neighbours, the ends of the doubles, and the zero that has a sign.
fn extreme_number() -> BoxedStrategy<Json> {
    let numbers = vec![
        json!(-0.0),
        json!(9_007_199_254_740_991_u64),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
        json!(-9_007_199_254_740_993_i64),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(0.1),
        json!(4_294_967_296_u64),
        json!(1e21),
    ];
    select(numbers).boxed()
}

fn any_list() -> BoxedStrategy<Json> {
    any_of(json!([
        [], ["red"], ["sam", "blue"], ["kim", 2], [1, 2, 3], [-0.0, null], [true, "red"],
        [["sam"], {"a": "red"}], ["constructor", "", "ключ"],
    ]))
}

fn any_map() -> BoxedStrategy<Json> {
    any_of(json!([
        {}, {"a": "sam"}, {"a": 2, "b": {"c": true}}, {"a": null, "b": []}, {"b": "red"},
        {"b": {"c": "sam", "d": {"e": [1, {"f": "red"}]}}}, {"sam": 1},
        {"a": {"a": "sam"}, "constructor": "red"}, {"a": ["sam", "red"], "": 0},
    ]))
}

/// Returns one of the items of a list.
fn any_of(list: Json) -> BoxedStrategy<Json> {
    select(list.as_array().cloned().unwrap_or_default()).boxed()
}

pub(super) const TEXTS: [&str; 12] =
    ["sam", "kim", "red", "blue", "RED", "", "open", "constructor", "a.b", "ключ", "qu\"ote", "🗝"];
pub(super) const UNUSUAL_NAMES: [&str; 10] = [
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "a.b",
    "qu\"ote",
    "ключ",
    "",
    "length",
    "0",
];
const ADDRESSES: [&str; 8] = [
    "10.1.2.3",
    "10.255.0.1",
    "192.168.0.7",
    "::ffff:10.0.0.1",
    "2001:db8::1",
    "::1",
    "10.1.2",
    "10.1.2.3.4",
];
const TIMES: [&str; 14] = [
    "2024-05-06T07:08:09Z",
    "2024-05-06T00:00:00+02:00",
    "2023-12-31T23:59:59.5Z",
    "2030-01-01T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "yesterday",
    "2024-02-29T23:59:59.999-23:59",
    "2024-05-06T07:08:09.000001Z",
    "2024-05-06T07:08:09.000000001Z",
    "2024-05-06T7:08:09Z",
    "2024-05-06t07:08:09z",
    "2024-05-06T24:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00+24:00",
];

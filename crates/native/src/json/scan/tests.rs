//! The scanner against `serde_json`.

use proptest::prelude::*;
use serde_json::Value;
use wardgate_engine::attr::Attr;

use super::super::read::document;
use super::Scanner;
use crate::field::{AsField, Copier};

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let check = |text: &str, expected: &str| {
        let mut scanner = Scanner::new(text);
        let fault = document(&mut scanner).unwrap_err();
        assert_eq!(scanner.error(fault).to_string(), expected, "{text}");
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    };
    let malformed = |text: &str, offset: usize, what: &str| {
        check(text, &format!("malformed JSON at byte {offset}: expected {what}"));
    };
    malformed("", 0, "a value");
    malformed("nul", 0, "a value");
    malformed("[1 2]", 3, "`,` or `]`");
    malformed("[1,]", 3, "a value");
    malformed("[1", 2, "`,` or `]`");
    malformed("{\"a\" 1}", 5, "`:`");
    malformed("{\"a\":1 \"b\":2}", 7, "`,` or `}`");
    malformed("{\"a\":1,}", 7, "a name in quotes");
    malformed("{a:1}", 1, "a name in quotes");
    malformed("01", 0, "a number without leading zeros");
    malformed("1.", 2, "a digit");
    malformed("-", 1, "a digit");
    malformed("+1", 0, "a value");
    malformed("1e400", 0, "a number that a double can hold");
    malformed(&"9".repeat(310), 0, "a number that a double can hold");
    malformed("\"a", 2, "the end of a string");
    malformed("\"a\nb\"", 2, "the end of a string");
    malformed("\"\\x\"", 1, "an escape");
    malformed("\"\\u12g4\"", 1, "four hexadecimal digits");
    malformed("\"\\ud800\"", 7, "a surrogate pair");
    malformed("\"\\udc00\"", 7, "a surrogate pair");
    malformed("\"\\ud800\\u0041\"", 13, "the second half of a surrogate pair");
    malformed("1 1", 2, "the end");
    malformed("\0", 0, "a value");
    check(&"[".repeat(100), "attributes nest deeper than 64 levels");
}

#[test]
fn too_many_values_are_refused() {
    let text = format!("[{}1]", "1,".repeat(100_000));
    let mut scanner = Scanner::new(&text);
    let fault = document(&mut scanner).unwrap_err();
    assert_eq!(scanner.error(fault).to_string(), "the request holds more than 100000 values");
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    for number in ["-17918.25e+61", "1.2345678901234567e-290", "9007199254740993", "5e-324"] {
        assert!(compare(number).unwrap(), "{number}");
        let read = document(&mut Scanner::new(number)).unwrap();
        assert_eq!(read, Attr::Number(number.parse().unwrap()), "{number}");
    }
}

/// Reads with both, and skips; returns whether it is JSON.
fn compare(text: &str) -> Result<bool, TestCaseError> {
    let mut scanner = Scanner::new(text);
    let read = document(&mut scanner);
    let mut skipper = Scanner::new(text);
    let skipped = skipper.start().and_then(|start| skipper.skip(start));
    let skipped = skipped.and_then(|()| skipper.end());
    let expected = serde_json::from_str::<Value>(text);
    prop_assert_eq!(read.is_ok(), expected.is_ok(), "{:?} {:?}", read, expected);
    prop_assert_eq!(skipped.is_ok(), expected.is_ok());
    let is_json = expected.is_ok();
    let copied = expected.ok().and_then(|expected| Copier::new().document(expected.field()));
    prop_assert_eq!(read.ok(), copied);
    Ok(is_json)
}

/// JSON with all kinds of values, spelt in all kinds of ways.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i32>().prop_map(|value| value.to_string()),
        (any::<i16>(), 0..3_u8).prop_map(|(value, exponent)| format!("{value}.25e+{exponent}")),
        text(),
    ];
    let object = scalar.prop_recursive(4, 24, 4, |inner| {
        let member = (text(), inner.clone()).prop_map(|(name, value)| format!("{name} :{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec(member, 0..4)
                .prop_map(|members| format!("{{\n{}\t}}", members.join(", "))),
        ]
    });
    object.prop_map(|value| format!(" {{\"a\":{value} }} "))
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "owner",
        "é",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0041",
        "\\ud83d\\ude00",
        "😀",
        "0",
        " ",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

proptest! {
    #[test]
    fn json_is_read_as_serde_json_reads_it(text in json()) {
        prop_assert!(compare(&text)?);
    }

    #[test]
    fn what_is_nearly_json_is_judged_as_serde_json_judges_it(
        text in json(), at in any::<prop::sample::Index>(), byte in 0x20..0x7f_u8
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            compare(&text)?;
        }
    }
}

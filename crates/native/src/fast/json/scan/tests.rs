//! The scanner against `serde_json`.

use std::collections::BTreeSet;
use std::fmt;

use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use wardgate_engine::attr::Attr;

use super::super::doubles::OpenNames;
use super::super::input::Stop;
use super::super::read::document;
use super::{Fault, Scanner};
use crate::field::{AsField, Copier};

#[test]
fn malformed_json_is_reported_with_its_offset() {
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

/// Reads and skips with the scanner and with `serde_json`; returns true if the text is JSON.
fn compare(text: &str) -> Result<bool, TestCaseError> {
    let mut scanner = Scanner::new(text);
    let read = document(&mut scanner);
    let doubled = serde_json::from_str::<Single>(text).is_err_and(|error| error.is_data());
    let found = matches!(read, Err(Fault::Doubled(_)));
    prop_assert_eq!(found, doubled, "{}", text);
    let noticed = skip_once(text);
    if doubled {
        prop_assert!(matches!(noticed, Err(Stop::Unsupported)), "{}", text);
        return Ok(true);
    }
    // The fast path leaves names with escapes undecided.
    let is_known = noticed.is_ok() == read.is_ok();
    prop_assert!(
        is_known || text.contains('\\') && matches!(noticed, Err(Stop::Unsupported)),
        "{}",
        text
    );
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

fn skip_once(text: &str) -> Result<(), Stop> {
    let (mut scanner, mut names) = (Scanner::new(text), OpenNames::new());
    let start = scanner.start()?;
    names.skip(&mut scanner, start)?;
    Ok(scanner.end()?)
}

/// Any JSON value in which each object has each name once: the oracle for repeated names.
struct Single;

impl<'de> Deserialize<'de> for Single {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Single {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let (mut names, mut is_single) = (BTreeSet::new(), true);
        // A fault of syntax further on is reported first.
        while let Some((name, Self)) = map.next_entry::<String, Self>()? {
            is_single &= names.insert(name);
        }
        if is_single { Ok(self) } else { Err(A::Error::custom("a name stands twice")) }
    }
}

#[test]
fn repeated_members_are_refused_by_name() {
    let check = |text: &str, name: &str, offset: usize| {
        let mut scanner = Scanner::new(text);
        let fault = document(&mut scanner).unwrap_err();
        let expected = format!("duplicate member `{name}`, at byte {offset}");
        assert_eq!(scanner.error(fault).to_string(), expected, "{text}");
        assert!(matches!(skip_once(text), Err(Stop::Unsupported)), "{text}");
    };
    check(r#"{"a":1,"a":1}"#, "a", 8);
    check(r#"{"a":1,"b":2,"\u0061":3}"#, "a", 14);
    check(r#"{"\u0061":1,"b":{"a":1},"\u0061":3}"#, "a", 25);
    check(r#"[{"x":[{"roles":[],"id":1,"roles":[]}]}]"#, "roles", 27);
    check(r#"{"":1,"":2}"#, "", 7);
    let deep = format!("{{\"a\":{}1{},\"a\":2}}", "[".repeat(66), "]".repeat(66));
    let mut scanner = Scanner::new(&deep);
    assert!(matches!(document(&mut scanner).unwrap_err(), Fault::Doubled(_)));
    for count in [2_usize, 33, 127, 128, 300] {
        let names: String = (0..count).map(|at| format!("\"n{at}\":{at},")).collect();
        check(&format!("{{{names}\"n0\":1}}"), "n0", names.len() + 2);
        let single = format!("{{{names}\"m0\":{{\"n0\":1}}}}");
        assert!(document(&mut Scanner::new(&single)).is_ok());
        assert_eq!(skip_once(&single).is_ok(), count < 127, "{count}");
    }
}

/// Returns JSON with all kinds of values and spellings.
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
    fn damaged_json_is_accepted_or_refused_as_by_serde_json(
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

use super::super::testing::{call, d, i, l, s, show};
use crate::cel::function::Function::*;
use crate::cel::value::{Bytes, Value};

#[test]
fn base64_is_written_with_padding_and_read_without_too() {
    assert_eq!(show(Base64Encode, &[Value::Bytes(Bytes::Borrowed(b"hello"))]), "'aGVsbG8='");
    assert_eq!(show(Base64Decode, &[s("aGVsbG8=")]), "b\"hello\"");
    assert_eq!(show(Base64Decode, &[s("aGVsbG8")]), "b\"hello\"");
    assert_eq!(show(Base64Decode, &[s("a*")]), "error: illegal base64 data at input byte 1");
    assert_eq!(show(Base64Encode, &[s("x")]), "error: no such overload");
}

#[test]
fn json_is_compact_and_escaped() {
    let cases = [
        (Value::Null, "null"),
        (Value::Bool(true), "true"),
        (i(-5), "-5"),
        (i(9_007_199_254_740_992), "\"9007199254740992\""),
        (d(1.5), "1.5"),
        (d(1e21), "1e+21"),
        (d(1e-7), "1e-7"),
        (d(100.0), "100"),
        (s("a\"\\\n\x01<é"), r#""a\"\\\n\u0001\u003cé""#),
        (l([i(1), l([])]), "[1,[]]"),
        (Value::Bytes(Bytes::Borrowed(b"hi")), "\"aGk=\""),
    ];
    for (value, expected) in cases {
        let encoded = call(JsonEncode, core::slice::from_ref(&value));
        assert_eq!(encoded.as_str(), Some(expected), "{value:?}");
    }
    assert!(call(JsonEncode, &[d(f64::NAN)]).error().is_some());
}

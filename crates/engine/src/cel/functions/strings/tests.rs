use super::super::testing::{call, d, i, l, s, show, strings};
use crate::cel::function::Function::{self, *};
use crate::cel::time::Timestamp;
use crate::cel::value::{Bytes, Value};
use crate::limits::MAX_STRING_BYTES;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

#[test]
fn positions_count_characters() {
    check(CharAt, &[s("tacocät"), i(5)], "'ä'");
    check(CharAt, &[s("tacocät"), i(7)], "''");
    check(CharAt, &[s("tacocät"), i(8)], "error: index out of range: 8");
    check(CharAt, &[s("a"), i(-1)], "error: index out of range: -1");
    check(Substring, &[s("tacocät"), i(4)], "'cät'");
    check(Substring, &[s("tacocät"), i(7)], "''");
    check(Substring, &[s("tacocät"), i(1), i(6)], "'acocä'");
    check(Substring, &[s("ab"), i(2), i(1)], "error: invalid substring range. start: 2, end: 1");
    check(Substring, &[s("ab"), i(0), i(3)], "error: index out of range: 3");
    check(Substring, &[s("ab"), i(i64::MAX)], "error: index out of range: 9223372036854775807");
}

#[test]
fn searches_start_anywhere_and_return_minus_one_without_a_match() {
    check(IndexOf, &[s("tacocät"), s("c")], "2");
    check(IndexOf, &[s("tacocät"), s("t"), i(3)], "6");
    check(IndexOf, &[s("tacocät"), s("none")], "-1");
    check(IndexOf, &[s("tacocät"), s("")], "0");
    check(IndexOf, &[s("ta©o"), s(""), i(9)], "4");
    check(IndexOf, &[s("ta©o"), s("o"), i(9)], "-1");
    check(IndexOf, &[s("a"), s("a"), i(-1)], "error: index out of range: -1");
    check(LastIndexOf, &[s("ta©o©αT"), s("©")], "4");
    check(LastIndexOf, &[s("ta©o©αT"), s("©"), i(3)], "2");
    check(LastIndexOf, &[s("ta©o©αT"), s("©α"), i(4)], "4");
    check(LastIndexOf, &[s("ta©o©αT"), s("©α"), i(3)], "-1");
    check(LastIndexOf, &[s("abc"), s("")], "3");
    check(LastIndexOf, &[s("abc"), s(""), i(1)], "1");
    check(LastIndexOf, &[s("abc"), s("c"), i(3)], "-1");
    check(LastIndexOf, &[s(""), s("c")], "-1");
    check(LastIndexOf, &[s("a"), s("a"), i(-1)], "error: index out of range: -1");
}

#[test]
fn case_changes_for_ascii_alone() {
    check(LowerAscii, &[s("TacoCÆt")], "'tacocÆt'");
    check(UpperAscii, &[s("tacoCæt")], "'TACOCæT'");
}

#[test]
fn replacing_is_bounded_in_number_and_in_size() {
    check(Replace, &[s("12 days 12"), s("12"), s("x")], "'x days x'");
    check(Replace, &[s("12 days 12"), s("12"), s("x"), i(1)], "'x days 12'");
    check(Replace, &[s("abc"), s("b"), s("x"), i(0)], "'abc'");
    check(Replace, &[s("ab"), s(""), s("-")], "'-a-b-'");
    check(Replace, &[s("ab"), s(""), s("-"), i(2)], "'-a-b'");
    let long = Value::string("x".repeat(MAX_STRING_BYTES / 2));
    let grown = call(Replace, &[long, s("x"), s("xyz")]);
    assert!(grown.error().is_some());
}

#[test]
fn splitting_and_joining() {
    check(Split, &[s("a,b,,c"), s(",")], "['a', 'b', '', 'c']");
    check(Split, &[s("a,b,c"), s(","), i(2)], "['a', 'b,c']");
    check(Split, &[s("a,b,c"), s(","), i(0)], "[]");
    check(Split, &[s("a,b,c"), s(","), i(-3)], "['a', 'b', 'c']");
    check(Split, &[s("äbc"), s("")], "['ä', 'b', 'c']");
    check(Split, &[s("äbc"), s(""), i(2)], "['ä', 'bc']");
    check(Split, &[s(""), s("")], "[]");
    check(Split, &[s(""), s(",")], "['']");
    check(Join, &[strings(&["x", "y"])], "'xy'");
    check(Join, &[strings(&["x", "y"]), s("-")], "'x-y'");
    check(Join, &[strings(&[]), s("-")], "''");
    check(Join, &[l([s("x"), i(1)])], "error: join: invalid input: 1");
}

#[test]
fn white_space_is_that_of_unicode() {
    check(Trim, &[s("\u{a0}\u{85}\t x y\u{3000}\n")], "'x y'");
    check(Trim, &[s(" \t ")], "''");
    check(Trim, &[s("\u{180e}x")], "'\u{180e}x'");
}

#[test]
fn reversal_keeps_characters_whole() {
    check(Reverse, &[s("ta©o")], "'o©at'");
    check(Reverse, &[l([i(1), i(2)])], "[2, 1]");
}

#[test]
fn quoting_escapes() {
    check(Quote, &[s("a\"b\\c\n\x07ä\x01")], "'\"a\\\"b\\\\c\\n\\aä\x01\"'");
}

#[test]
fn wrong_types_are_no_overload() {
    check(CharAt, &[s("a"), d(1.0)], "error: no such overload");
    check(Trim, &[i(1)], "error: no such overload");
    check(Split, &[s("a")], "error: no such overload");
}

fn check_format(text: &'static str, args: &[Value<'static>], expected: &str) {
    let list = Value::list(args.to_vec());
    let shown = match call(Format, &[s(text), list]) {
        Value::String(text) => alloc::string::String::from(&*text),
        Value::Error(error) => alloc::format!("error: {error}"),
        other => alloc::format!("{other:?}"),
    };
    assert_eq!(shown, expected, "`{text}` with {args:?}");
}

#[test]
fn any_plain_value_has_a_text() {
    let moment = Timestamp::new(1_675_467_788, 500_000_000).unwrap().at_offset(3600);
    check_format("%s and %s", &[s("a"), i(-1)], "a and -1");
    check_format("%s %s %s", &[d(1.0), d(1e21), d(0.1)], "1 1000000000000000000000 0.1");
    check_format("%s %s", &[d(f64::NAN), d(f64::NEG_INFINITY)], "NaN -Infinity");
    check_format("%s %s", &[Value::Null, Value::Type("int")], "null int");
    check_format("%s", &[Value::Duration(423_500_000)], "0.4235s");
    check_format("%s", &[Value::Timestamp(moment)], "2023-02-03T23:43:08.5Z");
    check_format("%s", &[Value::Bytes(Bytes::Borrowed(b"xyz"))], "xyz");
    check_format("%s", &[l([s("a"), l([i(1), Value::Bool(true)])])], "[a, [1, true]]");
    check_format("100%%, %s%%", &[i(5)], "100%, 5%");
}

#[test]
fn numbers_have_clauses_of_their_own() {
    check_format("%d %d %d", &[i(42), Value::Uint(7), d(1.5)], "42 7 1.5");
    check_format(
        "%f %.3f %.0f %.0f",
        &[d(10000.1234), d(1.2345), d(2.5), i(3)],
        "10000.123400 1.234 2 3",
    );
    check_format("%e %.1e", &[d(1052.032911275), d(0.00021)], "1.052033e+03 2.1e-04");
    check_format("%e", &[i(-2)], "-2.000000e+00");
    check_format("%b %b %b", &[i(-5), Value::Uint(64), Value::Bool(true)], "-101 1000000 1");
    check_format("%o %o", &[i(11), i(i64::MIN)], "13 -1000000000000000000000");
    check_format("%x %X %x", &[i(30), i(-30), Value::Uint(u64::MAX)], "1e -1E ffffffffffffffff");
    check_format("%x %X", &[s("Hello"), Value::Bytes(Bytes::Borrowed(b"\xff"))], "48656c6c6f FF");
    check_format("%f %e", &[d(f64::INFINITY), d(f64::NAN)], "Infinity NaN");
}

#[test]
fn bad_formats_are_named() {
    let parse = "error: could not parse formatting clause: ";
    let precision = alloc::format!("{parse}error while parsing precision: ");
    check_format("%s", &[], "error: index 0 out of range");
    check_format("%", &[i(1)], "error: unexpected end of string");
    check_format("%a", &[i(1)], &alloc::format!("{parse}unrecognized formatting clause \"a\""));
    check_format(
        "%.3",
        &[i(1)],
        &alloc::format!("{precision}could not find end of precision specifier"),
    );
    check_format(
        "%.f",
        &[i(1)],
        &alloc::format!(
            "{precision}error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax"
        ),
    );
    check_format(
        "%.101f",
        &[i(1)],
        &alloc::format!("{precision}precision 101 exceeds maximum allowed precision 100"),
    );
    check_format(
        "%d",
        &[s("x")],
        "error: error during formatting: decimal clause can only be used on ints, uints, and doubles, was given string",
    );
    check_format(
        "%b",
        &[d(1.0)],
        "error: error during formatting: only ints, uints, and bools can be formatted as binary, was given double",
    );
}

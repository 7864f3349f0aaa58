use super::super::testing::{call, i, s, show};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

#[test]
fn extraction_takes_the_group_or_the_whole() {
    check(RegexExtract, &[s("hello world"), s("hello(.*)")], "some(' world')");
    check(RegexExtract, &[s("item-A, item-B"), s("item-\\w+")], "some('item-A')");
    check(RegexExtract, &[s("HELLO"), s("hello")], "none");
    check(RegexExtract, &[s("ab"), s("a(x?)b")], "none");
    check(RegexExtractAll, &[s("id:123, id:456"), s("id:\\d+")], "['id:123', 'id:456']");
    check(RegexExtractAll, &[s("id:1, id:2"), s("id:(\\d)")], "['1', '2']");
    check(RegexExtractAll, &[s("abc"), s("x")], "[]");
    check(
        RegexExtract,
        &[s("ab"), s("(a)(b)")],
        "error: regular expression has more than one capturing group: \"(a)(b)\"",
    );
    assert!(call(RegexExtract, &[s("a"), s("(")]).error().is_some());
}

#[test]
fn replacement_refers_to_groups() {
    check(RegexReplace, &[s("banana"), s("a"), s("x"), i(2)], "'bxnxna'");
    check(RegexReplace, &[s("banana"), s("a"), s("x"), i(0)], "'banana'");
    check(RegexReplace, &[s("banana"), s("a"), s("x"), i(-9)], "'bxnxnx'");
    check(RegexReplace, &[s("foo bar"), s("(fo)o (ba)r"), s(r"\2 \1")], "'ba fo'");
    check(RegexReplace, &[s("ab"), s("a"), s(r"\0\\")], r"'a\b'");
    check(RegexReplace, &[s("abc"), s(""), s("-")], "'-a-b-c-'");
    check(
        RegexReplace,
        &[s("test"), s("(.)"), s(r"\2")],
        "error: replacement string references group 2 but regex has only 1 group(s)",
    );
    check(
        RegexReplace,
        &[s("id"), s("i"), s(r"\a")],
        r"error: invalid replacement string: '\a' \ must be followed by a digit or \",
    );
    check(
        RegexReplace,
        &[s("id"), s("i"), s("\\")],
        r"error: invalid replacement string: '\' \ not allowed at end",
    );
}

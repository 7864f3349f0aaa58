use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::*;

const PLENTY: u32 = 10_000_000;

/// Checks the groups of the first match, written as in `0-3 1-2 ?`, or `no`.
fn check(pattern: &str, text: &str, expected: &str) {
    let regex = compile(pattern, &Ascii).unwrap();
    let program = Program::validate(regex.words()).unwrap();
    let found = program.captures(text, &mut PLENTY.clone()).unwrap();
    let shown = found.as_ref().map_or_else(|| "no".to_string(), show);
    assert_eq!(shown, expected, "{pattern} on {text:?}");
    assert_eq!(program.is_match(text, &mut PLENTY.clone()), Ok(found.is_some()), "{pattern}");
}

fn show(found: &Captures) -> String {
    let groups = (0..found.groups()).map(|at| found.group(at).map_or("?".into(), span));
    groups.collect::<Vec<_>>().join(" ")
}

fn span(span: Range<usize>) -> String {
    format!("{}-{}", span.start, span.end)
}

fn check_all(pattern: &str, text: &str, expected: &str) {
    let regex = compile(pattern, &Ascii).unwrap();
    let mut matches = regex.program().matches(text);
    let mut shown = Vec::new();
    while let Some(found) = matches.next(&mut PLENTY.clone()).unwrap() {
        shown.push(span(found.whole()));
    }
    assert_eq!(shown.join(" "), expected, "{pattern} on {text:?}");
}

fn check_error(pattern: &str, at: usize, expected: &str) {
    let error = compile(pattern, &Ascii).unwrap_err();
    let message = error.message(pattern);
    let message = message.strip_prefix("error parsing regexp: ").unwrap();
    assert_eq!((error.at, message), (at, expected), "{pattern}");
}

#[test]
fn literals_and_escapes() {
    check("", "abc", "0-0");
    check("b", "abc", "1-2");
    check("ü", "aüb", "1-3");
    check(r"\x41\x{42}\103", "ABC", "0-3");
    check(r"\0\07", "\u{0}\u{7}", "0-2");
    check(r"\a\f\n\r\t\v", "\u{7}\u{C}\n\r\t\u{B}", "0-6");
    check(r"\.\-\_\ ", ".-_ ", "0-4");
    check(r"\Qa.b*\E+", "a.b**", "0-5");
    check(r"\Qa.", "aba.", "2-4");
    check("a{,2}", "a{,2}", "0-5");
    check("{", "{", "0-1");
    check("x{01}", "x{01}", "0-5");
    check("]}", "]}", "0-2");
    check(r"\x{D800}", "\u{FFFD}", "no");
}

#[test]
fn classes() {
    check(r"\d+\D+", "ab12cd", "2-6");
    check(r"\w+", "é_a1-", "2-5");
    check(r"\s", "\u{B}\u{A0} ", "3-4");
    check("[[:space:]]", "\u{B}", "0-1");
    check("[]a]+", "x]a]", "1-4");
    check("[^]a]+", "]xa", "1-2");
    check("[a-]+", "b-a", "1-3");
    check(r"[\d-z]+", "1-z", "0-3");
    check("[^a]", "\n", "0-1");
    check("[[:^alpha:][:upper:]]+", "aB1b", "1-3");
    check("[[:word:]&&x]+", "_&", "0-2");
    check("[[:]+", ":[", "0-2");
    check(r"[^\x00-\x{10FFFF}]", "a", "no");
    check(r"[\x00-\x{10FFFF}]", "é", "0-2");
    check("[a-cf-hk-mp-ru-wz]+", "ehqz", "1-4");
}

#[test]
fn anchors() {
    check("^a", "ba", "no");
    check("a$", "a\n", "no");
    check("(?m)^a$", "b\na\nb", "2-3");
    check(r"(?m)\Aa", "b\na", "no");
    check(r"(?m)a\z", "a\na", "2-3");
    check(r"\bb\b", "ab b", "3-4");
    check(r"\Bb", "b ab", "3-4");
    check(r"\bü", "aü", "1-3");
    check("^*a", "ba", "1-2");
    check("$^", "", "0-0");
    check("(^a|b)", "ab", "0-1 0-1");
}

#[test]
fn flags() {
    check("(?i)aBc", "AbC", "0-3");
    check("a(?i)b(?-i)c", "aBC", "no");
    check("(a(?i)b)c", "aBC", "no");
    check("(?i:a)b", "Ab", "0-2");
    check("(?i)[k-l]", "\u{212A}", "0-3");
    check("(?i)s", "ſ", "0-2");
    check("(?i)[^x]", "X", "no");
    check("a.b", "a\nb", "no");
    check("(?s)a.b", "a\nb", "0-3");
    check("(?U)a+", "aaa", "0-1");
    check("(?U)a+?", "aaa", "0-3");
    check("(?s-i:.)()", "\n", "0-1 1-1");
    check("(?)a", "a", "0-1");
}

#[test]
fn repetition() {
    check("a*", "aab", "0-2");
    check("a*?b", "aab", "0-3");
    check("a+?", "aa", "0-1");
    check("a??b", "ab", "0-2");
    check("a{2}", "aaa", "0-2");
    check("a{2,}?", "aaa", "0-2");
    check("a{1,2}", "aaa", "0-2");
    check("(a{0})b", "ab", "1-2 1-1");
    check("(a){0}b", "ab", "1-2 ?");
    check("(a|b)*", "abc", "0-2 1-2");
    check("(?:ab){2,3}$", "ababab", "0-6");
    check("a*(?i)*b", "aab", "0-3");
}

#[test]
fn groups_and_preference() {
    check("a|ab", "ab", "0-1");
    check("(a|ab)(c|bcd)(d*)", "abcd", "0-4 0-1 1-4 4-4");
    check("(a)|(b)", "b", "0-1 ? 0-1");
    check("(?:(a)|b)*", "ab", "0-2 0-1");
    check("(|a)*", "aa", "0-0 0-0");
    check("(|a)+", "aa", "0-0 0-0");
    check("(a*)+", "b", "0-0 0-0");
    check("([^x]*?)+b", "aab", "0-3 0-2");
    check("a||b", "b", "0-0");
    check("()", "", "0-0 0-0");
}

#[test]
fn groups_have_names() {
    let regex = compile("(a)(?P<first_1>b)(?<first_1>c)(?<longer>d)", &Ascii).unwrap();
    let program = Program::validate(regex.words()).unwrap();
    assert_eq!(program.names().collect::<Vec<_>>(), ["", "first_1", "first_1", "longer"]);
    assert_eq!(program.group_named("first_1"), Some(2));
    assert_eq!(program.group_named("longer"), Some(4));
    assert_eq!(program.group_named(""), None);
}

#[test]
fn all_matches_do_not_overlap() {
    check_all("aa", "aaaaa", "0-2 2-4");
    check_all("a*", "baac", "0-0 1-3 4-4");
    check_all("", "aé", "0-0 1-1 3-3");
    check_all("a|", "aab", "0-1 1-2 3-3");
    check_all("^a", "aa", "0-1");
    check_all("(?m)^", "a\nb", "0-0 2-2");
    check_all(r"\b", "ab c", "0-0 2-2 3-3 4-4");
    check_all("x", "", "");
}

#[test]
fn faults_are_quoted() {
    check_error("a(b", 1, "missing closing ): `a(b`");
    check_error("a)", 1, "unexpected ): `a)`");
    check_error("x[a", 1, "missing closing ]: `[a`");
    check_error("[]", 0, "missing closing ]: `[]`");
    check_error("[b-a]", 1, "invalid character class range: `b-a`");
    check_error("[[:foo:]]", 1, "invalid character class range: `[:foo:]`");
    check_error(r"[a-\d]", 3, r"invalid escape sequence: `\d`");
    check_error(r"a\8", 1, r"invalid escape sequence: `\8`");
    check_error(r"\1", 0, r"invalid escape sequence: `\1`");
    check_error(r"\C", 0, r"invalid escape sequence: `\C`");
    check_error(r"\x{110000}", 0, r"invalid escape sequence: `\x{110000`");
    check_error(r"\xg1", 0, r"invalid escape sequence: `\xg1`");
    check_error(r"ab\", 2, "trailing backslash at end of expression: ``");
    check_error("a**", 1, "invalid nested repetition operator: `**`");
    check_error("a{2}{3}", 1, "invalid nested repetition operator: `{2}{3}`");
    check_error("a|*", 2, "missing argument to repetition operator: `*`");
    check_error("(?i)+?", 4, "missing argument to repetition operator: `+?`");
    check_error("a{1001}", 1, "invalid repeat count: `{1001}`");
    check_error("a{2,1}", 1, "invalid repeat count: `{2,1}`");
    check_error("(a{40}){40}", 7, "invalid repeat count: `{40}`");
    check_error("(?=a)", 0, "invalid or unsupported Perl syntax: `(?=`");
    check_error("(?i-)", 0, "invalid or unsupported Perl syntax: `(?i-)`");
    check_error("(?P=n)", 0, "invalid or unsupported Perl syntax: `(?P`");
    check_error("(?P<n", 0, "invalid named capture: `(?P<n`");
    check_error("(?<n-1>a)", 0, "invalid named capture: `(?<n-1>`");
}

#[test]
fn patterns_that_need_tables_are_refused_rather_than_guessed() {
    let text = ErrorKind::NotAtRunTime.text();
    check_error(r"a\pL", 1, &format!(r"{text}: `\pL`"));
    check_error(r"[\p{Greek}]", 1, &format!(r"{text}: `\p{{Greek}}`"));
    check_error("(?i)aé", 5, &format!("{text}: `é`"));
    check_error("(?i)[a-é]", 4, &format!("{text}: `[a-é`"));
    check(r"(?i)[\x00-\x{10FFFF}]", "é", "0-2");
}

#[test]
fn sizes_are_bounded() {
    let fault = |pattern: &str| compile(pattern, &Ascii).map(drop).map_err(|error| error.kind);
    assert_eq!(fault(&"(".repeat(1001)), Err(ErrorKind::NestingDepth));
    assert_eq!(fault(&format!("{}{}", "(".repeat(1000), ")".repeat(1000))), Ok(()));
    assert_eq!(fault(&"a".repeat(65_537)), Err(ErrorKind::TooLarge));
    assert_eq!(fault(&"(?:ab){900}".repeat(100)), Err(ErrorKind::TooLarge));
    assert_eq!(fault(&"(?:ab){900}".repeat(30)), Ok(()));
}

#[test]
fn large_programs_match_too() {
    let regex = compile("^(?:ab?){600}$", &Ascii).unwrap();
    assert!(regex.program().instructions() > 1000);
    assert_eq!(regex.program().is_match(&"ab".repeat(600), &mut PLENTY.clone()), Ok(true));
    assert_eq!(regex.program().is_match(&"ab".repeat(599), &mut PLENTY.clone()), Ok(false));
}

#[test]
fn a_search_pays_for_its_steps() {
    let regex = compile("(?:a?){30}a{30}", &Ascii).unwrap();
    let text = "a".repeat(30);
    let mut steps = PLENTY;
    assert_eq!(regex.program().is_match(&text, &mut steps), Ok(true));
    let cost = PLENTY - steps;
    assert!(cost < 10_000, "{cost}");
    assert_eq!(regex.program().is_match(&text, &mut cost.clone()), Ok(true));
    let mut short = cost - 1;
    assert_eq!(regex.program().is_match(&text, &mut short), Err(OutOfSteps));
    assert_eq!(short, 0);
    assert_eq!(regex.program().captures(&text, &mut 100), Err(OutOfSteps));
}

#[test]
fn a_program_is_validated() {
    let good = compile("(?P<n>a|[b-d])*$", &Ascii).unwrap().into_words();
    assert!(Program::validate(&good).is_ok());
    for end in 0..good.len() {
        assert_eq!(Program::validate(&good[..end]).map(drop), Err(InvalidProgram), "{end}");
    }
    let last = usize::try_from(good[0]).unwrap() + 2;
    for (operation, argument) in [(1, 97), (2, 99), (5, 64), (6, 9), (7, 99), (8, 99), (10, 0)] {
        let mut bad = good.clone();
        bad[last] = operation << 24 | argument;
        assert_eq!(Program::validate(&bad).map(drop), Err(InvalidProgram), "{operation}");
    }
}

#[test]
fn no_words_make_a_search_panic_or_run_on() {
    let good = compile(r"(?P<n>a|[b-dx]\b)*(?:b.|$)", &Ascii).unwrap().into_words();
    let mut random = fastrand::Rng::with_seed(0x9E37_79B9);
    for _ in 0..20_000 {
        let mut words = good.clone();
        for _ in 0..=random.u32(..4) {
            let at = random.usize(..words.len());
            words[at] =
                [random.u32(..12) << 24 | random.u32(..40), random.u32(..30), u32::MAX][at % 3];
        }
        let program = Program::view(&words);
        let _ = program.is_match("abxd\nb ", &mut 10_000);
        let _ = program.captures("abxd\nb ", &mut 10_000);
        let _ = (Program::validate(&words).is_ok(), program.group_named("n"));
    }
}

#[test]
fn no_pattern_makes_the_parser_panic() {
    let parts = [
        "(", ")", "(?", "(?P<", ">", "n", "[", "]", "^", "-", "|", "*", "+", "?", "{", "}",
        "{2,3}", "\\", "\\Q", "\\E", "\\x", "{", "\\p", "[:", ":]", "i", ":", "é", "\\b", "\\d",
        "1000", ",",
    ];
    let mut random = fastrand::Rng::with_seed(0x1234_5678);
    for _ in 0..20_000 {
        let len = random.u32(..12);
        let part = |_| parts[random.usize(..parts.len())];
        let pattern: String = (0..len).map(part).collect();
        match compile(&pattern, &Ascii) {
            Ok(regex) => assert!(Program::validate(regex.words()).is_ok(), "{pattern}"),
            Err(error) => assert!(error.message(&pattern).len() > error.at, "{pattern}"),
        }
    }
}

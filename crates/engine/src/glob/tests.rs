use alloc::string::String;

use super::{GlobError, is_glob, matches, validate};
use crate::limits::{MAX_GLOB_BYTES, MAX_GLOB_DEPTH};

fn check(pattern: &str, accepted: &[&str], refused: &[&str]) {
    for text in accepted {
        assert!(matches(pattern, text), "`{pattern}` should match `{text}`");
    }
    for text in refused {
        assert!(!matches(pattern, text), "`{pattern}` should not match `{text}`");
    }
}

#[test]
fn a_text_without_special_characters_is_compared() {
    check("view", &["view"], &["", "vie", "views", "View"]);
    check("", &[""], &["a"]);
    check("a,b}", &["a,b}"], &["a", "b"]);
}

#[test]
fn a_star_stops_at_a_colon_and_two_do_not() {
    check("view:*", &["view:", "view:public"], &["view", "view:public:all"]);
    check("view:**", &["view:", "view:public", "view:public:all"], &["view"]);
    check("a*c*e", &["ace", "abcde", "accee"], &["ac:e", "aed"]);
    check("*:*", &[":", "a:b"], &["a", "a:b:c"]);
    check("**:x", &[":x", "a:b:x"], &["x", "a:xy"]);
}

#[test]
fn a_lone_star_matches_everything() {
    check("*", &["", "a", "a:b"], &[]);
    check("**", &["", "a", "a:b"], &[]);
}

#[test]
fn a_question_mark_is_one_character_but_a_colon() {
    check("a?c", &["abc", "aéc"], &["ac", "abbc", "a:c"]);
}

#[test]
fn classes_hold_single_characters() {
    check("[abc]x", &["ax", "cx"], &["dx", "x", "abx"]);
    check("[a-c]x", &["ax", "bx"], &["dx", "-x"]);
    check("[!a-c]x", &["dx", ":x"], &["ax"]);
    check("[!ab]", &["c", ":"], &["a", "", "cc"]);
    check(r"[a\]b]", &["a", "]", "b"], &["\\"]);
    check("[abc-e]", &["-", "e"], &["d"]);
    check("[*?{]", &["*", "?", "{"], &["a"]);
}

#[test]
fn groups_are_alternatives_and_nest() {
    check("{view,edit}:*", &["view:a", "edit:"], &["delete:a", "view"]);
    check("a{b,{c,d}*}e", &["abe", "ace", "adxe"], &["ae", "abxe"]);
    check("a{,b}c", &["ac", "abc"], &["abbc"]);
    check("{a*b*c,d}**", &["axbxcx", "d:x"], &["ab"]);
    check("{*,**}x", &["x", "a:x"], &["a"]);
}

#[test]
fn a_group_that_is_not_closed_ends_with_the_pattern() {
    check("x{a,b", &["xa", "xb"], &["x", "xab"]);
    check("{a,{b,c", &["a", "b", "c"], &["ab"]);
}

#[test]
fn a_backslash_makes_the_next_character_a_literal() {
    check(r"a\*", &["a*"], &["a", "ab", r"a\*"]);
    check(r"\{a,b\}", &["{a,b}"], &["a"]);
    check(r"{a\,b,c}", &["a,b", "c"], &["a", "b"]);
    check(r"a\", &["a"], &[r"a\"]);
}

#[test]
fn an_invalid_pattern_is_reported_and_never_matches() {
    let invalid = [
        ("x[abc", GlobError::UnclosedClass { at: 1 }),
        ("[a-", GlobError::UnclosedClass { at: 0 }),
        ("[a-cd]", GlobError::UnclosedClass { at: 0 }),
        ("[", GlobError::UnclosedClass { at: 0 }),
        ("a[]", GlobError::EmptyClass { at: 1 }),
        ("[!]", GlobError::EmptyClass { at: 0 }),
        ("[z-a]", GlobError::ReversedRange { at: 0 }),
    ];
    for (pattern, error) in invalid {
        assert_eq!(validate(pattern), Err(error), "`{pattern}`");
        check(pattern, &[], &["", "a", pattern]);
    }
    assert_eq!(validate("a{b,[c]}*?"), Ok(()));
}

#[test]
fn length_and_depth_are_bounded() {
    let long = "?".repeat(MAX_GLOB_BYTES + 1);
    assert_eq!(validate(&long), Err(GlobError::TooLong { length: long.len() }));
    let deep = "{".repeat(MAX_GLOB_DEPTH + 1);
    assert_eq!(validate(&deep), Err(GlobError::TooDeep { at: MAX_GLOB_DEPTH }));
    check(&deep, &[], &[""]);
    check(&"{".repeat(MAX_GLOB_DEPTH), &[""], &["a"]);
}

#[test]
fn many_stars_take_no_more_than_the_product_of_the_lengths() {
    let pattern = "*a".repeat(200);
    let text = "a".repeat(3000);
    check(&pattern, &[&text], &[&(text.clone() + "b")]);
}

#[test]
fn only_a_star_makes_a_glob() {
    assert!(is_glob("view:*"));
    assert!(!is_glob("{view,edit}") && !is_glob("a?c"));
}

/// The obvious matcher, exponential but plain, over a pattern without groups or classes.
fn oracle(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        (['*', '*', rest @ ..], _) => (0..=text.len()).any(|n| oracle(rest, &text[n..])),
        (['*', rest @ ..], _) => (0..=text.len())
            .take_while(|n| text[..*n].iter().all(|c| *c != ':'))
            .any(|n| oracle(rest, &text[n..])),
        (['?', rest @ ..], [c, tail @ ..]) => *c != ':' && oracle(rest, tail),
        ([p, rest @ ..], [c, tail @ ..]) => p == c && oracle(rest, tail),
        (_, []) => false,
    }
}

#[test]
fn matches_agree_with_the_oracle() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut pick = |from: &[char], most: usize| -> String {
        (0..random.usize(..most)).map(|_| from[random.usize(..from.len())]).collect()
    };
    for _ in 0..20_000 {
        let pattern = pick(&['a', 'b', ':', '*', '?'], 7);
        let text = pick(&['a', 'b', ':'], 7);
        let expected = pattern == "*"
            || oracle(
                &pattern.chars().collect::<alloc::vec::Vec<_>>(),
                &text.chars().collect::<alloc::vec::Vec<_>>(),
            );
        assert_eq!(matches(&pattern, &text), expected, "`{pattern}` on `{text}`");
    }
}

//! Unicode by examples, and everything that both know against the `regex` crate.
//!
//! Its `\d`, `\s`, `\w` and `\b` know Unicode, so the generated patterns give them only ASCII
//! texts; and it gives up a match of nothing inside a loop in other cases than RE2 does, so loops
//! are generated over atoms that read something.

use proptest::prelude::*;
use regex::Regex as Oracle;
use wardgate_engine::regex::{Captures, ErrorKind, Program};

use super::compile;

const PLENTY: u32 = 10_000_000;

fn check(pattern: &str, text: &str, expected: bool) {
    let regex = compile(pattern).unwrap();
    let found = regex.program().is_match(text, &mut PLENTY.clone());
    assert_eq!(found, Ok(expected), "{pattern} on {text}");
}

#[test]
fn classes_are_categories_and_scripts() {
    check(r"^\pL+$", "Zürich", true);
    check(r"^\p{Greek}+$", "αβγ", true);
    check(r"^\p{Old_Italic}$", "𐌀", true);
    check(r"^\p{lowercase letter}$", "ß", true);
    check(r"^\p{LC}$", "ª", false);
    check(r"^\p{Zl}$", "\u{2028}", true);
    check(r"^\p{Any}$", "\u{10FFFF}", true);
    check(r"^\p{Assigned}$", "\u{378}", false);
    check(r"^[\p{Nd}x]+$", "x٣", true);
}

#[test]
fn classes_can_be_negated() {
    check(r"^\PL$", "ß", false);
    check(r"^\p{^Lu}$", "ß", true);
    check(r"^\P{^Lu}$", "ß", false);
    check(r"^[^\p{Han}]$", "漢", false);
    check(r"^[^\PN]$", "½", true);
    check(r"^\P{C}$", "\u{0}", false);
}

#[test]
fn case_is_folded_by_one_character() {
    check("(?i)^straße$", "STRAßE", true);
    check("(?i)^straße$", "STRASSE", false);
    check("(?i)^ς$", "Σ", true);
    check("(?i)^[α-γ]+$", "ΑΒΓ", true);
    check("(?i)^[^α]$", "Α", false);
    check("(?i)^k$", "\u{212A}", true);
    check(r"(?i)^\p{Lu}+$", "aé", true);
    check(r"(?i)^\W$", "ſ", false);
}

#[test]
fn unknown_names_are_refused() {
    for name in ["Latn", "Alphabetic", "Klingon", "sc=Greek", ""] {
        let error = compile(&format!(r"a\p{{{name}}}b")).unwrap_err();
        assert_eq!((error.kind, error.at), (ErrorKind::InvalidCharRange, 1), "{name}");
    }
}

/// Generates an atom that reads at least one character.
fn atom() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abcABC ]",
        1 => prop::sample::select(vec![
            ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[a-c]", "[^b]", "[[:upper:]_]",
            r"[\d-]", r"\x61", r"\x{62}", "(?i:a)", "(?s:.)", "(?-s:.)", r"\.",
        ]).prop_map(String::from),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), repeat()).prop_map(|(atom, sign)| format!("(?:{atom}){sign}(?:a|b)")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|list| list.concat()),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|list| { format!("({})", list.join("|")) }),
            (inner.clone(), inner).prop_map(|(left, right)| format!("(?:{left}|{right})")),
        ]
    })
}

fn repeat() -> impl Strategy<Value = String> {
    let sign = prop::sample::select(vec!["*", "+", "?", "{2}", "{0,2}", "{1,}"]);
    (sign, prop::bool::ANY)
        .prop_map(|(sign, lazy)| format!("{sign}{}", ["", "?"][usize::from(lazy)]))
}

fn pattern() -> impl Strategy<Value = String> {
    let looks = || prop::sample::select(vec!["", "", "^", "$", r"\b", r"\B", "(?m)^", "(?m:$)"]);
    let piece = (atom(), prop::option::of(repeat()), looks()).prop_map(|(atom, sign, look)| {
        sign.map_or_else(|| format!("{atom}{look}"), |sign| format!("({atom}){sign}{look}"))
    });
    let branch = (looks(), prop::collection::vec(piece, 0..4))
        .prop_map(|(look, pieces)| format!("{look}{}", pieces.concat()));
    prop::collection::vec(branch, 1..3).prop_map(|branches| branches.join("|"))
}

fn groups(found: &Captures) -> Vec<Option<(usize, usize)>> {
    (0..found.groups()).map(|at| found.group(at).map(|span| (span.start, span.end))).collect()
}

fn oracle_groups(found: &regex::Captures<'_>) -> Vec<Option<(usize, usize)>> {
    found.iter().map(|group| group.map(|span| (span.start(), span.end()))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_oracle(pattern in pattern(), text in "[abcABC1_. \n-]{0,16}") {
        let oracle = Oracle::new(&pattern).unwrap();
        let regex = compile(&pattern).unwrap();
        let program = Program::validate(regex.words()).unwrap();
        let steps = &mut PLENTY.clone();
        let expected = oracle.captures(&text).as_ref().map(oracle_groups);
        prop_assert_eq!(program.is_match(&text, steps).unwrap(), expected.is_some());
        prop_assert_eq!(program.captures(&text, steps).unwrap().as_ref().map(groups), expected);
    }

    #[test]
    fn any_text_is_a_pattern_or_a_fault(pattern in r"\PC{0,24}", text in r"\PC{0,8}") {
        if let Ok(regex) = compile(&pattern) {
            let program = Program::validate(regex.words()).unwrap();
            let matched = program.is_match(&text, &mut PLENTY.clone()).unwrap();
            let found = program.captures(&text, &mut PLENTY.clone()).unwrap();
            prop_assert_eq!(matched, found.is_some());
        }
    }
}

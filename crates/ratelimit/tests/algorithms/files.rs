//! The files of vectors: written by the oracle, and met by the implementation.
//!
//! `WRITE_EXPECTED=1` writes them anew.

use std::path::PathBuf;

use serde_json::{Value, json};
use wardgate_ratelimit::{RuleError, State, Window};

use crate::by_hand;
use crate::generator::{self, Family};
use crate::oracle::Oracle;
use crate::sequence::{Sequence, Step, Terms};

#[test]
fn the_files_are_those_of_the_oracle() {
    let mut files: Vec<(&str, String)> =
        NAMES.iter().map(|name| (*name, text(&expected(name)))).collect();
    files.push(("rules", rules_text()));
    for (name, expected) in files {
        let path = path(name);
        if std::env::var_os("WRITE_EXPECTED").is_some() {
            std::fs::write(&path, expected).unwrap();
        } else {
            let found = std::fs::read_to_string(&path).unwrap();
            assert!(found == expected, "{} is not what the oracle writes", path.display());
        }
    }
}

#[test]
fn the_implementation_meets_the_files() {
    let mut sequences = 0;
    for sequence in read() {
        let rule = sequence.terms.rule().unwrap();
        let mut state = State::NONE;
        for step in &sequence.steps {
            let (next, outcome) = rule.apply(state, step.time, step.operation);
            assert_eq!(outcome, step.outcome, "{}: {step:?}", sequence.name);
            state = next;
        }
        sequences += 1;
    }
    assert!(sequences >= 500, "{sequences}");
}

#[test]
fn rules_are_checked_as_the_file_says() {
    let rules: Value =
        serde_json::from_str(&std::fs::read_to_string(path("rules")).unwrap()).unwrap();
    for row in rules["rules"].as_array().unwrap() {
        let found = Terms::from_json(&row["rule"]).rule().err();
        assert_eq!(found.map(code), row["error"].as_str(), "{row}");
    }
}

#[test]
fn numbers_of_rules_are_named_in_errors() {
    let error = Terms::sliding(45_254, 1_000_000).rule().unwrap_err();
    let text = "expected a quota of at most 45253 for this sliding window, found 45254";
    assert_eq!(error.to_string(), text);
}

/// Reads all sequences of the files.
pub(crate) fn read() -> Vec<Sequence> {
    let mut all = Vec::new();
    for name in NAMES {
        let text = std::fs::read_to_string(path(name)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        all.extend(file["sequences"].as_array().unwrap().iter().map(Sequence::from_json));
    }
    all
}

/// Makes the sequences of a file, with the outcomes of the oracle.
fn expected(name: &str) -> Vec<Sequence> {
    let family = match name {
        "gcra" => Family::Gcra,
        "fixed" => Family::Fixed,
        "sliding" => Family::Sliding,
        _ => return by_hand::sequences().into_iter().map(answered).collect(),
    };
    (0..GENERATED).map(|seed| generator::sequence(family, seed, STEPS)).collect()
}

fn answered(sequence: Sequence) -> Sequence {
    let mut oracle = Oracle::new(sequence.terms);
    let answer = |step: &Step| Step { outcome: oracle.apply(step.time, step.operation), ..*step };
    let steps = sequence.steps.iter().map(answer).collect();
    Sequence { steps, ..sequence }
}

fn text(sequences: &[Sequence]) -> String {
    let all: Vec<String> = sequences.iter().map(Sequence::to_text).collect();
    format!("{{\"sequences\": [\n{}\n]}}\n", all.join(",\n"))
}

fn rules_text() -> String {
    let rows: Vec<String> = rules()
        .into_iter()
        .map(|(terms, error)| format!("  {}", json!({ "rule": terms.to_json(), "error": error })))
        .collect();
    format!("{{\"rules\": [\n{}\n]}}\n", rows.join(",\n"))
}

/// Lists rules at each bound and beyond, with the code of the error.
fn rules() -> Vec<(Terms, Option<&'static str>)> {
    let most = 1_000_000_000_000;
    let year = 366 * 86_400_000_000;
    vec![
        (Terms::gcra(1, 1, None), None),
        (Terms::gcra(0, 1, None), Some("no-quota")),
        (Terms::gcra(most, most, None), None),
        (Terms::gcra(most, year, None), None),
        (Terms::gcra(most + 1, year, None), Some("quota-too-large")),
        (Terms::gcra(1, 0, None), Some("no-window")),
        (Terms::gcra(1, year + 1, None), Some("window-too-long")),
        (Terms::gcra(1001, 1000, None), Some("too-fast")),
        (Terms::gcra(1000, 1000, Some(0)), Some("no-burst")),
        (Terms::gcra(1000, 1000, Some(most)), None),
        (Terms::gcra(1000, 1000, Some(most + 1)), Some("burst-too-large")),
        // 2^52 ticks, of which a token takes 2^20.
        (Terms::gcra(1, 1 << 13, Some(1 << 32)), None),
        (Terms::gcra(1, 1 << 13, Some((1 << 32) + 1)), Some("burst-too-long")),
        (Terms::gcra(1, year, Some(most)), Some("burst-too-long")),
        (Terms::fixed(most, Window::Month), None),
        (Terms::fixed(most + 1, Window::Month), Some("quota-too-large")),
        (Terms::fixed(0, Window::Month), Some("no-quota")),
        (Terms::fixed(1, Window::Micros(1)), None),
        (Terms::fixed(2, Window::Micros(1)), Some("too-fast")),
        (Terms { window: Window::Month, ..Terms::gcra(1, 1, None) }, Some("month-not-fixed")),
        (Terms { window: Window::Month, ..Terms::sliding(1, 1) }, Some("month-not-fixed")),
        (Terms::sliding(1, 1), None),
        (Terms::sliding(45_253, 1_000_000), None),
        (Terms::sliding(45_254, 1_000_000), Some("quota-not-sliding")),
        (Terms::sliding(350_541, 60_000_000), None),
        (Terms::sliding(350_542, 60_000_000), Some("quota-not-sliding")),
        (Terms::sliding(13_302_149, 86_400_000_000), None),
        (Terms::sliding(13_302_150, 86_400_000_000), Some("quota-not-sliding")),
        (Terms::sliding(1001, 1000), Some("too-fast")),
    ]
}

fn code(error: RuleError) -> &'static str {
    match error {
        RuleError::NoQuota => "no-quota",
        RuleError::QuotaTooLarge { .. } => "quota-too-large",
        RuleError::NoWindow => "no-window",
        RuleError::WindowTooLong { .. } => "window-too-long",
        RuleError::TooFast { .. } => "too-fast",
        RuleError::NoBurst => "no-burst",
        RuleError::BurstTooLarge { .. } => "burst-too-large",
        RuleError::BurstTooLong { .. } => "burst-too-long",
        RuleError::MonthNotFixed => "month-not-fixed",
        RuleError::QuotaNotSliding { .. } => "quota-not-sliding",
        other => panic!("{other}"),
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/limits")
        .join(format!("{name}.json"))
}

/// The files with sequences.
const NAMES: [&str; 4] = ["by-hand", "gcra", "fixed", "sliding"];

/// The generated sequences of a file, and the steps of each.
const GENERATED: u64 = 160;
const STEPS: usize = 12;

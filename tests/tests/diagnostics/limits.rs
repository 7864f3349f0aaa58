//! Mistakes that are too large, or too unusual, for a file of cases: each bound that an author can
//! reach.

use std::sync::LazyLock;

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::limits as yaml;
use wardgate_compiler::{Options, compile_files, globals as reader};
use wardgate_tests::diagnostics::{with_condition, with_rule};

pub(super) fn all() -> Vec<Diagnostic> {
    REPORTED.iter().flat_map(|(_, reported, _)| reported.clone()).collect()
}

/// The exceeded bound, the diagnostics, and the expected first line. They take seconds to compute.
static REPORTED: LazyLock<Vec<(&str, Vec<Diagnostic>, String)>> = LazyLock::new(|| {
    let cases = cases().into_iter();
    cases.map(|(what, files, expected)| (what, diagnostics(&files), expected)).collect()
});

/// Returns the diagnostics about globals, which have no file of policies.
pub(super) fn globals() -> Vec<String> {
    GLOBALS.iter().filter_map(|(text, _)| reader::read("globals", text).err()).collect()
}

type Files = Vec<(String, Vec<u8>)>;

fn one(text: impl Into<Vec<u8>>) -> Files {
    vec![("p.yaml".to_owned(), text.into())]
}

fn diagnostics(files: &Files) -> Vec<Diagnostic> {
    compile_files(files, &Options::default()).err().unwrap_or_default()
}

/// Returns the exceeded bound, the files, and the first line of the report.
fn cases() -> Vec<(&'static str, Files, String)> {
    let cases = of_yaml().into_iter().chain(of_policies());
    cases.map(|(what, files, reported)| (what, files, format!("p.{reported}"))).collect()
}

type Raw = (&'static str, Files, String);

fn of_yaml() -> Vec<Raw> {
    let laughs = (1..9).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        let aliases = vec![format!("*a{}", n - 1); 9].join(",");
        format!("{text}a{n}: &a{n} [{aliases}]\n")
    });
    let nested = format!("a: &a {}\nb: {}", lists(40, ""), lists(40, "*a"));
    vec![
        ("a file is too long", one(vec![b' '; yaml::MAX_FILE_BYTES + 1]), "yaml: error[limit]: the file is too large: expected at most 33554432 bytes, found 33554433 bytes".to_owned()),
        ("a file is not UTF-8", one(b"a: b\nc: \xff".as_slice()), "yaml:2:4: error[syntax]: the file is not UTF-8".to_owned()),
        ("a file has a null character", one("a: b\n\0"), "yaml:2:1: error[syntax]: the text contains a control character".to_owned()),
        ("text in JSON has a line break", json("{\"a\": \"b\nc\", \"d\": ]}"), "json:1:7: error[syntax]: the text contains a control character".to_owned()),
        ("values nest too deeply", one(format!("a: {}", lists(65, ""))), "yaml:1:67: error[limit]: values nest too deeply: expected at most 64".to_owned()),
        ("values nest too deeply in JSON", json(format!("{{\"a\": {}}}", lists(65, ""))), "json:1:70: error[limit]: values nest too deeply: expected at most 64".to_owned()),
        ("aliases repeat too many values", one(laughs), "yaml:6:9: error[limit]: the file holds too many values: expected at most 200000".to_owned()),
        ("an alias makes values nest too deeply", one(nested), "yaml:2:44: error[limit]: values nest too deeply: expected at most 64".to_owned()),
        ("there are too many documents", one("a: b\n---\n".repeat(yaml::MAX_DOCUMENTS + 1)), "yaml:2001:2: error[limit]: the file holds too many documents: expected at most 1000".to_owned()),
        ("there are too many values", one(format!("a: [{}]", "1,".repeat(yaml::MAX_NODES))), "yaml:1:8000003: error[limit]: the file holds too many values: expected at most 4000000".to_owned()),
        ("there are too many values in JSON", json(format!("{{\"a\": [{}1]}}", "1,".repeat(yaml::MAX_NODES))), "json:1:8000004: error[limit]: the file holds too many values: expected at most 4000000".to_owned()),
        ("lines between brackets are indented too little", one(format!("- a: [\n{}]", "1,\n".repeat(yaml::MAX_PADDING))), "yaml:87:1: error[syntax]: a line is indented too little".to_owned()),
        ("brackets close at the margin", one("- a: [1\n]\n".repeat(yaml::MAX_PADDING + 1)), "yaml:172:1: error[syntax]: a line is indented too little".to_owned()),
    ]
}

fn of_policies() -> Vec<Raw> {
    let head = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: a\n  version: v\n";
    let variables: String = (1..=66).map(|n| format!("      v{n:03}: V.v{:03}\n", n + 1)).collect();
    let chain = format!("{head}  variables:\n    local:\n{variables}      v067: '1'\n");
    let block = format!("cel.block([{}P.id], cel.index(0)) == ''", "P.id, ".repeat(250));
    let scope = format!("{head}  scope: {}\n", "a".repeat(1025));
    let condition = |text: String| one(with_condition(&text));
    vec![
        ("an expression is too long", condition(format!("'{}' == ''", "x".repeat(100_000))), "yaml:12:13: error[invalid-expression]: the expression is too long: expected at most 100000, found 100008 characters".to_owned()),
        ("an expression nests too deeply", condition(format!("{}1{}", "(".repeat(300), ")".repeat(300))), "yaml:12:263: error[invalid-expression]: the expression nests too deeply: expected at most 250 levels".to_owned()),
        ("an expression is a long chain", condition(format!("a{}", ".b".repeat(300))), "yaml:12:13: error[invalid-expression]: the expression nests too deeply: expected at most 250 levels".to_owned()),
        ("an expression holds too many values", condition(block), "yaml:12:1518: error[invalid-expression]: the expression holds too many values at once: expected at most 250".to_owned()),
        ("a message repeats a long text", condition(format!("1 '{}'", "x".repeat(1000))), format!("yaml:12:15: error[invalid-expression]: the expression is not well formed: expected an operator or the end of the expression, found `'{}...`", "x".repeat(39))),
        ("variables stand on a long chain", one(chain), "yaml:9:13: error[limit]: variable `v003` is in a chain of variables that is too long: expected at most 64".to_owned()),
        ("a scope is too long", one(scope), format!("yaml:5:3: error[validation]: this is not a valid name: expected dotted segments of letters, digits, `_` and `-`, in all at most 1024 bytes, found `{}...`", "a".repeat(119))),
        ("folders nest too deeply", vec![(format!("p.yaml{}/p.yaml", "/d".repeat(64)), Vec::new())], format!("yaml{}: error[unreadable]: cannot be read: the directory holds too many files, or nests too deeply", "/d".repeat(64))),
        ("a rule has a control character", one(with_rule("actions: [a]\nroles: [r]\neffect: \"\\e[2J\"")), "yaml:8:15: error[parse]: unknown name: expected one of `EFFECT_ALLOW`, `EFFECT_DENY`, found `\\u{1b}[2J`".to_owned()),
    ]
}

fn json(text: impl Into<Vec<u8>>) -> Files {
    vec![("p.json".to_owned(), text.into())]
}

fn lists(depth: usize, inside: &str) -> String {
    format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn every_bound_has_its_message() {
    let mut failures = Vec::new();
    for (what, reported, expected) in REPORTED.iter() {
        let first = reported.first().map(ToString::to_string).unwrap_or_default();
        let first = first.lines().next().unwrap_or_default().to_owned();
        if first != *expected || reported.len() != 1 {
            failures.push(format!(
                "{what}: {} said, first\n  {first}\ninstead of\n  {expected}",
                reported.len()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const GLOBALS: [(&[u8], &str); 9] = [
    (b"- 1", "globals: expected an object, found a list"),
    (b"", "globals: expected one document, found 0"),
    (b"a: 1\n---\nb: 2\n", "globals: expected one document, found 2"),
    (b"1: 2\n", "globals: line 1: expected a name, found a number"),
    (b"a: .inf\n", "globals: line 1: expected a finite number, found `inf`"),
    (b"a: [1", "globals:2:1: error[syntax]: a list between brackets lacks a `,` or its `]`"),
    (b"? [a]\n: b\n", "globals: line 1: expected a name, found a list"),
    (b"{\"a\": 1, \"a\": 2}", "globals:1:10: error[syntax]: duplicate key `a`, first at 1:2"),
    (b"\xff", "globals:1:1: error[syntax]: the file is not UTF-8"),
];

#[test]
fn globals_that_cannot_be_used_are_reported() {
    for (text, expected) in GLOBALS {
        let reported = reader::read("globals", text).unwrap_err();
        assert_eq!(reported.lines().next().unwrap_or_default(), expected);
    }
}

//! The pages about the language of policies, `docs/functions.md`, `docs/policies.md` and `docs/errors.md`: each
//! function, field and error is there, and all examples do what the page says; and `docs/migrating.md`.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use wardgate_compiler::cel::functions;
use wardgate_compiler::diagnostics::Code;
use wardgate_compiler::{Enforcement, Options};
use wardgate_engine::request::Request;
use wardgate_tests::cases::time;
use wardgate_tests::check::request;
use wardgate_tests::expression::holds;
use wardgate_tests::{diagnostics, suites};
use wardgate_tooling::suite::{Filter, Native, Sources, files, run};

/// Macros, which have no signatures in the table.
const MACROS: &[&str] = &[
    "all",
    "cel.bind",
    "exists",
    "existsOne",
    "exists_one",
    "filter",
    "has",
    "map",
    "math.greatest",
    "math.least",
    "optFlatMap",
    "optMap",
    "sortBy",
    "transformList",
    "transformMap",
    "transformMapEntry",
];

#[test]
fn each_function_has_a_section_with_its_signatures() {
    let page = functions_page();
    let sections = sections(&page);
    let mut documented = BTreeSet::new();
    for section in &sections {
        for name in &section.names {
            assert!(documented.insert(name.as_str()), "`{name}` has two sections");
        }
    }
    let functions = functions();
    let named = functions.keys().copied().filter(|name| !name.contains('@'));
    let expected: BTreeSet<&str> = named.chain(MACROS.iter().copied()).collect();
    assert_eq!(documented, expected, "sections of the page, and functions that there are");

    for section in &sections {
        let called = |name: &String| {
            let signatures = functions.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            signatures.iter().map(|signature| signature.call(name)).collect::<Vec<_>>()
        };
        let signatures: Vec<String> = section.names.iter().flat_map(called).collect();
        if !signatures.is_empty() {
            assert_eq!(section.signatures, signatures, "signatures of {:?}", section.names);
        }
        assert!(!section.examples.is_empty(), "{:?} has no example", section.names);
    }
}

#[test]
fn each_example_is_true() {
    let page = functions_page();
    let (request, now) = (example_request(&page), "2026-02-01T12:00:00Z");
    let now = time(now).expect("the time of the examples");
    let wrong: BTreeMap<&str, Result<bool, String>> = blocks(&page, "cel")
        .flat_map(|block| block.lines())
        .map(|example| (example, holds(example, &request, now)))
        .filter(|(_, result)| *result != Ok(true))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_example_calls_what_its_section_is_about() {
    for section in sections(&functions_page()) {
        for name in &section.names {
            let is_called =
                section.examples.iter().any(|example| example.contains(&format!("{name}(")));
            assert!(is_called, "no example calls `{name}`");
        }
    }
}

/// A section of the page.
struct Section {
    names: Vec<String>,
    signatures: Vec<String>,
    examples: Vec<String>,
}

fn sections(page: &str) -> Vec<Section> {
    let read = |text: &str| {
        let heading = text.lines().next().unwrap_or_default();
        let names = heading.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect();
        let signature = |line: &str| line.strip_prefix("    ").map(ToOwned::to_owned);
        let examples = blocks(text, "cel").flat_map(|block| block.lines().map(ToOwned::to_owned));
        let signatures = text.lines().filter_map(signature).collect();
        Section { names, signatures, examples: examples.collect() }
    };
    page.split("\n## ").flat_map(|group| group.split("\n### ").skip(1)).map(read).collect()
}

/// Returns the texts of the fenced blocks of a language.
fn blocks<'p>(page: &'p str, language: &str) -> impl Iterator<Item = &'p str> {
    let fence = format!("```{language}\n");
    let starts: Vec<&str> = page.split(&fence).skip(1).collect();
    starts.into_iter().filter_map(|rest| rest.split("\n```").next())
}

fn example_request(page: &str) -> Request {
    let text = blocks(page, "json").next().expect("the request of the examples");
    let json: Value = serde_json::from_str(text).expect("JSON");
    request(&json).expect("a request")
}

fn functions_page() -> String {
    page("functions.md")
}

fn page(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

#[test]
fn the_policies_of_each_section_pass_their_tests() {
    let mut suites = 0;
    let pages = page("policies.md") + &page("migrating.md");
    for section in pages.split("\n## ").skip(1) {
        let name = section.lines().next().unwrap_or_default();
        let files = files_of(section);
        if files.is_empty() {
            continue;
        }
        let options = Options::default();
        let sources = Sources::from_files(&files, &options)
            .unwrap_or_else(|found| panic!("{name}: {}", diagnostics::report(&found)));
        let all = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let loaded = files::load(&files::pick(all));
        let results = run(&loaded, &Filter::default(), &mut Native::new(&sources, options))
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(suites::report(&results), "", "{name}");
        suites += loaded.len();
    }
    assert!(suites > 5, "{suites} suites were found");
}

#[test]
fn each_field_of_a_policy_is_documented() {
    let page = page("policies.md");
    let schema: Value =
        serde_json::from_str(&self::page("schemas/policy.schema.json")).expect("JSON");
    let mut fields = BTreeSet::new();
    collect_fields(&schema, &mut fields);
    let is_documented = |field: &&str| {
        let spellings = [format!("`{field}`"), format!(".{field}`"), format!("{field}:")];
        spellings.iter().any(|spelling| page.contains(spelling)) || OLD_FIELDS.contains(field)
    };
    fields.retain(|field| !is_documented(field));
    assert!(fields.is_empty(), "{fields:?}");
}

/// Fields that have a newer name, are made by stores, or are refused.
const OLD_FIELDS: &[&str] = &[
    "$schema",
    "hash",
    "script",
    "sourceAttributes",
    "sourceFile",
    "storeIdentifer",
    "storeIdentifier",
];

fn collect_fields<'s>(schema: &'s Value, fields: &mut BTreeSet<&'s str>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                fields.extend(properties.keys().map(String::as_str));
            }
            members.values().for_each(|member| collect_fields(member, fields));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, fields)),
        _ => {}
    }
}

#[test]
fn each_error_of_the_compiler_has_a_section_with_its_report() {
    let page = page("errors.md");
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    let documented = sections.iter().map(|section| code_of(section)).collect::<BTreeSet<_>>();
    assert_eq!(documented, Code::ERRORS.iter().map(|code| code.name()).collect());

    for section in sections {
        let code = code_of(section);
        let Some(example) = blocks(section, "yaml").next() else {
            assert!(["no-policies", "unreadable"].contains(&code), "`{code}` has no example");
            continue;
        };
        let expected = blocks(section, "text").next().unwrap_or_default();
        let found = report_about(&named_files(example), code);
        assert!(found.contains(expected), "`{code}` is reported as\n{found}and not as\n{expected}");
    }
}

fn code_of(section: &str) -> &str {
    section.lines().next().unwrap_or_default().trim_matches('`')
}

/// Returns the report of the compiler, or of the suites if there are any.
fn report_about(files: &[(String, Vec<u8>)], code: &str) -> String {
    let schema_enforcement =
        if code == "invalid-schema" { Enforcement::Reject } else { Enforcement::None };
    let options = Options { schema_enforcement, ..Options::default() };
    let sources = match Sources::from_files(files, &options) {
        Ok(sources) => sources,
        Err(found) => return diagnostics::report(&found),
    };
    let all = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let loaded = files::load(&files::pick(all));
    let results = run(&loaded, &Filter::default(), &mut Native::new(&sources, options));
    suites::report(&results.expect("suites that can be run"))
}

/// Returns the files of an example: each begins with a comment that names it, or is the only one.
fn named_files(example: &str) -> Vec<(String, Vec<u8>)> {
    if !example.starts_with("# file: ") {
        return vec![("album.yaml".to_owned(), format!("{example}\n").into_bytes())];
    }
    let named = example.split("# file: ").skip(1).filter_map(|file| file.split_once('\n'));
    named.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}

/// Returns the files that the fenced blocks of a section begin with the names of, below `policies/`.
fn files_of(section: &str) -> Vec<(String, Vec<u8>)> {
    let block = |block: &str| {
        let (head, body) = block.split_once('\n')?;
        let path = head.trim_start_matches(['#', '/', ' ']).strip_prefix("policies/")?;
        Some((path.to_owned(), body.as_bytes().to_vec()))
    };
    let of = |language| blocks(section, language).filter_map(block).collect::<Vec<_>>();
    [of("yaml"), of("json")].concat()
}

//! Policies of which one file is replaced at a time are indexed as if all had been read.

use serde_json::Value as Json;
use wardgate_analysis::policies::{DraftError, IndexedPolicies};
use wardgate_analysis::report;
use wardgate_analysis::similar::Query;
use wardgate_compiler::Options;

type Files = Vec<(String, Vec<u8>)>;

const ROLES: &str = "apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: common
  variables: { import: [shared] }
  definitions:
    - { name: owner, parentRoles: [user], condition: { match: { expr: V.mine } } }
";
const SHARED: &str = "apiVersion: api.cerbos.dev/v1
exportVariables: { name: shared, definitions: { mine: R.attr.owner == P.id } }
";

fn policy(kind: &str, rules: &[&str]) -> String {
    let head = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: {kind}\n  version: default\n"
    );
    format!("{head}  importDerivedRoles: [common]\n  rules:\n    - {}\n", rules.join("\n    - "))
}

fn files() -> Files {
    let rule = "{ actions: [edit], derivedRoles: [owner], effect: EFFECT_ALLOW }";
    let texts = [
        ("album.yaml", policy("album", &[rule])),
        ("photo.yaml", policy("photo", &[rule])),
        ("roles.yaml", ROLES.to_owned()),
        ("shared.yaml", SHARED.to_owned()),
    ];
    texts.map(|(path, text)| (path.to_owned(), text.into_bytes())).into()
}

fn read(files: &Files) -> IndexedPolicies {
    IndexedPolicies::read(files, &Options::default()).unwrap()
}

/// Returns the rules that are similar to those of a policy, and all groups.
fn answers(policies: &IndexedPolicies, policy: &str) -> String {
    let (index, file) = (policies.index(), |file: &str| file.to_owned());
    let rules = index.named(policy).into_iter().filter_map(|rule| index.query(rule));
    let queries: Vec<Query> = rules.collect();
    let found: Vec<_> = queries.iter().map(|query| (query, index.similar(query, 10))).collect();
    let alike = index.similar_policies(&queries, 10);
    let groups: Json = report::groups(index, &index.groups(), &file).collect();
    format!("{groups}{}", report::similar(index, &alike, &found, &file))
}

#[test]
fn a_change_reaches_what_imports_from_it() {
    let edits = [
        (
            "album.yaml",
            policy("album", &["{ actions: [view], roles: [user], effect: EFFECT_DENY }"]),
        ),
        ("shared.yaml", SHARED.replace("R.attr.owner", "R.attr.creator")),
        ("roles.yaml", ROLES.replace("[user]", "[user, guest]")),
        ("new.yaml", policy("film", &["{ actions: [edit], roles: [user], effect: EFFECT_ALLOW }"])),
        ("photo.yaml", String::new()),
    ];
    let (mut all, mut policies) = (files(), read(&files()));
    for (path, text) in edits {
        policies.replace(path, text.as_bytes()).unwrap();
        all.retain(|(other, _)| other != path);
        all.push((path.to_owned(), text.into_bytes()));
        for policy in ["resource.album.vdefault", "resource.photo.vdefault"] {
            assert_eq!(answers(&policies, policy), answers(&read(&all), policy), "{path}");
        }
    }
}

#[test]
fn an_error_leaves_the_index_as_it_was() {
    let mut policies = read(&files());
    let before = answers(&policies, "resource.album.vdefault");
    let unknown =
        policy("album", &["{ actions: [x], derivedRoles: [nobody], effect: EFFECT_ALLOW }"]);
    let wrong = policy(
        "album",
        &[
            "{ actions: [x], roles: [a], effect: EFFECT_ALLOW, condition: { match: { expr: 1 + } } }",
        ],
    );
    let cases = [
        ("album.yaml", "a: [".to_owned(), ["syntax"].as_slice()),
        ("album.yaml", unknown, &["unknown-derived-role"]),
        ("album.yaml", wrong, &["invalid-expression"]),
        ("album.yaml", policy("album", &[]).replace("common", "comon"), &["parse"]),
        ("roles.yaml", ROLES.replace("owner", "author"), &["unknown-derived-role"; 2]),
        ("shared.yaml", String::new(), &["missing-import", "undefined-variable"]),
    ];
    for (path, text, codes) in cases {
        let errors = policies.replace(path, text.as_bytes()).unwrap_err();
        let found: Vec<&str> = errors.iter().map(|error| error.code.name()).collect();
        assert_eq!(found, codes, "{path}: {text}");
        assert_eq!(answers(&policies, "resource.album.vdefault"), before);
    }
}

#[test]
fn a_draft_takes_imports_from_the_others_and_is_not_compared_with_what_it_replaces() {
    let policies = read(&files());
    let draft = &files()[0];
    let queries = policies.draft(&draft.0, &draft.1).unwrap();
    let found = policies.index().similar(&queries[0], 10);
    let places: Vec<_> =
        found.iter().map(|found| &*policies.index().place(found.rule).unwrap().policy).collect();
    assert_eq!(places, ["resource.photo.vdefault"]);
    assert_eq!(found[0].score, 1_000_000);
    let lacking = policy("film", &["{ actions: [x], roles: [a], effect: EFFECT_ALLOW }"]);
    let lacking = lacking.replace("common", "comon");
    match policies.draft("film.yaml", lacking.as_bytes()).unwrap_err() {
        DraftError::Diagnostics(errors) => assert_eq!(errors[0].code.name(), "missing-import"),
        DraftError::NoPolicy => panic!("the draft is a policy"),
    }
    assert!(matches!(policies.draft("film.yaml", b""), Err(DraftError::NoPolicy)));
}

#[test]
fn an_index_that_was_replaced_often_is_made_anew() {
    let rules: Vec<String> = (0..2_000)
        .map(|at| format!("{{ actions: [a{at}], roles: [user], effect: EFFECT_ALLOW }}"))
        .collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let text = policy("album", &rules);
    let mut policies = read(&files());
    for _ in 0..12 {
        policies.replace("album.yaml", text.as_bytes()).unwrap();
        assert_eq!(policies.index().rules(), 2_001);
    }
}

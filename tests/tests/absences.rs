//! The reasons why actions have no fast path.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside of the functions that clippy knows as tests"
)]

use wardgate_compiler::{Enforcement, Options};
use wardgate_partial::{Reason, absences};
use wardgate_tests::compiled::Compiled;

#[test]
fn constructs_that_need_the_general_path_are_named() {
    let check = |condition: &str, reason| {
        let expected = Vec::from([(Some("view".to_owned()), reason)]);
        assert_eq!(found(&rule("view", "user", condition)), expected, "{condition}");
    };
    check("size(request.auxData.jwt) == 1", Reason::AuxData);
    check("'owner' in runtime.effectiveDerivedRoles", Reason::DerivedRoles);
    check("P.attr == R.attr", Reason::WholeMap);
    check("R.scope == 'a'", Reason::ScopeOrVersion);
    let reads: Vec<String> = (0..33).map(|at| format!("R.attr.a{at} == 1")).collect();
    check(&reads.join(" || "), Reason::Slots);
}

#[test]
fn patterns_are_named() {
    let of_actions = found(&rule("view:*", "user", "true"));
    assert_eq!(of_actions, []);
    let of_roles = found(&rule("view", "us*", "true"));
    assert_eq!(of_roles, [(Some("view".to_owned()), Reason::RolePattern)]);
}

#[test]
fn an_action_with_a_fast_path_has_no_reason() {
    assert_eq!(found(&rule("view", "user", "R.attr.owner == P.id")), []);
}

#[test]
fn schemas_that_reject_and_are_not_flat_are_named_once_for_a_kind() {
    let check = |schema: &str, expected: &[Reason]| {
        assert_eq!(reasons_with_schema(schema), expected, "{schema}");
    };
    check(r#"{"properties": {"a": {"pattern": "^x"}}}"#, &[Reason::Schema]);
    check(r#"{"properties": {"a": {"type": "array"}}}"#, &[Reason::Schema]);
    check(r#"{"properties": {"a": {"properties": {}}}}"#, &[Reason::Schema]);
    check(r#"{"minProperties": 1}"#, &[Reason::Schema]);
    check(r#"{"required": ["a"], "additionalProperties": false}"#, &[Reason::Schema]);
    check(r#"{"type": "string"}"#, &[Reason::Schema]);
    check(r#"{"type": "object"}"#, &[]);
    check(r#"{"properties": {"a": {"type": ["string", "array"]}}}"#, &[]);
}

/// Returns the reasons why actions of a kind whose resources have a schema have no fast path.
fn reasons_with_schema(schema: &str) -> Vec<Reason> {
    let policy = format!(
        "{HEAD}  schemas: {{ resourceSchema: {{ ref: 'cerbos:///album.json' }} }}\n  rules:\n{}",
        rule("view", "user", "true")
    );
    let files = [
        ("album.yaml".to_owned(), policy.into_bytes()),
        ("_schemas/album.json".to_owned(), schema.as_bytes().to_vec()),
    ];
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    let table = Compiled::new(&files, &options).unwrap().table;
    absences(&table).into_iter().map(|one| one.reason).collect()
}

/// Returns the actions of a policy without a fast path.
fn found(rules: &str) -> Vec<(Option<String>, Reason)> {
    let text = format!("{HEAD}  rules:\n{rules}");
    let table = Compiled::of_texts(&[("album.yaml", &text)]).unwrap().table;
    let found = absences(&table).into_iter();
    found.map(|one| (one.action.map(str::to_owned), one.reason)).collect()
}

fn rule(action: &str, role: &str, condition: &str) -> String {
    format!(
        "    - {{ actions: ['{action}'], effect: EFFECT_ALLOW, roles: ['{role}'], condition: {{ match: {{ expr: {condition:?} }} }} }}\n"
    )
}

const HEAD: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
";

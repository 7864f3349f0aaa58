//! `wardgate lint`.

use serde_json::{Value as Json, json};

use crate::folder::{Folder, PHOTO};

const UNUSED: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: photo album
  version: default
  variables: {local: {owner: R.attr.owner}}
  rules:
    - {actions: [view], roles: [member], effect: EFFECT_ALLOW}
    - {actions: [view], roles: [member], effect: EFFECT_ALLOW}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/a b.yaml", UNUSED);
    folder
}

#[test]
fn findings_are_printed_with_their_lines_and_counted() {
    folder().run("lint policies").says(
        0,
        "policies/a b.yaml:5:23: warning[unused-variable]: this policy does not use the variable `owner`
  at $.resourcePolicy.variables.local.owner
   |
 5 |   variables: {local: {owner: R.attr.owner}}
   |                       ^
  help: wardgate help unused-variable

policies/a b.yaml:8:7: warning[duplicate-rule]: rule `rule-002` says the same as rule `rule-001` on line 7
  at $.resourcePolicy.rules[1]
   |
 8 |     - {actions: [view], roles: [member], effect: EFFECT_ALLOW}
   |       ^
  help: wardgate help duplicate-rule

2 findings in 1 file
     1  duplicate-rule
     1  unused-variable
",
    );
}

#[test]
fn policies_may_have_no_findings() {
    let folder = Folder::with_photos();
    folder.run("lint policies").says(0, "no findings\n");
    folder.run("lint policies --json --deny warnings").says(0, "[]\n");
}

#[test]
fn denied_findings_end_with_code_1() {
    let folder = folder();
    for deny in ["warnings", "duplicate-rule", "unused-variable"] {
        let ran = folder.run(&format!("lint policies --deny {deny}"));
        assert!(ran.code == 1 && ran.out.contains("error["), "{ran:?}");
    }
    folder.run("lint policies --deny lenient-deny").ends_with_code(0);
    folder.run("lint policies --deny warnings --allow unused-variable").ends_with_code(1);
    let both = "lint policies --deny warnings --allow unused-variable --allow duplicate-rule";
    folder.run(both).says(0, "no findings\n");
}

#[test]
fn findings_can_be_json() {
    let ran = folder().run("lint policies --json --allow duplicate-rule");
    let json = ran.json();
    let expected = json!({
        "severity": "warning", "code": "unused-variable",
        "page": "docs/lints.md#unused-variable", "file": "policies/a b.yaml",
        "line": 5, "column": 23, "end": {"line": 5, "column": 28},
        "message": "this policy does not use the variable `owner`",
        "path": "$.resourcePolicy.variables.local.owner", "text": json[0]["text"],
    });
    assert_eq!((ran.code, &json[0]), (0, &expected));
}

#[test]
fn findings_can_be_sarif() {
    let folder = folder();
    folder.run("lint policies --sarif found.sarif --deny duplicate-rule").ends_with_code(1);
    let json: Json = serde_json::from_slice(&folder.read("found.sarif")).unwrap();
    assert_eq!(json["version"], "2.1.0");
    let results = json["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<_> = results.iter().map(|one| (&one["ruleId"], &one["level"])).collect();
    assert_eq!(
        levels,
        [
            (&json!("unused-variable"), &json!("warning")),
            (&json!("duplicate-rule"), &json!("error"))
        ]
    );
    let location = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b.yaml");
    let region = json!({"startLine": 5, "startColumn": 23, "endLine": 5, "endColumn": 28});
    assert_eq!(location["region"], region);
    folder.run("lint policies --sarif .").ends_with_code(4);
}

#[test]
fn policies_that_do_not_compile_are_complained_of() {
    let folder = folder();
    folder.write("policies/b.yaml", PHOTO.replace("EFFECT_ALLOW", "EFFECT_ALOW"));
    let ran = folder.run("lint policies");
    assert!(ran.code == 1 && ran.out.is_empty() && ran.err.contains("error[parse]"), "{ran:?}");
    let ran = folder.run("lint policies --json");
    assert!(ran.code == 1 && ran.out.contains("\"parse\""), "{ran:?}");
}

#[test]
fn a_wrong_call_is_refused() {
    let folder = folder();
    for wrong in ["--deny unused", "--allow warnings", "--evaluation loose"] {
        folder.run(&format!("lint policies {wrong}")).ends_with_code(2);
    }
    folder.run("lint").ends_with_code(2);
    folder.run("lint nowhere").ends_with_code(4);
    folder.write("file", "");
    folder.run("lint file").ends_with_code(2);
    folder.write("empty/readme.md", "");
    folder.run("lint empty").ends_with_code(1);
}

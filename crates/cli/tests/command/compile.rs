//! `wardgate compile`.

use crate::folder::{Folder, PHOTO};

#[test]
fn a_directory_becomes_a_bundle() {
    let folder = Folder::with_photos();
    let ran = folder.run("compile policies -o p.wardgate");
    let bytes = folder.read("p.wardgate").len();
    ran.says(0, &format!("p.wardgate: 1 policy, 2 rules, strict evaluation, {bytes} bytes\n"));
    assert_eq!(folder.names(), ["p.wardgate", "policies"]);
}

#[test]
fn the_summary_can_be_json() {
    let folder = Folder::with_photos();
    let ran = folder.run("compile policies -o p.wardgate --json");
    let bytes = folder.read("p.wardgate").len();
    let expected = serde_json::json!({
        "output": "p.wardgate", "policies": 1, "rules": 2, "rulesOfSpocp": 0, "ignored": 0,
        "evaluation": "strict", "bytes": bytes, "revision": 0, "signers": [], "warnings": [],
    });
    assert_eq!((ran.code, ran.json()), (0, expected));
}

#[test]
fn without_an_output_policies_are_checked_and_nothing_is_written() {
    let folder = Folder::with_photos();
    folder.run("compile policies").ends_with_code(0);
    folder.write("policies/wrong.yaml", "apiVersion: api.cerbos.dev/v1\n");
    folder.run("compile policies").ends_with_code(1);
    assert_eq!(folder.names(), ["policies"]);
}

#[test]
fn a_bundle_goes_to_standard_output_and_the_summary_beside_it() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let ended = folder.command(&["compile", "policies", "-o", "-"]).output().unwrap();
    let expected = folder.read("p.wardgate");
    assert_eq!((ended.status.code(), &ended.stdout), (Some(0), &expected));
    let bytes = expected.len();
    let shown = format!("standard output: 1 policy, 2 rules, strict evaluation, {bytes} bytes\n");
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), shown);
    assert_eq!(folder.names(), ["p.wardgate", "policies"]);
}

#[test]
fn accessors_can_be_emitted_for_the_bundle() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o p.wardgate --emit accessors.js").ends_with_code(0);
    let text = String::from_utf8(folder.read("accessors.js")).unwrap();
    let digest: String =
        folder.read("p.wardgate")[32..64].iter().map(|b| format!("{b:02x}")).collect();
    for expected in [
        format!("export const bundle = \"{digest}\";"),
        "export const names = [\"owner\"];".to_owned(),
        "v = o[\"owner\"];".to_owned(),
    ] {
        assert!(text.contains(&expected), "{expected} in {text}");
    }
    for placeholder in ["BUNDLE", "NAMES", "READS"] {
        assert!(!text.contains(placeholder), "{placeholder} in {text}");
    }
    assert_eq!(folder.names(), ["accessors.js", "p.wardgate", "policies"]);
}

#[test]
fn the_same_policies_give_the_same_bytes() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o one").ends_with_code(0);
    folder.run("compile policies -o two").ends_with_code(0);
    assert_eq!(folder.read("one"), folder.read("two"));
}

#[test]
fn every_error_is_shown_where_it_stands_and_the_old_bundle_stays() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let old = folder.read("p.wardgate");
    folder.write("policies/photo.yaml", PHOTO.replace("== P.id", "== V.nobody"));
    folder.write(
        "policies/more.yaml",
        PHOTO.replace("photo", "film").replace("== P.id", "== V.nothing"),
    );
    let ran = folder.run("compile policies -o p.wardgate");
    ran.ends_with_code(1);
    assert_eq!(ran.out, "");
    for expected in ["policies/photo.yaml:15:", "policies/more.yaml:15:", "^", "wardgate: 2 errors"]
    {
        assert!(ran.err.contains(expected), "{expected} in {}", ran.err);
    }
    assert_eq!(folder.read("p.wardgate"), old);
    assert_eq!(folder.names(), ["p.wardgate", "policies"]);
}

#[test]
fn errors_can_be_json() {
    let folder = Folder::with_photos();
    folder.write("policies/photo.yaml", PHOTO.replace("== P.id", "== V.nobody"));
    let ran = folder.run("compile policies -o p.wardgate --json");
    ran.ends_with_code(1);
    let json = ran.json();
    let error = &json[0];
    assert_eq!(json.as_array().unwrap().len(), 1);
    assert_eq!(error["severity"], "error");
    assert_eq!(error["code"], "undefined-variable");
    assert_eq!(error["file"], "policies/photo.yaml");
    assert_eq!(error["line"], 15);
    let column = error["column"].as_u64().unwrap();
    assert_eq!(error["end"], serde_json::json!({"line": 15, "column": column + 8}));
    assert_eq!(ran.err, "");
}

#[test]
fn options_reach_the_bundle() {
    let folder = Folder::with_photos();
    let arguments = "compile policies -o p --evaluation lenient --lenient-scope-search \
                     --default-version v2 --schema-enforcement reject";
    folder.run(arguments).ends_with_code(0);
    let json = folder.run("inspect p --json").json();
    assert_eq!(json["evaluation"], "lenient");
    assert_eq!(json["scopeSearch"], "lenient");
    assert_eq!(json["defaultVersion"], "v2");
    assert_eq!(json["schemaEnforcement"], "reject");
}

#[test]
fn globals_come_from_json_yaml_or_the_command_line() {
    let folder = Folder::new();
    folder.write("policies/photo.yaml", PHOTO.replace("R.attr.owner == P.id", "G.open"));
    folder.write("g.json", r#"{"open": true}"#);
    folder.write("g.yaml", "open: true\n");
    folder.write("ann.json", crate::folder::ANN);
    let check = |globals: &str, expected: &str| {
        let arguments = ["check", "policies", "-r", "ann.json", "--globals", globals];
        let ran = folder.run_with(&arguments, "");
        assert!(ran.out.contains(expected), "{globals}: {ran:?}");
    };
    check("g.json", "allow  edit");
    check("g.yaml", "allow  edit");
    check(r#"{"open": true}"#, "allow  edit");
    check(r#" {open: true}"#, "allow  edit");
    check(r#"{"open": false}"#, "deny   edit");
}

#[test]
fn globals_that_cannot_be_used_are_wrong_usage() {
    let folder = Folder::with_photos();
    folder.write("g.yaml", "- 1\n");
    let check = |globals: &str, code: i32, expected: &str| {
        let ran = folder.run_with(&["inspect", "policies", "--globals", globals], "");
        ran.ends_with_code(code);
        assert!(ran.err.contains(expected), "{globals}: {ran:?}");
    };
    check("g.yaml", 2, "globals: g.yaml: expected an object, found a list");
    check("", 4, "cannot read ``: no such file or directory");
    check("nowhere.json", 4, "cannot read `nowhere.json`: no such file or directory");
    check(r#"{"a": 1, "a": 2}"#, 2, "globals: ");
    check(r#"{"a""#, 2, "globals: ");
}

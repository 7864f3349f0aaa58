//! `wardgate check`.

use serde_json::json;

use crate::folder::{ANN, Folder, PHOTO, SAM};

#[test]
fn people_read_effects_and_reasons() {
    let folder = Folder::with_photos();
    folder.write("sam.json", SAM);
    folder.run("check policies --requests sam.json").says(
        0,
        "[r1] photo p1, requested by sam as member\n\
         \x20 allow  view  resource.photo.vdefault#members-look\n\
         \x20 deny   edit  no rule applied\n\
         \x20 deny   sell  no rule applied\n",
    );
}

#[test]
fn programs_read_the_answer_of_the_cerbos_call() {
    let folder = Folder::with_photos();
    folder.write("sam.json", SAM);
    folder.run("check policies --requests sam.json --json").says(
        0,
        concat!(
            r#"{"requestId":"r1","results":[{"resource":{"id":"p1","kind":"photo"},"#,
            r#""actions":{"view":"EFFECT_ALLOW","edit":"EFFECT_DENY","sell":"EFFECT_DENY"}}]}"#,
            "\n",
        ),
    );
}

#[test]
fn a_bundle_answers_as_its_directory_does() {
    let folder = Folder::with_photos();
    folder.write("sam.json", SAM);
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let check = |arguments: &str| {
        let from = |policies| folder.run(&format!("check {policies} -r sam.json {arguments}"));
        assert_eq!(from("p.wardgate"), from("policies"));
    };
    check("");
    check("--meta");
    check("--json --meta");
}

#[test]
fn outputs_and_meta_are_part_of_the_answer() {
    let folder = Folder::with_photos();
    let ran = folder.run_with(&["check", "policies", "-r", "-", "--json", "--meta"], ANN);
    let expected = json!({ "results": [{
        "resource": { "id": "p1", "kind": "photo" },
        "actions": { "edit": "EFFECT_ALLOW" },
        "meta": { "actions": { "edit": { "matchedPolicy": "resource.photo.vdefault" } } },
        "outputs": [{
            "src": "resource.photo.vdefault#owners-edit", "action": "edit", "val": "edited by ann",
        }],
    }]});
    assert_eq!((ran.code, ran.json()), (0, expected));
}

#[test]
fn the_request_can_include_meta_too() {
    let folder = Folder::with_photos();
    let request = ANN.replacen('{', r#"{"include_meta":true,"#, 1);
    let ran = folder.run_with(&["check", "policies", "-r", "-", "--json"], &request);
    assert!(ran.out.contains("matchedPolicy"), "{ran:?}");
}

#[test]
fn scope_and_version_of_the_resource_are_echoed() {
    let folder = Folder::with_photos();
    let request = ANN.replace(r#""id":"p1""#, r#""id":"p1","scope":"acme","policyVersion":"v2""#);
    let ran = folder.run_with(&["check", "policies", "-r", "-", "--json"], &request);
    let json = ran.json();
    let expected = json!({ "id": "p1", "kind": "photo", "policyVersion": "v2", "scope": "acme" });
    assert_eq!(json["results"][0]["resource"], expected);
}

#[test]
fn violations_of_a_schema_are_reported() {
    let folder = Folder::new();
    let schemas = "  schemas: { resourceSchema: { ref: cerbos:///photo.json } }\n";
    folder.write("policies/photo.yaml", format!("{PHOTO}{schemas}"));
    folder.write(
        "policies/_schemas/photo.json",
        r#"{"type": "object", "properties": {"owner": {"type": "number"}}}"#,
    );
    let arguments = ["check", "policies", "-r", "-", "--json", "--schema-enforcement", "reject"];
    let ran = folder.run_with(&arguments, ANN);
    let json = ran.json();
    let result = &json["results"][0];
    assert_eq!(result["actions"]["edit"], "EFFECT_DENY");
    assert_eq!(result["validationErrors"][0]["path"], "/owner");
    assert_eq!(result["validationErrors"][0]["source"], "SOURCE_RESOURCE");
}

#[test]
fn the_time_can_be_given() {
    let folder = Folder::new();
    let condition = r#"now() < timestamp("2024-01-01T00:00:00Z")"#;
    folder.write("policies/photo.yaml", PHOTO.replace("R.attr.owner == P.id", condition));
    let check = |now: &str, expected: &str| {
        let ran = folder.run_with(&["check", "policies", "-r", "-", "--now", now], ANN);
        assert!(ran.out.contains(expected), "{ran:?}");
    };
    check("2023-12-31T23:59:59Z", "allow  edit");
    check("2023-12-31T23:59:59-01:00", "deny   edit");
}

#[test]
fn verified_claims_reach_conditions() {
    let folder = Folder::new();
    let check = |condition: &str, aux_data: &str| {
        let policy =
            PHOTO.replace("{ expr: R.attr.owner == P.id }", &format!("{{ expr: '{condition}' }}"));
        folder.write("policies/photo.yaml", policy);
        let request = ANN.replacen('{', &format!(r#"{{"auxData":{aux_data},"#), 1);
        let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
        assert!(ran.out.contains("allow  edit"), "{aux_data}: {ran:?}");
    };
    check(r#"request.auxData.jwt.iss == "me""#, r#"{"jwt":{"iss":"me"}}"#);
    check(r#"request.auxData.jwt.token == "t""#, r#"{"jwt":{"iss":"me","token":"t"}}"#);
    check(
        r#"request.auxData.jwts.a.claims.iss == "me""#,
        r#"{"jwts":{"a":{"claims":{"iss":"me"}}}}"#,
    );
}

#[test]
fn each_line_is_a_request_and_a_bad_one_is_reported_with_its_number() {
    let folder = Folder::with_photos();
    let check = |input: String, answers: usize, complaints: &[&str]| {
        let ran = folder.run_with(&["check", "policies", "-r", "-", "--json"], &input);
        let code = if complaints.is_empty() { 0 } else { 3 };
        assert_eq!((ran.code, ran.out.lines().count()), (code, answers), "{ran:?}");
        let found: Vec<_> = ran.err.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
        let expected: Vec<_> =
            complaints.iter().map(|at| format!("standard input, {at}")).collect();
        assert_eq!(found, expected, "{ran:?}");
    };
    check(format!("{ANN}\n{ANN}\n"), 2, &[]);
    check(format!("\u{feff}\n{ANN}\n\n\r\n{ANN}"), 2, &[]);
    check(format!("{ANN}\n{{oops\n{ANN}\n"), 2, &["line 2, column 2"]);
    check(format!("{ANN}\n{{}}\n{ANN}\n"), 2, &["request at line 2"]);
    check(format!("{{}}\n{ANN}\n"), 1, &["request at line 1"]);
    check(format!("{{oops\n{ANN}\n"), 1, &["line 1, column 2"]);
    check(format!("oops\n{ANN}\noops\n"), 1, &["line 1, column 1", "line 3, column 1"]);
    // A request may take several lines if the first one does.
    check(format!("{SAM}{SAM}{ANN}"), 3, &[]);
    check(format!("{SAM}{{}}\n{ANN}"), 2, &["request at line 4"]);
    check(format!("{SAM}[1,\n{ANN}"), 2, &["line 5, column 125"]);
    check(
        format!("{ANN}\n{SAM}"),
        1,
        &["line 2, column 68", "line 3, column 13", "line 4, column 14"],
    );
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let folder = Folder::with_photos();
    let mut command = folder.command(&["check", "policies", "-r", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        writeln!(input, "{ANN}").unwrap();
        assert!(answers.next().unwrap().unwrap().contains("EFFECT_ALLOW"));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

//! `wardgate test`: runs the suites in `tests/suites`, and compares the output with theirs.
//!
//! Each `*.txt` of a folder is one run in a copy of it: the command, the exit code, its output, and
//! after a line of dashes its errors. Where a run changes files, they must be those below `after`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::{ANN, Folder, PHOTO, Ran};

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suites")
}

/// Returns the paths of the files below a folder, from there.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Copies a folder of `tests/suites`.
fn copied(name: &str) -> Folder {
    let folder = Folder::new();
    let from = suites().join(name);
    for path in files(&from) {
        folder.write(path.to_str().unwrap(), fs::read(from.join(&path)).unwrap());
    }
    folder
}

/// Returns the output of a run in the form of the `*.txt`.
fn output_of(command: &str, ran: &Ran) -> String {
    let complaints = match ran.err.as_str() {
        "" => String::new(),
        err => format!("-----\n{err}"),
    };
    format!("$ {command}\nexit {}\n{}{complaints}", ran.code, ran.out)
}

fn check(name: &str) {
    let from = suites().join(name);
    let reports: Vec<_> = files(&from)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "txt"))
        .collect();
    assert!(!reports.is_empty());
    for report in reports {
        let expected = fs::read_to_string(from.join(&report)).unwrap();
        let command = expected.lines().next().unwrap().strip_prefix("$ ").unwrap();
        let folder = copied(name);
        let ran = folder.run(command.strip_prefix("wardgate ").unwrap());
        assert_eq!(output_of(command, &ran), expected, "{name}/{}", report.display());
        let changes = command.contains("--update");
        let after = from.join("after");
        for path in files(&from.join("policies")) {
            let changed = Some(after.join(&path)).filter(|path| changes && path.exists());
            let wanted = changed.unwrap_or_else(|| from.join("policies").join(&path));
            let found = folder.read(&format!("policies/{}", path.display()));
            assert_eq!(
                String::from_utf8(found).unwrap(),
                fs::read_to_string(&wanted).unwrap(),
                "{name}/{}",
                path.display()
            );
        }
    }
}

#[test]
fn every_folder_of_suites_has_its_output() {
    for name in ["passing", "failing", "broken", "update", "unfinished", "coverage"] {
        check(name);
    }
}

#[test]
fn a_suite_expects_limits_like_outputs() {
    let folder = Folder::new();
    folder.write("policies/photo.yaml", PHOTO_FOR_ALL);
    folder.write("policies/views.yaml", VIEWS);
    let suite = |quota: &str| {
        format!(
            "name: Limits
tests:
  - name: Views
    input: {{ principals: [ann, bob], resources: [beach], actions: [view] }}
    expected:
      - principal: ann
        resource: beach
        actions: {{ view: EFFECT_ALLOW }}
        outputs:
          - action: view
            expected: [{{ src: limit.views, val: {{ key: [ann, 3], cost: 1, quota: {quota} }} }}]
      - {{ principal: bob, resource: beach, actions: {{ view: EFFECT_DENY }} }}
principals:
  ann: {{ id: ann, roles: [user], attr: {{ quota: 5 }} }}
  bob: {{ id: bob, roles: [user] }}
resources:
  beach: {{ id: p1, kind: photo, attr: {{ shelf: 3 }} }}
"
        )
    };
    folder.write("policies/photo_test.yaml", suite("5"));
    folder.run("test policies --quiet").says(0, "1 suite, 2 tests: 2 passed\n");
    folder.write("policies/photo_test.yaml", suite("6"));
    let ran = folder.run("test policies");
    ran.ends_with_code(6);
    assert!(ran.out.contains("limit.views"), "{}", ran.out);
}

const PHOTO_FOR_ALL: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: photo
  version: default
  rules: [{ actions: [view], roles: [user], effect: EFFECT_ALLOW }]
";

const VIEWS: &str = "apiVersion: api.cerbos.dev/v1
wardgateLimit:
  name: views
  resource: photo
  actions: [view]
  key: [P.id, R.attr.shelf]
  quota: P.attr.quota
  window: 60s
";

#[test]
fn a_directory_without_policies_is_reported() {
    let folder = copied("failing");
    folder.write("alone/photo_test.yaml", folder.read("policies/photo_test.yaml"));
    let ran = folder.run("test alone");
    ran.ends_with_code(6);
    assert_eq!(ran.err, "wardgate: `alone` holds no policies, so every action is denied\n");
}

#[test]
fn updated_suites_pass() {
    let folder = copied("update");
    folder.run("test policies --update --evaluation lenient");
    folder
        .run("test policies --filter suite=Photos,JSON,Divided,Drafts* --quiet --evaluation lenient")
        .says(0, "1 test passes only with --evaluation lenient, as Cerbos decides\n6 suites, 61 tests: 61 passed\n");
    // Nothing is left to do, so nothing is written.
    let texts = || UPDATED.map(|name| folder.read(&format!("policies/{name}")));
    let before = texts();
    folder.run("test policies --update --evaluation lenient").ends_with_code(6);
    assert_eq!(texts(), before);
}

#[test]
fn updates_keep_a_byte_order_mark_and_line_ends_of_windows() {
    let folder = copied("update");
    let lines = |name: &str| String::from_utf8(folder.read(name)).unwrap().replace('\n', "\r\n");
    for name in UPDATED {
        let text = format!("\u{feff}{}", lines(&format!("policies/{name}")));
        folder.write(&format!("policies/{name}"), text);
    }
    folder.run("test policies --update --evaluation lenient");
    for name in UPDATED {
        let wanted = format!("\u{feff}{}", lines(&format!("after/{name}")));
        let found = String::from_utf8(folder.read(&format!("policies/{name}"))).unwrap();
        assert_eq!(found, wanted, "{name}");
    }
}

/// The suites that `--update` changes.
const UPDATED: [&str; 5] = [
    "divided_test.yaml",
    "draft_json_test.json",
    "draft_test.yaml",
    "json_test.json",
    "photo_test.yaml",
];

#[test]
fn xml_and_json_hold_the_same_results() {
    let folder = copied("failing");
    let ran = folder.run("test policies --json --junit report.xml");
    ran.ends_with_code(6);
    let json = ran.json();
    assert_eq!(json["summary"]["testsCount"], 11);
    assert_eq!(json["summary"]["overallResult"], "RESULT_FAILED");
    let xml = String::from_utf8(folder.read("report.xml")).unwrap();
    assert!(
        xml.starts_with(r#"<testsuites errors="0" failures="6" skipped="0" tests="11">"#),
        "{xml}"
    );
    assert_eq!(xml.matches("<failure ").count(), 6);
}

#[test]
fn broken_runs_have_codes_of_their_own() {
    let folder = copied("passing");
    folder.run("test nothing").complains(4, "cannot read `nothing`: no such file or directory");
    folder.run("test policies/photo.yaml").complains(2, "`policies/photo.yaml` is not a directory");
    folder.run("test policies --run (").ends_with_code(2);
    folder.run("test policies --filter who=ann").complains(
        2,
        "`--filter`: expected `suite`, `test`, `principal`, `resource` or `action`, found `who`",
    );
    folder
        .run("test policies --package .")
        .complains(2, "`--package` is for deciding in Node: add `--host node`");
    folder.write("empty/photo.yaml", PHOTO);
    let none = "wardgate: `empty` holds no test suites: no file is named `*_test.yaml`\n";
    let ran = folder.run("test empty");
    ran.ends_with_code(7);
    assert_eq!(ran.out, "0 suites, 0 tests: 0 passed\n");
    let accepts = "wardgate: nothing was tested; `--pass-with-no-tests` accepts that\n";
    assert_eq!(ran.err, format!("{none}{accepts}"));
    let ran = folder.run("test empty --pass-with-no-tests");
    assert_eq!((ran.code, ran.err.as_str()), (0, none));
    folder.write("policies/wrong.yaml", "apiVersion: 1\n");
    folder.run("test policies").ends_with_code(1);
}

#[test]
fn tests_are_decided_as_the_compiled_bundle_decides() {
    let folder = Folder::with_photos();
    let more = "    - actions: [edit]\n      roles: [member]\n      effect: EFFECT_ALLOW\n      condition: { match: { expr: ";
    folder.write("policies/photo.yaml", format!("{PHOTO}{more}R.attr.public }} }}\n"));
    folder.write("policies/photo_test.yaml", EDITS);
    let lines = [
        "      denied, because a condition failed in resource.photo.vdefault#rule-003 (photo.yaml:18)\n",
        "        R.attr.public  ->  error: no such key: public\n",
        "1 test passes only with --evaluation lenient, as Cerbos decides\n",
    ];
    folder.run("test policies").shows(6, &lines);
    folder.write("ann.json", ANN);
    let decided = folder.run("check policies -r ann.json");
    assert!(decided.out.contains("deny   edit"), "{}", decided.out);
    let ran = folder.run("test policies --evaluation lenient --quiet");
    ran.says(
        0,
        "1 test passes only with --evaluation lenient, as Cerbos decides\n1 suite, 1 test: 1 passed\n",
    );
    let ran = folder.run("test policies --json --verbose");
    let json = ran.json();
    let action = "/suites/0/testCases/0/principals/0/resources/0/actions/0/passesOnlyWith";
    assert_eq!(
        (ran.code, &json.pointer(action).unwrap().as_str()),
        (6, &Some("--evaluation lenient"))
    );
}

#[test]
fn a_test_that_depends_on_schemas_is_reported() {
    let folder = Folder::with_photos();
    let schemas = "  schemas: { resourceSchema: { ref: 'cerbos:///photo.json' } }\n  rules:";
    folder.write("policies/photo.yaml", PHOTO.replace("  rules:", schemas));
    folder
        .write("policies/_schemas/photo.json", r#"{"properties": {"owner": {"type": "number"}}}"#);
    folder.write(
        "policies/photo_test.yaml",
        EDITS.replace("EFFECT_ALLOW", "EFFECT_DENY").split("        outputs:").next().unwrap(),
    );
    let fixtures = "principals:\n  ann: { id: ann, roles: [member] }\nresources:\n  p1: { kind: photo, id: p1, attr: { owner: ann } }\n";
    let suite = String::from_utf8(folder.read("policies/photo_test.yaml")).unwrap();
    folder.write("policies/photo_test.yaml", format!("{suite}{fixtures}"));
    let ran = folder.run("test policies --quiet");
    ran.says(
        6,
        "1 test passes only with --schema-enforcement reject, as Cerbos decides\n1 suite, 1 test: 0 passed, 1 failed\n",
    );
    folder
        .run("test policies --quiet --schema-enforcement reject")
        .says(0, "1 suite, 1 test: 1 passed\n");
}

#[test]
fn a_filter_leaves_the_rest_out() {
    let folder = copied("passing");
    folder
        .run("test policies --quiet --filter test=New*;principal=ann")
        .says(0, "3 suites, 2 tests: 2 passed\n");
    folder
        .run("test policies --quiet --filter action=print --filter resource=secret")
        .says(0, "3 suites, 1 test: 1 passed\n");
    folder
        .run("test policies --quiet --run ^Photos/Old")
        .says(0, "3 suites, 34 tests: 1 passed, 33 skipped\n");
}

#[test]
fn coverage_goes_to_files_in_the_form_that_their_endings_say() {
    let folder = copied("coverage");
    let files = ["c.txt", "c.json", "c.info", "c.html"];
    let options: Vec<_> = files.iter().map(|file| format!("--coverage={file}")).collect();
    folder.run(&format!("test policies {}", options.join(" "))).ends_with_code(0);
    let starts = ["coverage ", "{\"summary\":", "TN:\nSF:policies/photo.yaml\n", "<!doctype html>"];
    for (file, start) in files.into_iter().zip(starts) {
        let text = String::from_utf8(folder.read(file)).unwrap();
        assert!(text.starts_with(start) && text.ends_with('\n'), "{file}: {text}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_a_failure() {
    let folder = copied("coverage");
    folder.write("file", "");
    let ran = folder.run("test policies --coverage=file/c.html");
    ran.ends_with_code(4);
    assert!(ran.err.starts_with("wardgate: cannot write `file/c.html`: "), "{ran:?}");
}

#[test]
fn the_answer_of_node_counts() {
    let folder = Folder::with_photos();
    folder.write("policies/photo_test.yaml", EDITS);
    let check = |answer: &str| {
        let manifest = r#"{"name": "wardgate", "type": "module", "exports": "./index.js"}"#;
        folder.write("npm/package.json", manifest);
        folder.write("npm/index.js", PACKAGE.replace("ANSWER", answer));
        folder.run("test policies --quiet --host node --package npm")
    };
    let decided = |value: &str| {
        format!(
            r#"{{ actions: {{ edit: {{ effect: "allow" }} }}, outputs: [{{ src: "resource.photo.vdefault#owners-edit", action: "edit", {value} }}] }}"#
        )
    };
    check(&decided(r#"val: "edited by ann""#)).says(0, "1 suite, 1 test: 1 passed\n");
    // More than a pipe holds.
    let loud = format!(
        "(process.stderr.write('x'.repeat(1 << 20)), {})",
        decided(r#"val: "edited by ann""#)
    );
    check(&loud).says(0, "1 suite, 1 test: 1 passed\n");
    check(&decided("val: null")).ends_with_code(6);
    check(&decided(r#"error: "no""#)).ends_with_code(6);
    check(r#"{ actions: { edit: { effect: "deny" } } }"#).ends_with_code(6);
    let cannot = |answer: &str, why: &str| {
        check(answer).complains(4, &format!("cannot decide in Node: {why}"));
    };
    cannot("{}", "it gives no decision");
    cannot(r#"{ actions: { edit: { effect: "may" } } }"#, "it gives no decision");
    cannot(&decided("no: 1"), "it gives an output without a value");
    let deep = format!("val: {}{}", "[".repeat(100), "]".repeat(100));
    cannot(&decided(&deep), "an output cannot be used: nested more than 69 levels deep");
    cannot("process.exit(7)", "it ended without an answer");
    cannot("(() => { throw new Error('no\\nno') })()", "no");
}

#[test]
fn a_machine_without_node_is_reported() {
    let folder = copied("passing");
    let arguments = ["test", "policies", "--host", "node"];
    let ended = folder.command(&arguments).env("PATH", "").output().unwrap();
    let output_of = String::from_utf8(ended.stderr).unwrap();
    let expected = "wardgate: cannot decide in Node: there is no `node` on the path: \
                    install Node 20 or newer, or decide with `--host native`\n";
    assert_eq!((ended.status.code(), output_of.as_str()), (Some(4), expected));
}

/// Looks like the npm package.
const PACKAGE: &str = r"
export async function open(bundle, options) {
  return { decisionBytes: (request) => new TextEncoder().encode(JSON.stringify(ANSWER)) };
}
";

/// Ann edits a photo of hers.
const EDITS: &str = r#"name: Photos
tests:
  - name: owners edit
    input: { principals: [ann], resources: [p1], actions: [edit] }
    expected:
      - principal: ann
        resource: p1
        actions: { edit: EFFECT_ALLOW }
        outputs:
          - action: edit
            expected: [{ src: resource.photo.vdefault#owners-edit, val: edited by ann }]
principals:
  ann: { id: ann, roles: [member] }
resources:
  p1: { kind: photo, id: p1, attr: { owner: ann } }
"#;

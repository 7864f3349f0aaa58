//! Clumsy and hostile use: one clear sentence, the right exit code, nothing half done.

use std::process::Stdio;

use crate::folder::{ANN, Folder, SAM};

#[test]
fn malformed_bundles_are_refused() {
    let folder = Folder::with_photos();
    folder.write("ann.json", ANN);
    folder.write("empty", "");
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let mut damaged = folder.read("p.wardgate");
    damaged[70] ^= 1;
    folder.write("damaged", &damaged);
    folder.write("short", &damaged[..100]);
    let length = damaged.len();
    let check = |file: &str, code: i32, sentence: &str| {
        folder.run(&format!("check {file} -r ann.json")).complains(code, sentence);
        folder.run(&format!("inspect {file}")).complains(code, sentence);
    };
    let hint = "give a bundle, or the directory of the policies";
    check("nowhere", 4, "cannot read `nowhere`: no such file or directory");
    check("empty", 1, &format!("`empty` is not a bundle: it is empty; {hint}"));
    let policy = "it is a policy, which `wardgate compile` makes a bundle of";
    let sentence = format!("`policies/photo.yaml` is not a bundle: {policy}; {hint}");
    check("policies/photo.yaml", 1, &sentence);
    check("damaged", 1, "cannot open the bundle `damaged`: the digest does not fit the content");
    let announced = format!("the bundle announces {length} bytes, found 100");
    check("short", 1, &format!("cannot open the bundle `short`: {announced}"));
}

#[test]
fn a_directory_without_policies_is_refused() {
    let folder = Folder::new();
    folder.write("empty/readme.txt", "");
    let sentence = "`empty` holds no policies: no .yaml, .yml or .json file has one";
    folder.run("compile empty -o p.wardgate").complains(1, sentence);
    folder.run("inspect empty").complains(1, sentence);
    assert_eq!(folder.names(), ["empty"]);
}

#[test]
fn the_output_must_be_a_file_that_can_be_written() {
    let folder = Folder::with_photos();
    let compile = |output: &str, sentence: &str| {
        folder.run(&format!("compile policies -o {output}")).complains(4, sentence);
        assert_eq!(folder.names(), ["policies"]);
    };
    compile("policies", "cannot write `policies`: it is a directory");
    compile("policies/photo.yaml/p", "cannot write `policies/photo.yaml/p`: not a directory");
    folder
        .run("compile policies/photo.yaml -o x")
        .complains(2, "`policies/photo.yaml` is not a directory of policies");
    folder
        .run("compile nowhere -o x")
        .complains(4, "cannot read `nowhere`: no such file or directory");
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_stays_a_device() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o /dev/null").ends_with_code(0);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn a_link_keeps_pointing_where_it_points() {
    let folder = Folder::with_photos();
    folder.write("real", "");
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    folder.run("compile policies -o link").ends_with_code(0);
    assert!(std::fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
    assert_ne!(folder.read("real"), b"");
}

#[cfg(unix)]
#[test]
fn the_end_of_a_line_in_the_name_of_a_file_ends_no_line() {
    let folder = Folder::with_photos();
    let fake = "x\nwardgate: all is well\r.yaml";
    let runs: [&[&str]; 6] = [
        &["compile", "policies"],
        &["lint", "policies"],
        &["test", "policies"],
        &["compile", fake],
        &["compile", "policies", "-o", fake],
        &["test", "policies", "--junit", "no\nwhere/x.xml"],
    ];
    folder.write(&format!("policies/{fake}"), "apiVersion: api.cerbos.dev/v1\n");
    folder.write("policies/a\nb_test.yaml", "name: 1\n");
    for arguments in runs {
        let ran = folder.run_with(arguments, "");
        let text = format!("{}{}", ran.out, ran.err);
        assert_ne!(text, "", "{arguments:?}");
        assert!(!text.contains("\nwardgate: all is well"), "{arguments:?}: {text}");
        assert!(!text.contains("\nb_test") && !text.contains("\nwhere"), "{arguments:?}: {text}");
        assert!(!text.contains('\r'), "{arguments:?}: {text}");
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    let folder = Folder::with_photos();
    folder.write("ann.json", ANN);
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let check = |arguments: &str, expected: &str| {
        let ran = folder.run(arguments);
        ran.ends_with_code(2);
        assert!(ran.err.contains(expected), "{ran:?}");
    };
    check("", "Usage: wardgate <COMMAND>");
    check("chek", "check");
    check("check policies", "--requests");
    check("compile policies --emit p.js", "`-o`");
    check("check policies -r ann.json --now yesterday", "expected a time of RFC 3339");
    check("check policies -r ann.json --evaluation loose", "strict");
    check("check policies -r ann.json --default-version a-b", "expected letters");
    check("check p.wardgate -r ann.json --evaluation strict", "`--evaluation` is for a directory");
    check("inspect p.wardgate --lenient-scope-search", "`--lenient-scope-search` is for");
}

#[test]
fn requests_that_cannot_be_used_are_named() {
    let folder = Folder::with_photos();
    let check = |request: &str, sentence: &str| {
        let ran = folder.run_with(&["check", "policies", "-r", "-"], request);
        ran.complains(3, &format!("standard input{sentence}"));
    };
    check("", " holds no request");
    check(" \n\n", " holds no request");
    let check = |request: &str, sentence: &str| {
        let at = if sentence.starts_with(':') { ", request at line 1" } else { "" };
        check(request, &format!("{at}{sentence}"));
    };
    check("[]", ": a request must be an object, found a list");
    check("7", ": a request must be an object, found a number");
    check("{}", ": `principal` is missing");
    let change = |from: &str, to: &str, sentence: &str| {
        assert!(ANN.contains(from), "{from}");
        check(&ANN.replacen(from, to, 1), sentence);
    };
    change(r#""actions":["edit"]"#, r#""actions":[]"#, ": `actions` is empty");
    change(r#""actions":["edit"],"#, "", ": `actions` is missing");
    change(r#"["edit"]"#, r#"["edit","edit"]"#, ": `actions` lists `edit` twice");
    change(r#"["edit"]"#, r#"["edit",""]"#, ": `actions[1]` is empty");
    change(r#"["edit"]"#, r#"["edit",7]"#, ": `actions[1]`: expected text, found a number");
    change(r#"["edit"]"#, r#""edit""#, ": `actions`: expected a list, found text");
    change(r#""roles":["member"]"#, r#""roles":[]"#, ": `principal.roles` is empty");
    change(r#""kind":"photo""#, r#""kind":"""#, ": `resource.kind` is empty");
    change(r#""kind":"photo","#, "", ": `resource.kind` is missing");
    change(r#""attr""#, r#""attrs""#, ": unknown field `resource.attrs`, expected `attr`");
    let fields = "`kind`, `id`, `attr`, `policyVersion`, `scope`";
    let unknown = format!(": unknown field `resource.traits`, expected one of {fields}");
    change(r#""attr""#, r#""traits""#, &unknown);
    let more = |more: &str, sentence: &str| {
        change(r#""kind":"photo""#, &format!(r#""kind":"photo",{more}"#), sentence);
    };
    let joined = "expected names joined by dots, such as `acme.legal`, found `a/b`";
    more(r#""scope":"a/b""#, &format!(": `resource.scope`: {joined}"));
    let twice = ": `resource.policyVersion` is given twice, in two spellings";
    more(r#""policyVersion":"a","policy_version":"b""#, twice);
    let again = "invalid JSON: duplicate member `kind`";
    more(r#""kind":"song""#, &format!(", line 1, column 97: {again}"));
}

#[test]
fn the_list_of_resources_is_named_by_number() {
    let folder = Folder::with_photos();
    let request = SAM.replace(r#""kind": "photo", "#, "");
    let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
    ran.complains(3, "standard input, request at line 1: `resources[0].resource.kind` is missing");
}

#[test]
fn a_raw_token_is_refused() {
    let folder = Folder::with_photos();
    let check = |aux_data: &str, path: &str| {
        let request = ANN.replacen('{', &format!(r#"{{"auxData":{aux_data},"#), 1);
        let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
        let sentence = format!(
            "standard input, request at line 1: `auxData.{path}` holds a raw token, which this command cannot \
             verify: verify it yourself and give its claims"
        );
        ran.complains(3, &sentence);
    };
    check(r#"{"jwt":{"token":"e30.e30.x"}}"#, "jwt");
    check(r#"{"jwt":{"token":"e30.e30.x","key_set_id":"k"}}"#, "jwt");
    check(r#"{"jwts":{"a":{"token":"e30.e30.x"}}}"#, "jwts.a");
}

#[test]
fn nesting_and_size_are_bounded() {
    let folder = Folder::with_photos();
    let check = |owner: String, code: i32, expected: &str| {
        let request = ANN.replace(r#""owner":"ann""#, &format!(r#""owner":{owner}"#));
        let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
        ran.ends_with_code(code);
        assert!(ran.err.contains(expected), "{ran:?}");
    };
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    check(nested(64), 0, "");
    check(nested(65), 3, "`resource.attr` is nested more than 64 levels deep");
    check(nested(100), 3, "nested more than 69 levels deep");
    check(nested(100_000), 3, "nested more than 69 levels deep");
    check(format!("[{}1]", "1,".repeat(100_000)), 3, "more than 100000 values");
    check(format!("\"{}\"", "x".repeat(16 << 20)), 3, "more than 16777216 bytes");
    check("1e999".to_owned(), 3, "invalid JSON: number out of range");
}

#[test]
fn hostile_names_cannot_move_the_cursor() {
    let folder = Folder::with_photos();
    let request = ANN.replace(r#""id":"p1""#, r#""id":"\u001b[2J\u202e""#);
    let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
    assert!(ran.out.starts_with("photo \\u{1b}[2J\\u{202e}, requested by ann"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn pipes_that_are_closed_end_the_command_quietly() {
    let folder = Folder::with_photos();
    folder.write("ann.json", ANN);
    let arguments = ["check", "policies", "-r", "-"];
    let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    // The input never ends above; the output has no reader below.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = folder.command(&["check", "policies", "-r", "ann.json"]);
    let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let folder = Folder::with_photos();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = folder.command(&["inspect", "policies"]);
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    let expected = "wardgate: cannot write to standard output: no space left on device\n";
    assert_eq!((output.status.code(), shown.as_str()), (Some(4), expected));
}

#[test]
fn a_long_value_is_cut_in_messages() {
    let folder = Folder::with_photos();
    let request = ANN.replace(
        r#""kind":"photo""#,
        &format!(r#""kind":"photo","scope":"/{}""#, "x".repeat(9000)),
    );
    let ran = folder.run_with(&["check", "policies", "-r", "-"], &request);
    ran.ends_with_code(3);
    assert!(ran.err.len() < 600 && ran.err.ends_with("xxx...\n"), "{ran:?}");
}

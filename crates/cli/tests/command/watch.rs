//! `wardgate test --watch`: runs again after every change, and ends when its output is closed.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::Stdio;

use crate::folder::{Folder, PHOTO};

#[test]
fn suites_run_again_after_a_change_until_the_output_is_closed() {
    let folder = Folder::with_photos();
    folder.write("policies/photo_test.yaml", SUITE);
    let mut command = folder.command(&["test", "policies", "--watch"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();

    assert_eq!(until(&mut out, "1 suite"), ["1 suite, 1 test: 1 passed"]);
    assert_eq!(until(&mut lines, WAITING), [WAITING]);

    replace(&folder, &PHOTO.replace("roles: [member]", "roles: [guest]"));
    let failed = until(&mut out, "1 suite");
    assert_eq!(failed.first().unwrap(), "FAIL  policies/photo_test.yaml: Photos");
    assert_eq!(failed.last().unwrap(), "1 suite, 1 test: 0 passed, 1 failed");
    assert_eq!(until(&mut lines, WAITING), [CHANGED, WAITING]);

    replace(&folder, "apiVersion: api.cerbos.dev/v2\n");
    let complained = until(&mut lines, WAITING);
    assert_eq!(complained.first().unwrap(), CHANGED);
    assert!(complained[1].starts_with("policies/photo.yaml:1:1: error[validation]: "));

    drop(out);
    replace(&folder, PHOTO);
    let last: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(last, [CHANGED]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Reads up to a line that starts so.
fn until(lines: &mut Lines<impl BufRead>, start: &str) -> Vec<String> {
    let mut read = Vec::new();
    loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended after {read:#?}")).unwrap();
        read.push(line);
        if read.last().is_some_and(|line| line.starts_with(start)) {
            return read;
        }
    }
}

/// Changes the policy at once: a write in parts may be seen in parts.
fn replace(folder: &Folder, text: &str) {
    folder.write("new", text);
    fs::rename(folder.path().join("new"), folder.path().join("policies/photo.yaml")).unwrap();
}

const WAITING: &str = "waiting for changes; Ctrl-C ends";
const CHANGED: &str = "changed: policies/photo.yaml";

const SUITE: &str = "name: Photos
principals: { ann: { id: ann, roles: [member] } }
resources: { beach: { kind: photo, id: p1, attr: { owner: ann } } }
tests:
  - name: Look
    input: { principals: [ann], resources: [beach], actions: [view] }
    expected: [{ principal: ann, resource: beach, actions: { view: EFFECT_ALLOW } }]
";

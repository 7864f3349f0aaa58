//! The plain calls as a host makes them: by numbers alone.

use std::slice;

use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};
use wardgate_fastpath::word;

use super::*;

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.public == true } } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.owner == P.id } } }
"#;

/// Terms that trust unsigned bundles.
const ANYONE: [u8; 9] = [0, 0, 0, 1, 0, 0, 0, 0, 0];

fn bundle() -> Vec<u8> {
    let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

/// Writes bytes into memory that the module allocated for the host.
fn lent(bytes: &[u8]) -> (usize, usize) {
    let address = alloc(bytes.len());
    assert_ne!(address, 0);
    let start = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: the block is as large as the bytes, and no other reference to it exists now.
    unsafe { slice::from_raw_parts_mut(start, bytes.len()) }.copy_from_slice(bytes);
    (address, bytes.len())
}

fn opened(bundle: &[u8]) -> i32 {
    let (bundle, terms) = (lent(bundle), lent(&ANYONE));
    let handle = open(bundle.0, bundle.1, terms.0, terms.1, -1, 0);
    assert_eq!((free(bundle.0), free(terms.0)), (0, 0));
    handle
}

fn handle() -> u32 {
    u32::try_from(opened(&bundle())).unwrap()
}

fn answer_text() -> String {
    let bytes = ANSWER.with_borrow(Vec::clone);
    assert_eq!(answer_length(), bytes.len());
    String::from_utf8(bytes).unwrap()
}

fn refused(number: i32, expected: i32, code: &str) {
    assert_eq!(number, expected);
    assert!(
        answer_text().starts_with(&format!("{{\"code\":\"{code}\",\"message\":\"")),
        "{}",
        answer_text()
    );
}

fn request(rest: &str, owner: &str) -> (usize, usize) {
    let resource = format!(
        r#"{{"kind": "album", "id": "a", "attr": {{"owner": "{owner}", "public": true}}}}"#
    );
    let principal = r#""principal": {"id": "ada", "roles": ["member"]}"#;
    lent(format!("{{{principal}, {rest}: {resource}}}").as_bytes())
}

fn about(handle: u32, owner: &str) -> i32 {
    let (at, length) = request(r#""action": "edit", "resource""#, owner);
    let answer = is_allowed(handle, at, length, 0, 0);
    assert_eq!(free(at), 0);
    answer
}

#[test]
fn requests_as_text_are_answered() {
    let handle = handle();
    assert_eq!((about(handle, "ada"), about(handle, "bob")), (1, 0));
    let (at, length) = request(r#""actions": ["view", "edit"], "resource""#, "bob");
    let answered = check(handle, at, length, 0, 0);
    assert_eq!(usize::try_from(answered).unwrap(), answer_text().len());
    assert!(
        answer_text().contains(r#""view":{"effect":"allow""#)
            && answer_text().contains(r#""edit":{"effect":"deny""#)
    );
    let (at, length) = request(r#""action": "edit", "resource""#, "bob");
    assert!(explain(handle, at, length, 0, 0) > 0 && answer_text().contains(r#""steps":[{"#));
    assert!(header(handle) > 0 && answer_text().starts_with(r#"{"name":"#));
}

#[test]
fn the_indices_of_allowed_resources_are_four_bytes_each() {
    let album =
        |owner: &str| format!(r#"{{"kind":"album","id":"a","attr":{{"owner":"{owner}"}}}}"#);
    let albums = ["bob", "ada", "eve", "ada"].map(album).join(",");
    let principal = r#""principal": {"id": "ada", "roles": ["member"]}"#;
    let json = format!(r#"{{{principal}, "action": "edit", "resources": [{albums}]}}"#);
    let (at, length) = lent(json.as_bytes());
    assert_eq!(filter(handle(), at, length, 0, 0), 8);
    assert_eq!(ANSWER.with_borrow(Vec::clone), [1, 0, 0, 0, 3, 0, 0, 0]);
}

#[test]
fn an_evaluation_is_answered() {
    let json = r#"{"subject": {"type": "member", "id": "ada"}, "action": {"name": "edit"},
        "resource": {"type": "album", "id": "a", "properties": {"owner": "ada"}}}"#;
    let (at, length) = lent(json.as_bytes());
    assert!(evaluate(handle(), at, length, 0, 0) > 0);
    assert_eq!(answer_text(), r#"{"decision":true}"#);
    let (at, length) = lent(b"{}");
    refused(evaluate(handle(), at, length, 0, 0), -5, "bad-request");
}

#[test]
fn a_fast_path_decides_by_the_frame() {
    let handle = handle();
    let (at, _) = lent(b"albumother");
    assert!(fast_path_list(handle, at, 5, 0, 0) > 0);
    assert_eq!(answer_text(), r#"{"other":4,"actions":[["edit",0],["view",2]]}"#);
    assert!(fast_path(handle, 0) > 0);
    let roles = r#""roles":[["member",1]]"#;
    assert!(
        answer_text().contains(roles) && answer_text().contains(r#""path":["owner"]"#),
        "{}",
        answer_text()
    );
    let write = |slot: usize, word: u32| {
        FRAME.with(|frame| {
            // SAFETY: no call is in progress.
            unsafe { &mut *frame.get() }.set(slot, word);
        });
    };
    write(0, word::FIRST_TEMPORARY);
    write(1, word::FIRST_TEMPORARY);
    assert_eq!((decide(handle, 0, 1), decide(handle, 0, 0)), (1, 0));
    write(1, word::FIRST_TEMPORARY + 1);
    assert_eq!(decide(handle, 0, 1), 0);
    assert_eq!((decide(handle, 99, 1), decide(99, 0, 1)), (2, 2));
    assert_eq!((principals(handle), answer_text().as_str()), (2, "[]"));
    assert_eq!(fast_path_list(handle, at + 5, 5, 0, 0), 0);
    refused(fast_path_list(handle, at, 5, 6, 0), -1, "invalid-address");
}

#[test]
fn refusals_have_numbers_and_codes() {
    let handle = handle();
    refused(is_allowed(handle, 8, 1, 0, 0), -1, "invalid-address");
    refused(is_allowed(99, 0, 0, 0, 0), -2, "disposed");
    refused(is_allowed(handle, 0, 0, 0, 0), -5, "invalid-request");
    refused(is_allowed(handle, 0, 0, i64::MAX, 0), -6, "invalid-time");
    refused(is_allowed(handle, 0, 0, 0, 1_000_000_000), -6, "invalid-time");
    refused(opened(b"policies"), -4, "not-a-bundle");
    let (at, length) = lent(&bundle());
    refused(open(at, length, 0, 0, -1, 0), -3, "invalid-terms");
    refused(reload(handle, at, length, -1, -1), -3, "invalid-terms");
    refused(free(at + 1), -1, "invalid-address");
}

#[test]
fn a_refused_bundle_leaves_the_old_one_in_use() {
    let handle = handle();
    let (at, length) = lent(b"policies");
    refused(reload(handle, at, length, -1, 0), -4, "not-a-bundle");
    assert_eq!(about(handle, "ada"), 1);
    let (at, length) = lent(&bundle());
    assert_eq!(reload(handle, at, length, -1, 0), 0);
    assert_eq!(about(handle, "ada"), 1);
    assert_eq!(close(handle), 0);
    refused(close(handle), -2, "disposed");
    assert_eq!(about(handle, "ada"), -2);
}

#[test]
fn decides_a_recorded_decision_again() {
    let handle = handle();
    // A request without attributes, by the kinds of values that evidence has: text 5, list 7, object 8, end 9.
    let text = |text: &str| {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        [&[5][..], &length, text.as_bytes()].concat()
    };
    let list = |one: &str| [&[7][..], &text(one), &[9]].concat();
    let object = |members: &[u8]| [&[8][..], members, &[9]].concat();
    let owner = object(&[text("owner"), text("ada")].concat());
    let request = [
        list("edit"),
        [text("ada"), text(""), text("")].concat(),
        [list("member"), object(&[])].concat(),
        [text("album"), text(""), text("a"), text("")].concat(),
        [owner, object(&[]), object(&[])].concat(),
    ]
    .concat();
    let name =
        |text: &str| [&u16::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()].concat();
    let target = |action: &str| [name("album"), name(""), name(""), name(action)].concat();
    let ask = |bytes: &[u8]| {
        let (at, length) = lent(bytes);
        let result = replay(handle, at, length, 0);
        assert_eq!(free(at), 0);
        result
    };
    let decision = [&[2, 2][..], &target("edit"), &target("view"), &request].concat();
    assert_eq!((ask(&decision), ANSWER.with_borrow(Vec::clone)), (2, vec![1, 2]));
    let of_read = [&[1, 1][..], &target("edit"), &request].concat();
    assert_eq!((ask(&of_read), ANSWER.with_borrow(Vec::clone)), (1, vec![2]));
    for wrong in [&[][..], &[3, 0], &[2, 1, 9, 0]] {
        refused(ask(wrong), -5, "invalid-request");
    }
}

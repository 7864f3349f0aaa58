//! Different requests have different keys, and an answer is found by its own key only.

use std::collections::HashSet;

use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use super::{Cache, MAX_ENTRIES, MAX_KEY_BYTES, with_key};
use crate::fast::decide::Roles;
use crate::fast::index::Target;
use crate::fast::input::SlotValue;
use crate::fast::request::RequestInput;
use crate::field::Field;
use crate::policies::Policies;

#[test]
fn an_answer_is_found_again_for_the_same_key_only() {
    let cache = Cache::new(1).unwrap();
    assert_eq!(cache.answer(b"one", || Some(true)), Some(true));
    assert_eq!(cache.answer(b"one", || panic!("asked again")), Some(true));
    for other in [&b"on"[..], b"onf", b"one\0", b""] {
        assert_eq!(cache.answer(other, || Some(false)), Some(false), "{other:?}");
        assert_eq!(cache.answer(b"one", || Some(true)), Some(true), "{other:?}");
    }
}

#[test]
fn an_unsure_answer_is_not_stored() {
    let cache = Cache::new(8).unwrap();
    assert_eq!(cache.answer(b"one", || None), None);
    assert_eq!(cache.answer(b"one", || Some(true)), Some(true));
}

#[test]
fn a_locked_entry_is_skipped() {
    let cache = Cache::new(1).unwrap();
    assert_eq!(cache.answer(b"one", || Some(true)), Some(true));
    let values = cache.entries[0].lock().unwrap();
    assert_eq!(cache.answer(b"one", || Some(false)), Some(false));
    drop(values);
    assert_eq!(cache.answer(b"one", || Some(false)), Some(true));
    with_key(|key| assert!(key.is_some() && with_key(|inner| inner.is_none())));
}

#[test]
fn entries_are_bounded() {
    let check = |wanted, expected| {
        assert_eq!(Cache::new(wanted).map(|cache| cache.entries.len()), expected, "{wanted}");
    };
    check(0, None);
    check(1, Some(1));
    check(3, Some(4));
    check(usize::MAX, Some(MAX_ENTRIES));
}

#[test]
fn different_requests_have_different_keys() {
    let list = |items: &[&str]| Attr::List(items.iter().map(|item| text(item)).collect());
    let map = |name: &str, value| Attr::Map([(name.into(), value)].into_iter().collect());
    let nested = [
        list(&[]),
        list(&["a", "b"]),
        list(&["ab"]),
        list(&["b", "a"]),
        Attr::List(vec![list(&["a"]), text("b")]),
        Attr::List(vec![list(&["a", "b"])]),
        Attr::List(vec![Attr::Null]),
        Attr::List(vec![Attr::Number(0.0)]),
        Attr::List(vec![Attr::Number(-0.0)]),
        Attr::Map([].into_iter().collect()),
        map("a", text("b")),
        map("ab", text("")),
        map("a", Attr::Null),
        map("a", map("b", Attr::Null)),
    ];
    let mut values = vec![
        SlotValue::Broken,
        SlotValue::Field(Field::Missing),
        SlotValue::Field(Field::Null),
        SlotValue::Field(Field::Bool(false)),
        SlotValue::Field(Field::Bool(true)),
        SlotValue::Roles,
        SlotValue::Json("[\"a\",\"b\"]"),
        of_text("[\"a\",\"b\"]"),
    ];
    values.extend(
        ["", "a", "ab", "abc", "b", "bc", "c", "\0", "a\0", "a\u{9}", "a\u{5}", "\u{5}"]
            .map(of_text),
    );
    let numbers = [0.0, -0.0, 1.0, f64::from_bits(1.0_f64.to_bits() + 1), 5e-324, -1.0];
    values.extend(numbers.map(|number| SlotValue::Field(Field::Number(number))));
    values.extend(nested.iter().map(SlotValue::Attr));
    let roles = [
        Roles::Mask(0),
        Roles::Mask(1),
        Roles::Mask(3),
        Roles::Classes([1; 31], 0),
        Roles::Classes([1; 31], 1),
        Roles::Classes([1; 31], 2),
        Roles::Classes([3; 31], 2),
    ];
    let mut keys = HashSet::new();
    for left in &values {
        for right in &values {
            for roles in &roles {
                // A fast path is either by class or not.
                let fast_path = u32::from(matches!(roles, Roles::Mask(_)));
                keys.extend([
                    key(fast_path, roles, &[*left, *right]),
                    key(fast_path + 2, roles, &[*right]),
                ]);
            }
        }
    }
    let count = values.len();
    assert!(keys.iter().all(Option::is_some));
    assert_eq!(keys.len(), roles.len() * (count * count + count));
}

#[test]
fn long_and_unsupported_requests_have_no_key() {
    let long = "x".repeat(MAX_KEY_BYTES);
    let mut deep = Attr::Null;
    (0..80).for_each(|_| deep = Attr::List(vec![std::mem::replace(&mut deep, Attr::Null)]));
    for value in [of_text(&long), SlotValue::Unsupported, SlotValue::Attr(&deep)] {
        assert_eq!(key(0, &Roles::Mask(1), &[value]), None);
    }
}

#[test]
fn only_programs_that_do_not_read_the_time_are_cached() {
    let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let table =
        open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()).unwrap().table;
    let policies = Policies::new(table, 0, 4);
    let check = |action: &str, expected: Option<usize>| {
        let target = Target { kind: "album", action, ..Target::default() };
        let mut request = Request::default();
        request.resource.kind = "album".to_owned();
        request.resource.attr = [("name".into(), text("holiday"))].into_iter().collect();
        request.principal.roles = vec!["member".to_owned()];
        assert!(policies.is_allowed(&request, action, Timestamp::default()), "{action}");
        let fast_path = policies.index().fast_path(policies.table(), target).unwrap();
        let kept = |cache: &Cache| {
            cache.entries.iter().filter(|position| position.lock().unwrap().length != 0).count()
        };
        assert_eq!(fast_path.cache.as_deref().map(kept), expected, "{action}");
    };
    check("view", None);
    check("late", None);
    check("list", Some(1));
    check("list", Some(1));
}

fn key(fast_path: u32, roles: &Roles, values: &[SlotValue<'_>]) -> Option<Vec<u8>> {
    let mut request = Request::default();
    request.principal.roles = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let input = RequestInput { request: &request, action: "" };
    with_key(|key| {
        key.unwrap().write(fast_path, roles, &input, values.iter().copied()).map(<[u8]>::to_vec)
    })
}

const fn of_text(text: &str) -> SlotValue<'_> {
    SlotValue::Field(Field::Text(text))
}

fn text(text: &str) -> Attr {
    Attr::String(text.into())
}

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.name == "holiday" } } }
    - actions: [late]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.name.startsWith("h") && now() < timestamp("2020-01-01T00:00:00Z") } }
    - { actions: [list], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.name.matches("^h.l") } } }
"#;

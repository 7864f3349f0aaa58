use alloc::string::ToString;
use alloc::vec;
use core::cmp::Ordering;

use super::*;
use crate::attr::AttrMap;

#[test]
fn a_value_stays_small() {
    assert!(size_of::<Value<'_>>() <= 32);
    assert!(size_of::<Error<'_>>() <= 24);
}

fn ints(items: &[i64]) -> Value<'static> {
    Value::list(items.iter().map(|item| Value::Int(*item)).collect())
}

fn map(entries: &[(Value<'static>, Value<'static>)]) -> Value<'static> {
    let mut map = OwnedMap::default();
    for (key, value) in entries {
        assert!(map.insert(key.clone(), value.clone()));
    }
    Value::Map(Map::Owned(Rc::new(map)))
}

#[test]
fn numbers_are_equal_across_types() {
    let check = |left: Value<'_>, right: Value<'_>, expected: bool| {
        assert_eq!(left == right, expected, "{left:?} {right:?}");
        assert_eq!(right == left, expected, "{right:?} {left:?}");
    };
    check(Value::Int(1), Value::Uint(1), true);
    check(Value::Int(1), Value::Double(1.0), true);
    check(Value::Uint(1), Value::Double(1.0), true);
    check(Value::Int(-1), Value::Uint(u64::MAX), false);
    check(Value::Int(i64::MAX), Value::Double(9_223_372_036_854_775_808.0), true);
    check(Value::Int(i64::MAX), Value::Double(9_223_372_036_854_777_857.0), false);
    check(Value::Int(i64::MIN), Value::Double(-9_223_372_036_854_775_808.0), true);
    check(Value::Uint(u64::MAX), Value::Double(18_446_744_073_709_551_616.0), true);
    check(Value::Double(f64::NAN), Value::Double(f64::NAN), false);
    check(Value::Int(0), Value::Double(f64::NAN), false);
    check(Value::Int(1), Value::Bool(true), false);
    check(Value::Int(1), Value::string("1"), false);
    check(ints(&[1, 2]), Value::list(vec![Value::Double(1.0), Value::Uint(2)]), true);
    check(ints(&[1]), ints(&[1, 2]), false);
    check(Value::some(Value::Int(1)), Value::some(Value::Uint(1)), true);
    check(Value::some(Value::Null), Value::none(), false);
}

#[test]
fn numbers_are_ordered_across_types() {
    let check = |left: Value<'_>, right: Value<'_>, expected: Option<Ordering>| {
        assert_eq!(compare(&left, &right).ok(), expected, "{left:?} {right:?}");
        let reversed = expected.map(Ordering::reverse);
        assert_eq!(compare(&right, &left).ok(), reversed, "{right:?} {left:?}");
    };
    check(Value::Int(1), Value::Double(1.5), Some(Ordering::Less));
    check(Value::Int(-1), Value::Double(-1.5), Some(Ordering::Greater));
    check(Value::Int(-2), Value::Double(-1.5), Some(Ordering::Less));
    check(Value::Uint(1), Value::Double(0.5), Some(Ordering::Greater));
    check(Value::Uint(0), Value::Double(-0.5), Some(Ordering::Greater));
    check(Value::Int(i64::MAX), Value::Double(f64::INFINITY), Some(Ordering::Less));
    check(Value::Int(-1), Value::Uint(0), Some(Ordering::Less));
    check(Value::Double(f64::NAN), Value::Int(0), None);
    check(Value::string("a"), Value::string("b"), Some(Ordering::Less));
    check(Value::Bool(false), Value::Bool(true), Some(Ordering::Less));
    check(Value::string("a"), Value::Int(1), None);
}

#[test]
fn one_number_is_one_key() {
    let map = map(&[(Value::Int(1), Value::string("a")), (Value::Uint(2), Value::string("b"))]);
    let Value::Map(map) = map else { panic!("no map") };
    let check = |key: Value<'static>, expected: Option<&str>| {
        let found = map.get(&key);
        assert_eq!(found.as_ref().and_then(Value::as_str), expected, "{key:?}");
    };
    check(Value::Uint(1), Some("a"));
    check(Value::Double(1.0), Some("a"));
    check(Value::Double(2.0), Some("b"));
    check(Value::Double(1.5), None);
    check(Value::Bool(true), None);
    check(Value::Null, None);
    let mut again = OwnedMap::default();
    assert!(again.insert(Value::Int(1), Value::Null));
    assert!(!again.insert(Value::Uint(1), Value::Null));
}

#[test]
fn a_large_map_finds_every_key_once() {
    let mut map = OwnedMap::default();
    let keys = || (0..1000_i64).map(|at| at * 7919 % 1009);
    for key in keys() {
        assert!(map.insert(Value::Int(key), Value::Int(key)));
    }
    for key in keys() {
        assert!(!map.insert(Value::Int(key), Value::Null));
        assert_eq!(map.get(&Key::Int(key)), Some(&Value::Int(key)));
    }
    assert_eq!(map.get(&Key::Int(1009)), None);
}

#[test]
fn maps_are_equal_in_any_order() {
    let (one, two) = ((Value::Int(1), Value::string("a")), (Value::string("k"), Value::Null));
    assert_eq!(map(&[one.clone(), two.clone()]), map(&[two, one]));
}

#[test]
fn a_request_is_read_without_copies() {
    let attrs: AttrMap =
        [("n".into(), Attr::Number(1.0)), ("l".into(), Attr::List(vec![Attr::Null]))]
            .into_iter()
            .collect();
    let map = Map::Attrs(&attrs);
    assert_eq!(map.field("n"), Some(Value::Double(1.0)));
    assert_eq!(map.get(&Value::Int(1)), None);
    assert_eq!(map.entry(0).unwrap().0, Value::string("l"));
    assert!(matches!(map.field("l"), Some(Value::List(List::Attrs([Attr::Null])))));
}

#[test]
fn outputs_follow_the_json_mapping() {
    let check = |value: Value<'_>, expected: Result<Attr, &str>| {
        let found = value.to_attr(&core::cell::Cell::new(1000)).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(ToString::to_string));
    };
    let text = |text: &str| Ok(Attr::String(text.into()));
    check(Value::Int(9_007_199_254_740_991), Ok(Attr::Number(9_007_199_254_740_991.0)));
    check(Value::Int(9_007_199_254_740_992), text("9007199254740992"));
    check(Value::Uint(u64::MAX), text("18446744073709551615"));
    check(Value::Bytes(Bytes::from(&b""[..])), text(""));
    check(Value::Bytes(Bytes::from(&b"f"[..])), text("Zg=="));
    check(Value::Bytes(Bytes::from(&b"fo"[..])), text("Zm8="));
    check(Value::Bytes(Bytes::from(&b"foo"[..])), text("Zm9v"));
    check(Value::Duration(3_500_000_000), text("3.5s"));
    check(Value::Timestamp(Timestamp::default()), text("1970-01-01T00:00:00Z"));
    check(Value::some(Value::Bool(true)), Ok(Attr::Bool(true)));
    check(Value::none(), Err("optional.none() dereference"));
    check(Value::Error(Error::DIVISION_BY_ZERO), Err("division by zero"));
    check(
        map(&[(Value::Int(1), Value::Null)]),
        Err("unsupported type conversion from 'int' to string"),
    );
}

#[test]
fn messages_answer_to_both_spellings() {
    let mut request = crate::request::Request::default();
    request.principal.policy_version = "v1".into();
    let principal = Message::Principal(&request.principal);
    assert_eq!(principal.field("policyVersion"), Ok(Value::string("v1")));
    assert_eq!(principal.field("policy_version"), Ok(Value::string("v1")));
    assert_eq!(principal.has("scope"), Ok(false));
    assert_eq!(principal.has("policyVersion"), Ok(true));
    assert_eq!(principal.field("nope").unwrap_err().to_string(), "no such field 'nope'");
    assert_eq!(Message::Request(&request).has("principal"), Ok(true));
    assert_eq!(Message::Runtime(List::Strings(&[])).has("effectiveDerivedRoles"), Ok(true));
}

#[test]
fn values_nest_no_deeper_than_the_stack_bears() {
    let check = |wrap: &dyn Fn(Value<'static>) -> Value<'static>| {
        let nested = |times: usize| (0..times).fold(Value::Null, |value, _| wrap(value));
        assert!(nested(MAX_VALUE_DEPTH - 1).error().is_none());
        assert!(matches!(nested(MAX_VALUE_DEPTH), Value::Error(Error::Limit)));
    };
    check(&|value| Value::list(vec![value]));
    check(&Value::some);
    check(&|value| map(&[(Value::Int(1), value)]).bounded());
    check(&|value| {
        let mut list = List::from_iter([]);
        list.push(value);
        Value::List(list).bounded()
    });
}

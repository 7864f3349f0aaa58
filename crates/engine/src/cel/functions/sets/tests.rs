use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::super::testing::{call, d, i, l, s, show, text};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn check(function: Function, left: Value<'static>, right: Value<'static>, expected: &str) {
    assert_eq!(show(function, &[left.clone(), right.clone()]), expected, "{left:?} and {right:?}");
}

#[test]
fn numbers_of_all_types_are_one_element() {
    check(SetsContains, l([i(1), i(2)]), l([d(2.0), Value::Uint(1)]), "true");
    check(SetsContains, l([i(1)]), l([s("1")]), "false");
    check(SetsContains, l([]), l([]), "true");
    check(SetsEquivalent, l([i(1), i(1), i(2)]), l([d(2.0), i(1)]), "true");
    check(SetsEquivalent, l([i(1)]), l([i(1), i(2)]), "false");
    check(SetsIntersects, l([i(1), i(2)]), l([d(2.0)]), "true");
    check(SetsIntersects, l([]), l([i(1)]), "false");
    check(SetsIntersects, i(1), l([i(1)]), "error: no such overload");
}

/// Returns a list of `length` different texts, each with `name` in front.
fn texts(name: &str, length: usize) -> Value<'static> {
    Value::list((0..length).map(|n| Value::string(format!("{name}-{n}"))).collect())
}

#[test]
fn long_lists_are_decided_within_the_budget_of_one_program() {
    let (left, right) = (texts("a", 20_000), texts("b", 20_000));
    let both = [left.clone(), right.clone()];
    assert_eq!(show(HasIntersection, &both), "false");
    assert_eq!(show(SetsIntersects, &both), "false");
    assert_eq!(show(IsSubset, &both), "false");
    assert_eq!(show(IsSubset, &[left.clone(), left.clone()]), "true");
    assert_eq!(show(SetsContains, &[left.clone(), left.clone()]), "true");
    assert_eq!(show(SetsEquivalent, &[left.clone(), left.clone()]), "true");
    assert_eq!(length(call(Intersect, &both)), 0);
    assert_eq!(length(call(Except, &both)), 20_000);
    assert_eq!(length(call(Distinct, &[left])), 20_000);
}

#[test]
fn lists_of_lists_end_at_the_budget() {
    let nested = |name: &str| {
        Value::list((0..20_000).map(|n| l([Value::string(format!("{name}{n}"))])).collect())
    };
    let both = [nested("a"), nested("b")];
    for function in [HasIntersection, Except, Intersect, SetsIntersects] {
        assert_eq!(show(function, &both), "error: evaluation limit exceeded", "{function:?}");
    }
    assert_eq!(show(Distinct, &both[..1]), "error: evaluation limit exceeded");
}

fn length(list: Value<'_>) -> usize {
    let Value::List(list) = list else { return usize::MAX };
    list.len()
}

/// Returns few different values of every kind, so that equal ones meet.
fn elements() -> impl Strategy<Value = Vec<Value<'static>>> {
    let element = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..3).prop_map(Value::Int),
        (0_u64..3).prop_map(Value::Uint),
        (-6_i32..6).prop_map(|half| Value::Double(f64::from(half) / 2.0)),
        Just(Value::Double(-0.0)),
        Just(Value::Double(f64::NAN)),
        Just(Value::Uint(u64::MAX)),
        Just(Value::Double(18_446_744_073_709_551_616.0)),
        "[ab]{0,2}".prop_map(Value::string),
        "spiffe://a/[ab]".prop_map(Value::string),
        "spiffe://a/[ab]".prop_map(|id| Value::SpiffeId(id.into())),
        "[ab]{0,20}".prop_map(|text| Value::Bytes(text.into_bytes().into())),
        (0_i64..2).prop_map(|n| l([i(n)])),
        (0_i64..2).prop_map(Value::Duration),
    ];
    proptest::collection::vec(element, 0..24)
}

/// The oracle of each function: compares every element with every other.
fn plainly(function: Function, left: &[Value<'static>], right: &[Value<'static>]) -> String {
    let is_in = |wanted: &Value<'static>, list: &[Value<'static>]| list.iter().any(|e| wanted == e);
    let filtered = |list: &[Value<'static>], other: &[Value<'static>], wanted: bool| {
        let filtered = list.iter().filter(|e| is_in(e, other) == wanted).cloned();
        text(&Value::list(filtered.collect()))
    };
    match function {
        HasIntersection | SetsIntersects => left.iter().any(|e| is_in(e, right)).to_string(),
        IsSubset => left.iter().all(|e| is_in(e, right)).to_string(),
        SetsContains => right.iter().all(|e| is_in(e, left)).to_string(),
        Except => filtered(left, right, false),
        Intersect if left.len() > right.len() => filtered(right, left, true),
        Intersect => filtered(left, right, true),
        _ => {
            let mut unique: Vec<Value<'static>> = Vec::new();
            for element in left {
                if !is_in(element, &unique) {
                    unique.push(element.clone());
                }
            }
            text(&Value::list(unique))
        }
    }
}

proptest! {
    #[test]
    fn hashing_agrees_with_comparing(left in elements(), right in elements()) {
        let both = [Value::list(left.clone()), Value::list(right.clone())];
        for function in [HasIntersection, SetsIntersects, IsSubset, SetsContains, Except, Intersect] {
            prop_assert_eq!(show(function, &both), plainly(function, &left, &right));
        }
        prop_assert_eq!(show(Distinct, &both[..1]), plainly(Distinct, &left, &[]));
    }
}

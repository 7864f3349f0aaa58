use super::super::testing::{d, i, l, s, show};
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

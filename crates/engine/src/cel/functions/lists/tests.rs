use super::super::testing::{call, d, i, l, s, show};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;
use crate::limits::MAX_ELEMENTS;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

fn numbers() -> Value<'static> {
    l([i(1), i(2), i(3)])
}

#[test]
fn slices_stay_inside_the_list() {
    check(Slice, &[numbers(), i(1), i(3)], "[2, 3]");
    check(Slice, &[numbers(), i(1), i(1)], "[]");
    check(
        Slice,
        &[numbers(), i(-1), i(1)],
        "error: cannot slice(-1, 1), negative indexes not supported",
    );
    check(
        Slice,
        &[numbers(), i(2), i(1)],
        "error: cannot slice(2, 1), start index must be less than or equal to end index",
    );
    check(Slice, &[numbers(), i(0), i(4)], "error: cannot slice(0, 4), list is length 3");
}

#[test]
fn flattening_stops_at_its_depth() {
    let nested = || l([i(1), l([i(2), l([i(3)])])]);
    check(Flatten, &[nested()], "[1, 2, [3]]");
    check(Flatten, &[nested(), i(0)], "[1, [2, [3]]]");
    check(Flatten, &[nested(), i(2)], "[1, 2, 3]");
    check(Flatten, &[nested(), i(i64::MAX)], "[1, 2, 3]");
    check(Flatten, &[nested(), i(-1)], "error: level must be non-negative");
}

#[test]
fn sorting_needs_keys_of_one_ordered_type() {
    check(Sort, &[l([i(3), i(1), i(2)])], "[1, 2, 3]");
    check(Sort, &[l([s("b"), s("a")])], "['a', 'b']");
    check(Sort, &[l([d(f64::NAN), d(1.0), d(-1.0)])], "[-1.0, 1.0, NaN]");
    check(Sort, &[l([])], "[]");
    check(Sort, &[l([i(1), s("a")])], "error: list elements must have the same type");
    check(Sort, &[l([l([])])], "error: list elements must be comparable");
    let keys = l([i(3), i(1), i(1)]);
    check(SortByAssociatedKeys, &[l([s("a"), s("b"), s("c")]), keys], "['b', 'c', 'a']");
    check(
        SortByAssociatedKeys,
        &[l([s("a")]), l([])],
        "error: @sortByAssociatedKeys() expected a list of the same size as the associated keys \
         list, but got 1 and 0 elements respectively",
    );
}

#[test]
fn distinct_elements_keep_their_order() {
    check(Distinct, &[l([i(2), i(1), d(2.0), s("1"), i(1)])], "[2, 1, '1']");
    check(Distinct, &[l([l([i(1)]), l([d(1.0)])])], "[[1]]");
}

#[test]
fn ends_are_optional() {
    check(First, &[numbers()], "some(1)");
    check(Last, &[numbers()], "some(3)");
    check(First, &[l([])], "none");
    check(Last, &[l([])], "none");
}

#[test]
fn ranges_are_bounded() {
    check(ListsRange, &[i(3)], "[0, 1, 2]");
    check(ListsRange, &[i(0)], "[]");
    check(ListsRange, &[i(-1)], "error: lists.range: size must be non-negative, got -1");
    let most = i64::try_from(MAX_ELEMENTS).unwrap();
    assert!(call(ListsRange, &[i(most)]).error().is_none());
    assert!(call(ListsRange, &[i(most + 1)]).error().is_some());
}

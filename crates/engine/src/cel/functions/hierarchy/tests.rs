use super::super::testing::{call, i, l, s, show, strings};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn path(text: &'static str) -> Value<'static> {
    call(Hierarchy, &[s(text)])
}

fn check(function: Function, left: &'static str, right: &'static str, expected: &str) {
    assert_eq!(show(function, &[path(left), path(right)]), expected, "`{left}` and `{right}`");
}

#[test]
fn a_hierarchy_is_made_of_texts_and_lists() {
    assert_eq!(show(Hierarchy, &[s("a.b.c")]), "a.b.c");
    assert_eq!(show(Hierarchy, &[s("a::b::c"), s("::")]), "a.b.c");
    assert_eq!(show(Hierarchy, &[s("äb"), s("")]), "ä.b");
    assert_eq!(show(Hierarchy, &[s(""), s("")]), "");
    assert_eq!(show(Hierarchy, &[strings(&["a", "b.c"])]), "a.b.c");
    assert_eq!(
        show(Hierarchy, &[l([i(1)])]),
        "error: failed to convert list to string slice: unsupported type conversion from 'int' to string"
    );
    assert_eq!(show(Hierarchy, &[i(1)]), "error: no such overload");
    for (text, delimiter, length) in [("", ".", 1), ("", "", 0), (".", ".", 2), ("ab", "", 2)] {
        let built = call(Hierarchy, &[s(text), s(delimiter)]);
        assert!(
            matches!(built, Value::Hierarchy(segments) if segments.len() == length),
            "`{text}`"
        );
    }
}

#[test]
fn relations_compare_whole_segments() {
    check(HierarchyAncestorOf, "a.b", "a.b.c", "true");
    check(HierarchyAncestorOf, "a.b", "a.b", "false");
    check(HierarchyAncestorOf, "a.b", "a.bc.d", "false");
    check(HierarchyDescendentOf, "a.b.c.d", "a.b", "true");
    check(HierarchyImmediateChildOf, "a.b.c", "a.b", "true");
    check(HierarchyImmediateChildOf, "a.b.c", "a", "false");
    check(HierarchyImmediateParentOf, "a.b", "a.b.c", "true");
    check(HierarchySiblingOf, "a.b.c", "a.b.d", "true");
    check(HierarchySiblingOf, "a.b.c", "a.b.c", "true");
    check(HierarchySiblingOf, "a", "b", "true");
    check(HierarchySiblingOf, "a.b.c", "x.b.d", "false");
    check(HierarchyOverlaps, "a.b", "a.b.c.d", "true");
    check(HierarchyOverlaps, "a.b.c.d", "a.b", "true");
    check(HierarchyOverlaps, "a.x", "a.b.c", "false");
}

#[test]
fn a_hierarchy_is_not_its_own_ancestor() {
    check(HierarchyCommonAncestors, "a.b.c", "a.b.c", "a.b");
    check(HierarchyCommonAncestors, "a.b.c.d", "a.b.x", "a.b");
    check(HierarchyCommonAncestors, "a.b", "a.b.c", "a.b");
    check(HierarchyCommonAncestors, "a", "x", "");
}

use super::super::testing::{i, l, s, show, strings};
use crate::cel::function::Function::{self, *};
use crate::cel::value::Value;

fn check(function: Function, args: &[Value<'static>], expected: &str) {
    assert_eq!(show(function, args), expected, "{} of {args:?}", function.name());
}

#[test]
fn parts_of_paths() {
    check(BasePath, &[s("/path/to/dir/")], "'dir'");
    check(BasePath, &[s("")], "'.'");
    check(DirPath, &[s("/path/to/dir")], "'/path/to'");
    check(DirPath, &[s(r"C:\a\b")], r"'C:\a'");
    check(DirPath, &[s(r"a\")], "error: a path of one element has no directory");
    check(ExtPath, &[s("/a/b.tar.gz")], "'.gz'");
    check(VolumeName, &[s(r"\\host\share\x")], r"'\\host\share'");
    check(BasePath, &[s("D:foo")], "error: failed to encode path D:foo: unsupported Win32 path");
    check(BasePath, &[i(1)], "error: no such overload");
}

#[test]
fn joining() {
    check(JoinPath, &[strings(&["/path", "to", "../file.txt"])], "'/path/file.txt'");
    check(JoinPath, &[strings(&[])], "''");
    check(JoinPath, &[strings(&["a//b"])], "'a//b'");
    check(JoinPath, &[strings(&[r"C:\a", "b/c"])], r"'C:\a\b\c'");
    check(
        JoinPath,
        &[l([i(1)])],
        "error: failed to convert list to string slice: unsupported type conversion from 'int' to string",
    );
}

#[test]
fn prefixes_are_whole_elements() {
    check(PathHasPrefix, &[s("/foo/bar/x"), s("/foo/bar")], "true");
    check(PathHasPrefix, &[s("/foo/barbaz"), s("/foo/bar")], "false");
    check(PathHasPrefix, &[s("/foo/../bar"), s("/foo")], "false");
    check(PathHasPrefix, &[s("/foo"), s("/foo")], "true");
    check(
        PathHasPrefix,
        &[s("foo"), s("/foo")],
        "error: failed to determine relative path of foo: Rel: can't make foo relative to /foo",
    );
    check(RelPath, &[s("/path/to/dir"), s("/path/to/other")], "'../other'");
}

#[test]
fn patterns() {
    check(PathMatch, &[s("/a/b.txt"), s("/a/*.txt")], "true");
    check(PathMatch, &[s("/a/b/c.txt"), s("/a/*.txt")], "false");
    check(PathMatch, &[s(r"C:\a\b.txt"), s(r"C:\a\*.txt")], "true");
    check(PathMatchAnyOf, &[s("/a/b"), strings(&["/x", "/a/?"])], "true");
    check(PathMatchAnyOf, &[s("/a/b"), strings(&[])], "false");
    check(
        PathMatch,
        &[s("a"), s("[")],
        "error: failed to match pattern \"[\" on path \"a\": syntax error in pattern",
    );
}

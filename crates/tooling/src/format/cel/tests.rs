use super::*;
use proptest::prelude::*;

fn line(source: &str, expected: &str) {
    assert_eq!(
        layout(source, Width::Line, Parentheses::Needed).as_deref(),
        Some(expected),
        "{source}"
    );
}

fn lines(width: usize, source: &str, expected: &str) {
    let laid_out = layout(source, Width::Lines(width), Parentheses::Needed);
    assert_eq!(laid_out.as_deref(), Some(expected), "{source}");
}

fn unchanged(source: &str) {
    assert_eq!(layout(source, Width::Line, Parentheses::Needed), None, "{source}");
}

#[test]
fn spaces_stand_around_operators_and_after_commas() {
    line("a==b&&c  !=d", "a == b && c != d");
    line("a?b:c", "a ? b : c");
    line("f( a ,b ).g [ 1 ]", "f(a, b).g[1]");
    line("{ \"a\":1,?'b' :x }", "{\"a\": 1, ?'b': x}");
    line("[1,2 , ]", "[1, 2]");
    line("[ , ]", "[]");
    line("a . ?b[?c]", "a.?b[?c]");
    line("- 1 + -x - !y", "-1 + -x - !y");
    line("google.type.Expr { a:1 }", "google.type.Expr{a: 1}");
    line(".a .b", ".a.b");
    line("x in[1]", "x in [1]");
}

#[test]
fn literals_and_macros_stay_as_they_are_written() {
    line("'it' + r\"\\d\"+b'''x'''", "'it' + r\"\\d\" + b'''x'''");
    line("0x1F==31u&&1e3>.5", "0x1F == 31u && 1e3 > .5");
    line("l.exists_one(i,i>1)", "l.exists_one(i, i > 1)");
    line("math.greatest(1,2,3)", "math.greatest(1, 2, 3)");
    line("has(a.b)&&cel.bind(x,1,x+x)", "has(a.b) && cel.bind(x, 1, x + x)");
    line("a.`b-c`", "a.`b-c`");
}

#[test]
fn parentheses_without_meaning_are_removed() {
    line("((a))", "a");
    line("(a == b) && (c in d)", "a == b && c in d");
    line("f((a), [(b)], {(c): (d)})[(0)]", "f(a, [b], {c: d})[0]");
    line("(a.b).c", "a.b.c");
    line("(a * b) + c", "a * b + c");
    line("(a - b) - c", "a - b - c");
    line("!(a)", "!a");
    line("a ? b : (c ? d : e)", "a ? b : c ? d : e");
}

#[test]
fn parentheses_stay_where_they_mean_something() {
    for source in [
        "a && (b && c)",
        "(a && b) || c",
        "(a || b) && c",
        "a - (b - c)",
        "(a + b) * c",
        "(a == b) == c",
        "!(a && b)",
        "!(!a)",
        "-(1)",
        "(1).f()",
        "(-1).f()",
        "(a ? b : c).d",
        "(a ? b : c) ? d : e",
        "a ? (b ? c : d) : e",
        "(a + b)[0]",
        "-(-a)",
    ] {
        line(source, source);
    }
}

#[test]
fn texts_that_are_no_expressions_stay() {
    unchanged("a ==");
    unchanged("");
    unchanged("\"open");
    unchanged("a // why\n== b");
    unchanged("'''a\nb'''");
    unchanged(&"(".repeat(300));
}

#[test]
fn deep_nesting_stays() {
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("a[", "]"), ("true ? 1 : ", "")] {
        unchanged(&format!("{}1{}", open.repeat(20_000), close.repeat(20_000)));
    }
}

#[test]
fn long_chains_break_at_their_operators() {
    lines(23, "aaaaaaaa == bbbbbbbb && cccc", "aaaaaaaa == bbbbbbbb &&\ncccc");
    lines(40, "aaaaaaaa == bbbbbbbb && cccc", "aaaaaaaa == bbbbbbbb && cccc");
    lines(16, "aaaaaaaa && (bbbbbbbb || cccccccc)", "aaaaaaaa &&\n(\n  bbbbbbbb ||\n  cccccccc\n)");
    lines(16, "f(aaaaaaaa, bbbb && cccccccccc)", "f(\n  aaaaaaaa,\n  bbbb &&\n    cccccccccc\n)");
    lines(10, "aaaaaa ? bbbbbb : cccccc", "aaaaaa\n  ? bbbbbb\n  : cccccc");
    lines(10, "[aaaaaa, bbbbbb]", "[\n  aaaaaa,\n  bbbbbb\n]");
}

#[test]
fn line_ends_of_the_author_stay() {
    lines(80, "a &&\n  b", "a &&\nb");
    lines(80, "a\n&& b", "a &&\nb");
    lines(80, "a &&\n\n\nb", "a &&\n\nb");
    lines(80, "f(\n a, b)", "f(\n  a,\n  b\n)");
    lines(80, "f(a,\n b)", "f(a, b)");
    lines(80, "\n\n a  \n", "a");
}

#[test]
fn comments_stay_where_they_are() {
    lines(80, "a // one\n&& b // two\n// three", "a && // one\nb // two\n// three");
    lines(80, "// zero\na", "// zero\na");
    lines(80, "a && // one\n// two\nb", "a && // one\n// two\nb");
    lines(80, "[1, // one\n 2 // two\n]", "[\n  1, // one\n  2 // two\n]");
    lines(80, "f((a // x\n))", "f(\n  a // x\n)");
    lines(80, "a.b(c) // \"end\" // again", "a.b(c) // \"end\" // again");
}

#[test]
fn text_over_several_lines_is_not_indented() {
    lines(80, "f(\n'''a\n  b\nc''')", "f(\n  '''a\n  b\nc'''\n)");
}

proptest! {
    #[test]
    fn the_tree_stays_and_a_second_layout_changes_nothing(
        source in expression(), blanks in prop::collection::vec(blank(), 1..8), width in 1..60_usize,
    ) {
        let words = words::words(&source).unwrap();
        let spaced: String = words.iter().zip(blanks.iter().cycle())
            .flat_map(|(word, blank)| [word.text, blank]).collect();
        let tree = wardgate_compiler::cel::parse(&source).unwrap();
        for text in [&source, &spaced] {
            let attempts = [Parentheses::Needed, Parentheses::Written];
            let new = attempts.into_iter().find_map(|parentheses| layout(text, Width::Lines(width), parentheses));
            // Only comments in unusual places may leave a text as it is.
            let Some(new) = new else {
                prop_assert!(text.contains("//"), "{}", text);
                continue;
            };
            prop_assert!(equivalent(&tree, &wardgate_compiler::cel::parse(&new).unwrap()), "{}\n{}", text, new);
            prop_assert_eq!(words::comments(text), words::comments(&new));
        }
    }
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(" "), Just("\n"), Just("  \n\n"), Just(" // why\n"), Just("\n// who\n")]
}

/// Generates expressions with a parenthesis in every possible place.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b.c", "1", "-2", "3u", "'s'", "true", ".d", "[]"]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 4, |inner| {
        let one = inner.clone();
        let operator = prop::sample::select(vec!["&&", "||", "==", "in", "+", "-", "*", "<"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("f({}, x)", all.join(", "))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("({a})[{b}].exists(x, x in ({b}))")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{{({a}): {b}}}")),
            one.prop_map(|a| format!("!({a})")),
        ]
    })
}

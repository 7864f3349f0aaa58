use super::*;

fn check(text: &str, expected: &str) {
    let formatted = format("a.yaml", text.as_bytes()).unwrap();
    assert_eq!(formatted.text, expected, "{text}");
    assert_ne!(formatted.outcome, Outcome::Unchanged, "{text}");
    let again = format("a.yaml", formatted.text.as_bytes()).unwrap();
    assert_eq!(again.text, expected, "a second time: {text}");
}

fn stays(text: &str, outcome: Outcome) {
    let formatted = format("a.yaml", text.as_bytes()).unwrap();
    assert_eq!((formatted.text.as_str(), formatted.outcome), (text, outcome));
}

#[test]
fn blocks_stand_two_spaces_deeper() {
    check(
        "a:\n    b:\n    - c\n    -   d: e\n        f: g\n",
        "a:\n  b:\n    - c\n    - d: e\n      f: g\n",
    );
    check("a:\n- b\n- - c\n  - d\n", "a:\n  - b\n  - - c\n    - d\n");
    check("-\n  a: b\n-\n  - c\n", "-\n  a: b\n-\n  - c\n");
    check("a:\n  b\nc:\n    |\n     d\n", "a:\n  b\nc:\n  |\n  d\n");
    check("? - a\n  - b\n:   c\n? d\n", "? - a\n  - b\n: c\n? d\n");
}

#[test]
fn one_space_stands_between_tokens() {
    check("a  :   b\nc:   d    #e\n", "a: b\nc: d #e\n");
    check(
        "a: [ b,c ,\"d\" ]\ne: {f: g,h:  i ,}\nj: {  }\n",
        "a: [b, c, \"d\"]\ne: { f: g, h: i, }\nj: {}\n",
    );
    check("a: &x   b\nc:   *x\n*x : !!str  1\n", "a: &x b\nc: *x\n*x : !!str 1\n");
    check("a: {\"b\":c, d, e: }\n", "a: { \"b\": c, d, e: }\n");
}

#[test]
fn lines_between_brackets_stay_lines() {
    check("a: [b,\n c,\n\n\n d\n ]\n", "a: [b,\n    c,\n\n    d\n  ]\n");
    check(
        "a: {\n  b: {\n  c: [\n  d\n  ] }\n}\n",
        "a: {\n    b: {\n      c: [\n        d\n      ] }\n  }\n",
    );
    check(
        "a:\n  - [{\n    # why\n    b: c # d\n    }]\n",
        "a:\n  - [{\n      # why\n      b: c # d\n    }]\n",
    );
}

#[test]
fn comments_stand_with_what_they_precede() {
    check("  # a\nb:\n      # c\n    d: e\n  # f\n", "# a\nb:\n  # c\n  d: e\n# f\n");
    check("a:\n    - b\n    # - c\n\n# d\ne: f\n", "a:\n  - b\n  # - c\n\n# d\ne: f\n");
    check(
        "a:\n    b:\n        c: d\n        # of b\n    # of a\n",
        "a:\n  b:\n    c: d\n    # of b\n  # of a\n",
    );
    check("# only\n\n\n\n  # comments", "# only\n\n# comments\n");
    check("a: # b\n- c   # d\n", "a: # b\n  - c # d\n");
    check(
        "a: | # b\n    c\n    # no comment\n  # d\ne: f\n",
        "a: | # b\n  c\n  # no comment\n# d\ne: f\n",
    );
}

#[test]
fn empty_lines_stay_as_one() {
    check("\n\na: b\n\n\n\nc: d\n\n\n", "a: b\n\nc: d\n");
    check("a:\n\n  - b\n\n  - c\n", "a:\n\n  - b\n\n  - c\n");
    check("", "");
    check("\n\n", "");
}

#[test]
fn the_lines_of_a_block_keep_their_shape() {
    check("a: |\n      b\n        c\n\n      d  \n\ne: f\n", "a: |\n  b\n    c\n\n  d  \n\ne: f\n");
    check("a:\n    b: >-\n            c\n            d\n", "a:\n  b: >-\n    c\n    d\n");
    check("a: |+\n    b\n\n\nc: d\n", "a: |+\n  b\n\n\nc: d\n");
    check("a:\n    b: |4-\n          c\n        d\n", "a:\n  b: |2-\n      c\n    d\n");
    check("a: |\nb: c\n", "a: |\nb: c\n");
    check("a: |+\n\n\nb: c\n", "a: |+\n\n\nb: c\n");
    check("a: |\n    b", "a: |\n  b");
    check("a: b", "a: b\n");
}

#[test]
fn text_over_several_lines_is_indented_anew() {
    check("a: b\n      c\n\n      d\n", "a: b\n  c\n\n  d\n");
    check("a: 'b\n\n     c'\n", "a: 'b\n\n  c'\n");
    check("a: \"b \\\n     c\\\n  \\ d\"\n", "a: \"b \\\n  c\\\n  \\ d\"\n");
    check("a: [b\n c, d]\n", "a: [b\n    c, d]\n");
}

#[test]
fn documents_and_directives_stay() {
    check(
        "%YAML 1.2\n---\na:   b\n...\n---   # c\n- d\n--- e\n",
        "%YAML 1.2\n---\na: b\n...\n--- # c\n- d\n--- e\n",
    );
    check("---\n---\n", "---\n---\n");
    check("--- |\n  a\n", "--- |\na\n");
}

#[test]
fn files_from_elsewhere_get_plain_line_ends() {
    check(
        "\u{feff}a:\r\n    - b\r\n    - |\r\n      c\r\n      d\r\n",
        "a:\n  - b\n  - |\n    c\n    d\n",
    );
    check("a: b\rc: d\r", "a: b\nc: d\n");
    check("ü:    é\n\"\u{1f600}\":   [ \u{1f600},x ]\n", "ü: é\n\"\u{1f600}\": [\u{1f600}, x]\n");
    check("a: b\t# c\n", "a: b # c\n");
}

#[test]
fn json_stays_as_it_is() {
    stays("{\"a\":   1}\r\n", Outcome::Json);
    stays("\u{feff}{ }", Outcome::Json);
    let formatted = format("a.JSON", b"[ 1 ]").unwrap();
    assert_eq!((formatted.text.as_str(), formatted.outcome), ("[ 1 ]", Outcome::Json));
}

#[test]
fn a_collection_in_brackets_can_be_a_key() {
    check("[a]:   b\r\n", "[a]: b\n");
    check("a:\n    {b: [c] } :   d\n    e: f\n", "a:\n  { b: [c] }: d\n  e: f\n");
    check("- &x !!seq   [a]: b\n  c: d\n", "- &x !!seq [a]: b\n  c: d\n");
    check("? [a]\n: [b]:   c\n  d: e\n", "? [a]\n: [b]: c\n  d: e\n");
    check("a: {[b] : c, {d: e}: f}\n", "a: { [b]: c, { d: e }: f }\n");
}

#[test]
fn malformed_yaml_is_refused() {
    for text in ["a: [", "a: b\n c: d\n", "a:\n\tb: c\n", "a: b\na: c\n"] {
        assert!(!format("a.yaml", text.as_bytes()).unwrap_err().is_empty(), "{text}");
    }
    assert!(!format("a.yaml", b"\xff").unwrap_err().is_empty());
}

fn policy(text: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  rules:\n    - condition:\n        match:\n{text}"
    )
}

fn check_expression(text: &str, expected: &str) {
    check(
        &policy(&format!("          expr: {text}\n")),
        &policy(&format!("          expr: {expected}\n")),
    );
}

#[test]
fn expressions_are_laid_out_in_their_style() {
    check_expression("a==b&&c", "a == b && c");
    check_expression("'a==\"b\"+''c'''", "'a == \"b\" + ''c'''");
    check_expression("\"a==\\\"b\\\\n\\\"\"", "\"a == \\\"b\\\\n\\\"\"");
    check_expression(
        "|-\n              a==b&&\n              c",
        "|-\n            a == b &&\n            c",
    );
    check_expression(">\n              a==b&&\n              c", ">\n            a == b && c");
    check_expression("a==b\n              &&c", "a == b && c");
    check_expression("&x   !!str   a==b", "&x !!str a == b");
}

#[test]
fn an_expression_stays_where_its_style_cannot_hold_it() {
    for text in ["a?b:c", "{a: b}", "a ==", "true", "1", "\"\\u0061==b\"", "x==[1,2]\u{a0}"] {
        let expected = match text {
            "a?b:c" => "a ? b : c",
            "{a: b}" => "{ a: b }",
            other => other,
        };
        let formatted =
            format("a.yaml", policy(&format!("          expr: {text}\n")).as_bytes()).unwrap();
        let wanted = policy(&format!("          expr: {expected}\n"));
        assert!(formatted.text == wanted || text == "a?b:c", "{text}: {}", formatted.text);
    }
    check_expression("(\"a\")==b", "(\"a\") == b");
    check_expression("(!a)&&b", "(!a) && b");
    check_expression("(1)", "(1)");
}

#[test]
fn only_expressions_are_laid_out_as_such() {
    let text = "apiVersion: api.cerbos.dev/v1\ndescription: a==b\nvariables:\n  a: b==c\n\
        derivedRoles:\n  name: a==b\n  variables:\n    local:\n      x: (a)\n  constants:\n    local:\n      y: a==b\n  \
        definitions:\n    - condition:\n        match:\n          all:\n            of:\n              - none:\n                  \
        of:\n                    - expr: a==b\n";
    let expected = text
        .replace("a: b==c", "a: b == c")
        .replace("x: (a)", "x: a")
        .replace("expr: a==b", "expr: a == b");
    check(text, &expected);
    check(
        "variables:\n  a: b==c\nexport_variables:\n  definitions:\n    d: e==f\n",
        "variables:\n  a: b == c\nexport_variables:\n  definitions:\n    d: e == f\n",
    );
    let shared = "description: &d a==b\nresourcePolicy:\n  rules:\n    - condition: { match: { expr: *d } }\n";
    check(shared, shared);
}

#[test]
fn long_lines_and_many_comments_take_no_longer_than_others() {
    check(
        &format!("a: [b{}]\n", ", b".repeat(50_000)),
        &format!("a: [b{}]\n", ", b".repeat(50_000)),
    );
    let comments = "# c\n".repeat(50_000);
    check(&format!("{comments}a:   b\n"), &format!("{comments}a: b\n"));
}

use super::*;
use crate::diagnostics::Diagnostic;
use crate::source::SourceError;
use crate::source::SourceFile;

/// Spells a tree on one line: maps in braces, every value with its position.
fn spell(node: &Node) -> String {
    let Position { line, column } = node.position;
    let value = match &node.kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Integer(value) => value.to_string(),
        Kind::Float(value) => format!("{value:?}"),
        Kind::String(text, _) => format!("{text:?}"),
        Kind::Seq(items) => format!("[{}]", items.iter().map(spell).collect::<Vec<_>>().join(" ")),
        Kind::Map(entries) => {
            let entry = |e: &Entry| format!("{}={}", spell(&e.key), spell(&e.value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
    };
    format!("{value}@{line}:{column}")
}

fn outcome(path: &str, text: &str) -> String {
    let file = match SourceFile::new(path, text.as_bytes()) {
        Ok(file) => file,
        Err(error) => return Diagnostic::refused_source(path, error).to_string(),
    };
    let read = read(&file);
    let errors = read.errors.iter().map(|error| {
        let at = error.position.unwrap();
        format!("error {}:{} {}", at.line, at.column, error.message)
    });
    read.documents.iter().map(spell).chain(errors).collect::<Vec<_>>().join("\n")
}

fn check(text: &str, expected: &str) {
    assert_eq!(outcome("p.yaml", text), expected, "{text}");
}

fn check_json(text: &str, expected: &str) {
    assert_eq!(outcome("p.json", text), expected, "{text}");
}

#[test]
fn a_block_map_stands_at_its_first_colon() {
    check("a: b", r#"{"a"@1:1="b"@1:4}@1:2"#);
    check(
        "a:\n  - bc: d\n    e: f\n",
        r#"{"a"@1:1=[{"bc"@2:5="d"@2:9 "e"@3:5="f"@3:8}@2:7]@2:3}@1:2"#,
    );
    check("'a:b': c", r#"{"a:b"@1:1="c"@1:8}@1:6"#);
    check("a : b", r#"{"a"@1:1="b"@1:5}@1:3"#);
}

#[test]
fn a_flow_map_stands_at_its_brace() {
    check("a: {b: c}", r#"{"a"@1:1={"b"@1:5="c"@1:8}@1:4}@1:2"#);
}

#[test]
fn columns_count_characters() {
    check("é: {ß: c}", r#"{"é"@1:1={"ß"@1:5="c"@1:8}@1:4}@1:2"#);
}

#[test]
fn empty_documents_are_left_out() {
    for text in ["", "  \n", "# only\n", "---\n", "---\n# only\n---\n", "\u{feff}", "\r\n"] {
        check(text, "");
    }
    check("---\na: b\n---\n# only\n", r#"{"a"@2:1="b"@2:4}@2:2"#);
    check("a: b\n---\nc: d\n", "{\"a\"@1:1=\"b\"@1:4}@1:2\n{\"c\"@3:1=\"d\"@3:4}@3:2");
}

#[test]
fn line_ends_and_byte_order_marks_do_not_move_positions() {
    check("\u{feff}a: b\r\nc: d\r\n", r#"{"a"@1:1="b"@1:4 "c"@2:1="d"@2:4}@1:2"#);
}

#[test]
fn anchors_are_copied() {
    check("a: &x [1]\nb: *x", r#"{"a"@1:1=[1@1:8]@1:7 "b"@2:1=[1@1:8]@1:7}@1:2"#);
    check("a: &x v\nb: *x", r#"{"a"@1:1="v"@1:7 "b"@2:1="v"@1:7}@1:2"#);
    check("a: &x [*x]", "error 1:8 an alias is inside the value that it names");
    check("a: *x", "error 1:4 an alias names an anchor that does not exist");
}

#[test]
fn anchors_hold_for_later_documents() {
    check("a: &x v\n---\nb: *x", "{\"a\"@1:1=\"v\"@1:7}@1:2\n{\"b\"@3:1=\"v\"@1:7}@3:2");
}

#[test]
fn a_block_that_ends_with_the_file_has_no_line_end_that_is_not_there() {
    check("a: |\n  b", r#"{"a"@1:1="b"@2:3}@1:2"#);
    check("a: >\n  b\n  c", r#"{"a"@1:1="b c"@2:3}@1:2"#);
    check("a: |+\n  b", r#"{"a"@1:1="b"@2:3}@1:2"#);
    check("a: |\n  b\n", r#"{"a"@1:1="b\n"@2:3}@1:2"#);
    check("a: |\n  b\n# c", r#"{"a"@1:1="b\n"@2:3}@1:2"#);
    check("a: |\n  b\nc: d", r#"{"a"@1:1="b\n"@2:3 "c"@3:1="d"@3:4}@1:2"#);
    check("a: |\n  b\n ", r#"{"a"@1:1="b\n"@2:3}@1:2"#);
}

#[test]
fn merged_entries_give_way() {
    check(
        "- &a {k: 1, l: 2}\n- k: 3\n  <<: *a",
        r#"[{"k"@1:7=1@1:10 "l"@1:13=2@1:16}@1:6 {"k"@2:3=3@2:6 "l"@1:13=2@1:16}@2:4]@1:1"#,
    );
    check("<<: 1", "{}@1:3\nerror 1:5 only a map can be merged");
    check("'<<': 1", r#"{"<<"@1:1=1@1:7}@1:5"#);
}

#[test]
fn keys_are_unique() {
    check("a: 1\na: 2", "{\"a\"@1:1=1@1:4}@1:2\nerror 2:1 duplicate key `a`, first at 1:1");
}

#[test]
fn tags_are_no_part_of_the_value() {
    check("a: !!str 5", r#"{"a"@1:1="5"@1:10}@1:2"#);
    check("a: !!map {b: 1}", r#"{"a"@1:1={"b"@1:11=1@1:14}@1:10}@1:2"#);
}

#[test]
fn malformed_yaml_is_explained_at_its_position() {
    check("\"open", "error 1:1 quoted text has no closing quote");
    check(
        "a:\n  - b: c\n    d! E\n    f: g",
        "error 3:5 a line without `:` is between the keys of a map",
    );
    check(
        "a: \"b\" == c",
        "error 1:4 text goes on after its closing quote: write it as a block, after `|`",
    );
    check(
        "a: \"b\" == c\nd: 'e' f\ng: h: i",
        "error 1:4 text goes on after its closing quote: write it as a block, after `|`\nerror 2:4 text goes on after its closing quote: write it as a block, after `|`",
    );
    check("a: @b", "error 1:4 text without quotes cannot start with `@`");
    check("a: b: c", "error 1:5 unexpected `:`: no key can end here");
    check("a:\n\t- b", "error 2:2 the indentation contains a tab");
}

#[test]
fn json_escapes_may_come_in_pairs() {
    check_json(r#"{"a":"\ud83d\ude00\n"}"#, "{\"a\"@1:2=\"😀\\n\"@1:6}@1:1");
    check_json(
        r#" {"a": [1, -2.5, 1e3, null, true]}"#,
        r#"{"a"@1:3=[1@1:9 -2.5@1:12 1000.0@1:18 null@1:23 true@1:29]@1:8}@1:2"#,
    );
}

#[test]
fn malformed_json_is_explained_at_its_position() {
    check_json(r#"{"a": "b"#, "error 1:7 quoted text has no closing quote");
    check_json(
        "{\"a\": 1\n \"b\": 2}",
        "error 2:2 the text is not JSON: expected a `,` or `}`, found `\"`",
    );
    check_json(r#"{"a": 1, "a": 2}"#, "error 1:10 duplicate key `a`");
    check_json(r#"{"a": "\ud83d"}"#, "error 1:14 found half of a surrogate pair");
}

#[test]
fn text_that_is_not_json_may_be_yaml() {
    check_json("{a: 01}", r#"{"a"@1:2=1@1:5}@1:1"#);
    check_json("{\"a\": 1} # c", r#"{"a"@1:2=1@1:7}@1:1"#);
}

#[test]
fn brackets_may_close_at_the_indentation_of_their_key() {
    check(
        "- a: {\n  é: {b: 1},\n  }\n  c: [\n2\n]\n  d: e",
        r#"[{"a"@1:3={"é"@2:3={"b"@2:7=1@2:10}@2:6}@1:6 "c"@4:3=[2@5:1]@4:6 "d"@7:3="e"@7:6}@1:4]@1:1"#,
    );
    let many = format!("- a: [\n{}]", "1,\n".repeat(crate::limits::MAX_PADDING));
    assert!(outcome("p.yaml", &many).contains("a line is indented too little"));
}

#[test]
fn bounds_hold() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(
        outcome("p.yaml", &deep(crate::limits::MAX_NODE_DEPTH + 1)).contains("nest too deeply")
    );
    assert!(
        outcome("p.json", &format!("{{\"a\":{}}}", deep(crate::limits::MAX_NODE_DEPTH)))
            .contains("nest too deeply")
    );
    assert!(!outcome("p.yaml", &deep(crate::limits::MAX_NODE_DEPTH)).contains("error"));
    let laughs = (1..9).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        let aliases = vec![format!("*a{}", n - 1); 9].join(",");
        format!("{text}a{n}: &a{n} [{aliases}]\n")
    });
    assert!(outcome("p.yaml", &laughs).contains("too many values"));
}

#[test]
fn bytes_that_are_not_utf_8_are_an_error() {
    let error = SourceFile::new("p.yaml", b"a: b\nc: \xff").unwrap_err();
    assert_eq!(error, SourceError::NotUtf8 { at: Position { line: 2, column: 4 } });
}

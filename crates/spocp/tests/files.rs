//! Files of rules with the conventions of all systems.

use wardgate_spocp::file::{rule, rules};

/// Returns the lines of a file with their rules, or with the offsets of their errors.
fn read(text: &[u8]) -> Vec<(usize, usize, Result<String, usize>)> {
    let line = |line: wardgate_spocp::file::Line| {
        let rule = line.rule.map(|rule| rule.expression().to_advanced());
        let rule = rule.map(|text| String::from_utf8_lossy(&text).into_owned());
        (line.number, line.offset, rule.map_err(|error| error.offset))
    };
    rules(text).map(line).collect()
}

#[test]
fn comments_and_empty_lines_are_skipped() {
    let text = b"\xEF\xBB\xBF# a comment\r\n\r\n  ; another\n// a third\n\t(a b) \r\n(1:a1:c)";
    let found = read(text);
    assert_eq!(found, [(5, 42, Ok("(a b)".to_owned())), (6, 50, Ok("(a c)".to_owned()))]);
    assert!(read(b"").is_empty() && read(b"\n\n").is_empty() && read(b"\xEF\xBB\xBF").is_empty());
}

#[test]
fn a_wrong_line_does_not_hide_the_others() {
    let found = read(b"(a\n(b)\n(1:c2:d)\n)\n");
    let results: Vec<_> = found.into_iter().map(|(number, _, rule)| (number, rule)).collect();
    assert_eq!(results, [(1, Err(2)), (2, Ok("(b)".to_owned())), (3, Err(8)), (4, Err(0))]);
}

#[test]
fn a_rule_is_read_in_the_form_of_its_text() {
    let read = |text: &[u8]| rule(text).ok().map(|rule| rule.expression().to_canonical());
    assert_eq!(read(b"(4:file4:path)"), Some(b"(4:file4:path)".to_vec()));
    assert_eq!(read(b"(file path)"), Some(b"(4:file4:path)".to_vec()));
    assert_eq!(read(b"(time 08:00:00)"), Some(b"(4:time8:08:00:00)".to_vec()));
    assert_eq!(read(b"(5:file4:path)"), None);
    // A length refuses the advanced form even behind blanks, which the canonical form lacks.
    assert_eq!(read(b" (4:file4:path)"), None);
    assert_eq!(read(b" (file path) "), Some(b"(4:file4:path)".to_vec()));
}

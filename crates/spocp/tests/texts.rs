//! The texts that can be read, the errors of the others with their offsets, and the texts that are
//! written.

use wardgate_spocp::limits::{MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS};
use wardgate_spocp::{Error, Expression, Kind, Normal};

#[track_caller]
fn canonical(text: &str) -> Result<String, Error> {
    Expression::from_canonical(text.as_bytes()).map(canonical_text)
}

#[track_caller]
fn advanced(text: &str) -> Result<String, Error> {
    Expression::from_advanced(text.as_bytes()).map(canonical_text)
}

fn canonical_text(expression: Expression) -> String {
    String::from_utf8_lossy(&expression.to_canonical()).into_owned()
}

#[test]
fn errors_name_the_byte() {
    for (text, offset, kind) in [
        ("", 0, Kind::Empty),
        ("3:ab", 0, Kind::Overlong),
        ("0:", 0, Kind::Length),
        ("01:a", 0, Kind::Length),
        ("-1:a", 0, Kind::Unexpected(b'-')),
        ("(1:a-1:a)", 4, Kind::Unexpected(b'-')),
        ("99999999999999999999999:a", 0, Kind::Overlong),
        ("1", 1, Kind::Unfinished),
        ("1x", 1, Kind::Length),
        (")", 0, Kind::Unopened),
        ("()", 1, Kind::Tag),
        ("((1:a)1:b)", 1, Kind::Tag),
        ("(1:a", 4, Kind::Unfinished),
        ("1:a1:b", 3, Kind::Trailing),
        ("(1:a )", 4, Kind::Unexpected(b' ')),
        ("(1:*1:a)", 4, Kind::StarForm),
        ("(1:*3:set)", 9, Kind::EmptySet),
        ("(1:*3:set(1:*3:set1:a1:b))", 25, Kind::NestedSet),
        ("(1:*3:set(1:a1:x)(1:b)(1:a1:y))", 30, Kind::SameTag),
        ("(1:*6:prefix)", 12, Kind::Affix),
        ("(1:*6:suffix1:a1:b)", 15, Kind::Affix),
        ("(1:t(1:*5:range7:numeric1:l2:15))", 4, Kind::Relation),
        ("(1:*5:range5:alpha2:ge1:a2:le1:b1:c)", 32, Kind::Relation),
    ] {
        assert_eq!(canonical(text), Err(Error { offset, kind }), "{text}");
    }
    for (text, offset, kind) in [
        (" \n", 2, Kind::Empty),
        ("(a \"b\\q\")", 6, Kind::Escape),
        ("(a \"b", 5, Kind::Unfinished),
        ("(a \"\")", 3, Kind::EmptyAtom),
        ("(a #123#)", 3, Kind::Encoding),
        ("(a |YWI|)", 3, Kind::Encoding),
        ("(a |YWJ=|)", 3, Kind::Encoding),
        ("(a {YWI=})", 3, Kind::Unexpected(b'{')),
    ] {
        assert_eq!(advanced(text), Err(Error { offset, kind }), "{text}");
    }
}

#[test]
fn texts_beyond_the_limits_are_refused() {
    let atom = "a".repeat(MAX_BYTES);
    let text = format!("{}:{atom}", atom.len());
    assert_eq!(canonical(&text).unwrap_err().kind, Kind::TooLong);
    let nested = |depth| format!("{}{}", "(1:a".repeat(depth), ")".repeat(depth));
    assert_eq!(canonical(&nested(MAX_DEPTH)).unwrap(), nested(MAX_DEPTH));
    assert_eq!(canonical(&nested(MAX_DEPTH + 1)).unwrap_err().kind, Kind::TooDeep);
    let wide = |elements: usize| format!("(1:a{})", "1:b".repeat(elements - 2));
    assert_eq!(canonical(&wide(MAX_ELEMENTS)).unwrap(), wide(MAX_ELEMENTS));
    assert_eq!(canonical(&wide(MAX_ELEMENTS + 1)).unwrap_err().kind, Kind::TooMany);
}

#[test]
fn every_spelling_of_an_atom_is_read() {
    for spelling in [
        "ab",
        "\"ab\"",
        "\"a\\x62\"",
        "\"\\141b\"",
        "\"a\\\nb\"",
        "#61 62#",
        "|YWI=|",
        "| Y W I = |",
    ] {
        assert_eq!(advanced(&format!("( t {spelling})")).unwrap(), "(1:t2:ab)", "{spelling}");
    }
}

#[test]
fn the_advanced_form_can_be_read_again() {
    let text = |atom: &[u8]| {
        let canonical = [format!("(1:t{}:", atom.len()).as_bytes(), atom, b")"].concat();
        let expression = Expression::from_canonical(&canonical).unwrap();
        String::from_utf8(expression.to_advanced()).unwrap()
    };
    assert_eq!(text(b"08:00:00"), "(t 08:00:00)");
    assert_eq!(text("gr\u{fc}n".as_bytes()), "(t gr\u{fc}n)");
    assert_eq!(text(b"a b\"\\\n\x07"), r#"(t "a b\"\\\n\x07")"#);
    assert_eq!(text(b"\xff\x00"), "(t #ff00#)");
    assert_eq!(text(b"(x)"), "(t \"(x)\")");
}

#[test]
fn normal_forms_join_adjacent_elements() {
    for (set, expected) in [
        // The example of section 6 of the draft.
        (
            "(* set 44 (* range numeric ge 4 le 8) 11 (* range numeric ge 6 le 10))",
            "(* set (* range numeric ge 4 le 11) 44)",
        ),
        ("(* set 10 11 12 13 14)", "(* range numeric ge 10 le 14)"),
        ("(* set a a)", "a"),
        ("(* set a (*) (b))", "(*)"),
        ("(* set (* prefix ab) (* prefix a) abc b)", "(* set (* prefix a) b)"),
        ("(* set (* suffix .pdf) x.pdf (* suffix pdf))", "(* suffix pdf)"),
        ("(* set (* range numeric le 5) (* range numeric ge 6))", "(* range numeric)"),
        ("(* set b (* range alpha gt b lt d) d)", "(* range alpha ge b le d)"),
        ("(* set 4294967295 4294967294)", "(* range numeric ge 4294967294)"),
        ("(* set 0 1)", "(* range numeric le 1)"),
        ("(* set 255.255.255.255 255.255.255.254)", "(* range ipv4 ge 255.255.255.254)"),
        (
            "(* set ::1 (* range ipv6 ge ::2 le ::5) 0:0::3)",
            "(* set (* range ipv6 ge ::2 le ::5) ::1)",
        ),
        ("(* set (a (* set 1 2)) x)", "(* set (a (* range numeric ge 1 le 2)) x)"),
    ] {
        let normal = Normal::new(Expression::from_advanced(set.as_bytes()).unwrap());
        assert_eq!(String::from_utf8_lossy(&normal.expression().to_advanced()), expected, "{set}");
    }
}

#[test]
fn an_unreadable_expression_is_allowed_by_no_rule() {
    let mut expression = Expression::from_canonical(b"(1:a)").unwrap();
    assert!(expression.read_canonical(b"(1:a").is_err());
    let (failed, any) =
        (Normal::new(expression), Normal::new(Expression::from_canonical(b"(1:*)").unwrap()));
    assert!(!failed.is_at_most(&any) && !any.is_at_most(&failed) && !failed.is_at_most(&failed));
}

//! The values of ranges, and the ranges that are valid.

use alloc::string::String;
use alloc::vec::Vec;

use super::*;

fn range(words: &str) -> Result<Range, Kind> {
    let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
    Range::read(&words)
}

#[track_caller]
fn check(words: &str, inside: &str, outside: &str) {
    let range = range(words).unwrap();
    for (atoms, expected) in [(inside, true), (outside, false)] {
        for atom in atoms.split_whitespace() {
            assert_eq!(range.holds(atom.as_bytes()), expected, "`{atom}` in `{words}`");
        }
    }
}

#[test]
fn values_are_compared_by_their_type() {
    check("numeric ge 5 lt 10", "5 9", "4 10 x 05 +5 5.0 4294967301");
    assert!(!range("numeric ge 5 lt 10").unwrap().holds(b""));
    check("numeric", "0 4294967295", "4294967296 00 -1");
    check("alpha gt b le d", "ba c d", "b d0 a");
    check("ipv4 ge 9.0.0.0 lt 10.1.0.0", "10.0.0.255", "10.1.0.0 9.0.0 010.0.0.1 ::a");
    check("ipv6 ge 2001:db8:: lt 2001:db9::", "2001:DB8:0:0::1", "2001:db9:: 10.0.0.1");
    check("time ge 08:00:00 le 17:00:00", "08:00:00 12:30:00.5", "17:00:00.1 8:30:00");
    check("time gt 23:59:59", "23:59:60 23:59:59.000000001", "23:59:59 24:00:00");
}

#[test]
fn moments_are_compared_in_utc() {
    let day = "date ge 2002-12-31T00:00:00Z lt 2003-01-01T00:00:00Z";
    let inside = "2002-12-31T23:59:59Z 2002-12-31_23:59:59 2002:12:31_23:59:59 \
        2003-01-01T00:59:59+01 2003-01-01T00:59:59.25+01:00 2002-12-30t20:00:00-04:00 \
        2002-12-31T23:59:60Z";
    let outside = "2003-01-01T00:00:00Z 2002-12-31T23:30:00-01:00 2002-12-31 \
        2002-12:31T00:00:00Z 2002-13-01T00:00:00Z 2002-12-32T00:00:00Z \
        2002-12-31T12:00:00+24:00 2002-12-31T12:00:00.Z 2002-12-31T12:00:00.0000000001Z";
    check(day, inside, outside);
    assert!(!range(day).unwrap().holds(b"2002-12-31T23:59:59 Z"));
    check("date ge 2000-02-29T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00");
    check("date lt 1900-03-01T00:00:00Z", "1900-02-28T00:00:00Z", "1900-02-29T00:00:00Z");
}

#[test]
fn a_range_has_at_least_two_values_and_each_bound_once() {
    let refused = |words, kind| assert_eq!(range(words).unwrap_err(), kind, "{words}");
    for words in ["numeric ge 5 le 5", "numeric gt 4 lt 6", "numeric lt 1", "numeric lt 0"] {
        refused(words, Kind::NarrowRange);
    }
    refused("numeric gt 4294967295", Kind::NarrowRange);
    refused("numeric ge 7 lt 3", Kind::NarrowRange);
    refused("alpha gt a lt a", Kind::NarrowRange);
    refused("time le 00:00:00", Kind::NarrowRange);
    for words in ["numeric ge 1 gt 2", "numeric l 15", "numeric le 1 le 2", "numeric eq 1"] {
        refused(words, Kind::Relation);
    }
    for words in
        ["numeric ge", "numeric ge x", "numeric lt 4294967296", "date ge 2001-02-29T00:00:00Z"]
    {
        refused(words, Kind::Constant);
    }
    refused("number ge 1", Kind::RangeType);
}

#[test]
fn one_range_has_one_text() {
    let text = |words| {
        let mut out = Vec::new();
        range(words).unwrap().write(&mut out);
        String::from_utf8(out).unwrap()
    };
    let same = [
        ("numeric gt 4 lt 10", "numeric le 9 ge 05"),
        ("numeric ge 0 le 7", "numeric lt 8"),
        ("ipv6 gt ::ffff:0:0", "ipv6 ge 0:0:0:0:0:ffff:0:1"),
        ("time ge 00:00:00 lt 10:00:00.50", "time lt 10:00:00.5"),
        ("date gt 1970-01-01T01:00:00+01:00", "date gt 1970:01:01_00:00:00.0"),
    ];
    for (one, other) in same {
        assert_eq!(text(one), text(other));
    }
    assert_eq!(
        text("date lt 2004-02-29T23:30:00.120-02:00"),
        "(1:*5:range4:date2:lt23:2004-03-01T01:30:00.12Z)"
    );
}

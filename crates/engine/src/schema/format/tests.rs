//! Each format with valid and invalid texts.

use super::is_valid;

/// Checks lines of texts behind the name of a format, or behind `not` and the name. A dot in the
/// middle stands for a space, and a pair of quotes for the empty text.
fn check(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (format, texts) = line.split_once(": ").unwrap();
        let (format, expected) =
            format.strip_prefix("not ").map_or((format, true), |it| (it, false));
        for text in texts.split(' ') {
            let text = if text == "\"\"" { "" } else { &text.replace('·', " ") };
            assert_eq!(is_valid(format, text), expected, "{format}: {text:?}");
        }
    }
}

#[test]
fn times() {
    check(
        r#"
        date: 2024-02-29 0000-01-01 1999-12-31
        not date: 2023-02-29 2024-2-1 2024-13-01 2024-00-10 "" 20240101 2024-01-01·
        time: 00:00:00Z 23:59:60Z 22:59:60-01:00 01:02:03.456+05:30 23:59:59z +1:-0:00Z
        not time: 24:00:00Z 12:00:60Z 12:00:00 12:00:00.Z 12:00:00+5:30 1:00:00Z 12:00:00+24:00
        date-time: 2024-01-01T00:00:00Z 2024-01-01t00:00:00.5-03:00
        not date-time: 2024-01-01·00:00:00Z 2024-01-01 2024-01-01T00:00:00
        duration: P1Y P1Y2M3D P2D PT1H P1DT2M3S P4W
        not duration: P PT P1 1Y P1YD P1Y1D PT1D P1W2D P1WT1H P1YT p1Y
        period: 2024-01-01T00:00:00Z/2024-01-02T00:00:00Z 2024-01-01T00:00:00Z/P1D
        period: P1D/2024-01-01T00:00:00Z
        not period: P1D/P1D 2024-01-01T00:00:00Z /
    "#,
    );
}

#[test]
fn network_names() {
    check(
        r#"
        hostname: a a.b-c.d a. 1.2
        not hostname: "" -a a- a..b a_b é.com
        ipv4: 0.0.0.0 255.255.255.255
        not ipv4: 256.0.0.1 01.2.3.4 1.2.3 1.2.3.4.5 a.b.c.d ""
        ip-address: 1.2.3.4
        not ip-address: ::1
        ipv6: ::1 2001:db8:: ::ffff:1.2.3.4
        not ipv6: 1.2.3.4 ::: fe80::1%eth0 12345::
        email: a@b.c a.b+c@d "a·b"@c.d é@b.c a@[1.2.3.4] a@[IPv6:::1] ·a@b.c
        not email: a @b.c a@ a..b@c.d .a@b.c a·b@c.d a@b_c a@[1.2.3]
    "#,
    );
}

#[test]
fn urls() {
    check(
        r#"
        uri: http://a.b/c?d#e urn:x:y mailto:a@b http://[::1]:80/ http://a%c3%a9/ http://a]/ a:
        not uri: /a/b a "" ://a http://a·b/ http://[::1/ http://[fe80::1%25en0]/ http://a[b/
        not uri: http://a%20b/ http://a:x/ http://a/%zz 1a:b
        uri-reference: /a/b a "" #x ?q //h/p
        not uri-reference: a\b :a %
        uri-template: /a/{b} http://x/{a}{b} /a?{ #{ x:{{
        not uri-template: /a/{b /a/b} /{a{b}} {?a} {#a}
    "#,
    );
    assert!(!is_valid("uri-reference", "a:b:c\u{1}"));
}

#[test]
fn pointers_and_ids() {
    check(
        r#"
        json-pointer: "" / /a~0b~1c /a/b
        not json-pointer: a /~ /~2 #/a
        relative-json-pointer: 0 1/a 10# 0/a~1
        not relative-json-pointer: "" 01 /a -1 0a 1##
        uuid: 123e4567-e89b-12d3-a456-426614174000 ABCDEF00-0000-0000-0000-000000000000
        not uuid: 123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-42661417400
        not uuid: g23e4567-e89b-12d3-a456-426614174000
    "#,
    );
}

#[test]
fn unknown_formats_accept_everything() {
    check("color: \"\" x");
}

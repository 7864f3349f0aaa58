use super::*;
use crate::spocp::access::Administrator;

fn rules() -> Rules {
    let rule = |text: &[u8]| Normal::from_canonical(text).unwrap();
    let all = [rule(b"(4:http(4:page)(6:action3:GET)(6:userid))"), rule(b"(1:a)")];
    Rules::fixed(&all).unwrap()
}

fn access(anonymous_queries: bool) -> Access {
    let administrators = Administrator::read_all("eva:0123456789abcdef").unwrap();
    Access { anonymous_queries, auth_without_tls: true, administrators }
}

fn message(values: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    codec::write_all(values, &mut out);
    out
}

/// Says all of `input`, and returns the replies and the step that ended it.
fn say(session: &mut Session, access: &Access, input: &[u8]) -> (Vec<u8>, Step) {
    let rules = rules();
    let around =
        Surroundings { rules: &rules, access, offers_tls: false, unsettled: false, recorded: None };
    let mut out = Vec::new();
    let (used, step) = session.advance(input, &mut out, around);
    assert!(used <= input.len());
    (out, step)
}

fn check(input: &[u8], expected: &[u8]) {
    let (out, _) = say(&mut Session::new(1000), &access(true), input);
    assert_eq!(out, expected, "{:?}", String::from_utf8_lossy(&out));
}

#[test]
fn the_session_of_the_draft_is_answered_byte_for_byte() {
    let query = b"70:5:QUERY60:(4:http(4:page10:index.html)(6:action3:GET)(6:userid4:olav))";
    check(query, b"9:3:2002:Ok");
    check(&[&query[..], b"8:6:LOGOUT"].concat(), b"9:3:2002:Ok10:3:2033:Bye");
    check(b"14:5:QUERY5:(1:b)", b"13:3:2026:Denied");
}

#[test]
fn many_requests_at_once_are_answered_in_order() {
    let input = b"14:5:QUERY5:(1:a)14:5:QUERY5:(1:b)14:5:QUERY5:(1:a)".repeat(300);
    let mut expected = b"9:3:2002:Ok13:3:2026:Denied9:3:2002:Ok".repeat(300);
    check(&input, &expected);
    let cut = &input[..input.len() - 1];
    expected.truncate(expected.len() - 11);
    check(cut, &expected);
}

#[test]
fn anonymous_queries_need_the_configuration() {
    let denied = Reply::AccessDenied.bytes();
    let (out, _) = say(&mut Session::new(1000), &access(false), b"14:5:QUERY5:(1:a)");
    assert_eq!(out, denied);
    for values in [
        &[&b"ADD"[..], b"(1:b)"][..],
        &[b"DELETE", b"0cc175b9c0f1b6a831c399e269772661"],
        &[b"LIST"],
        &[b"RELOAD"],
        &[b"BEGIN"],
        &[b"COMMIT"],
        &[b"ROLLBACK"],
    ] {
        check(&message(values), denied);
    }
}

#[test]
fn a_token_makes_an_administrator() {
    let access = access(false);
    let mut session = Session::new(1000);
    assert_eq!(say(&mut session, &access, b"13:10:CAPABILITY").0, b"18:3:20010:SASL:PLAIN");
    let asks = message(&[b"AUTH", b"SASL:PLAIN"]);
    assert_eq!(say(&mut session, &access, &asks).0, b"5:3:301");
    let proves = message(&[b"AUTH", b"SASL:PLAIN", b"\0eva\x000123456789abcdef"]);
    assert_eq!(say(&mut session, &access, &proves).0, Reply::Ok.bytes());
    assert_eq!(say(&mut session, &access, &proves).0, Reply::AlreadyActive.bytes());
    assert!(matches!(say(&mut session, &access, b"6:4:LIST").1, Step::List(_)));
    assert_eq!(say(&mut session, &access, b"14:5:QUERY5:(1:a)").0, Reply::Ok.bytes());
}

#[test]
fn a_wrong_token_ends_the_connection() {
    let wrong = message(&[b"AUTH", b"SASL:PLAIN", b"\0eva\x000123456789abcdeg"]);
    let (out, step) = say(&mut Session::new(1000), &access(false), &wrong);
    assert_eq!(out, Reply::AuthenticationError.bytes());
    assert!(matches!(step, Step::Close));
    let other = message(&[b"AUTH", b"SASL:GSSAPI", b"x"]);
    let (out, step) = say(&mut Session::new(1000), &access(false), &other);
    assert_eq!(out, Reply::ArgumentError.bytes());
    assert!(matches!(step, Step::Close));
}

#[test]
fn hostile_lengths_end_the_connection_with_a_reply() {
    for (input, reply) in [
        (&b"-5:hello"[..], Reply::ProtocolError),
        (b"GET / HTTP/1.1\r\n", Reply::ProtocolError),
        (b":", Reply::ProtocolError),
        (b"1001:", Reply::SizeLimitExceeded),
        (b"99999999999999999999999:", Reply::SizeLimitExceeded),
        (b"\x16\x03\x01\x02\x00", Reply::ProtocolError),
    ] {
        let (out, step) = say(&mut Session::new(1000), &access(true), input);
        assert_eq!(out, reply.bytes(), "{input:?}");
        assert!(matches!(step, Step::Close), "{input:?}");
    }
}

#[test]
fn a_malformed_request_does_not_end_the_connection() {
    let input = b"0:3:abc10:5:QUERY-1:13:5:QUERY4:(1:a14:5:QUERY5:(1:a)";
    let syntax = Reply::SyntaxError.bytes();
    check(input, &[syntax, syntax, syntax, syntax, Reply::Ok.bytes()].concat());
}

#[test]
fn a_fixed_set_is_not_changed() {
    let mut session = Session::new(1000);
    session.encrypted(Some(String::new()));
    let add = message(&[b"ADD", b"(1:b)"]);
    assert_eq!(say(&mut session, &access(true), &add).0, Reply::NotSupported.bytes());
    assert_eq!(say(&mut session, &access(true), b"7:5:BEGIN").0, Reply::NotSupported.bytes());
    assert_eq!(say(&mut session, &access(true), b"8:6:COMMIT").0, Reply::ProtocolError.bytes());
    let atom = message(&[b"ADD", b"1:b"]);
    assert_eq!(say(&mut session, &access(true), &atom).0, Reply::ArgumentError.bytes());
    assert_eq!(
        say(&mut session, &access(true), b"10:8:STARTTLS").0,
        Reply::AlreadyInOperation.bytes()
    );
}

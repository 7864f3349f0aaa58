//! Bytes of a client of SPOCP over TCP.
//!
//! They are answered with whole replies, and with the same ones for every division into packets.

use std::sync::OnceLock;

use wardgate_server::rules::Rules;
use wardgate_server::spocp::access::{Access, Administrator};
use wardgate_server::spocp::codec::{message, write_all};
use wardgate_server::spocp::session::{Session, Step, Surroundings};
use wardgate_spocp::Normal;

/// Answers the bytes, all at once and in pieces, for a client and for an administrator.
pub fn spocp_tcp(input: &[u8]) {
    let (piece, input) = input.split_first().unwrap_or((&1, &[]));
    for is_administrator in [false, true] {
        let whole = answers(input, input.len().max(1), is_administrator);
        let pieces = answers(input, usize::from(*piece).max(1), is_administrator);
        assert_eq!(whole, pieces, "the answers depend on where the bytes are cut");
        let mut rest = whole.as_slice();
        while !rest.is_empty() {
            let reply = message(rest, rest.len()).ok().flatten();
            assert!(reply.is_some(), "a reply is not whole");
            rest = reply.and_then(|reply| rest.get(reply.used..)).unwrap_or_default();
        }
    }
}

/// Feeds the bytes in pieces of this size, and returns all replies.
fn answers(input: &[u8], piece: usize, is_administrator: bool) -> Vec<u8> {
    let (rules, access) = known();
    let around = Surroundings { rules, access, offers_tls: true, unsettled: false, recorded: None };
    let mut session = Session::new(MAX_BYTES);
    if is_administrator {
        session.encrypted(Some("root".to_owned()));
    }
    let (mut buffered, mut out, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for piece in input.chunks(piece) {
        buffered.extend_from_slice(piece);
        loop {
            let (used, step) = session.advance(&buffered, &mut out, around);
            buffered.drain(..used);
            all.append(&mut out);
            match step {
                Step::More => break,
                Step::Close | Step::StartTls => return all,
                _ => assert!(used > 0 || matches!(step, Step::Pause), "nothing is done"),
            }
        }
    }
    all
}

/// Returns the conversations that a fuzzer changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let session: [&[&[u8]]; 12] = [
        &[b"QUERY", b"(4:http(4:page10:index.html)(6:action3:GET)(6:userid4:olav))"],
        &[b"QUERY", b"/", b"(1:a)"],
        &[b"ADD", b"(4:http(4:page)(6:action3:GET)(6:userid))", b"NULL"],
        &[b"DELETE", b"0cc175b9c0f1b6a831c399e269772661"],
        &[b"LIST", b"+5:spocp", b"-(8:resource(1:*5:range7:numeric2:le2:10))"],
        &[b"AUTH", b"SASL:PLAIN", b"\0eva\x000123456789abcdef"],
        &[b"AUTH", b"SASL:PLAIN"],
        &[b"BEGIN"],
        &[b"COMMIT"],
        &[b"RELOAD"],
        &[b"CAPABILITY"],
        &[b"LOGOUT"],
    ];
    let mut all = vec![7];
    for values in session {
        write_all(values, &mut all);
    }
    vec![all, b"\x01-1:x".to_vec(), b"\x0218446744073709551617:x".to_vec(), b"\x030:".to_vec()]
}

#[expect(clippy::expect_used, reason = "these texts are right")]
fn known() -> (&'static Rules, &'static Access) {
    static KNOWN: OnceLock<(Rules, Access)> = OnceLock::new();
    let (rules, access) = KNOWN.get_or_init(|| {
        let rule = |text: &[u8]| Normal::from_canonical(text).expect("a rule");
        let all = vec![rule(b"(4:http(4:page)(6:action3:GET)(6:userid))"), rule(b"(1:a)")];
        let rules = Rules::fixed(&all).expect("rules");
        let administrators = Administrator::read_all("eva:0123456789abcdef").expect("a token");
        (rules, Access { anonymous_queries: true, auth_without_tls: true, administrators })
    });
    (rules, access)
}

const MAX_BYTES: usize = 4096;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{DuplexStream, duplex};
use tokio::time::sleep;
use wardgate_spocp::Normal;

use super::*;
use crate::net::connections::Connections;
use crate::rules::Key;
use crate::spocp::access::Administrator;
use crate::spocp::codec;

const BOUNDS: Bounds = Bounds {
    message_bytes: 10_000,
    message: Duration::from_secs(10),
    idle: Duration::from_secs(100),
    write: Duration::from_secs(20),
};

/// Runs with a paused clock, which advances when all tasks wait.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
}

fn rules() -> Rules {
    Rules::fixed(&[Normal::from_canonical(b"(1:a)").unwrap()]).unwrap()
}

/// Connects a client with a server, and returns the outcome of both.
async fn meet<C, T>(
    rules: &Rules,
    room: usize,
    client: impl FnOnce(DuplexStream) -> C,
) -> (io::Result<End>, T)
where
    C: Future<Output = T>,
{
    let (mut near, far) = duplex(room);
    let administrators = Administrator::read_all("eva:0123456789abcdef").unwrap();
    let access = Access { anonymous_queries: true, auth_without_tls: true, administrators };
    let place = Arc::new(Connections::new(10)).enter();
    let service = Service {
        rules,
        shared: None,
        access: &access,
        bounds: &BOUNDS,
        offers_tls: false,
        connection: &place.connection,
    };
    let mut session = Session::new(BOUNDS.message_bytes);
    let server = async {
        let end = converse(&mut near, &mut session, service, pin!(std::future::pending())).await;
        drop(near);
        end
    };
    tokio::join!(server, client(far))
}

fn message(values: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    codec::write_all(values, &mut out);
    out
}

fn token() -> Vec<u8> {
    message(&[b"AUTH", b"SASL:PLAIN", b"\0eva\x000123456789abcdef"])
}

/// Says everything, and then reads until the server ends.
async fn send(mut stream: DuplexStream, input: &[u8]) -> Vec<u8> {
    let mut replies = Vec::new();
    let (mut reader, mut writer) = tokio::io::split(&mut stream);
    let (_, read) = tokio::join!(writer.write_all(input), reader.read_to_end(&mut replies));
    read.unwrap();
    replies
}

#[test]
fn replies_come_in_the_order_of_the_requests() {
    let input = [&b"14:5:QUERY5:(1:a)14:5:QUERY5:(1:b)".repeat(5000)[..], b"8:6:LOGOUT"].concat();
    let (end, replies) =
        run(meet(&rules(), 256, |stream| async move { send(stream, &input).await }));
    assert_eq!(end.unwrap(), End::Closed);
    let expected = [&b"9:3:2002:Ok13:3:2026:Denied".repeat(5000)[..], b"10:3:2033:Bye"].concat();
    assert!(replies == expected);
}

#[test]
fn a_silent_client_gets_no_reply() {
    let (end, replies) = run(meet(&rules(), 256, |stream| async move { send(stream, b"").await }));
    assert_eq!(end.unwrap(), End::Closed);
    assert_eq!(replies, b"");
}

#[test]
fn a_message_must_come_to_its_end_in_time() {
    // A byte a second: never idle, and never done.
    let drip = |mut stream: DuplexStream| async move {
        let query = message(&[b"QUERY", &[b'x'; 900]]);
        for byte in query {
            if stream.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
        send(stream, b"").await
    };
    let (end, replies) = run(meet(&rules(), 256, drip));
    assert_eq!(end.unwrap(), End::Closed);
    assert_eq!(replies, Reply::TimeLimitExceeded.bytes());
}

#[test]
fn messages_may_be_cut_anywhere() {
    let slow = |mut stream: DuplexStream| async move {
        for byte in b"14:5:QUERY5:(1:a)8:6:LOGOUT" {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        send(stream, b"").await
    };
    let (end, replies) = run(meet(&rules(), 256, slow));
    assert_eq!(end.unwrap(), End::Closed);
    assert_eq!(replies, b"9:3:2002:Ok10:3:2033:Bye");
}

#[test]
fn a_client_that_does_not_read_is_left() {
    let deaf = |mut stream: DuplexStream| async move {
        let queries = b"14:5:QUERY5:(1:a)".repeat(100_000);
        // It goes on as long as the other side reads.
        let sent = stream.write_all(&queries).await;
        drop(stream);
        sent.is_err()
    };
    let (end, was_left) = run(meet(&rules(), 256, deaf));
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(was_left);
}

#[test]
fn rules_are_listed_for_administrators() {
    let list = |stream: DuplexStream| async move {
        let rest = b"6:4:LIST12:4:LIST4:+1:b8:6:LOGOUT";
        send(stream, &[&token()[..], rest].concat()).await
    };
    let (_, replies) = run(meet(&rules(), 256, list));
    let id = Key::of_text(b"(1:a)").to_string();
    let line = format!("9:3:2002:Ok50:3:2011:/32:{id}5:(1:a)9:3:2002:Ok9:3:2002:Ok10:3:2033:Bye");
    assert_eq!(String::from_utf8(replies).unwrap(), line);
}

#[test]
fn a_query_after_a_change_sees_it() {
    let folder = std::env::temp_dir().join(format!("wardgate-talk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rules =
        Rules::open(&folder.join("changes"), crate::rules::Durability::Always, || Ok(Vec::new()))
            .unwrap();
    let id = Key::of_text(b"(1:b)").text();
    let input = [
        token(),
        message(&[b"ADD", b"(1:b)"]),
        message(&[b"ADD", b"(1:b)"]),
        message(&[b"ADD", b"(1:b"]),
        message(&[b"QUERY", b"(1:b)"]),
        message(&[b"DELETE", &id]),
        message(&[b"DELETE", &id]),
        message(&[b"QUERY", b"(1:b)"]),
        message(&[b"BEGIN"]),
        message(&[b"ADD", b"(1:c)"]),
        message(&[b"QUERY", b"(1:c)"]),
        message(&[b"COMMIT"]),
        message(&[b"QUERY", b"(1:c)"]),
        message(&[b"BEGIN"]),
        message(&[b"ADD", b"(1:d)"]),
        message(&[b"ADD", b"(1:c)"]),
        message(&[b"COMMIT"]),
        message(&[b"QUERY", b"(1:d)"]),
        message(&[b"LOGOUT"]),
    ]
    .concat();
    // Real time: the writer is a thread, and the test waits for no clock.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (_, replies) =
        runtime.block_on(meet(&rules, 4096, |stream| async move { send(stream, &input).await }));
    drop(rules);
    std::fs::remove_dir_all(&folder).unwrap();
    let expected = [
        Reply::Ok,
        Reply::Ok,
        Reply::AlreadyExists,
        Reply::SyntaxError,
        Reply::Ok,
        Reply::Ok,
        Reply::UnknownId,
        Reply::Denied,
        Reply::Ok,
        Reply::Ok,
        Reply::Denied,
        Reply::TransactionComplete,
        Reply::Ok,
        Reply::Ok,
        Reply::Ok,
        Reply::Ok,
        Reply::AlreadyExists,
        Reply::Denied,
        Reply::Bye,
    ];
    let expected: Vec<u8> = expected.iter().flat_map(|reply| reply.bytes()).copied().collect();
    assert_eq!(String::from_utf8_lossy(&replies), String::from_utf8_lossy(&expected));
}

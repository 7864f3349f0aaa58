//! Long decisions delay no short request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use tokio::runtime::Builder;
use wardgate_bundle::{AfterExpiry, Label, pack_as};
use wardgate_compiler::{Options, compile_files};
use wardgate_native::Timestamp;

use super::operations;
use crate::config::Config;
use crate::limits::{MAX_BYTES_IN_PLACE, MAX_WAITING_DECISIONS};
use crate::policies::source::{Lookup, Source, SourceError};
use crate::policies::state::Origin;
use crate::server::Server;
use crate::shared::Shared;

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn look(&mut self, _: bool) -> Result<Lookup, SourceError> {
        Ok(Lookup::Bundle(self.0.clone()))
    }

    fn name(&self) -> String {
        "the bundle".to_owned()
    }
}

/// Runs a server with one thread that answers and one for long decisions.
fn with_server(work: impl FnOnce(&Arc<Shared>, SocketAddr)) {
    let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    let compiled = compile_files(&files, &Options::default()).unwrap();
    let source: Box<dyn Source> = Box::new(Bytes(wardgate_bundle::pack(&compiled.parts)));
    let origin = Origin { source: Some(source), ..Origin::default() };
    let config = Config::parse(CONFIG, Path::new("")).unwrap();
    let server = Server::bind(config, origin).unwrap();
    let (shared, address) = (server.shared(), server.http_addresses()[0]);
    let running = thread::spawn(move || server.run());
    work(&shared, address);
    shared.stop();
    running.join().unwrap().unwrap();
}

fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
}

/// Returns a call with a body of at least `bytes` bytes.
fn call(bytes: usize) -> String {
    let filling = "x".repeat(bytes);
    let body = format!(
        r#"{{"principal":{{"id":"ada","roles":["user"],"attr":{{"note":"{filling}"}}}},"resources":[{{"actions":["view"],"resource":{{"kind":"album","id":"a"}}}}]}}"#
    );
    post(&body)
}

fn post(body: &str) -> String {
    let length = body.len();
    format!(
        "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Occupies the thread for long decisions until the returned value is dropped, with `waiting` more
/// jobs in its queue.
fn occupy(shared: &Arc<Shared>, waiting: usize) -> mpsc::Sender<()> {
    let (free, busy) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let shared_arc = Arc::clone(shared);
    thread::spawn(move || {
        let stand_in = shared_arc.deciders().unwrap().run(move || {
            begun.send(()).unwrap();
            let _ = busy.recv();
        });
        Builder::new_current_thread().build().unwrap().block_on(stand_in).unwrap();
    });
    has_begun.recv().unwrap();
    for _ in 0..waiting {
        shared.deciders().unwrap().queue(|| {}).unwrap();
    }
    free
}

#[test]
fn health_is_answered_while_long_decisions_wait() {
    with_server(|shared, address| {
        let free = occupy(shared, 0);
        let long = send(address, &call(MAX_BYTES_IN_PLACE));
        for path in ["/healthz", "/readyz", "/metrics"] {
            let answered = answer(send(address, &get(path)));
            assert!(answered.starts_with("HTTP/1.1 200 "), "{path}: {answered}");
        }
        let answered = answer(send(address, &call(10)));
        assert!(answered.contains("EFFECT_ALLOW"), "a short one is decided in place: {answered}");
        drop(free);
        let answered = answer(long);
        assert!(
            answered.starts_with("HTTP/1.1 200 ") && answered.contains("EFFECT_ALLOW"),
            "{answered}"
        );
    });
}

#[test]
fn short_requests_that_take_many_steps_leave_the_thread_of_their_connection() {
    with_server(|shared, address| {
        let numbers: Vec<_> = (0..300).map(|number| number.to_string()).collect();
        let body = format!(
            r#"{{"principal":{{"id":"ada","roles":["user"],"attr":{{"numbers":[{}]}}}},"resources":[{{"actions":["count"],"resource":{{"kind":"album","id":"a"}}}}]}}"#,
            numbers.join(",")
        );
        assert!(body.len() < MAX_BYTES_IN_PLACE);
        let free = occupy(shared, 0);
        let long = send(address, &post(&body));
        assert!(answer(send(address, &get("/healthz"))).starts_with("HTTP/1.1 200 "));
        let metrics = || answer(send(address, &get("/metrics")));
        assert!(metrics().contains("wardgate_decisions_total{effect=\"deny\"} 0\n"));
        drop(free);
        let answered = answer(long);
        assert!(
            answered.starts_with("HTTP/1.1 200 ") && answered.contains("EFFECT_ALLOW"),
            "{answered}"
        );
        let metrics = metrics();
        for line in ["{effect=\"allow\"} 1\n", "{effect=\"deny\"} 0\n"] {
            assert!(metrics.contains(&format!("wardgate_decisions_total{line}")), "{metrics}");
        }
    });
}

#[test]
fn past_the_bound_long_decisions_are_answered_with_503() {
    with_server(|shared, address| {
        let free = occupy(shared, MAX_WAITING_DECISIONS);
        let answered = answer(send(address, &call(MAX_BYTES_IN_PLACE)));
        assert!(answered.starts_with("HTTP/1.1 503 "), "{answered}");
        assert!(
            answered.contains("retry-after: 1\r\n") && answered.contains("\"busy\""),
            "{answered}"
        );
        assert!(!answered.contains("ALLOW"), "{answered}");
        assert!(answer(send(address, &get("/healthz"))).starts_with("HTTP/1.1 200 "));
        drop(free);
    });
}

#[test]
fn a_server_whose_policies_have_expired_is_not_ready() {
    let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
    let parts = compile_files(&files, &Options::default()).unwrap().parts;
    let label = Label { expires: Some(4_000_000_000), ..Label::default() };
    let bundle = pack_as(&parts, &label).unwrap();
    let ready = |after_expiry, seconds| {
        let origin = Origin { after_expiry, ..Origin::default() };
        let state = origin.next(Some(&bundle), None).unwrap().unwrap();
        let answered = operations::ready(false, &state, Timestamp::new(seconds, 0).unwrap());
        answered
            .map(|reply| reply.status.as_u16())
            .map_err(|problem| (problem.status.as_u16(), problem.code))
    };
    assert_eq!(ready(AfterExpiry::Deny, 3_999_999_999), Ok(200));
    assert_eq!(ready(AfterExpiry::Deny, 4_000_000_000), Err((503, "expired")));
    assert_eq!(ready(AfterExpiry::Decide, 4_000_000_000), Ok(200));
}

#[test]
fn metrics_have_the_expiry_of_the_policies() {
    with_server(|_, address| {
        let answered = answer(send(address, &get("/metrics")));
        assert!(
            !answered.contains("wardgate_policies_expire"),
            "there is no such date: {answered}"
        );
    });
}

const CONFIG: &str = "[server]\nthreads = 1\nlog = \"error\"\n[policies]\nbundle = \"none\"\ntrust = \"unsigned\"\nwatch-seconds = 0\n\
                      [http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n";

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
    - actions: [count]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: "P.attr.numbers.all(left, P.attr.numbers.exists(right, left == right))" } }
"#;

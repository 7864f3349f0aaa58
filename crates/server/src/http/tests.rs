//! What takes long keeps nobody from being answered who asks for little.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use tokio::runtime::Builder;
use wardgate_bundle::{AfterExpiry, Label, pack_as};
use wardgate_compiler::{Options, compile_files};
use wardgate_native::Timestamp;

use super::routes;
use crate::config::Config;
use crate::limits::{MAX_BYTES_IN_PLACE, MAX_WAITING_DECISIONS};
use crate::policies::source::{Found, Source, SourceError};
use crate::policies::state::Origin;
use crate::server::Server;
use crate::shared::Shared;

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn look(&mut self, _: bool) -> Result<Found, SourceError> {
        Ok(Found::Bundle(self.0.clone()))
    }

    fn name(&self) -> String {
        "the bundle".to_owned()
    }
}

/// Runs a server with one thread that answers and one that decides what takes long.
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

fn ask(address: SocketAddr, request: &str) -> TcpStream {
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

/// A call with a body of at least so many bytes.
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

/// Occupies the thread that decides, until what is returned is dropped, and lets so many others wait.
fn occupy(shared: &Arc<Shared>, waiting: usize) -> mpsc::Sender<()> {
    let (free, busy) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let kept = Arc::clone(shared);
    thread::spawn(move || {
        let stand_in = kept.deciders().unwrap().run(move || {
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
        let long = ask(address, &call(MAX_BYTES_IN_PLACE));
        for path in ["/healthz", "/readyz", "/metrics"] {
            let told = answer(ask(address, &get(path)));
            assert!(told.starts_with("HTTP/1.1 200 "), "{path}: {told}");
        }
        let told = answer(ask(address, &call(10)));
        assert!(told.contains("EFFECT_ALLOW"), "a short one is decided in place: {told}");
        drop(free);
        let told = answer(long);
        assert!(told.starts_with("HTTP/1.1 200 ") && told.contains("EFFECT_ALLOW"), "{told}");
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
        let long = ask(address, &post(&body));
        assert!(answer(ask(address, &get("/healthz"))).starts_with("HTTP/1.1 200 "));
        let metrics = || answer(ask(address, &get("/metrics")));
        assert!(metrics().contains("wardgate_decisions_total{effect=\"deny\"} 0\n"));
        drop(free);
        let told = answer(long);
        assert!(told.starts_with("HTTP/1.1 200 ") && told.contains("EFFECT_ALLOW"), "{told}");
        let metrics = metrics();
        for line in ["{effect=\"allow\"} 1\n", "{effect=\"deny\"} 0\n"] {
            assert!(metrics.contains(&format!("wardgate_decisions_total{line}")), "{metrics}");
        }
    });
}

#[test]
fn past_the_bound_whoever_asks_for_long_decisions_is_told_to_come_again() {
    with_server(|shared, address| {
        let free = occupy(shared, MAX_WAITING_DECISIONS);
        let told = answer(ask(address, &call(MAX_BYTES_IN_PLACE)));
        assert!(told.starts_with("HTTP/1.1 503 "), "{told}");
        assert!(told.contains("retry-after: 1\r\n") && told.contains("\"busy\""), "{told}");
        assert!(!told.contains("ALLOW"), "{told}");
        assert!(answer(ask(address, &get("/healthz"))).starts_with("HTTP/1.1 200 "));
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
        let told = routes::ready(false, &state, Timestamp::new(seconds, 0).unwrap());
        told.map(|reply| reply.status.as_u16())
            .map_err(|problem| (problem.status.as_u16(), problem.code))
    };
    assert_eq!(ready(AfterExpiry::Deny, 3_999_999_999), Ok(200));
    assert_eq!(ready(AfterExpiry::Deny, 4_000_000_000), Err((503, "expired")));
    assert_eq!(ready(AfterExpiry::Decide, 4_000_000_000), Ok(200));
}

#[test]
fn metrics_tell_when_the_policies_expire() {
    with_server(|_, address| {
        let told = answer(ask(address, &get("/metrics")));
        assert!(!told.contains("wardgate_policies_expire"), "there is no such date: {told}");
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

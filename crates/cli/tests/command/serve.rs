//! `wardgate serve FILE|DIR` and `wardgate healthcheck`: the first minute with the server.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use crate::folder::{Folder, PHOTO, SAM};

/// A server that is killed at the end of the test.
struct Serving {
    child: Child,
    address: SocketAddr,
    log: Lines<BufReader<ChildStderr>>,
}

impl Serving {
    fn start(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wardgate"))
            .arg("serve")
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let Some(Ok(line)) = lines.next() else { panic!("{:?}", log.collect::<Vec<_>>()) };
        let address = line.strip_prefix("HTTP at ").unwrap().parse().unwrap();
        Self { child, address, log }
    }

    /// Asks for a decision, and returns the answer of HTTP.
    fn ask(&self) -> String {
        self.exchange(&format!(
            "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{SAM}",
            SAM.len()
        ))
    }

    fn exchange(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Reads the log up to a line that has these words.
    fn logged(&mut self, words: &str) {
        let has_words = |line: &String| line.contains(words);
        let line = self.log.by_ref().map(Result::unwrap).find(has_words);
        assert!(line.is_some(), "{words} is not in the log");
    }

    /// Returns the next line of the log.
    fn next_line(&mut self) -> String {
        self.log.next().unwrap().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Changes the policy at once: a write in parts may be seen in parts.
fn replace(folder: &Folder, text: &str) {
    folder.write("new", text);
    fs::rename(folder.path().join("new"), folder.path().join("policies/photo.yaml")).unwrap();
}

const HERE: [&str; 2] = ["--listen", "127.0.0.1:0"];
const ALLOWED: &str = r#""view":"EFFECT_ALLOW""#;
const DENIED: &str = r#""view":"EFFECT_DENY""#;

#[test]
fn a_directory_is_served_and_followed_and_errors_change_nothing() {
    let folder = Folder::with_photos();
    let mut server = Serving::start(&folder, &["policies", HERE[0], HERE[1]], &[]);
    assert!(server.address.ip().is_loopback());
    assert!(server.ask().contains(ALLOWED), "{}", server.ask());
    server.logged("the policies in `policies` are not signed");
    let production = server.next_line();
    assert!(production.contains("`wardgate serve --config FILE` with a signed bundle"));
    server.logged("Ctrl-C ends");

    replace(&folder, "apiVersion: api.cerbos.dev/v2\n");
    server.logged("error: policies and rules stay as they were");
    let why = server.next_line();
    assert!(why.starts_with("policies/photo.yaml:1:1: error[validation]: "), "{why}");
    assert!(server.ask().contains(ALLOWED), "{}", server.ask());

    replace(&folder, &PHOTO.replace("roles: [member]", "roles: [guest]"));
    server.logged("info: policies and rules can be used again");
    assert!(server.ask().contains(DENIED), "{}", server.ask());
    // Nobody administrates it.
    let reload = "POST /admin/reload HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    assert!(server.exchange(reload).starts_with("HTTP/1.1 401 "));
}

#[test]
fn a_bundle_is_served_and_verified_where_keys_are_given() {
    let folder = Folder::with_photos();
    folder.run("keys generate -o k.jwk --public k.pub").ends_with_code(0);
    folder.run("compile policies -o p.wgb --sign k.jwk").ends_with_code(0);
    let mut server = Serving::start(&folder, &["p.wgb", HERE[0], HERE[1]], &[]);
    assert!(server.ask().contains(ALLOWED));
    server.logged("it is not verified who signed `p.wgb`");
    let trusting = ["p.wgb", "--trust", "k.pub", HERE[0], HERE[1]];
    let mut server = Serving::start(&folder, &trusting, &[]);
    assert!(server.ask().contains(ALLOWED));
    server.logged("everybody on this machine gets decisions");
    assert!(server.next_line().contains("production"));
}

#[test]
fn the_environment_alone_configures_a_server() {
    let folder = Folder::with_photos();
    let variables = [
        ("WARDGATE_POLICIES__DIRECTORY", "policies"),
        ("WARDGATE_HTTP__LISTEN", "127.0.0.1:0"),
        ("WARDGATE_AUTH__ANONYMOUS_QUERIES", "true"),
    ];
    assert!(Serving::start(&folder, &[], &variables).ask().contains(ALLOWED));
}

#[test]
fn an_address_that_is_taken_is_named_with_the_option_for_another() {
    let folder = Folder::with_photos();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let run = folder.run(&format!("serve policies --listen {address}"));
    let why = format!(
        "cannot listen at `{address}`: address already in use: choose another address with `--listen`"
    );
    run.complains(4, &why);
}

#[test]
fn a_healthy_server_is_told_from_others_in_bounded_time() {
    let folder = Folder::with_photos();
    let server = Serving::start(&folder, &["policies", HERE[0], HERE[1]], &[]);
    let check = |url: &str, more: &str| folder.run(&format!("healthcheck --url {url} {more}"));
    for path in ["healthz", "readyz"] {
        let url = format!("http://{}/{path}", server.address);
        check(&url, "").says(0, &format!("`{url}` is healthy\n"));
    }
    let url = format!("http://{}/metricz", server.address);
    check(&url, "").complains(1, &format!("`{url}`: the server answers 404 Not Found"));
    // It listens, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/healthz", silent.local_addr().unwrap());
    let ran = check(&url, "--timeout 1");
    assert!(ran.code == 1 && ran.err.contains("within 1 seconds"), "{ran:?}");
    // It answers something else.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/healthz", other.local_addr().unwrap());
    let talks =
        thread::spawn(move || other.accept().unwrap().0.write_all(b"SSH-2.0-x\r\n").unwrap());
    assert_eq!(check(&url, "--timeout 2").code, 1);
    talks.join().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/healthz");
    check(&url, "").complains(1, &format!("`{url}`: connection refused"));
}

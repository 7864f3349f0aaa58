//! Pages of other origins: what a browser is told, and that nobody else is told anything.

use crate::running::{CALL, OPEN, POLICY, Running};

/// An answer: its status and its headers in lower case, one on a line.
struct Answer {
    status: u16,
    head: String,
}

impl Answer {
    fn of(text: &str) -> Self {
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start))
    }

    /// Returns true if a browser shows the answer to a page of this origin.
    fn is_shown_to(&self, origin: &str) -> bool {
        self.header("access-control-allow-origin").is_some_and(|is| is == "*" || is == origin)
    }
}

fn start(cors: &str) -> Running {
    Running::start(POLICY, &format!("{OPEN}{cors}"))
}

fn preflight(server: &Running, path: &str, headers: &str) -> Answer {
    let request =
        format!("OPTIONS {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
    Answer::of(&server.exchange(request.as_bytes()))
}

/// Asks for a decision as a page does.
fn ask(server: &Running, path: &str, headers: &str) -> Answer {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{CALL}",
        CALL.len()
    );
    Answer::of(&server.exchange(request.as_bytes()))
}

const CHECK: &str = "/api/check/resources";
const APP: &str = "https://app.example.com";
const LISTED: &str = "[cors]\norigins = [\"https://app.example.com\", \"http://localhost:5173\"]\n";

/// The headers of a preflight for a check with a token.
fn wanting(origin: &str) -> String {
    format!(
        "Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type\r\n"
    )
}

#[test]
fn without_the_table_no_page_is_told_anything() {
    let server = start("");
    let answer = ask(&server, CHECK, &format!("Origin: {APP}\r\n"));
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, None));
    assert_eq!(answer.header("vary"), None);
    let answer = preflight(&server, CHECK, &wanting(APP));
    assert_eq!((answer.status, answer.header("access-control-allow-methods")), (405, None));
}

#[test]
fn pages_of_listed_origins_read_answers_and_refusals() {
    let server = start(LISTED);
    for origin in [APP, "http://localhost:5173"] {
        let answer = ask(&server, CHECK, &format!("Origin: {origin}\r\nX-Request-Id: r\r\n"));
        assert!(answer.status == 200 && answer.is_shown_to(origin), "{}", answer.head);
        assert_eq!(answer.header("vary"), Some("origin"));
        assert!(answer.header("access-control-expose-headers").unwrap().contains("retry-after"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let refusal = ask(&server, CHECK, &format!("Origin: {origin}\r\nAuthorization: x\r\n"));
        assert!(refusal.status == 401 && refusal.is_shown_to(origin), "{}", refusal.head);
    }
    for origin in ["https://evil.example", "null", "https://app.example.com.evil.example", "*"] {
        let answer = ask(&server, CHECK, &format!("Origin: {origin}\r\n"));
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
        // A cache must not give the answer for this page to another one.
        assert_eq!(answer.header("vary"), Some("origin"));
    }
    let twice = format!("Origin: {APP}\r\nOrigin: {APP}\r\n");
    assert_eq!(ask(&server, CHECK, &twice).header("access-control-allow-origin"), None);
    assert_eq!(ask(&server, CHECK, "").header("access-control-allow-origin"), None);
}

#[test]
fn preflights_tell_what_a_page_may_send() {
    let server = start(LISTED);
    let answer = preflight(&server, CHECK, &wanting(APP));
    assert!(answer.status == 204 && answer.is_shown_to(APP), "{}", answer.head);
    assert_eq!(answer.header("access-control-allow-methods"), Some("get, post"));
    let headers = "authorization, content-type, traceparent, x-request-id";
    assert_eq!(answer.header("access-control-allow-headers"), Some(headers));
    assert_eq!(answer.header("access-control-max-age"), Some("600"));
    assert_eq!(preflight(&server, CHECK, &wanting("https://evil.example")).status, 403);
    let with = |from: &str, to: &str| wanting(APP).replace(from, to);
    assert_eq!(preflight(&server, CHECK, &with("POST", "DELETE")).status, 403);
    assert_eq!(preflight(&server, CHECK, &with("POST", "post")).status, 403);
    assert_eq!(preflight(&server, CHECK, &with("content-type", "x-other")).status, 403);
    assert_eq!(preflight(&server, CHECK, &with("authorization,", " Authorization ,,")).status, 204);
    // Without an origin or a method it is a request like any other.
    assert_eq!(preflight(&server, CHECK, &with("Origin", "X-Origin")).status, 405);
    assert_eq!(preflight(&server, CHECK, &with("Request-Method", "X")).status, 405);
    assert_eq!(preflight(&server, "/nowhere", &wanting(APP)).status, 404);
    let no_host = format!("OPTIONS {CHECK} HTTP/1.1\r\nConnection: close\r\n{}\r\n", wanting(APP));
    assert_eq!(Answer::of(&server.exchange(no_host.as_bytes())).status, 400);
}

#[test]
fn the_configuration_says_what_a_page_may_send() {
    let server = start(&format!(
        "{LISTED}methods = \"POST\"\nheaders = [\"Content-Type\"]\nmax-age-seconds = 5\ncredentials = true\n"
    ));
    let answer = preflight(&server, CHECK, &wanting(APP).replace("authorization,", ""));
    assert_eq!(answer.header("access-control-allow-methods"), Some("post"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("content-type"));
    assert_eq!(answer.header("access-control-max-age"), Some("5"));
    assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(preflight(&server, CHECK, &wanting(APP)).status, 403);
}

#[test]
fn every_page_may_read_answers_if_the_configuration_says_so() {
    let server = start("[cors]\norigins = \"*\"\n");
    let answer = ask(&server, CHECK, "Origin: https://anybody.example\r\n");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(preflight(&server, CHECK, &wanting("https://anybody.example")).status, 204);
}

#[test]
fn no_page_reaches_administration_or_the_endpoints_of_brokers() {
    let server = start("[cors]\norigins = \"*\"\n");
    for path in ["/admin/explain", "/admin/reload", "/mqtt/grants", "/mqtt/authorize/emqx"] {
        let answer = ask(&server, path, &format!("Origin: {APP}\r\n"));
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        let answer = preflight(&server, path, &wanting(APP));
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

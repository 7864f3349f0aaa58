//! Bundles of another server, which behaves or does not.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use wardgate_server::config::Remote;
use wardgate_server::{Lookup, Source, UrlSource};

use crate::publisher::response;

/// Starts a server that gives one answer after the other, each on a connection of its own, and
/// returns the requests.
fn answering(answers: Vec<Vec<u8>>) -> (UrlSource, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a/policies.wgb?x=1", listener.local_addr().unwrap());
    let requests = thread::spawn(move || {
        let answer = |answer: Vec<u8>| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> =
                lines.by_ref().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
            // A client that does not read the whole answer may have gone.
            let _ = stream.write_all(&answer);
            head.join("\n").to_ascii_lowercase()
        };
        answers.into_iter().map(answer).collect()
    });
    (UrlSource::new(&Remote { url, ca: None, token: None }).unwrap(), requests)
}

#[test]
fn a_bundle_is_sent_again_only_if_it_changed() {
    let (mut source, requests) = answering(vec![
        response("200 OK\r\nETag: \"1\"", b"first"),
        response("304 Not Modified", b""),
        response("200 OK\r\nETag: \"2\"", b"second"),
        response("200 OK", b"second"),
        response("200 OK", b"third"),
    ]);
    assert_eq!(source.look(false), Ok(Lookup::Bundle(b"first".to_vec())));
    assert_eq!(source.look(false), Ok(Lookup::Unchanged));
    assert_eq!(source.look(false), Ok(Lookup::Bundle(b"second".to_vec())));
    assert_eq!(source.look(true), Ok(Lookup::Bundle(b"second".to_vec())));
    assert_eq!(source.look(false), Ok(Lookup::Bundle(b"third".to_vec())));
    let requests = requests.join().unwrap();
    let tags: Vec<Option<&str>> = requests
        .iter()
        .map(|head| head.lines().find_map(|line| line.strip_prefix("if-none-match: ")))
        .collect();
    assert_eq!(tags, [None, Some("\"1\""), Some("\"1\""), None, None]);
    assert!(requests[0].starts_with("get /a/policies.wgb?x=1 http/1.1\n"), "{}", requests[0]);
}

#[test]
fn a_missing_bundle_is_reported() {
    let check = |answer: Vec<u8>, expected: &str| {
        let (mut source, requests) = answering(vec![answer]);
        let error = source.look(false).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        requests.join().unwrap();
    };
    check(response("404 Not Found", b""), "the server answers 404 Not Found");
    check(response("304 Not Modified", b""), "the server answers 304 Not Modified");
    check(response("302 Found\r\nLocation: /b", b""), "redirects are not followed");
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_vec(), "the file ends early");
    check(b"no HTTP at all\r\n\r\n".to_vec(), "cannot get the bundle `http://127.0.0.1:");
    check(Vec::new(), "cannot get the bundle `http://127.0.0.1:");
}

#[test]
fn unusable_urls_are_refused() {
    let check = |url: &str, expected: &str| {
        let remote = Remote { url: url.to_owned(), ca: None, token: None };
        assert_eq!(UrlSource::new(&remote).unwrap_err().to_string(), expected, "{url}");
    };
    let wrong = |url: &str| {
        check(url, &format!("expected a URL such as `https://example.com/file`, found `{url}`"));
    };
    wrong("");
    wrong("policies.wgb");
    wrong("ftp://example.com/policies.wgb");
    wrong("http://somebody@example.com/policies.wgb");
    check("https://example.com/policies.wgb", "`url-ca` is missing, the roots of the server");
}

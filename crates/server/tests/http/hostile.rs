//! Clients that are slow, that lie about lengths, and that are too many. Other clients are served
//! meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::running::{CALL, OPEN, POLICY, Running, answer, rest};

/// Checks that another client is served.
fn must_serve(server: &Running) {
    let (status, body) = server.post("/api/check/resources", "", CALL);
    assert_eq!(status, 200, "{body}");
}

/// Reads to the end of the stream, in any form that the system reports it.
fn must_end(mut stream: TcpStream) {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
}

#[test]
fn lengths_that_are_none_are_refused() {
    let server = Running::start(POLICY, &OPEN.replace("[auth]", "max-body-bytes = 1000\n[auth]"));
    let status = |headers: &str, body: &str| {
        let request = format!(
            "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n{body}"
        );
        answer(&server.exchange(request.as_bytes())).0
    };
    for length in ["-1", "18446744073709551616", "1e3", "0x10", "", "5, 6"] {
        assert_eq!(status(&format!("Content-Length: {length}\r\n"), CALL), 400, "{length}");
    }
    let twice = format!("Content-Length: {}\r\nContent-Length: 1\r\n", CALL.len());
    assert_eq!(status(&twice, CALL), 400);
    assert_eq!(status("Content-Length: 9999999999999\r\n", CALL), 413);
    assert_eq!(status("Content-Length: 1001\r\n", &" ".repeat(1001)), 413);
    let chunk = format!("{:x}\r\n{}\r\n", 600, " ".repeat(600));
    assert_eq!(status("Transfer-Encoding: chunked\r\n", &format!("{chunk}{chunk}0\r\n\r\n")), 413);
    assert_eq!(status("Transfer-Encoding: chunked\r\n", "-5\r\nabc\r\n"), 400);
    assert_eq!(status("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400);
    must_serve(&server);
}

#[test]
fn a_request_names_one_host() {
    let server = Running::start(POLICY, OPEN);
    let status = |version: &str, hosts: &str| {
        let request = format!("GET /healthz HTTP/{version}\r\nConnection: close\r\n{hosts}\r\n");
        answer(&server.exchange(request.as_bytes())).0
    };
    assert_eq!(status("1.1", ""), 400);
    assert_eq!(status("1.0", ""), 200);
    for version in ["1.0", "1.1"] {
        for host in ["a", "a:3592", "127.0.0.1", "[::1]:3592", ""] {
            assert_eq!(status(version, &format!("Host: {host}\r\n")), 200, "{host}");
        }
        assert_eq!(status(version, "Host: a\r\nHost: a\r\n"), 400);
        assert_eq!(status(version, "Host: a/b\r\n"), 400);
        assert_eq!(status(version, "Host: a, b\r\n"), 400);
    }
}

#[test]
fn a_body_has_one_length() {
    let server = Running::start(POLICY, OPEN);
    let status = |headers: &str| {
        let head = "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n";
        let body = r#"{"principal":{"id":"ada","roles":["guest"]},"resources":[]}"#;
        let request = format!("{head}{headers}\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        answer(&server.exchange(request.as_bytes()))
    };
    let plain = status("Transfer-Encoding: chunked\r\n");
    assert!(!plain.1.contains("one length"), "{plain:?}");
    assert_eq!(status("Transfer-Encoding: Chunked\r\n"), plain);
    for headers in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
    ] {
        assert_eq!(status(headers).0, 400, "{headers}");
    }
}

#[test]
fn an_answer_has_a_bound() {
    let server = Running::start(POLICY, OPEN);
    let actions: Vec<String> = (0..50).map(|at| format!("\"{at}{}\"", "a".repeat(8000))).collect();
    let body = |instances: usize| {
        let instances: Vec<String> =
            (0..instances).map(|at| format!("\"{at}\":{{\"attr\":{{}}}}")).collect();
        format!(
            r#"{{"principal":{{"id":"ada","roles":["guest"]}},"resource":{{"kind":"album","instances":{{{}}}}},"actions":[{}],"includeMeta":true}}"#,
            instances.join(","),
            actions.join(",")
        )
    };
    let send = |instances| server.post("/api/check", "", &body(instances));
    let (status, text) = send(2);
    assert_eq!(status, 200, "{text}");
    let reply: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(reply["resourceInstances"]["1"]["actions"].as_object().unwrap().len(), 50);
    assert_eq!(reply["meta"]["resourceInstances"]["1"]["actions"].as_object().unwrap().len(), 50);
    let (status, text) = send(50);
    assert_eq!((status, text.contains("too long")), (400, true));
}

#[test]
fn a_member_that_stands_twice_is_refused_in_every_body() {
    let server = Running::start(POLICY, OPEN);
    let principal = r#""principal":{"id":"ada","roles":["guest"]}"#;
    let resource = r#""resource":{"kind":"album","id":"a"}"#;
    let entry = format!(r#"{{"actions":["view"],{resource}}}"#);
    let subject = r#""subject":{"type":"user","id":"ada","properties":{"roles":["guest"]}}"#;
    let thing = r#""resource":{"type":"album","id":"a"},"action":{"name":"view"}"#;
    for (path, body) in [
        ("/api/check/resources", format!(r#"{{{principal},"resources":[{entry}]}}"#)),
        ("/api/check_resource_batch", format!(r#"{{{principal},"resources":[{entry}]}}"#)),
        (
            "/api/check",
            format!(
                r#"{{{principal},"actions":["view"],"resource":{{"kind":"album","instances":{{"a":{{"attr":{{}}}}}}}}}}"#
            ),
        ),
        ("/access/v1/evaluation", format!("{{{subject},{thing}}}")),
        ("/access/v1/evaluations", format!("{{{subject},\"evaluations\":[{{{thing}}}]}}")),
    ] {
        let (status, found) = server.post(path, "", &body);
        assert_eq!(status, 200, "{path}: {found}");
        let roles = r#""roles":["guest"]"#;
        let twice = body.replacen(roles, &format!(r#"{roles},"roles":["user"]"#), 1);
        let (status, found) = server.post(path, "", &twice);
        assert_eq!(status, 400, "{path}: {found}");
        assert!(found.contains("duplicate member `roles`"), "{path}: {found}");
        assert!(!found.contains("ALLOW"), "{found}");
    }
}

#[test]
fn all_decisions_on_one_request_share_a_budget_of_steps() {
    let numbers: Vec<_> = (0..2000).map(|number| number.to_string()).collect();
    let principal = format!(
        r#""principal":{{"id":"ada","roles":["user"],"attr":{{"numbers":[{}]}}}}"#,
        numbers.join(",")
    );
    let resource =
        |at: usize| format!(r#"{{"kind":"album","id":"a{at}","attr":{{"number":1999}}}}"#);
    let entry = |at| format!(r#"{{"actions":["view"],"resource":{}}}"#, resource(at));
    let entries: Vec<_> = (0..40).map(entry).collect();
    let instances: Vec<_> =
        (0..40).map(|at| format!(r#""a{at}":{{"attr":{{"number":1999}}}}"#)).collect();
    let several = format!(r#"{{{principal},"resources":[{}]}}"#, entries.join(","));
    let set = format!(
        r#"{{{principal},"actions":["view"],"resource":{{"kind":"album","instances":{{{}}}}}}}"#,
        instances.join(",")
    );
    let allowed = |server: &Running, path: &str, body: &str| {
        let (status, found) = server.post(path, "", body);
        assert_eq!(status, 200, "{found}");
        let [allowed, denied] =
            ["EFFECT_ALLOW", "EFFECT_DENY"].map(|effect| found.matches(effect).count());
        assert_eq!(allowed + denied, 40, "{path}");
        allowed
    };
    let little = OPEN.replace("[auth]", "max-steps = 100000\n[auth]");
    for output in ["", "      output: { when: { ruleActivated: P.id } }\n"] {
        let policy = format!("{COSTLY}{output}");
        let (plenty, little) = (Running::start(&policy, OPEN), Running::start(&policy, &little));
        for (path, body) in [
            ("/api/check/resources", &several),
            ("/api/check_resource_batch", &several),
            ("/api/check", &set),
        ] {
            assert_eq!(allowed(&plenty, path, body), 40, "{path}");
            let some = allowed(&little, path, body);
            assert!((1..40).contains(&some), "{path}: {some}");
        }
    }
}

const COSTLY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: "P.attr.numbers.exists(number, number == R.attr.number)" } }
"#;

#[test]
fn an_answer_that_repeats_too_much_is_refused() {
    let repeating = POLICY.replace("'\"seen by \" + P.id'", "P.attr.note");
    assert!(repeating != POLICY);
    let server = Running::start(&repeating, OPEN);
    let entry = r#"{"actions":["view"],"resource":{"kind":"album","id":"a"}}"#;
    let call = |count: usize| {
        // A line feed takes two bytes there and here, and pays for one.
        let note = "\\n".repeat(400_000);
        let entries = vec![entry; count].join(",");
        let body = format!(
            r#"{{"principal":{{"id":"ada","roles":["user"],"attr":{{"note":"{note}"}}}},"resources":[{entries}]}}"#
        );
        server.post("/api/check/resources", "", &body)
    };
    assert_eq!(call(3).0, 200);
    let (status, body) = call(30);
    assert_eq!(status, 400, "{} bytes", body.len());
    assert!(body.contains("the answer would be too long"), "{body}");
}

#[test]
fn heads_are_bounded() {
    let server = Running::start(POLICY, OPEN);
    let long = format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    assert_eq!(answer(&server.exchange(long.as_bytes())).0, 431);
    let many = format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: a\r\n".repeat(65));
    assert_eq!(answer(&server.exchange(many.as_bytes())).0, 431);
    for nonsense in ["\r\n\r\n\0\0", "GET\r\n\r\n", "\u{7f}\u{7f} / HTTP/9.9\r\n\r\n"] {
        let _ = server.exchange(nonsense.as_bytes());
    }
    must_serve(&server);
}

#[test]
fn slow_clients_are_cut_off() {
    let config =
        OPEN.replace("[auth]", "header-seconds = 1\nbody-seconds = 1\nidle-seconds = 1\n[auth]");
    let server = Running::start(POLICY, &config);
    let mut slow = Vec::new();
    for beginning in [
        "",
        "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nX-Slow: ",
        "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let mut stream = server.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        slow.push(stream);
    }
    must_serve(&server);
    // The server ends each of them, and nothing else does.
    slow.into_iter().for_each(must_end);
    must_serve(&server);
}

#[test]
fn bodies_that_stand_still_give_way_to_those_that_come() {
    let server = Running::start(POLICY, OPEN);
    let long = 4 << 20;
    let head =
        format!("POST /api/check/resources HTTP/1.1\r\nHost: a\r\nContent-Length: {long}\r\n\r\n");
    // All of them together fill the room that bodies have.
    let begun = " ".repeat(long - 1);
    let standing: Vec<TcpStream> = (0..16)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(begun.as_bytes()).unwrap();
            stream
        })
        .collect();
    let call = format!("{}{CALL}", " ".repeat(200_000));
    let begin = Instant::now();
    loop {
        let (status, body) = server.post("/api/check/resources", "", &call);
        if status == 200 {
            break;
        }
        assert_eq!((status, body.contains("no room")), (503, true), "{body}");
        assert!(begin.elapsed() < Duration::from_secs(15), "room is made before they time out");
    }
    drop(standing);
}

#[test]
fn a_body_comes_in_a_bounded_number_of_pieces() {
    let server = Running::start(POLICY, OPEN);
    let send = |pieces: usize| {
        let head = "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        let call = format!("{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len());
        let request = format!("{head}{}{call}", "1\r\n \r\n".repeat(pieces));
        answer(&server.exchange(request.as_bytes()))
    };
    assert_eq!(send(1000).0, 200);
    let (status, body) = send(300_000);
    assert_eq!((status, body.contains("at most 262144 pieces")), (400, true), "{body}");
}

#[test]
fn idle_connections_give_way_to_active_ones() {
    let config = OPEN.replace("[auth]", "max-connections = 20\n[auth]");
    let server = Running::start(POLICY, &config);
    let idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    must_serve(&server);
    drop(idle);
    must_serve(&server);
}

#[test]
fn requests_may_follow_each_other_at_once() {
    let server = Running::start(POLICY, OPEN);
    let request = format!(
        "POST /api/check/resources HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{CALL}",
        CALL.len()
    );
    let mut stream = server.connect();
    stream.write_all(request.repeat(50).as_bytes()).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let reply = rest(&mut stream);
    assert_eq!(reply.matches("EFFECT_ALLOW").count(), 50);
    assert!(reply.ends_with(r#"{"status":"SERVING"}"#), "{reply}");
}

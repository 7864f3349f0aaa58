//! AuthZEN answered by rules of SPOCP, and rules and policies that come into use together.

use crate::running::{POLICY, Running, with_rules};

const CONFIG: &str = "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n\
    [spocp]\nlisten = \"127.0.0.1:0\"\nanonymous-queries = true\n[authzen.rules]\nsubject = [\"team\"]\n";

const RULES: &[&str] = &[
    "(album (id)(action view))",
    "(album (id (* set a b))(action edit)(subject (type user)(id ada)))",
    "(album (id c)(action edit)(subject (type user)(id)(team red)))",
];

const EDIT: &str = r#""action":{"name":"edit"}"#;

fn entity(kind: &str, id: &str) -> String {
    format!(r#"{{"type":"{kind}","id":"{id}"}}"#)
}

fn start() -> Running {
    Running::of(with_rules(POLICY, RULES), CONFIG)
}

#[test]
fn an_evaluation_is_answered_by_rules() {
    let server = start();
    let check = |path: &str, body: &str, expected: &str| {
        let (status, found) = server.post(&format!("/access/v1/{path}"), "", body);
        assert_eq!((status, found.as_str()), (200, expected), "{body}");
    };
    let send = |subject: &str, album: &str| {
        format!(r#"{{"subject":{subject},{EDIT},"resource":{}}}"#, entity("album", album))
    };
    let red = r#"{"type":"user","id":"bo","properties":{"age":7,"team":"red"}}"#;
    check("evaluation", &send(&entity("user", "ada"), "a"), r#"{"decision":true}"#);
    check("evaluation", &send(&entity("user", "bo"), "a"), r#"{"decision":false}"#);
    check("evaluation", &send(red, "c"), r#"{"decision":true}"#);
    check("evaluation", &send(&entity("user", "ada"), "c"), r#"{"decision":false}"#);
    let items = r#"{"resource":{"type":"album","id":"b"}},{"resource":{"type":"album","id":"c"}},{"resource":{"type":"*","id":"c"}}"#;
    let many = format!(r#"{{"subject":{},{EDIT},"evaluations":[{items}]}}"#, entity("user", "ada"));
    let (status, found) = server.post("/access/v1/evaluations", "", &many);
    let expected = r#"{"evaluations":[{"decision":true},{"decision":false},{"decision":false,"#;
    assert_eq!((status, found.starts_with(expected)), (200, true), "{found}");
    let hostile = format!(
        r#"{{"subject":{},{EDIT},"resource":{}}}"#,
        entity("user", "ada"),
        entity("*", "a")
    );
    assert_eq!(server.post("/access/v1/evaluation", "", &hostile).0, 400);
}

#[test]
fn a_search_finds_the_names_of_rules() {
    let server = start();
    let check = |path: &str, body: &str, expected: &str| {
        let (status, found) = server.post(&format!("/access/v1/search/{path}"), "", body);
        assert_eq!((status, found.as_str()), (200, expected), "{body}");
    };
    let album = |id: &str| format!(r#""resource":{}"#, entity("album", id));
    let ada = format!(r#""subject":{}"#, entity("user", "ada"));
    check(
        "resource",
        &format!(r#"{{{ada},{EDIT},"resource":{{"type":"album"}}}}"#),
        r#"{"results":[{"type":"album","id":"a"},{"type":"album","id":"b"}]}"#,
    );
    check(
        "subject",
        &format!(r#"{{"subject":{{"type":"user"}},{EDIT},{}}}"#, album("a")),
        r#"{"results":[{"type":"user","id":"ada"}]}"#,
    );
    check(
        "action",
        &format!(r#"{{{ada},{}}}"#, album("a")),
        r#"{"results":[{"name":"edit"},{"name":"view"}]}"#,
    );
    check("action", &format!(r#"{{{ada},{}}}"#, album("z")), r#"{"results":[{"name":"view"}]}"#);
}

#[test]
fn a_reload_exchanges_policies_and_rules() {
    let server = start();
    let body = format!(
        r#"{{"subject":{},{EDIT},"resource":{}}}"#,
        entity("user", "ada"),
        entity("album", "a")
    );
    let send = || server.post("/access/v1/evaluation", "", &body).1;
    assert_eq!(send(), r#"{"decision":true}"#);
    *server.bundle.lock().unwrap() = with_rules(POLICY, &RULES[..1]);
    assert_eq!(crate::reload::block_on(server.shared.reload()), Ok(1));
    assert_eq!(send(), r#"{"decision":false}"#);
    assert_eq!(server.shared.rules().unwrap().read().len(), 1);
    let before = with_rules(POLICY, RULES);
    *server.bundle.lock().unwrap() = before[..before.len() - 1].to_vec();
    assert!(crate::reload::block_on(server.shared.reload()).is_err());
    assert_eq!(server.shared.rules().unwrap().read().len(), 1);
}

#[test]
fn expressions_of_one_request_are_bounded() {
    let server = start();
    let long = "a".repeat(500_000);
    let items = vec!["{}"; 20].join(",");
    let many = format!(
        r#"{{"subject":{},{EDIT},"resource":{},"context":{{"long":"{long}"}},"evaluations":[{items}]}}"#,
        entity("user", "ada"),
        entity("album", "a")
    );
    let (status, found) = server.post("/access/v1/evaluations", "", &many);
    let too_long = r#"{"decision":false,"context":{"error":{"status":400,"message":"the S-expressions of the request would be too long"}}}"#;
    assert_eq!((status, found.matches(r#"{"decision":true}"#).count()), (200, 8));
    assert_eq!(found.matches(too_long).count(), 12);
}

#[test]
fn a_search_by_rules_ends_if_its_expressions_are_too_long() {
    let server = start();
    let long = "a".repeat(500_000);
    let candidates = |count| vec![r#"{"id":"a"}"#; count].join(",");
    let search = |count| {
        let body = format!(
            r#"{{"subject":{},{EDIT},"resource":{{"type":"album"}},"context":{{"long":"{long}"}},"candidates":[{}]}}"#,
            entity("user", "ada"),
            candidates(count)
        );
        server.post("/access/v1/search/resource", "", &body)
    };
    assert_eq!(search(8).0, 200);
    let (status, reply) = search(9);
    assert_eq!(
        (status, reply.contains("S-expressions of more than 4194304 bytes")),
        (400, true),
        "{reply}"
    );
}

//! Answers to requests that are well formed, and to those that almost are.

use crate::running::{OPEN, POLICY, Running, answer};

const CALL: &str = r#"{"requestId":"r","principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["view","edit"],"resource":{"kind":"album","id":"a","attr":{"owner":"ada"}}},{"actions":["edit"],"resource":{"kind":"album","id":"b"}}]}"#;

const EVALUATION: &str = r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"edit"},"resource":{"type":"album","id":"a","properties":{"owner":"ada"}}}"#;

#[test]
fn calls_of_cerbos_are_answered() {
    let server = Running::start(POLICY, OPEN);
    let (status, body) = server.post("/api/check/resources", "", CALL);
    assert_eq!(status, 200, "{body}");
    assert_eq!(
        body,
        r#"{"requestId":"r","results":[{"resource":{"id":"a","kind":"album"},"actions":{"view":"EFFECT_ALLOW","edit":"EFFECT_ALLOW"},"outputs":[{"src":"resource.album.vdefault#rule-001","action":"view","val":"seen by ada"}]},{"resource":{"id":"b","kind":"album"},"actions":{"edit":"EFFECT_DENY"}}]}"#
    );
    let with_meta = CALL.replacen('{', "{\"includeMeta\":true,", 1);
    let (status, body) = server.post("/api/check/resources", "", &with_meta);
    assert_eq!(status, 200);
    assert!(
        body.contains(r#""meta":{"actions":{"view":{"matchedPolicy":"resource.album.vdefault"}"#),
        "{body}"
    );
    let marked = format!("\u{feff}{CALL}");
    assert_eq!(server.post("/api/check/resources", "", &marked).0, 200);
}

#[test]
fn malformed_calls_are_refused_as_cerbos_refuses_them() {
    let server = Running::start(
        POLICY,
        &OPEN.replace("[auth]", "max-resources = 1\nmax-actions = 2\n[auth]"),
    );
    let check = |body: &str, expected: &str| {
        let (status, found) = server.post("/api/check/resources", "", body);
        let wanted =
            format!(r#"{{"code":3,"message":"{expected}","details":[],"error":"bad-request"}}"#);
        assert_eq!((status, found), (400, wanted), "{body}");
    };
    check("", "malformed JSON at byte 0: expected a value");
    check("[]", "a request must be an object, found a list");
    check("{}", "`principal` is missing");
    check(CALL, "the request names 2 resources, at most 1 are accepted");
    let one = r#"{"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["a","b","c"],"resource":{"kind":"album","id":"a"}}]}"#;
    check(one, "the request names 3 actions for a resource, at most 2 are accepted");
    let token =
        one.replace("\"c\"", "\"b\"").replacen('{', r#"{"auxData":{"jwt":{"token":"a.b.c"}},"#, 1);
    check(&token, "no set of keys is known for the token of `auxData.jwt`");
    let unknown = one.replacen('{', r#"{"principle":1,"#, 1);
    assert_eq!(server.post("/api/check/resources", "", &unknown).0, 400);
}

#[test]
fn evaluations_of_authzen_are_answered() {
    let server = Running::start(POLICY, OPEN);
    let check = |path: &str, body: &str, expected: &str| {
        let (status, found) = server.post(&format!("/access/v1/{path}"), "", body);
        assert_eq!((status, found.as_str()), (200, expected), "{body}");
    };
    check("evaluation", EVALUATION, r#"{"decision":true}"#);
    check("evaluations", EVALUATION, r#"{"decision":true}"#);
    let view = EVALUATION.replace("edit", "view");
    check(
        "evaluation",
        &view,
        r#"{"decision":true,"context":{"outputs":[{"src":"resource.album.vdefault#rule-001","action":"view","val":"seen by ada"}]}}"#,
    );
    let many = r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"edit"},"options":{"evaluations_semantic":"SEMANTIC"},"evaluations":[{"resource":{"type":"album","id":"a","properties":{"owner":"ada"}}},{"resource":{"type":"album","id":"b"}},{},{"resource":{"type":"album","id":"c","properties":{"owner":"ada"}}}]}"#;
    let with = |semantic: &str| many.replace("SEMANTIC", semantic);
    let unreadable = r#"{"decision":false,"context":{"error":{"status":400,"message":"`resource` must be an object, found nothing"}}}"#;
    let all = format!(
        r#"{{"evaluations":[{{"decision":true}},{{"decision":false}},{unreadable},{{"decision":true}}]}}"#
    );
    check("evaluations", &with("execute_all"), &all);
    check(
        "evaluations",
        &with("deny_on_first_deny"),
        r#"{"evaluations":[{"decision":true},{"decision":false}]}"#,
    );
    check("evaluations", &with("permit_on_first_permit"), r#"{"evaluations":[{"decision":true}]}"#);
    let search = r#"{"subject":{"type":"user","id":"ada"},"resource":{"type":"album","id":"a","properties":{"owner":"ada"}}}"#;
    check("search/action", search, r#"{"results":[{"name":"edit"},{"name":"view"}]}"#);
    let among = r#"{"subject":{"type":"user"},"action":{"name":"edit"},"resource":{"type":"album","id":"a","properties":{"owner":"ada"}},"candidates":[{"id":"ada"},{"id":"bob"}]}"#;
    check("search/subject", among, r#"{"results":[{"type":"user","id":"ada"}]}"#);
    let (status, found) = server.post("/access/v1/evaluations", "", &with("guess"));
    assert_eq!(status, 400, "{found}");
}

#[test]
fn http_follows_the_rules_of_authzen() {
    let server = Running::start(POLICY, OPEN);
    let length = EVALUATION.len();
    let sent = |headers: &str| {
        server.exchange(format!("POST /access/v1/evaluation HTTP/1.1\r\nHost: pdp\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{EVALUATION}").as_bytes())
    };
    let reply = sent("Content-Type: application/json\r\nX-Request-ID: a-1\r\n");
    assert!(
        reply.contains("x-request-id: a-1\r\n") && reply.contains("cache-control: no-store\r\n"),
        "{reply}"
    );
    assert_eq!(answer(&sent("Content-Type: application/json; charset=utf-8\r\n")).0, 200);
    assert_eq!(answer(&sent("Content-Type: text/plain\r\n")).0, 400);
    for fine in ["application/json;", "Application/JSON ; charset=\"utf-8\"; v=1"] {
        assert_eq!(answer(&sent(&format!("Content-Type: {fine}\r\n"))).0, 200, "{fine}");
    }
    for other in ["application/json5", "application/json, text/plain", "application/json; q"] {
        assert_eq!(answer(&sent(&format!("Content-Type: {other}\r\n"))).0, 400, "{other}");
    }
    let twice = "Content-Type: application/json\r\nContent-Type: text/plain\r\n";
    assert_eq!(answer(&sent(twice)).0, 400);
    assert_eq!(server.get("/access/v1/evaluation", "").0, 405);
    assert_eq!(server.get("/access/v1/evaluation/", "").0, 404);
}

#[test]
fn every_described_get_is_answered() {
    let server = Running::start(POLICY, OPEN);
    let (_, described) = server.get("/openapi.json", "");
    let described: serde_json::Value = serde_json::from_str(&described).unwrap();
    let paths = described["paths"].as_object().unwrap().iter();
    let gets = paths.filter(|(_, methods)| methods.get("get").is_some());
    let gets: Vec<&str> = gets.map(|(path, _)| path.as_str()).collect();
    assert!(gets.contains(&"/healthz"), "{gets:?}");
    for path in gets.into_iter().chain(["/_cerbos/health"]) {
        assert_eq!(server.get(path, "").0, 200, "{path}");
    }
}

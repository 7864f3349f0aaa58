//! Servers without policies: rules of SPOCP are all they answer by.

use std::fs;

use crate::running::{KEEPER, Running, bearer};

const CONFIG: &str = "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n\
    [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n\
    [spocp]\nlisten = \"127.0.0.1:0\"\nanonymous-queries = true\nrules = \"rules.spoc\"\n";

const RULES: &[&str] = &["(album (id a)(action edit)(subject (type user)(id ada)))"];

const EVALUATION: &str = r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"edit"},"resource":{"type":"album","id":"a"}}"#;
const SEARCH: &str =
    r#"{"subject":{"type":"user","id":"ada"},"resource":{"type":"album","id":"a"}}"#;
const CALL: &str = r#"{"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["edit"],"resource":{"kind":"album","id":"a"}}]}"#;
const SET: &str = r#"{"actions":["edit"],"principal":{"id":"ada","roles":["user"]},"resource":{"kind":"album","instances":{"a":{}}}}"#;

const TOLD: &str = r#"this server has no policies: it answers by rules of SPOCP"#;

/// The body of the answer to a request for policies: there are none.
fn has_no_policies(server: &Running, path: &str, body: &str) {
    let reply = match path {
        "/api/check/resources" | "/api/check" | "/api/check_resource_batch" => {
            format!(r#"{{"code":5,"message":"{TOLD}","details":[],"error":"no-policies"}}"#)
        }
        _ => format!(r#"{{"error":"no-policies","message":"{TOLD}"}}"#),
    };
    assert_eq!(server.post(path, &bearer(KEEPER), body), (404, reply), "{path}");
}

#[test]
fn rules_alone_answer_authzen() {
    let server = Running::without_policies(RULES, &format!("{CONFIG}[authzen.rules]\n"));
    let check = |path: &str, body: &str, expected: &str| {
        let (status, found) = server.post(&format!("/access/v1/{path}"), "", body);
        assert_eq!((status, found.as_str()), (200, expected), "{path}");
    };
    check("evaluation", EVALUATION, r#"{"decision":true}"#);
    check("evaluations", EVALUATION, r#"{"decision":true}"#);
    check("evaluation", &EVALUATION.replace("ada", "bo"), r#"{"decision":false}"#);
    check("search/action", SEARCH, r#"{"results":[{"name":"edit"}]}"#);
    assert_eq!(server.get("/.well-known/authzen-configuration", "").0, 200);
    for (path, body) in [
        ("/api/check/resources", CALL),
        ("/api/check_resource_batch", CALL),
        ("/api/check", SET),
        ("/admin/explain", CALL),
        ("/mqtt/grants", r#"{"principal":{"id":"p","roles":["r"]}}"#),
    ] {
        has_no_policies(&server, path, body);
    }
}

#[test]
fn without_rules_for_authzen_it_is_not_served() {
    let server = Running::without_policies(RULES, CONFIG);
    for (path, body) in [
        ("/access/v1/evaluation", EVALUATION),
        ("/access/v1/evaluations", EVALUATION),
        (
            "/access/v1/evaluations",
            &EVALUATION.replacen('{', r#"{"evaluations":[{},{"context":{}}],"#, 1),
        ),
        (
            "/access/v1/evaluations",
            &EVALUATION.replacen(
                '{',
                r#"{"evaluations":[{}],"context":{"cerbos.includeMeta":true},"#,
                1,
            ),
        ),
        ("/access/v1/search/action", SEARCH),
    ] {
        has_no_policies(&server, path, body);
    }
    let (status, reply) = server.get("/.well-known/authzen-configuration", "");
    assert_eq!(status, 404, "{reply}");
}

#[test]
fn a_server_of_rules_is_healthy_and_reads_them_anew() {
    let server = Running::without_policies(RULES, &format!("{CONFIG}[authzen.rules]\n"));
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(server.get(path, "").0, 200, "{path}");
    }
    let metrics = server.get("/metrics", "").1;
    assert!(!metrics.contains("wardgate_policies_revision"), "{metrics}");
    assert!(metrics.contains("wardgate_policies_serial 0\n"), "{metrics}");
    let send = || server.post("/access/v1/evaluation", "", EVALUATION).1;
    let reload = || server.post("/admin/reload", &bearer(KEEPER), "");
    let rules = server.folder.join("rules.spoc");
    fs::write(&rules, "(album (id a)(action edit)(subject (type user)(id bo)))\n").unwrap();
    assert_eq!(reload(), (200, r#"{"serial":"0"}"#.to_owned()));
    assert_eq!(send(), r#"{"decision":false}"#);
    fs::write(&rules, "(album (id a)\n").unwrap();
    assert_eq!(reload().0, 409);
    assert_eq!(server.shared.rules().unwrap().read().len(), 1);
}

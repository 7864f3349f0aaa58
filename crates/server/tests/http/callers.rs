//! Access of callers to decisions, and of administrators to policies.

use crate::running::{ASKER, CALL, KEEPER, OPEN, POLICY, Running, answer, bearer};

fn config(anonymous: bool) -> String {
    format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = {anonymous}\n\
         [[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
         [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n"
    )
}

#[test]
fn anonymous_queries_need_the_configuration() {
    for anonymous in [false, true] {
        let server = Running::start(POLICY, &config(anonymous));
        let status = |headers: &str| server.post("/api/check/resources", headers, CALL).0;
        assert_eq!(status(""), if anonymous { 200 } else { 401 });
        assert_eq!(status(&bearer(ASKER)), 200);
        assert_eq!(status(&bearer(KEEPER)), 200);
        assert_eq!(status(&bearer("token-of-somebody-who-askt")), 401);
        assert_eq!(status("Authorization: Basic YTpi\r\n"), 401);
        assert_eq!(status("Authorization: Bearer\r\n"), 401);
        assert_eq!(server.get("/metrics", "").0, if anonymous { 200 } else { 401 });
        assert_eq!(server.get("/healthz", "").0, 200);
    }
}

#[test]
fn only_administrators_see_and_change_policies() {
    let server = Running::start(POLICY, &config(true));
    for path in ["/admin/explain", "/admin/reload"] {
        assert_eq!(server.post(path, "", CALL).0, 401, "{path}");
        assert_eq!(server.post(path, &bearer(ASKER), CALL).0, 403, "{path}");
        assert_eq!(server.post(path, &bearer(KEEPER), CALL).0, 200, "{path}");
    }
    let reply = server.post("/admin/explain", &bearer(KEEPER), CALL).1;
    assert!(
        reply.starts_with(r#"{"results":[{"decision":{"#) && reply.contains("rule-001"),
        "{reply}"
    );
}

#[test]
fn a_simple_request_of_another_site_changes_no_policies() {
    let server = Running::start(POLICY, &config(true));
    let post = |path: &str, content_type: &str| {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\n{content_type}Content-Length: {}\r\nConnection: close\r\n{}\r\n{CALL}",
            CALL.len(),
            bearer(KEEPER),
        );
        answer(&server.exchange(request.as_bytes())).0
    };
    for path in ["/admin/explain", "/admin/reload"] {
        for simple in ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
        {
            let header = if simple.is_empty() {
                String::new()
            } else {
                format!("Content-Type: {simple}\r\n")
            };
            let serial = server.shared.state().serial();
            assert_eq!(post(path, &header), 400, "{path} {simple}");
            assert_eq!(server.shared.state().serial(), serial);
        }
        assert_eq!(post(path, "Content-Type: application/json\r\n"), 200, "{path}");
    }
}

#[test]
fn more_tokens_than_are_read_are_refused_before_any_is_looked_at() {
    let server = Running::start(POLICY, OPEN);
    let check = |count: usize| {
        let tokens: Vec<_> =
            (0..count).map(|at| format!(r#""t{at}":{{"token":"a.b.c"}}"#)).collect();
        let aux_data = format!(r#"{{"auxData":{{"jwts":{{{}}}}},"#, tokens.join(","));
        server.post("/api/check/resources", "", &CALL.replacen('{', &aux_data, 1))
    };
    let (status, body) = check(16);
    assert!(status == 400 && body.contains("no set of keys"), "{body}");
    let (status, body) = check(17);
    assert!(status == 400 && body.contains("has 17 tokens, at most 16 are read"), "{body}");
}

//! Who may ask, and who may see and change policies.

use crate::running::{ASKER, KEEPER, POLICY, Running};

const CALL: &str = r#"{"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["view"],"resource":{"kind":"album","id":"a"}}]}"#;

fn config(anonymous: bool) -> String {
    format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = {anonymous}\n\
         [[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
         [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n"
    )
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[test]
fn nobody_asks_anonymously_unless_it_is_allowed() {
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
    let told = server.post("/admin/explain", &bearer(KEEPER), CALL).1;
    assert!(
        told.starts_with(r#"{"results":[{"decision":{"#) && told.contains("rule-001"),
        "{told}"
    );
}

//! Callers and claims with keys that another server publishes.

use crate::publisher::{pem, publishing, response, set, token};
use crate::running::{ASKER, CALL, POLICY, Running, bearer, checked};

fn config(callers: &str, claims: &str) -> String {
    let ca = pem("ca.pem");
    let at = |url: &str| format!("url = \"{url}\"\nurl-ca = \"{}\"\n", ca.display());
    format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n\
         [[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
         [auth.jwt]\n{}issuer = \"https://issuer.example\"\naudience = \"pdp\"\n\
         [[aux-data.key-sets]]\nid = \"main\"\n{}",
        at(callers),
        at(claims)
    )
}

fn with_claims(token: &str) -> String {
    CALL.replacen('{', &format!(r#"{{"auxData":{{"jwt":{{"token":"{token}"}}}},"#), 1)
}

/// No server listens there: only the administrator of a machine could start one, and has no reason
/// to.
fn unreachable() -> String {
    "https://localhost:1/keys".to_owned()
}

#[test]
fn tokens_of_published_keys_are_accepted() {
    let publish = |seed| publishing(vec![response("200 OK", &set(&[seed]))]).0;
    let server = Running::start(POLICY, &config(&publish(1), &publish(2)));
    let status =
        |of: u8, body: &str| server.post("/api/check/resources", &bearer(&token(of)), body).0;
    assert_eq!(status(1, CALL), 200);
    assert_eq!(status(2, CALL), 401);
    assert_eq!(status(1, &with_claims(&token(2))), 200);
    assert_eq!(status(1, &with_claims(&token(1))), 400);
    let reply = server.get("/metrics", &bearer(&token(1))).1;
    for line in [
        "wardgate_keys_age_seconds{set=\"auth.jwt\"} ",
        "wardgate_keys_age_seconds{set=\"aux-data.main\"} ",
        "wardgate_keys_failures_total{set=\"auth.jwt\"} 0\n",
    ] {
        assert!(reply.contains(line), "{line}\n{reply}");
    }
}

#[test]
fn without_keys_no_token_is_accepted_and_others_are_served() {
    let server = Running::start(POLICY, &config(&unreachable(), &unreachable()));
    let status = |headers: &str| server.post("/api/check/resources", headers, CALL).0;
    assert_eq!(status(&bearer(&token(1))), 401);
    assert_eq!(status(&bearer(ASKER)), 200);
    let claimed = server.post("/api/check/resources", &bearer(ASKER), &with_claims(&token(1)));
    assert_eq!(claimed.0, 400);
    assert!(claimed.1.contains("are not available at the moment"), "{}", claimed.1);
    let reply = server.get("/metrics", &bearer(ASKER)).1;
    assert!(!reply.contains("wardgate_keys_age_seconds{"), "{reply}");
    assert!(reply.contains("wardgate_keys_failures_total{set=\"auth.jwt\"} "), "{reply}");
}

#[test]
fn a_check_of_the_configuration_fetches_keys() {
    let publish = |body: &[u8]| publishing(vec![response("200 OK", body)]).0;
    let good = || publish(&set(&[1]));
    assert_eq!(checked(&config(&good(), &good())), Ok(()));
    let refused = |callers: String, claims: String, expected: &str| {
        let error = checked(&config(&callers, &claims)).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    };
    refused(
        unreachable(),
        good(),
        "the keys of `auth.jwt`: cannot get the keys `https://localhost:",
    );
    refused(good(), publish(b"[]"), "the keys of `aux-data.main`: cannot get the keys `https://");
}

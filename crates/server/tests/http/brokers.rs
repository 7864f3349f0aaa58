//! Foreign MQTT brokers over HTTP: every answer allows or denies, whatever is asked.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::publisher::{set, token_of};
use crate::running::{ASKER, Running, bearer};

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: mqtt:topic
  rules:
    - actions: [publish, subscribe, receive]
      effect: EFFECT_ALLOW
      roles: [client]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("dev/{}/#", [P.attr.clientId])' } }
    - actions: [publish]
      effect: EFFECT_DENY
      roles: [client]
      condition: { match: { expr: 'has(R.attr.retain) && R.attr.retain' } }
    - actions: [receive]
      effect: EFFECT_ALLOW
      roles: [client]
      condition: { match: { expr: 'P.id == "ada" && R.attr.topic.matchesTopic("news/#")' } }
"#;

const CONFIG: &str =
    "[http]\nlisten = \"127.0.0.1:0\"\n[[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n";

/// The path below `/mqtt/authorize/`, a body, and the answer: its status and the member that the
/// broker looks at.
#[test]
fn brokers_are_answered_in_their_own_words() {
    let server = Running::start(POLICY, CONFIG);
    let check = |path: &str, body: &str, expected: (u16, Value)| {
        let path = format!("/mqtt/authorize/{path}");
        let (status, text) = server.post(&path, &bearer(ASKER), body);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let seen = ["result", "Ok"].iter().find_map(|name| answer.get(name)).cloned();
        let seen = match answer.get("topics") {
            Some(topics) => topics.clone(),
            None => seen.unwrap_or(Value::Null),
        };
        assert_eq!((status, seen), expected, "{path} {body}: {text}");
    };
    let allow = || (200, json!("allow"));
    let deny = || (200, json!("deny"));
    let emqx = |action: &str, topic: &str| {
        json!({ "clientid": "c1", "username": "ada", "peerhost": "::1", "action": action, "topic": topic, "qos": 1, "retain": "false" }).to_string()
    };
    check("emqx", &emqx("publish", "dev/c1/a"), allow());
    check("emqx", &emqx("publish", "dev/c2/a"), deny());
    check("emqx", &emqx("subscribe", "dev/c1/#"), allow());
    check("emqx", &emqx("subscribe", "$share/g/dev/c1/#"), allow());
    check("emqx", &emqx("subscribe", "dev/#"), deny());
    check("emqx", &emqx("subscribe", "$queue/dev/c1/a"), deny());
    check("emqx", &emqx("publish", "dev/c1/+"), deny());
    check("emqx", &emqx("ignore", "dev/c1/a"), deny());
    check("emqx", &emqx("publish", "dev/c1/a").replace("\"false\"", "\"true\""), deny());
    // A client id that is a wildcard is one no more.
    check("emqx", &emqx("subscribe", "dev/x/#").replace("c1", "+"), deny());
    // Without a user name nobody is known.
    check("emqx", &emqx("publish", "dev/c1/a").replace("ada", ""), deny());
    check("emqx", "clientid=c1&username=ada&action=publish&topic=dev%2Fc1%2Fa+b", allow());
    for broken in [
        "",
        "{",
        "[]",
        "{}",
        "{\"action\":1}",
        "topic=%zz",
        "action=publish&action=publish",
        "\u{0}",
        "null",
    ] {
        check("emqx", broken, deny());
    }
    check(
        "emqx",
        "{\"action\":\"subscribe\",\"action\":\"publish\",\"topic\":\"dev/c1/a\",\"clientid\":\"c1\",\"username\":\"ada\"}",
        deny(),
    );

    let nanomq = |access: &str, topic: &str| {
        format!("clientid=c1&username=ada&access={access}&ipaddr=127.0.0.1&topic={topic}")
    };
    check("nanomq", &nanomq("1", "dev/c1/%23"), (200, Value::Null));
    check("nanomq", &nanomq("1", "%23"), (403, Value::Null));
    check("nanomq", &nanomq("2", "dev/c1/x"), (200, Value::Null));
    check("nanomq", &nanomq("2", "dev/c2/x"), (403, Value::Null));
    check("nanomq", &nanomq("3", "dev/c1/x"), (400, Value::Null));
    check(
        "nanomq",
        &json!({ "clientid": "c1", "username": "ada", "access": 2, "topic": "dev/c1/x" })
            .to_string(),
        (200, Value::Null),
    );

    let go_auth = |acc: u8, topic: &str| {
        json!({ "clientid": "c1", "username": "ada", "acc": acc, "topic": topic }).to_string()
    };
    check("go-auth", &go_auth(1, "news/x"), (200, json!(true)));
    check("go-auth", &go_auth(2, "news/x"), (403, json!(false)));
    check("go-auth", &go_auth(3, "news/x"), (403, json!(false)));
    check("go-auth", &go_auth(3, "dev/c1/x"), (200, json!(true)));
    check("go-auth", &go_auth(4, "news/#"), (403, json!(false)));
    check("go-auth", &go_auth(4, "dev/c1/#"), (200, json!(true)));
    check("go-auth", &go_auth(9, "dev/c1/x"), (403, json!(false)));

    let refused = || (200, json!({ "error": "not_allowed" }));
    let publish = |topic: &str, retain: bool| {
        json!({ "client_id": "c1", "username": "ada", "mountpoint": "", "qos": 1, "topic": topic, "payload": "aGk=", "retain": retain }).to_string()
    };
    check("vernemq", &publish("dev/c1/x", false), (200, json!("ok")));
    check("vernemq", &publish("dev/c1/x", true), refused());
    check("vernemq", &publish("dev/c2/x", false), refused());
    let topics = json!([{ "topic": "dev/c1/#", "qos": 1 }, { "topic": "dev/#", "qos": 2 }, { "topic": "a#", "qos": 0 }]);
    let subscribe = json!({ "client_id": "c1", "username": "ada", "topics": topics }).to_string();
    let granted = json!([{ "topic": "dev/c1/#", "qos": 1 }, { "topic": "dev/#", "qos": 128 }, { "topic": "a#", "qos": 128 }]);
    check("vernemq", &subscribe, (200, granted));
    check("vernemq", &json!({ "client_id": "c1", "username": "ada", "topics": vec![json!({ "topic": "a", "qos": 0 }); 65] }).to_string(), refused());
    check("vernemq", "{}", refused());
}

/// Clients of EMQX, and the answer: members without the reason.
#[test]
fn clients_of_emqx_are_authenticated_by_tokens() {
    let clients = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: mqtt:client\n  rules:\n    \
                   - { actions: [connect], effect: EFFECT_ALLOW, roles: [client, reader], condition: { match: { expr: 'R.id != \"banned\" && P.attr.clientId == R.id && P.attr.address != \"\"' } } }";
    let config = format!(
        "{CONFIG}[auth.jwt]\nkeys = \"keys\"\nissuer = \"https://issuer.example\"\naudience = \"pdp\"\n"
    );
    let keys = String::from_utf8(set(&[1])).unwrap();
    let policies = format!("{POLICY}\n---\n{clients}");
    let server = Running::with_files(&policies, &config, &[("keys", &keys)]);
    let check = |body: String, expected: Value| {
        let (status, text) = server.post("/mqtt/authenticate/emqx", &bearer(ASKER), &body);
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        let reason = answer.as_object_mut().unwrap().remove("reason");
        assert_eq!((status, answer), (200, expected.clone()), "{body} {reason:?}");
        assert_eq!(reason.is_some(), expected["result"] == "deny");
    };
    let deny = || json!({ "result": "deny" });
    let client = |id: &str, user: &str, password: &str| {
        json!({ "clientid": id, "username": user, "password": password, "peerhost": "::1" })
            .to_string()
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let end = now + 600;
    let token = |rest: &str| {
        token_of(1, &format!(r#"{{"iss":"https://issuer.example","aud":"pdp","sub":"ada"{rest}}}"#))
    };
    let plain = token(&format!(",\"exp\":{end}"));
    let allow = json!({ "result": "allow", "is_superuser": false, "expire_at": end });
    check(client("c1", "ada", &plain), allow.clone());
    check(client("c1", "ada", &token(&format!(",\"exp\":{end}.9"))), allow.clone());
    check(client("c1", "ada", &token(&format!(",\"exp\":{end},\"roles\":[\"reader\"]"))), allow);
    let rich = token(&format!(
        ",\"exp\":{end},\"is_superuser\":true,\"client_attrs\":{{\"site\":\"north\",\"n\":1,\"a b\":\"x\"}}"
    ));
    check(
        client("c1", "ada", &rich),
        json!({ "result": "allow", "is_superuser": false, "expire_at": end, "client_attrs": { "site": "north" } }),
    );
    // A token of the configuration has no end.
    check(client("c1", "asker", ASKER), json!({ "result": "allow", "is_superuser": false }));
    for refused in [
        // The policies, the roles of a token, another user name, no user name.
        client("banned", "ada", &plain),
        client("c1", "ada", &token(&format!(",\"exp\":{end},\"roles\":[\"writer\"]"))),
        client("c1", "root", &plain),
        client("c1", "", &plain),
        json!({ "clientid": "c1", "password": plain, "peerhost": "::1" }).to_string(),
        // What is no token, or none any more.
        client("c1", "ada", "secret"),
        client("c1", "ada", ""),
        client("c1", "ada", &token(&format!(",\"exp\":{}", now - 1))),
        client("c1", "ada", &token("")),
        client("c1", "ada", &plain[..plain.len() - 2]),
        client("c1", "ada", &"x".repeat(100_000)),
        // Without an address, which the policy asks for; and what cannot be read.
        json!({ "clientid": "c1", "username": "ada", "password": plain }).to_string(),
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        json!({ "username": "ada", "password": 1 }).to_string(),
        json!({ "username": "ada", "password": null }).to_string(),
    ] {
        check(refused, deny());
    }
    // The broker must be known.
    let (status, text) = server.post("/mqtt/authenticate/emqx", "", &client("c1", "ada", &plain));
    assert_eq!(status, 200);
    assert!(text.contains("\"deny\"") && !text.contains(&plain), "{text}");
}

#[test]
fn a_refused_caller_is_a_denial() {
    let server = Running::start(POLICY, CONFIG);
    let body =
        json!({ "clientid": "c1", "username": "ada", "action": "publish", "topic": "dev/c1/a" });
    for headers in [String::new(), bearer("wrong")] {
        let (status, text) = server.post("/mqtt/authorize/emqx", &headers, &body.to_string());
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &answer["result"]), (200, &json!("deny")), "{text}");
        assert!(answer["reason"].as_str().unwrap().starts_with("unauthorized"), "{text}");
        let (status, _) = server.post("/mqtt/authorize/nanomq", &headers, "access=2");
        assert_eq!(status, 401);
    }
    let huge = format!("{{\"payload\":\"{}\"}}", "x".repeat(5 << 20));
    let (status, text) = server.post("/mqtt/authorize/vernemq", &bearer(ASKER), &huge);
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("not_allowed"), "{text}");
}

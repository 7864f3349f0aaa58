//! Foreign MQTT brokers over HTTP: every answer allows or denies, whatever is asked.

use serde_json::{Value, json};

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

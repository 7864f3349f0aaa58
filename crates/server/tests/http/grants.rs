//! Lists of topics over HTTP: for administrators, and in the forms of brokers.

use serde_json::{Value, json};

use crate::running::{ASKER, KEEPER, Running, bearer};

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: mqtt:topic
  rules:
    - actions: [publish, subscribe]
      effect: EFFECT_ALLOW
      roles: [device]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("dev/{}/#", [P.attr.clientId])' } }
    - actions: [publish, subscribe]
      effect: EFFECT_DENY
      roles: ["*"]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("dev/+/keys")' } }
"#;

const CONFIG: &str = "[http]\nlisten = \"127.0.0.1:0\"\nmax-actions = 3\n[auth]\nanonymous-queries = true\n\
    [[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
    [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n";

#[test]
fn administrators_get_lists() {
    let server = Running::start(POLICY, CONFIG);
    let post = |body: &Value, token: &str| {
        let headers = if token.is_empty() { String::new() } else { bearer(token) };
        let (status, text) = server.post("/mqtt/grants", &headers, &body.to_string());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let principal = json!({ "id": "d1", "roles": ["device"], "attr": { "clientId": "c1" } });
    let body = json!({ "principal": principal });
    assert_eq!(post(&body, "").0, 401);
    assert_eq!(post(&body, ASKER).0, 403);
    let lists = json!({
        "allow": ["dev/c1/#"], "deny": ["dev/+/keys"], "internal": false,
        "exact": true, "because": [], "readsTime": false,
    });
    let expected = json!({ "grants": { "publish": lists, "subscribe": lists } });
    assert_eq!(post(&body, KEEPER), (200, expected));
    let answer = post(&json!({ "principal": principal, "for": "nats" }), KEEPER).1;
    let publish = json!({ "allow": ["dev.c1", "dev.c1.>"], "deny": ["dev.*.keys"] });
    assert_eq!(answer["lists"], json!({ "pub": publish, "sub": { "deny": [">"] } }), "{answer}");
    assert_eq!((&answer["exact"], answer["dropped"].as_array().unwrap().len()), (&json!(false), 1));
    let refused = |body: Value, expected: &str| {
        let (status, answer) = post(&body, KEEPER);
        let message = answer["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!((status, answer["error"].as_str()), (400, Some("bad-request")), "{answer}");
        assert!(message.contains(expected), "{message}");
    };
    refused(json!({}), "`principal` is missing");
    refused(json!([]), "a request must be an object, found a list");
    refused(
        json!({ "principal": principal, "for": "x" }),
        "expected one of `emqx`, `hivemq`, `jwt`, `nats`",
    );
    refused(json!({ "principal": principal, "for": "nats", "actions": ["publish"] }), "both given");
    refused(json!({ "principal": principal, "actions": ["a", "b", "c", "d"] }), "at most 3");
    refused(
        json!({ "principal": principal, "resource": { "attr": { "topic": "a" } } }),
        "`resource.attr.topic`",
    );
    let dotted = json!({ "id": "d1", "roles": ["device"], "attr": { "clientId": "a.b" } });
    refused(
        json!({ "principal": dotted, "for": "nats" }),
        "the filter `dev/a.b/#` has a level with `.`",
    );
}

//! Decisions for brokers of MQTT that are recorded, over HTTP and by this server itself.

use serde_json::{Value, json};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::verify;

use crate::decision_log::{key, wait_for};
use crate::log_searches::recorded;
use crate::mqtt::End;
use crate::running::{KEEPER, OPEN, Running, bearer};

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: mqtt:client
  rules:
    - { actions: [connect], effect: EFFECT_ALLOW, roles: [anonymous] }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: mqtt:topic
  rules:
    - actions: [publish, subscribe, receive]
      effect: EFFECT_ALLOW
      roles: [anonymous, client]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("dev/#")' } }
"#;

fn start(log: &str) -> Running {
    let section = format!(
        "{OPEN}[mqtt]\nlisten = \"127.0.0.1:0\"\nanonymous = true\n[mqtt.broker]\ndeliver = \"each\"\n[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\nprincipal = \"clear\"\nresource = \"clear\"\n{log}"
    );
    let key = LogSigner::text("log.example/a", &[7; 32]).unwrap();
    Running::with_files(POLICY, &section, &[("log.key", &key)])
}

fn ask(server: &Running, broker: &str, body: Value) -> (u16, String) {
    server.post(&format!("/mqtt/authorize/{broker}"), "", &body.to_string())
}

fn emqx(topic: &str) -> Value {
    json!({ "clientid": "c1", "username": "ada", "action": "publish", "topic": topic })
}

#[test]
fn each_answer_to_a_broker_is_in_the_log() {
    let mut server = start("evidence = \"clear\"\n");
    let log = server.folder.join("log");
    for (topic, result) in [("dev/a", "allow"), ("other", "deny")] {
        let (status, answer) = ask(&server, "emqx", emqx(topic));
        assert!(status == 200 && answer.contains(result), "{answer}");
    }
    let go_auth = json!({ "clientid": "c1", "username": "ada", "topic": "other", "acc": 1 });
    assert_eq!(ask(&server, "go-auth", go_auth).0, 403);
    let topics = json!([{ "topic": "dev/#", "qos": 1 }, { "topic": "#", "qos": 1 }]);
    let vernemq = json!({ "client_id": "c1", "username": "ada", "topics": topics });
    assert_eq!(ask(&server, "vernemq", vernemq).0, 200);
    wait_for(&server, "wardgate_decision_log_records_total 5");
    server.stop();
    let expected = [
        "ada mqtt:topic///publish dev/a: true",
        "ada mqtt:topic///publish other: false",
        "ada mqtt:topic///receive other: false",
        "ada mqtt:topic///subscribe dev/#: true",
        "ada mqtt:topic///subscribe #: false",
    ];
    assert_eq!(recorded(&log), expected);
    let verified = verify(&log, &key(), None, None).unwrap();
    assert_eq!((verified.decisions, verified.lost, verified.unsealed), (5, 0, 0));
}

#[test]
fn lists_for_brokers_are_in_the_log() {
    let mut server = start("[[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n");
    let log = server.folder.join("log");
    let principal = json!({ "id": "ada", "roles": ["client"] });
    let scope = json!({ "scope": "acme" });
    let actions = json!(["publish"]);
    for body in [
        json!({ "principal": principal }),
        json!({ "principal": principal, "resource": scope, "actions": actions }),
    ] {
        let (status, answer) = server.post("/mqtt/grants", &bearer(KEEPER), &body.to_string());
        assert_eq!(status, 200, "{answer}");
    }
    // What is refused is no answer.
    assert_eq!(server.post("/mqtt/grants", &bearer(KEEPER), "{}").0, 400);
    server.stop();
    let expected = [
        "mqtt:topic///publish: 1 of 1",
        "mqtt:topic///subscribe: 1 of 1",
        "mqtt:topic//acme/publish: 0 of 0",
    ];
    assert_eq!(recorded(&log), expected);
    assert_eq!(verify(&log, &key(), None, None).unwrap().unsealed, 0);
}

#[test]
fn each_decision_of_the_broker_is_in_the_log() {
    let mut server = start("");
    let log = server.folder.join("log");
    let mut client = End::of(std::net::TcpStream::connect(server.mqtt.unwrap()).unwrap());
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    client.expect("20: 00 00");
    client.send("82: 0001 'dev/+' 00 'all' 00");
    client.expect("90: 0001 00 80");
    client.send("30: 'dev/a' AB");
    client.expect("30: 'dev/a' AB");
    client.send("30: 'other' AB");
    wait_for(&server, "wardgate_decision_log_records_total 6");
    server.stop();
    let expected = [
        "anonymous mqtt:client///connect c1: true",
        "anonymous mqtt:topic///subscribe dev/+: true",
        "anonymous mqtt:topic///subscribe all: false",
        "anonymous mqtt:topic///publish dev/a: true",
        "anonymous mqtt:topic///receive dev/a: true",
        "anonymous mqtt:topic///publish other: false",
    ];
    assert_eq!(recorded(&log), expected);
}

#[test]
fn nothing_is_allowed_that_cannot_be_recorded() {
    for (on_full, result) in [("deny", "deny"), ("drop", "allow")] {
        let server = start(&format!("on-full = \"{on_full}\"\n"));
        assert!(ask(&server, "emqx", emqx("dev/a")).1.contains("allow"));
        // Whoever deletes the lock may write another log here.
        std::fs::remove_file(server.folder.join("log/.lock")).unwrap();
        ask(&server, "emqx", emqx("dev/a"));
        wait_for(&server, "wardgate_decision_log_failing 1");
        let (status, answer) = ask(&server, "emqx", emqx("dev/a"));
        assert!(status == 200 && answer.contains(result), "{on_full}: {answer}");
        let mut client = End::of(std::net::TcpStream::connect(server.mqtt.unwrap()).unwrap());
        client.send("10: 'MQTT' 04 02 003C 'c1'");
        client.expect(if on_full == "deny" { "20: 00 05" } else { "20: 00 00" });
    }
}

//! Servers whose decision log goes to a collector, too.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::collector::{Collector, TAKEN};
use crate::decision_log::start;
use crate::running::Running;

const ALBUMS: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user] }
";

fn check(server: &Running) -> u16 {
    let resource = json!({ "kind": "album", "id": "a1" });
    let body = json!({
        "principal": { "id": "secret-ada", "roles": ["user"] },
        "resources": [{ "actions": ["view"], "resource": resource }],
    });
    server.post("/api/check/resources", "", &body.to_string()).0
}

#[test]
fn decisions_are_at_the_collector_when_the_server_has_ended() {
    let collector = Collector::saying(&[TAKEN]);
    let section = format!(
        "resource = \"clear\"\n[decision-log.otlp]\nendpoint = \"{}\"\n",
        collector.endpoint()
    );
    let mut server = start(ALBUMS, &section);
    assert_eq!(check(&server), 200);
    assert_eq!(check(&server), 200);
    server.stop();
    let records: Vec<Value> = collector
        .rest()
        .iter()
        .flat_map(|received| {
            let scopes = &received.body["resourceLogs"][0]["scopeLogs"];
            scopes[0]["logRecords"].as_array().unwrap().clone()
        })
        .collect();
    let decisions: Vec<&Value> =
        records.iter().filter(|record| record["eventName"] == "wardgate.decision").collect();
    assert_eq!(decisions.len(), 2);
    let words = decisions[0]["body"]["stringValue"].as_str().unwrap();
    assert!(words.ends_with(" on album `a1`: view allowed"), "{words}");
    // Its id is committed.
    assert!(!format!("{records:?}").contains("secret-ada"));
}

#[test]
fn a_dead_collector_holds_up_no_answer() {
    // It accepts, and never answers.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", dead.local_addr().unwrap());
    let section = format!(
        "on-full = \"deny\"\n[decision-log.otlp]\nendpoint = \"{endpoint}\"\ninterval-seconds = 1\ntimeout-seconds = 1\n"
    );
    let server = start(ALBUMS, &section);
    for _ in 0..100 {
        assert_eq!(check(&server), 200);
    }
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("\nwardgate_decision_log_exported_records_total 0\n"), "{metrics}");
}

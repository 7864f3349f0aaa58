//! Servers whose decision log is shipped while they answer.

use std::fs;
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::verify;

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

/// Asks so much that a segment of 1 MiB is full.
fn fill(server: &Running) {
    for number in 0..24 {
        let resource = |at: usize| {
            let id = format!("{number}-{at}-{}", "a".repeat(1000));
            json!({ "actions": ["view"], "resource": { "kind": "album", "id": id } })
        };
        let body = json!({
            "principal": { "id": "ada", "roles": ["user"] },
            "resources": (0..50).map(resource).collect::<Vec<_>>(),
        });
        assert_eq!(server.post("/api/check/resources", "", &body.to_string()).0, 200);
    }
}

/// Waits until the metrics have a line.
fn metric(server: &Running, line: &str) {
    for _ in 0..6000 {
        if server.get("/metrics", "").1.lines().any(|found| found == line) {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no `{line}` within a minute: {}", server.get("/metrics", "").1);
}

#[test]
fn a_log_is_at_the_target_once_the_server_has_ended() {
    let target = std::env::temp_dir().join(format!("wardgate-shipping-{}", std::process::id()));
    fs::create_dir_all(&target).unwrap();
    let section = format!(
        "resource = \"clear\"\nsegment-bytes = 1048576\n[decision-log.ship]\nfolder = \"{}\"\n",
        target.display()
    );
    let mut server = start(ALBUMS, &section);
    fill(&server);
    metric(&server, "wardgate_decision_log_shipped_segments_total 1");
    fill(&server);
    server.stop();
    let signer = LogSigner::new("log.example/a", &[7; 32]).unwrap();
    let key = LogKey::read(&signer.verifier().to_string()).unwrap();
    let (here, there) = (
        verify(&server.folder.join("log"), &key, None, None).unwrap(),
        verify(&target, &key, None, None),
    );
    let there = there.unwrap();
    assert!(there.decisions >= 1200 && there.decisions < here.decisions);
    // The last checkpoint of all.
    assert_eq!(there.ahead, Some(here.frames));
    fs::remove_dir_all(&target).unwrap();
}

#[test]
fn a_dead_target_holds_up_no_answer() {
    // It accepts, and never answers.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/{{name}}", dead.local_addr().unwrap());
    let section = format!(
        "on-full = \"deny\"\nsegment-bytes = 1048576\n[decision-log.ship]\nurl = \"{url}\"\ntimeout-seconds = 1\n"
    );
    let server = start(ALBUMS, &section);
    fill(&server);
    metric(&server, "wardgate_decision_log_shipping_failing 1");
    fill(&server);
    assert_eq!(server.get("/readyz", "").0, 200);
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("\nwardgate_decision_log_shipped_segments_total 0\n"), "{metrics}");
    assert!(metrics.contains("\nwardgate_decision_log_failing 0\n"), "{metrics}");
}

//! New policies while the server answers: each answer is made from one revision.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::running::{OPEN, POLICY, Running, compiled};

fn policy(effect: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: album\n  rules:\n    - actions: ['*']\n      effect: {effect}\n      roles: ['*']\n"
    )
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn answers_under_load_are_from_one_revision() {
    let server = Running::start(&policy("EFFECT_ALLOW"), OPEN);
    let entry = r#"{"actions":["a","b","c"],"resource":{"kind":"album","id":"a"}}"#;
    let entries = vec![entry; 40].join(",");
    let call =
        format!(r#"{{"principal":{{"id":"ada","roles":["user"]}},"resources":[{entries}]}}"#);
    let bundles = [compiled(&policy("EFFECT_DENY")), compiled(&policy("EFFECT_ALLOW"))];
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let (mut allowed, mut denied) = (0, 0);
            while !is_done.load(Ordering::Relaxed) || allowed == 0 || denied == 0 {
                let (status, body) = server.post("/api/check/resources", "", &call);
                assert_eq!(status, 200);
                match (body.matches("EFFECT_ALLOW").count(), body.matches("EFFECT_DENY").count()) {
                    (120, 0) => allowed += 1,
                    (0, 120) => denied += 1,
                    mixed => panic!("two revisions in one answer: {mixed:?}"),
                }
            }
        });
        let mut round = 0_usize;
        while round < 200 || !sending.is_finished() {
            server.bundle.lock().unwrap().clone_from(&bundles[round % 2]);
            let serial = block_on(server.shared.reload()).unwrap();
            round += 1;
            assert_eq!(serial, u64::try_from(round).unwrap());
            is_done.store(round >= 200, Ordering::Relaxed);
        }
    });
}

#[test]
fn the_last_good_policies_stay() {
    let server = Running::start(POLICY, OPEN);
    server.bundle.lock().unwrap().truncate(100);
    assert!(block_on(server.shared.reload()).is_err());
    assert_eq!(server.shared.state().serial(), 0);
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("wardgate_reload_failures_total 1\n"), "{metrics}");
    server.bundle.lock().unwrap().clone_from(&compiled(&policy("EFFECT_DENY")));
    assert_eq!(block_on(server.shared.reload()), Ok(1));
    // The same again is nothing new.
    assert_eq!(block_on(server.shared.reload()), Ok(1));
}

#[test]
fn a_stopped_server_ends() {
    let server = Running::start(POLICY, OPEN);
    let idle = server.connect();
    server.shared.stop();
    drop(server);
    drop(idle);
}

//! Several checks in one call: the outcomes are those of one after another.

use fastrand::Rng;
use redis::Value;
use wardgate_ratelimit::Admission;
use wardgate_ratelimit_store::{Action, Demand, Demands, Failure, Key, RedisCluster, Store};

use crate::cluster::Cluster;
use crate::server::Server;
use crate::{demand, patient};

#[tokio::test]
async fn checks_of_one_call_follow_each_other() {
    let Some(server) = Server::start("checks_of_one_call_follow_each_other") else { return };
    compare(&patient(&server.address()), 150).await;
}

#[tokio::test]
async fn checks_follow_each_other_on_a_cluster() {
    let Some(cluster) = Cluster::start("checks_follow_each_other_on_a_cluster").await else {
        return;
    };
    let store: RedisCluster = cluster.store();
    compare(&store, 60).await;
}

#[tokio::test]
async fn ten_checks_are_one_command() {
    let Some(server) = Server::start("ten_checks_are_one_command") else { return };
    let store = patient(&server.address());
    let one = |key: u8| Demands::new([on("count", key, "wide", 20)]).unwrap();
    // The script is loaded, and the connection open, from here on.
    store.charge(&one(0)).await.unwrap();
    server.command(&["CONFIG", "RESETSTAT"]).await;
    let checks: Vec<_> = (0..10).map(|at| (Action::Charge, one(at % 3))).collect();
    let outcomes = store.run_each(&checks).await;
    assert!(outcomes.iter().all(|found| found.as_ref().unwrap()[0].is_allowed()));
    let stats = match server.command(&["INFO", "commandstats"]).await {
        Value::BulkString(bytes) => String::from_utf8(bytes).unwrap(),
        Value::VerbatimString { text, .. } => text,
        other => panic!("{other:?}"),
    };
    assert!(stats.contains("cmdstat_evalsha:calls=1,"), "{stats}");
}

#[tokio::test]
async fn more_checks_than_a_call_has_room_for_are_several() {
    let test = "more_checks_than_a_call_has_room_for_are_several";
    let Some(server) = Server::start(test) else { return };
    let store = patient(&server.address());
    let check = (Action::Charge, Demands::new([on("many", 0, "wide", 10_000)]).unwrap());
    let found = store.run_each(&vec![check; 5000]).await;
    let remaining: Vec<u64> = found.into_iter().map(|found| found.unwrap()[0].remaining).collect();
    assert_eq!(remaining, (5000..10_000).rev().collect::<Vec<_>>());
    assert_eq!(store.counts().calls, 3);
}

/// Does generated checks in one call on some keys, and one after another on others.
async fn compare(store: &impl Store, rounds: usize) {
    let mut random = Rng::with_seed(10);
    let mut refused = 0;
    for _ in 0..rounds {
        let seed = random.u64(..);
        let [together, apart] = ["together", "apart"].map(|side| {
            let mut random = Rng::with_seed(seed);
            let count = random.usize(1..20);
            (0..count).map(|_| check(side, &mut random)).collect::<Vec<_>>()
        });
        let found = store.run_each(&together).await;
        assert_eq!(found.len(), apart.len());
        for (found, (action, demands)) in found.into_iter().zip(&apart) {
            let told = |outcome: wardgate_ratelimit::Outcome| {
                let is_later = matches!(outcome.admission, Admission::After { .. });
                (outcome.is_allowed(), is_later, outcome.remaining)
            };
            let expected = store.run(*action, demands).await.unwrap();
            let [found, expected] = [found.unwrap(), expected]
                .map(|outcomes| outcomes.into_iter().map(told).collect::<Vec<_>>());
            assert_eq!(found, expected, "{action:?} {demands:?}");
            refused += found.iter().filter(|(is_allowed, ..)| !is_allowed).count();
        }
    }
    assert!(refused > rounds, "{refused}");
}

/// Returns a check, mostly a charge, of one to three states.
fn check(side: &str, random: &mut Rng) -> (Action, Demands) {
    let action = match random.u8(..12) {
        0 => Action::Look,
        1 => Action::Refund,
        2 => Action::Reset,
        _ => Action::Charge,
    };
    let mut all = vec![
        on(side, random.u8(..4), "wide", 12),
        on(side, random.u8(..4), "narrow", 4),
        on(side, random.u8(..4), "other", 6),
    ];
    random.shuffle(&mut all);
    all.truncate(random.usize(1..=3));
    all.iter_mut().for_each(|one| one.cost = random.u64(..4));
    (action, Demands::new(all).unwrap())
}

fn on(side: &str, key: u8, name: &str, quota: u64) -> Demand {
    Demand { key: Key::new([side.as_bytes(), &[key]]), ..demand(name, Failure::Deny, quota) }
}

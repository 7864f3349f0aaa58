//! A cluster of three servers: checks on one slot and on several, slots that move, a node that is away.

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use redis::Value;
use wardgate_ratelimit_store::{
    Action, Away, Demand, Demands, Failure, Key, Options, RedisCluster, Store,
};

use crate::flood::{QUOTA, REQUESTS, flood_of};
use crate::server::{Server, free_port};
use crate::{demand, only, patience};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_on_a_cluster_gets_the_quota() {
    let Some(cluster) = Cluster::start("a_flood_on_a_cluster_gets_the_quota").await else { return };
    assert_eq!(flood_of(Arc::new(cluster.store()), REQUESTS).await, QUOTA);
}

#[tokio::test]
async fn keys_are_on_the_nodes_of_their_slots() {
    let Some(cluster) = Cluster::start("keys_are_on_the_nodes_of_their_slots").await else {
        return;
    };
    let store = cluster.store();
    for key in 0..300_u64 {
        let outcomes = store.charge(&only(&on(key, "a", 5))).await.unwrap();
        assert_eq!(outcomes[0].remaining, 4);
    }
    for node in &cluster.nodes {
        let Value::Int(keys) = node.server.command(&["DBSIZE"]).await else { panic!() };
        assert!((50..150).contains(&keys), "{keys}");
    }
}

#[tokio::test]
async fn limits_on_several_slots_are_charged_together_or_not_at_all() {
    let test = "limits_on_several_slots_are_charged_together_or_not_at_all";
    let Some(cluster) = Cluster::start(test).await else { return };
    let store = cluster.store();
    // Nine limits of keys with slots of their own, and one with less for each key.
    let wide: Vec<Demand> = (0..9).map(|key| on(key, "wide", 10)).collect();
    for key in 0..9 {
        let mut all = wide.clone();
        all.insert(4, on(key, "narrow", 1));
        let all = Demands::new(all).unwrap();
        let outcomes = store.charge(&all).await.unwrap();
        let remaining: Vec<u64> = outcomes.iter().map(|outcome| outcome.remaining).collect();
        let mut expected = vec![9 - key; 9];
        expected.insert(4, 0);
        assert_eq!(remaining, expected);
        for _ in 0..3 {
            let outcomes = store.charge(&all).await.unwrap();
            let allowed: Vec<bool> = outcomes.iter().map(|one| one.is_allowed()).collect();
            assert_eq!(allowed, (0..10).map(|at| at != 4).collect::<Vec<_>>());
        }
        let looked = store.look(&all).await.unwrap();
        let remaining: Vec<u64> = looked.iter().map(|outcome| outcome.remaining).collect();
        assert_eq!(remaining, expected);
    }
}

#[tokio::test]
async fn a_slot_that_moved_is_found() {
    let Some(cluster) = Cluster::start("a_slot_that_moved_is_found").await else { return };
    let store = cluster.store();
    let names = cluster.names().await;
    // The store knows all slots from here on.
    store.charge(&only(&on(0, "a", 5))).await.unwrap();
    for key in 1..20 {
        let slot = cluster.slot(&on(key, "a", 5)).await;
        let to = usize::try_from(key % 3).unwrap();
        for node in &cluster.nodes {
            node.server.command(&["CLUSTER", "SETSLOT", &slot, "NODE", &names[to]]).await;
        }
        // So that the claim of the new owner is newer than those that are on their way between the nodes.
        cluster.nodes[to].server.command(&["CLUSTER", "BUMPEPOCH"]).await;
        let outcomes = store.charge(&only(&on(key, "a", 5))).await.unwrap();
        assert_eq!(outcomes[0].remaining, 4);
        let count = ["CLUSTER", "COUNTKEYSINSLOT", &slot];
        assert_eq!(cluster.nodes[to].server.command(&count).await, Value::Int(1));
    }
}

/// New keys are on the node to which the slot goes; those that are on the other one still are served there.
#[tokio::test]
async fn a_slot_on_its_way_is_served_by_both_nodes() {
    let test = "a_slot_on_its_way_is_served_by_both_nodes";
    let Some(cluster) = Cluster::start(test).await else { return };
    let store = cluster.store();
    let names = cluster.names().await;
    store.charge(&only(&on(0, "a", 5))).await.unwrap();
    for key in 1..6 {
        let (old, new) = (on(key, "old", 5), on(key, "new", 5));
        assert_eq!(store.charge(&only(&old)).await.unwrap()[0].remaining, 4);
        let slot = cluster.slot(&old).await;
        let from = cluster.owner(&slot).await;
        let to = (from + 1) % 3;
        let [source, target] = [&cluster.nodes[from].server, &cluster.nodes[to].server];
        target.command(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &names[from]]).await;
        source.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &names[to]]).await;
        for remaining in [4, 3] {
            assert_eq!(store.charge(&only(&new)).await.unwrap()[0].remaining, remaining);
            // A script that a server has lost is loaded on its way, too.
            target.command(&["SCRIPT", "FLUSH"]).await;
        }
        assert_eq!(store.charge(&only(&old)).await.unwrap()[0].remaining, 3);
        assert_eq!(target.command(&["CLUSTER", "COUNTKEYSINSLOT", &slot]).await, Value::Int(1));
        // Neither node has both keys of this check.
        let both = Demands::new([old.clone(), new.clone()]).unwrap();
        let away = store.charge(&both).await.unwrap_err();
        assert_eq!(away, Away::Refused { code: "TRYAGAIN".to_owned() });
        assert_eq!(store.look(&only(&old)).await.unwrap()[0].remaining, 3);
        // The last key moves, and the slot with it.
        let (port, name) = (target.port().to_string(), cluster.name_of(&old));
        source.command(&["MIGRATE", "127.0.0.1", &port, &name, "0", "1000"]).await;
        assert_eq!(store.charge(&both).await.unwrap()[1].remaining, 2);
        for node in [target, source] {
            node.command(&["CLUSTER", "SETSLOT", &slot, "NODE", &names[to]]).await;
        }
        assert_eq!(store.charge(&both).await.unwrap()[0].remaining, 1);
    }
}

#[tokio::test]
async fn a_node_that_is_away_takes_its_own_slots_along_and_comes_back() {
    let test = "a_node_that_is_away_takes_its_own_slots_along_and_comes_back";
    let Some(mut cluster) = Cluster::start(test).await else { return };
    let store = RedisCluster::new(&cluster.addresses(), Options::default()).unwrap();
    for key in 0..30 {
        charged(&store, key).await;
    }
    let Node { server, bus, folder } = cluster.nodes.remove(0);
    let port = server.kill();
    let mut lost = Vec::new();
    for key in 0..30 {
        match store.run(Action::Look, &only(&on(key, "a", 5))).await {
            Ok(outcomes) => assert_eq!(outcomes[0].remaining, 4),
            Err(Away::Late) => {}
            Err(_) => lost.push(key),
        }
    }
    assert!((1..30).contains(&lost.len()), "{lost:?}");
    cluster.nodes.insert(0, Node::start_at(port, bus, folder));
    for key in lost {
        // It has no file of its keys, and is empty.
        assert_eq!(charged(&store, key).await, 4);
    }
}

/// Charges a token when the store answers, and returns what remains.
async fn charged(store: &RedisCluster, key: u64) -> u64 {
    let demands = only(&on(key, "a", 5));
    let charged = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            if let Ok(outcomes) = store.charge(&demands).await {
                return outcomes[0].remaining;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    charged.await.unwrap()
}

fn on(key: u64, name: &str, quota: u64) -> Demand {
    let key = Key::new([key.to_le_bytes().as_slice()]);
    Demand { key, ..demand(name, Failure::Deny, quota) }
}

fn hex(demand: &Demand) -> String {
    demand.key.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(value: &Value) -> String {
    let Value::BulkString(bytes) = value else { panic!("{value:?}") };
    String::from_utf8(bytes.clone()).unwrap()
}

/// Three masters with a third of the slots each.
pub(crate) struct Cluster {
    nodes: Vec<Node>,
    folder: PathBuf,
}

/// A server with the port of its bus and the folder of its view of the cluster.
struct Node {
    server: Server,
    bus: u16,
    folder: PathBuf,
}

impl Cluster {
    /// Starts a cluster and waits until all nodes know all slots.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        drop(Server::start(test)?);
        let folder = std::env::temp_dir().join(format!("{test}-{}", std::process::id()));
        let nodes: Vec<Node> = (0..3)
            .map(|number| Node::start_at(free_port(), free_port(), folder.join(number.to_string())))
            .collect();
        let [port, bus] = [nodes[0].server.port(), nodes[0].bus].map(|number| number.to_string());
        let parts = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];
        for ((node, [first, last]), epoch) in nodes.iter().zip(parts).zip(["1", "2", "3"]) {
            node.server.command(&["CLUSTER", "SET-CONFIG-EPOCH", epoch]).await;
            node.server.command(&["CLUSTER", "ADDSLOTSRANGE", first, last]).await;
            node.server.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]).await;
        }
        for node in &nodes {
            while !node.knows_all().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Some(Self { nodes, folder })
    }

    /// Returns the names of the nodes.
    async fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for node in &self.nodes {
            names.push(text(&node.server.command(&["CLUSTER", "MYID"]).await));
        }
        names
    }

    /// Returns the slot of the key of a demand.
    async fn slot(&self, demand: &Demand) -> String {
        let name = format!("{{{}}}", hex(demand));
        match self.nodes[0].server.command(&["CLUSTER", "KEYSLOT", &name]).await {
            Value::Int(slot) => slot.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the number of the node that has keys of a slot.
    async fn owner(&self, slot: &str) -> usize {
        for (number, node) in self.nodes.iter().enumerate() {
            let count = node.server.command(&["CLUSTER", "COUNTKEYSINSLOT", slot]).await;
            if count != Value::Int(0) {
                return number;
            }
        }
        panic!("no node has a key of {slot}")
    }

    /// Returns the name of the key of a demand.
    fn name_of(&self, demand: &Demand) -> String {
        let micros = 300_u64 * 86_400_000_000;
        format!("wg1:{{{}}}:g{micros}:{}", hex(demand), demand.limit.name())
    }

    pub(crate) fn store(&self) -> RedisCluster {
        RedisCluster::new(&self.addresses(), patience()).unwrap()
    }

    fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.server.address()).collect()
    }
}

impl Node {
    fn start_at(port: u16, bus: u16, folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        let bus_text = bus.to_string();
        let options = ["--cluster-enabled", "yes", "--cluster-port", &bus_text, "--dir"];
        let whole = ["--cluster-require-full-coverage", "no"];
        let options = [&options[..], &[folder.to_str().unwrap()], &whole].concat();
        Self { server: Server::start_with(port, &options), bus, folder }
    }

    async fn knows_all(&self) -> bool {
        let info = text(&self.server.command(&["CLUSTER", "INFO"]).await);
        ["cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3", "cluster_size:3"]
            .iter()
            .all(|line| info.contains(line))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

//! A Redis that is killed, paused, restarted empty, read-only or out of memory.
//!
//! A check that returns at all did so by its deadline: nothing else ends one whose server is silent.

use core::time::Duration;

use wardgate_ratelimit::WhenFull;
use wardgate_ratelimit_store::{
    Answer, Away, Demands, Failure, Guarded, Memory, Options, Redis, Share, Standing,
};

use crate::server::Server;
use crate::{demand, only, patience};

#[tokio::test]
async fn a_server_that_is_killed_and_restarted_empty() {
    let test = "a_server_that_is_killed_and_restarted_empty";
    let Some(server) = Server::start(test) else { return };
    let scene = Scene::new(&server.address(), patience()).await;
    let port = server.kill();
    scene.goes_away(|away| *away == Away::Lost).await;
    let _server = Server::start_at(port);
    scene.comes_back(9).await;
}

#[tokio::test]
async fn a_server_that_is_paused() {
    let Some(server) = Server::start("a_server_that_is_paused") else { return };
    let scene = Scene::new(&server.address(), Options::default()).await;
    server.pause();
    scene.goes_away(|away| *away == Away::Late).await;
    server.resume();
    // What waited in its sockets may have been charged meanwhile.
    scene.comes_back(0).await;
}

#[tokio::test]
async fn a_server_that_became_a_replica() {
    let Some(server) = Server::start("a_server_that_became_a_replica") else { return };
    let scene = Scene::new(&server.address(), patience()).await;
    server.command(&["REPLICAOF", "127.0.0.1", "1"]).await;
    scene.goes_away(|away| *away == Away::Refused { code: "READONLY".to_owned() }).await;
    server.command(&["REPLICAOF", "NO", "ONE"]).await;
    scene.comes_back(QUOTA - CHARGED - 1).await;
}

#[tokio::test]
async fn a_server_without_memory() {
    let Some(server) = Server::start("a_server_without_memory") else { return };
    let scene = Scene::new(&server.address(), patience()).await;
    server.command(&["CONFIG", "SET", "maxmemory", "1"]).await;
    scene.goes_away(|away| *away == Away::Refused { code: "OOM".to_owned() }).await;
    server.command(&["CONFIG", "SET", "maxmemory", "0"]).await;
    scene.comes_back(QUOTA - CHARGED - 1).await;
}

/// A store that has answered, and a limit for each treatment.
pub(crate) struct Scene {
    guarded: Guarded<Redis>,
    local: Demands,
    deny: Demands,
    allow: Demands,
    /// The checks that were late before the store went away.
    late: u64,
}

impl Scene {
    /// Makes a store, and takes some tokens of each limit.
    pub(crate) async fn new(address: &str, options: Options) -> Self {
        let mut scene = Self::unknown(address, options);
        for demands in [&scene.local, &scene.deny, &scene.allow] {
            let mut charged = 0;
            // A check may take longer than the deadline on a busy machine.
            while charged < CHARGED {
                let answer = scene.guarded.charge(demands).await;
                charged += u64::from(answer.away.is_none());
                scene.late += u64::from(answer.away.is_some());
            }
        }
        scene
    }

    /// Makes a store that has not answered yet.
    pub(crate) fn unknown(address: &str, options: Options) -> Self {
        let [local, deny, allow] =
            [("local", Failure::Local), ("deny", Failure::Deny), ("allow", Failure::Allow)]
                .map(|(name, failure)| only(&demand(name, failure, QUOTA)));
        let store = Redis::new(address, options).unwrap();
        let memory = Memory::new(100, WhenFull::Deny);
        let guarded = Guarded::new(store, memory, Share::new(500).unwrap());
        Self { guarded, local, deny, allow, late: 0 }
    }

    /// Asks until the breaker opens, and some more: each limit is treated as it says, and the
    /// first reasons are the expected ones.
    pub(crate) async fn goes_away(&self, is_reason: impl Fn(&Away) -> bool) {
        let mut admitted = 0;
        let late = self.late;
        for round in 0..20 {
            let [local, deny, allow] = self.ask().await;
            for answer in [&local, &deny, &allow] {
                let away = answer.away.as_ref().unwrap();
                assert!(is_reason(away) || *away == Away::Open, "{away:?} in round {round}");
            }
            assert!(is_reason(local.away.as_ref().unwrap()) || round > 0);
            assert_eq!(deny.standings, [Standing::Denied]);
            assert_eq!(allow.standings, [Standing::Allowed]);
            assert!(matches!(local.standings[..], [Standing::Local(_)]));
            admitted += u64::from(local.is_allowed());
        }
        // Half of the quota, of which some was used before: never more, and not nothing. (Checks that
        // were late before used more.)
        let counts = self.guarded.store().counts();
        let charged = if counts.answered > 0 { CHARGED } else { 0 };
        assert!((1..=QUOTA / 2 - charged).contains(&admitted), "{admitted}");
        assert!(admitted == QUOTA / 2 - charged || late > 0, "{admitted}");
        assert!(self.guarded.store().is_open());
        assert!(self.guarded.store().counts().opened > 0);
    }

    /// Asks until the store answers again, and expects at least so many tokens then.
    pub(crate) async fn comes_back(&self, at_least: u64) {
        let remaining = tokio::time::timeout(Duration::from_secs(60), async {
            loop {
                let answer = self.guarded.charge(&self.deny).await;
                if let [Standing::Known(outcome)] = answer.standings[..] {
                    return outcome.remaining;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let remaining = remaining.await.unwrap();
        assert!((at_least..QUOTA).contains(&remaining), "{remaining}");
        assert!(!self.guarded.store().is_open());
        for demands in [&self.local, &self.deny, &self.allow] {
            let mut answer = self.guarded.charge(demands).await;
            // One slow reply on a busy machine is no outage.
            while answer.away.is_some() {
                answer = self.guarded.charge(demands).await;
            }
            assert!(matches!(answer.standings[..], [Standing::Known(_)]));
        }
    }

    async fn ask(&self) -> [Answer; 3] {
        [
            self.guarded.charge(&self.local).await,
            self.guarded.charge(&self.deny).await,
            self.guarded.charge(&self.allow).await,
        ]
    }
}

/// The tokens of each limit.
const QUOTA: u64 = 20;

/// The tokens that are taken before the store goes away.
const CHARGED: u64 = 3;

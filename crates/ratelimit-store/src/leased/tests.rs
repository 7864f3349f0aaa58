//! Leases over a memory that several of them share.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use wardgate_ratelimit::{WhenFull, Window};

use super::*;
use crate::demand::{Failure, Key, Limit, Terms};
use crate::memory::Memory;

/// A memory that counts what it is asked.
struct Counted {
    memory: Memory,
    calls: AtomicUsize,
}

impl Store for Counted {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(self.memory.apply(action, demands).into_vec())
    }
}

#[tokio::test]
async fn processes_spend_what_they_paid_and_no_more() {
    for algorithm in [GCRA, Algorithm::Fixed, Algorithm::Sliding] {
        let store = counted();
        let processes = [(); 3].map(|()| Leased::new(Arc::clone(&store), 100));
        let demands = only(&demand("a", algorithm, QUOTA));
        let mut random = fastrand::Rng::with_seed(1);
        let mut allowed = 0;
        for _ in 0..2 * QUOTA {
            let process = &processes[random.usize(..3)];
            allowed += u64::from(is_done(&process.charge(&demands).await.unwrap()));
        }
        assert_eq!(allowed, QUOTA, "{algorithm:?}");
    }
}

#[tokio::test]
async fn costs_of_all_sizes_stay_within_the_quota() {
    // A lease of a fixed window loses less than a cost of sixteen.
    for (algorithm, lost) in [(GCRA, QUOTA / 100), (Algorithm::Fixed, QUOTA / 16)] {
        let store = counted();
        let processes = [(); 3].map(|()| Leased::new(Arc::clone(&store), 100));
        let mut random = fastrand::Rng::with_seed(2);
        let mut spent = 0;
        for _ in 0..QUOTA {
            let cost = random.u64(0..20);
            let demands = only(&Demand { cost, ..demand("a", algorithm, QUOTA) });
            let outcomes = processes[random.usize(..3)].charge(&demands).await.unwrap();
            spent += if is_done(&outcomes) { cost } else { 0 };
        }
        assert!((QUOTA - lost..=QUOTA).contains(&spent), "{spent} {algorithm:?}");
    }
}

#[tokio::test]
async fn a_hot_key_seldom_asks_the_store() {
    let store = counted();
    let leased = Leased::new(Arc::clone(&store), 100);
    let demands = only(&demand("a", GCRA, 1_000_000));
    for used in 1..=10_000 {
        let outcomes = leased.charge(&demands).await.unwrap();
        assert_eq!(outcomes[0].remaining, 1_000_000 - used);
    }
    assert!(store.calls.load(Ordering::Relaxed) <= 100);
}

#[tokio::test]
async fn a_refusal_of_another_limit_costs_no_lease() {
    let store = counted();
    let leased = Leased::new(Arc::clone(&store), 100);
    let (hot, small) = (demand("hot", GCRA, QUOTA), demand("small", Algorithm::Sliding, 3));
    for _ in 0..5 {
        leased.charge(&only(&hot)).await.unwrap();
    }
    let both = Demands::new([hot.clone(), small]).unwrap();
    let mut allowed = 0;
    for _ in 0..100 {
        let outcomes = leased.charge(&both).await.unwrap();
        allowed += u64::from(is_done(&outcomes));
    }
    assert_eq!(allowed, 3);
    let outcomes = leased.charge(&only(&hot)).await.unwrap();
    assert_eq!(outcomes[0].remaining, QUOTA - 5 - 3 - 1);
}

#[tokio::test]
async fn tokens_go_back_when_a_store_is_closed() {
    let store = counted();
    let leased = Leased::new(Arc::clone(&store), 100);
    let demands = only(&demand("a", GCRA, QUOTA));
    for _ in 0..5 {
        leased.charge(&demands).await.unwrap();
    }
    let left = store.memory.apply(Action::Look, &demands)[0].remaining;
    assert!(left < QUOTA - 5, "{left}");
    leased.close().await.unwrap();
    assert_eq!(store.memory.apply(Action::Look, &demands)[0].remaining, QUOTA - 5);
}

#[tokio::test]
async fn another_quota_spends_no_tokens_of_a_lease() {
    let store = counted();
    let leased = Leased::new(Arc::clone(&store), 100);
    for _ in 0..5 {
        leased.charge(&only(&demand("a", Algorithm::Fixed, QUOTA))).await.unwrap();
    }
    // The smaller quota is used up in the store, tokens on lease included.
    let few = only(&demand("a", Algorithm::Fixed, 5));
    assert!(!is_done(&leased.charge(&few).await.unwrap()));
}

#[tokio::test]
async fn keys_beyond_the_room_for_leases_are_exact() {
    let store = counted();
    let leased = Leased::new(Arc::clone(&store), 1);
    for key in 0..1000_u64 {
        let key = Key::new([key.to_le_bytes().as_slice()]);
        let demands = only(&Demand { key, ..demand("a", GCRA, 2) });
        let mut allowed = Vec::new();
        for _ in 0..3 {
            allowed.push(is_done(&leased.charge(&demands).await.unwrap()));
        }
        assert_eq!(allowed, [true, true, false]);
    }
}

fn counted() -> Arc<Counted> {
    let memory = Memory::new(10_000, WhenFull::Deny);
    Arc::new(Counted { memory, calls: AtomicUsize::new(0) })
}

/// Returns a demand for one token in a window so long that none comes back in a test.
fn demand(name: &str, algorithm: Algorithm, quota: u64) -> Demand {
    let window = Window::Micros(365 * 86_400_000_000);
    Demand {
        limit: Limit::new(name, Failure::Local).unwrap(),
        key: Key::new([b"sam".as_slice()]),
        terms: Terms::new(algorithm, quota, window).unwrap(),
        cost: 1,
    }
}

fn only(demand: &Demand) -> Demands {
    Demands::new([demand.clone()]).unwrap()
}

const GCRA: Algorithm = Algorithm::Gcra { burst: None };

/// The tokens of a key.
const QUOTA: u64 = 5_000;

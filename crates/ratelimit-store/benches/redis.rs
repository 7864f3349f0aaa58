//! Measures checks on a real Redis of the system, started here, beside plain commands of the same
//! client. Answers are asserted; each figure is the best of several rounds.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that cannot go on ends"
)]

#[path = "../tests/redis/server.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod server;

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use redis::aio::MultiplexedConnection;
use wardgate_ratelimit::{Algorithm, WhenFull, Window};
use wardgate_ratelimit_store::{
    Demand, Demands, Failure, Key, Leased, Limit, Memory, Options, Redis, Store, Terms,
};

use server::Server;

fn main() {
    let Some(server) = Server::start("bench") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn(measure(server.address()))).unwrap();
}

async fn measure(address: String) {
    let client = redis::Client::open(address.as_str()).unwrap();
    let plain = client.get_multiplexed_async_connection().await.unwrap();
    let options = Options { deadline: Duration::from_secs(5), ..Options::default() };
    let store = Arc::new(Redis::new(&address, options).unwrap());
    for callers in [1, 64] {
        let each = CHECKS / if callers == 1 { 10 } else { callers };
        for command in ["GET", "INCR"] {
            let time = best(|| commands(plain.clone(), command, callers, each)).await;
            print_row(&format!("{command}, {callers} callers"), time);
        }
        let leased = Arc::new(Leased::new(Arc::clone(&store), 1000));
        let time = best(|| checks(Arc::clone(&leased), 1, true, callers, each * 10)).await;
        print_row(&format!("check of a lease, {callers} callers"), time);
        let memory = Arc::new(Memory::new(1000, WhenFull::Deny));
        let time = best(|| checks(Arc::clone(&memory), 1, true, callers, each * 10)).await;
        print_row(&format!("check in memory, {callers} callers"), time);
        for (name, limits, is_hot) in
            [("own keys", 1, false), ("one key", 1, true), ("4 limits", 4, false)]
        {
            let before = store.counts();
            let time = best(|| checks(Arc::clone(&store), limits, is_hot, callers, each)).await;
            let after = store.counts();
            let calls = after.calls - before.calls;
            let batch = (after.answered - before.answered) / calls;
            print_row(&format!("check, {name}, {callers} callers ({batch} a call)"), time);
        }
    }
}

async fn best<F: Future<Output = Duration>>(mut one: impl FnMut() -> F) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        best = best.min(one().await);
    }
    best
}

async fn commands(
    plain: MultiplexedConnection,
    name: &'static str,
    callers: usize,
    each: usize,
) -> Duration {
    let start = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let mut plain = plain.clone();
            tokio::spawn(async move {
                let key = format!("plain{caller}");
                for _ in 0..each {
                    let mut cmd = redis::cmd(name);
                    cmd.arg(&key);
                    let _: Option<u64> = cmd.query_async(&mut plain).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    per(start.elapsed(), callers * each)
}

async fn checks<S: Store + 'static>(
    store: Arc<S>,
    limits: usize,
    is_hot: bool,
    callers: usize,
    each: usize,
) -> Duration {
    let start = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let store = Arc::clone(&store);
            let demands = demands(limits, if is_hot { 0 } else { caller });
            tokio::spawn(async move {
                for _ in 0..each {
                    let outcomes = store.charge(&demands).await.unwrap();
                    assert!(outcomes.iter().all(|outcome| outcome.is_allowed()));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    per(start.elapsed(), callers * each)
}

fn demands(limits: usize, caller: usize) -> Demands {
    let demand = |limit: usize| Demand {
        limit: Limit::new(&format!("limit-{limit}"), Failure::Local).unwrap(),
        key: Key::new([caller.to_le_bytes().as_slice()]),
        terms: Terms::new(Algorithm::Gcra { burst: None }, 1_000_000_000, Window::HOUR).unwrap(),
        cost: 1,
    };
    Demands::new((0..limits).map(demand).collect::<Vec<_>>()).unwrap()
}

fn per(time: Duration, count: usize) -> Duration {
    time / u32::try_from(count).unwrap()
}

fn print_row(name: &str, time: Duration) {
    let rate = 1.0 / time.as_secs_f64();
    println!("{name:<50} {:>8.2} us {rate:>10.0}/s", time.as_secs_f64() * 1e6);
}

const WORKERS: usize = 2;
const CHECKS: usize = 200_000;
const ROUNDS: usize = 5;

//! The store on a real Redis: exact, together or not at all, and away in every way.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod away;
mod cluster;
mod exact;
mod flood;
mod garbage;
mod order;
mod server;
mod shared;

use core::time::Duration;

use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{Demand, Demands, Failure, Key, Limit, Options, Redis, Terms};

/// Returns a demand for one token of the key `sam`, of a quota for 300 days.
fn demand(name: &str, failure: Failure, quota: u64) -> Demand {
    let window = Window::Micros(300 * 86_400_000_000);
    Demand {
        limit: Limit::new(name, failure).unwrap(),
        key: Key::new([b"sam".as_slice()]),
        terms: Terms::new(Algorithm::Gcra { burst: None }, quota, window).unwrap(),
        cost: 1,
    }
}

fn only(demand: &Demand) -> Demands {
    Demands::new([demand.clone()]).unwrap()
}

fn patient(address: &str) -> Redis {
    Redis::new(address, patience()).unwrap()
}

/// Returns options with a deadline that a busy machine meets too.
fn patience() -> Options {
    Options { deadline: Duration::from_secs(60), ..Options::default() }
}

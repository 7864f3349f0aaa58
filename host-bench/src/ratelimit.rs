//! Rate limits: on a real Redis, in process beside governor, and with a decision.
//!
//! Every check of a row that is timed must be admitted, and admitted ones are counted before any is:
//! a quota that is smaller than the number of requests admits exactly the quota.

mod counter;
mod decision;
mod process;
mod redis;
mod server;

use std::time::Instant;

use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{Demand, Demands, Failure, Key, Limit, Terms};

use crate::arguments::{Arguments, RATELIMIT};
use crate::ratios::Others::Named;
use crate::ratios::Promise;
use crate::report::{NATIVE, Section};

pub use counter::{CHECKS, allocations};

/// Measures everything.
pub(crate) fn sections(arguments: &Arguments) -> Result<Vec<Section>, String> {
    let start = Instant::now();
    let mut sections = vec![process::section(arguments)?, decision::section(arguments)?];
    if let (Some(counter), Some(section)) = (&arguments.counter, sections.first_mut()) {
        section.details.push_str(&counter::table(counter)?);
    }
    match server::Server::start()? {
        Some(server) => sections.extend(redis::sections(&server, arguments)?),
        None => eprintln!("rate limits on Redis are left out: redis-server is not installed"),
    }
    eprintln!("{RATELIMIT}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(sections)
}

/// The rival, exactly as `Cargo.toml` pins it.
pub(crate) const GOVERNOR: &str = "governor 0.10.4";

/// The ratios that Wardgate promises of rate limits. Where the other row is a plain command or a
/// check of fewer limits, a ratio below 1 bounds by how much ours may be slower.
pub(crate) const PROMISES: &[Promise] = &[
    (process::NAME, NATIVE, process::TABLE, Named(process::GOVERNOR_ALONE), 2.0),
    (process::NAME, NATIVE, process::TABLE_TWO, Named(process::GOVERNOR_TWO), 2.0),
    (process::NAME, NATIVE, process::MEMORY, Named(process::GOVERNOR), 2.0),
    (redis::ALONE, NATIVE, redis::CHECK, Named(redis::GET), 0.8),
    (redis::ALONE, NATIVE, redis::FOUR, Named(redis::CHECK), 0.667),
    (redis::MANY, NATIVE, redis::FOUR, Named(redis::CHECK), 0.667),
];

/// Returns the demands of one check for one token of each of some limits.
fn demands(limits: usize, caller: usize, quota: u64) -> Result<Demands, String> {
    let terms = Terms::new(Algorithm::Gcra { burst: None }, quota, Window::HOUR);
    let terms = terms.map_err(|error| error.to_string())?;
    let demand = |number: usize| {
        let limit = Limit::new(&format!("limit-{number}"), Failure::Deny);
        let limit = limit.map_err(|error| error.to_string())?;
        Ok(Demand { limit, key: Key::new([caller.to_le_bytes().as_slice()]), terms, cost: 1 })
    };
    let demands: Result<Vec<Demand>, String> = (0..limits).map(demand).collect();
    Demands::new(demands?).map_err(|error| error.to_string())
}

/// A quota that no measurement uses up.
const PLENTY: u64 = 1_000_000_000;

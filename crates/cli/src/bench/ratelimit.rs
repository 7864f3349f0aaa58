//! `wardgate bench ratelimit`: measures checks of rate limits on Redis, on leases and in this process.
//!
//! Every check that is timed must be admitted, and before any is, a flood of more requests than a
//! quota must get exactly the quota.

mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use wardgate_ratelimit::{Algorithm, WhenFull, Window};
use wardgate_ratelimit_store::{
    Demand, Demands, Failure, Key, Leased, Limit, Memory, Options, Redis, Store, Terms,
};

use super::machine::Machine;
use super::units::{approximate, grouped, time};
use crate::arguments::RateLimit;
use crate::failure::{Failure as Fault, Result, Status};
use crate::output::{Output, progress};
use server::Server;

pub(crate) fn run(options: &RateLimit, out: &mut Output) -> Result<Status> {
    let server = match &options.redis {
        Some(_) => None,
        None => Some(Server::start().map_err(Fault::usage)?),
    };
    let started = server.as_ref().map(Server::address);
    let address = options.redis.as_ref().or(started.as_ref());
    let address = address.map_or("", String::as_str);
    let measured = Bench::new(address, options)?.measure();
    progress("");
    let rows = measured.map_err(|message| Fault::Message(Status::Disagreement, message))?;
    out.line(format_args!("{QUOTA} of {REQUESTS} requests at once were admitted, the quota"))?;
    out.line("")?;
    let many = format!("{} callers", options.callers);
    out.line(format_args!("{:<32}{:>12}{many:>16}{:>16}", "a check", "one caller", ""))?;
    for row in rows {
        out.line(row)?;
    }
    out.line("")?;
    let machine = Machine::here();
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let debug =
        if cfg!(debug_assertions) { "; NOT OPTIMISED: these figures mean nothing" } else { "" };
    out.line(format_args!("{processor}, {} cores, {}{debug}", machine.cores, machine.system))?;
    Ok(Status::Done)
}

/// A store, and the runtime of its callers.
struct Bench<'o> {
    options: &'o RateLimit,
    runtime: Runtime,
    store: Arc<Redis>,
}

impl<'o> Bench<'o> {
    fn new(address: &str, options: &'o RateLimit) -> Result<Self> {
        let runtime = Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Fault::system(error.to_string()))?;
        let patience = Options { deadline: PATIENCE, ..Options::default() };
        let store = {
            let _entered = runtime.enter();
            Redis::new(address, patience).map_err(|error| Fault::usage(error.to_string()))?
        };
        Ok(Self { options, runtime, store: Arc::new(store) })
    }

    /// Returns the rows of the table.
    fn measure(&self) -> core::result::Result<Vec<String>, String> {
        progress("a flood ...");
        self.flood()?;
        let leased = Arc::new(Leased::new(Arc::clone(&self.store), 2048));
        let memory = Arc::new(Memory::new(2048, WhenFull::Deny));
        Ok(vec![
            self.row("one limit", &self.store, 1)?,
            self.row("four limits", &self.store, 4)?,
            self.row("one limit, leased", &leased, 1)?,
            self.row("one limit, in this process", &memory, 1)?,
        ])
    }

    /// Measures one caller and many, and returns a line about them.
    fn row<S: Store + 'static>(
        &self,
        name: &str,
        store: &Arc<S>,
        limits: usize,
    ) -> core::result::Result<String, String> {
        progress(&format!("{name} ..."));
        let one = self.best(store, limits, 1)?;
        let many = self.best(store, limits, self.options.callers)?;
        let rate = format!("{}/s", grouped(1e9 / many));
        Ok(format!("{name:<32}{:>12}{:>16}{rate:>16}", time(one), time(many)))
    }

    /// Returns the nanoseconds of a check in the best of some rounds.
    fn best<S: Store + 'static>(
        &self,
        store: &Arc<S>,
        limits: usize,
        callers: u32,
    ) -> core::result::Result<f64, String> {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let tasks: core::result::Result<Vec<_>, String> = (0..callers)
                .map(|caller| {
                    let demands = demands(limits, caller, PLENTY)?;
                    let (store, seconds) = (Arc::clone(store), self.options.seconds);
                    Ok(self.runtime.spawn(charge_for(store, demands, start, seconds)))
                })
                .collect();
            let mut checks: u64 = 0;
            for task in tasks? {
                let done = self.runtime.block_on(task).map_err(|error| error.to_string())?;
                checks = checks.saturating_add(done?);
            }
            let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
            best = best.min(nanoseconds / approximate(checks.max(1)));
        }
        Ok(best)
    }

    /// Sends more requests at once than the quota, and compares the number of those that are admitted.
    fn flood(&self) -> core::result::Result<(), String> {
        let demands = demands(1, u32::MAX, QUOTA)?;
        let reset = || self.runtime.block_on(self.store.reset(&demands));
        reset().map_err(|away| away.to_string())?;
        let one = || {
            let (store, demands) = (Arc::clone(&self.store), demands.clone());
            self.runtime.spawn(async move { store.charge(&demands).await })
        };
        let tasks: Vec<_> = (0..REQUESTS).map(|_| one()).collect();
        let mut admitted: u64 = 0;
        for task in tasks {
            let found = self.runtime.block_on(task).map_err(|error| error.to_string())?;
            let found = found.map_err(|away| away.to_string())?;
            admitted += u64::from(found.iter().all(|outcome| outcome.is_allowed()));
        }
        reset().map_err(|away| away.to_string())?;
        match admitted {
            QUOTA => Ok(()),
            other => Err(format!("{other} of {REQUESTS} requests were admitted, not {QUOTA}")),
        }
    }
}

/// Charges until so much time has passed since `start`, and returns the number of checks.
async fn charge_for<S: Store>(
    store: Arc<S>,
    demands: Demands,
    start: Instant,
    time: Duration,
) -> core::result::Result<u64, String> {
    let mut checks: u64 = 0;
    while start.elapsed() < time {
        for _ in 0..CHECKS {
            let outcomes = store.charge(&demands).await.map_err(|away| away.to_string())?;
            if !outcomes.iter().all(|outcome| outcome.is_allowed()) {
                return Err("a check with plenty of tokens was refused".to_owned());
            }
        }
        checks = checks.saturating_add(CHECKS);
    }
    Ok(checks)
}

/// Returns the demands of one check for one token of each of some limits.
fn demands(limits: usize, caller: u32, quota: u64) -> core::result::Result<Demands, String> {
    let window = if quota == PLENTY { Window::HOUR } else { Window::Micros(366 * DAY) };
    let terms = Terms::new(Algorithm::Gcra { burst: None }, quota, window);
    let terms = terms.map_err(|error| error.to_string())?;
    let demand = |number: usize| {
        let limit = Limit::new(&format!("bench-{number}"), Failure::Deny);
        let limit = limit.map_err(|error| error.to_string())?;
        let key = Key::new([b"wardgate bench".as_slice(), &caller.to_le_bytes()]);
        Ok(Demand { limit, key, terms, cost: 1 })
    };
    let demands: core::result::Result<Vec<Demand>, String> = (0..limits).map(demand).collect();
    Demands::new(demands?).map_err(|error| error.to_string())
}

const ROUNDS: u32 = 3;

/// The checks between two looks at the clock.
const CHECKS: u64 = 10;

const DAY: u64 = 86_400_000_000;

/// A quota that no measurement uses up.
const PLENTY: u64 = 1_000_000_000;

const QUOTA: u64 = 1000;
const REQUESTS: u64 = 1500;

/// The deadline of a check: a slow machine is no outage.
const PATIENCE: Duration = Duration::from_secs(10);

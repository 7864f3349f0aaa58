//! Checks on a real Redis beside plain commands of the client that the store uses.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Client, cmd};
use tokio::runtime::{Builder, Runtime};
use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{Demand, Demands, Leased, Options, Redis, Store, Terms};

use super::server::Server;
use super::{PLENTY, demands};
use crate::arguments::Arguments;
use crate::measure::{self, Figure, Row, Side};
use crate::report::{NATIVE, Section, duration};

/// Measures one caller and many.
pub(super) fn sections(server: &Server, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let bench = Bench::new(server)?;
    let flood = bench.flood()?;
    let [alone, many] = [1, CALLERS].map(|callers| bench.figures(callers, arguments));
    let title = "Rate limits on Redis, one caller: time of a check";
    let alone = Section::new(ALONE, title, NOTE).with(NATIVE, alone?);
    let title = "Rate limits on Redis, 64 callers: time for each check";
    let mut many = Section::new(MANY, title, NOTE).with(NATIVE, many?);
    many.details = format!("\nThe server is {}. {flood}\n", server.version);
    Ok(vec![alone, many])
}

/// A store, and a connection for plain commands.
struct Bench {
    runtime: Runtime,
    store: Arc<Redis>,
    plain: MultiplexedConnection,
}

impl Bench {
    fn new(server: &Server) -> Result<Self, String> {
        let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let client = Client::open(server.address()).map_err(|error| error.to_string())?;
        let plain = runtime.block_on(client.get_multiplexed_async_connection());
        let options = Options { deadline: Duration::from_secs(10), ..Options::default() };
        let store = {
            let _entered = runtime.enter();
            Redis::new(&server.address(), options).map_err(|error| error.to_string())?
        };
        let plain = plain.map_err(|error| error.to_string())?;
        Ok(Self { runtime, store: Arc::new(store), plain })
    }

    fn figures(&self, callers: usize, arguments: &Arguments) -> Result<Vec<Figure>, String> {
        let leased = Arc::new(Leased::new(Arc::clone(&self.store), 1000));
        let own = |limits| -> Result<Vec<Demands>, String> {
            (0..callers).map(|caller| demands(limits, caller, PLENTY)).collect()
        };
        let shared: Result<_, _> = (0..callers).map(|_| demands(1, 0, PLENTY)).collect();
        let mut rows = vec![
            self.checks(CHECK, &self.store, own(1)?),
            self.checks("Wardgate, one key", &self.store, shared?),
            self.checks(FOUR, &self.store, own(4)?),
            self.checks("Wardgate, leased", &leased, own(1)?),
            self.commands(GET, "GET", callers),
            self.commands("a plain INCR", "INCR", callers),
        ];
        if callers == 1 {
            // One caller has one key.
            rows.remove(1);
        }
        let figures = measure::rows(&rows, arguments.bounds())?;
        // Each of them was admitted; their number means nothing here.
        Ok(figures.into_iter().map(|figure| Figure { requests: 0, ..figure }).collect())
    }

    /// Makes a row of checks, with the demands of each caller.
    fn checks<S: Store + 'static>(
        &self,
        name: &str,
        store: &Arc<S>,
        demands: Vec<Demands>,
    ) -> Row<'_> {
        let (store, callers) = (Arc::clone(store), demands.len());
        self.row(name, Side::Ours, callers, move |caller, own| {
            let (store, demands) = (Arc::clone(&store), demands.get(caller).cloned());
            async move {
                let Some(demands) = demands else { return own };
                let mut wrong = 0;
                for _ in 0..own {
                    let outcomes = store.charge(&demands).await;
                    let is_right = outcomes.is_ok_and(|all| all.iter().all(|it| it.is_allowed()));
                    wrong += usize::from(!is_right);
                }
                wrong
            }
        })
    }

    /// Makes a row of plain commands, which the client sends at once.
    fn commands(&self, name: &str, command: &'static str, callers: usize) -> Row<'_> {
        self.row(name, Side::Floor, callers, move |caller, own| {
            let mut plain = self.plain.clone();
            async move {
                let key = format!("plain{caller}");
                let mut wrong = 0;
                for _ in 0..own {
                    let mut call = cmd(command);
                    let found = call.arg(&key).query_async::<Option<u64>>(&mut plain).await;
                    wrong += usize::from(found.is_err());
                }
                wrong
            }
        })
    }

    /// Makes a row whose acts are shared out among callers; `act` does the own ones of a caller, and
    /// returns how many went wrong.
    fn row<'a, F: Future<Output = usize> + Send + 'static>(
        &'a self,
        name: &str,
        side: Side,
        callers: usize,
        act: impl Fn(usize, usize) -> F + 'a,
    ) -> Row<'a> {
        let pass = move |range: Range<usize>| {
            let count = range.len();
            let own = |caller| count / callers + usize::from(caller < count % callers);
            let tasks = (0..callers).map(|caller| self.runtime.spawn(act(caller, own(caller))));
            let tasks: Vec<_> = tasks.collect();
            let wrong = tasks.into_iter().map(|task| self.runtime.block_on(task).unwrap_or(count));
            wrong.sum()
        };
        Row::of_pass(name, side, ACTS, pass)
    }

    /// Sends more requests at once than the quota admits, and counts those that are admitted.
    fn flood(&self) -> Result<String, String> {
        let demands = flood_demands()?;
        let start = Instant::now();
        let tasks: Vec<_> = (0..REQUESTS)
            .map(|_| {
                let (store, demands) = (Arc::clone(&self.store), demands.clone());
                self.runtime.spawn(async move {
                    let outcomes = store.charge(&demands).await;
                    outcomes.map(|all| all.iter().all(|outcome| outcome.is_allowed()))
                })
            })
            .collect();
        let mut admitted: u32 = 0;
        for task in tasks {
            let found = self.runtime.block_on(task).map_err(|error| error.to_string())?;
            admitted += u32::from(found.map_err(|away| away.to_string())?);
        }
        let took = start.elapsed();
        if admitted != QUOTA {
            return Err(format!("{admitted} requests of a flood were admitted, expected {QUOTA}"));
        }
        let each = duration(took.as_secs_f64() * 1e9 / f64::from(REQUESTS));
        Ok(format!(
            "Of a flood of {REQUESTS} requests at once, {admitted} were admitted: the quota. Each took {each}."
        ))
    }
}

/// Returns the demands of a flood: no token comes back while it lasts.
fn flood_demands() -> Result<Demands, String> {
    let day = 86_400_000_000;
    let terms =
        Terms::new(Algorithm::Gcra { burst: None }, QUOTA.into(), Window::Micros(366 * day));
    let terms = terms.map_err(|error| error.to_string())?;
    let each = demands(1, usize::MAX, PLENTY)?;
    let each: Vec<_> = each.each().iter().map(|one| Demand { terms, ..one.clone() }).collect();
    Demands::new(each).map_err(|error| error.to_string())
}

pub(super) const ALONE: &str = "ratelimit-redis-one";
pub(super) const MANY: &str = "ratelimit-redis-64";
pub(super) const CHECK: &str = "Wardgate, one limit";
pub(super) const FOUR: &str = "Wardgate, four limits in a check";
pub(super) const GET: &str = "a plain GET";

const CALLERS: usize = 64;
const WORKERS: usize = 2;

/// The acts of a pass.
const ACTS: usize = 3200;

const REQUESTS: u32 = 150_000;
const QUOTA: u32 = 100_000;

const NOTE: &str = "redis-server of the system on loopback, which shares the processor with the callers. Plain commands go \
    through the client that the store uses, one connection, pipelined.";

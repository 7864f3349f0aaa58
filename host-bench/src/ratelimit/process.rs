//! Checks in process: the table, and the store over it, beside governor.
//!
//! Ten thousand keys in an order that no cache foresees. A row whose clock stands measures a
//! check alone; the others read the clock of the machine, as a host does.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::ops::Range;
use std::thread;

use governor::clock::FakeRelativeClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use wardgate_ratelimit::{Algorithm, Operation, Rule, Set, Table, WhenFull, Window};
use wardgate_ratelimit_store::{Action, Demands, Memory};

use super::{PLENTY, demands};
use crate::arguments::Arguments;
use crate::measure::{self, Figure, Row, Side};
use crate::report::{NATIVE, Section};

pub(super) fn section(arguments: &Arguments) -> Result<Section, String> {
    let title = "Rate limits in process: time of a check";
    let mut section = Section::new(NAME, title, NOTE).with(NATIVE, figures(arguments)?);
    section.details = million()?;
    Ok(section)
}

fn figures(arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let bench = Bench::new()?;
    let states = DashMapStateStore::<[u8; 16]>::default();
    let clock = FakeRelativeClock::default();
    let standing = RateLimiter::<_, _, _, NoOpMiddleware<Nanos>>::new(quota()?, states, clock);
    let timed = RateLimiter::keyed(quota()?);
    let rows = [
        one(TABLE, Side::Ours, |at| bench.fingerprint(at).is_some_and(|key| bench.charge(key))),
        one(HASHED, Side::Ours, |at| bench.key(at).is_some_and(|key| bench.charge_key(key))),
        one(MEMORY, Side::Ours, |at| bench.demands(at).is_some_and(|it| bench.apply(it))),
        one(GOVERNOR_ALONE, Side::Rival, |at| {
            bench.key(at).is_some_and(|key| standing.check_key(key).is_ok())
        }),
        one(GOVERNOR, Side::Rival, |at| {
            bench.key(at).is_some_and(|key| timed.check_key(key).is_ok())
        }),
        two(TABLE_TWO, Side::Ours, |at| bench.fingerprint(at).is_some_and(|key| bench.charge(key))),
        two(GOVERNOR_TWO, Side::Rival, |at| {
            bench.key(at).is_some_and(|key| standing.check_key(key).is_ok())
        }),
    ];
    let figures = measure::rows(&rows, arguments.bounds())?;
    Ok(figures.into_iter().map(|figure| Figure { requests: 0, ..figure }).collect())
}

/// The keys in the forms of all rows.
struct Bench {
    table: Table<Vec<Set>>,
    rule: Rule,
    memory: Memory,
    secret: RandomState,
    keys: Vec<[u8; 16]>,
    fingerprints: Vec<u64>,
    demands: Vec<Demands>,
}

impl Bench {
    fn new() -> Result<Self, String> {
        let secret = RandomState::new();
        // Neighbours in memory are none in the order of calls.
        let numbers = (0..KEYS).map(|at| at.wrapping_mul(7919) % KEYS);
        let demands: Result<Vec<_>, _> = numbers.map(|at| demands(1, at, PLENTY)).collect();
        let demands = demands?;
        let key = |one: &Demands| one.each().first().map(|demand| *demand.key.bytes());
        let keys: Vec<[u8; 16]> = demands.iter().filter_map(key).collect();
        let fingerprints = keys.iter().map(|key| secret.hash_one(key)).collect();
        let rule = Rule::new(Algorithm::Gcra { burst: None }, PLENTY, Window::HOUR);
        Ok(Self {
            table: Table::new(sets(KEYS), WhenFull::Deny),
            rule: rule.map_err(|error| error.to_string())?,
            memory: Memory::new(KEYS, WhenFull::Deny),
            secret,
            keys,
            fingerprints,
            demands,
        })
    }

    fn key(&self, at: usize) -> Option<&[u8; 16]> {
        self.keys.get(at)
    }

    fn fingerprint(&self, at: usize) -> Option<u64> {
        self.fingerprints.get(at).copied()
    }

    fn demands(&self, at: usize) -> Option<&Demands> {
        self.demands.get(at)
    }

    fn charge(&self, key: u64) -> bool {
        self.table.apply(key, &self.rule, NOW, Operation::Charge(1)).is_allowed()
    }

    fn charge_key(&self, key: &[u8; 16]) -> bool {
        self.charge(self.secret.hash_one(key))
    }

    fn apply(&self, demands: &Demands) -> bool {
        self.memory.apply(Action::Charge, demands).iter().all(|outcome| outcome.is_allowed())
    }
}

/// Makes a row of one thread.
fn one<'a>(name: &str, side: Side, act: impl Fn(usize) -> bool + 'a) -> Row<'a> {
    Row::of_pass(name, side, KEYS, move |range| range.filter(|at| !act(*at)).count())
}

/// Makes a row of two threads, which do a half each of ten rounds; beside those, starting them is
/// nothing.
fn two<'a>(name: &str, side: Side, act: impl Fn(usize) -> bool + Sync + 'a) -> Row<'a> {
    let pass = move |range: Range<usize>| {
        let middle = range.start + range.len() / 2;
        let act = &act;
        let wrong = |half: Range<usize>| half.filter(|at| !act(*at % KEYS)).count();
        thread::scope(|scope| {
            let other = scope.spawn(move || wrong(range.start..middle));
            wrong(middle..range.end) + other.join().unwrap_or(usize::MAX)
        })
    };
    Row::of_pass(name, side, 20 * KEYS, pass)
}

fn quota() -> Result<Quota, String> {
    let tokens = u32::try_from(PLENTY).ok().and_then(NonZeroU32::new);
    tokens.map(Quota::per_hour).ok_or_else(|| "no such quota".to_owned())
}

fn sets(keys: usize) -> Vec<Set> {
    let mut sets = Vec::new();
    sets.resize_with(Set::count_for(keys), Set::default);
    sets
}

/// Gives a million keys a place each, sends ten million others, and finds the first ones as they were.
fn million() -> Result<String, String> {
    let sets = sets(MILLION);
    let bytes = sets.len().saturating_mul(size_of::<Set>());
    let table = Table::new(sets, WhenFull::Deny);
    let rule = Rule::new(Algorithm::Gcra { burst: None }, 10, Window::HOUR);
    let (rule, secret) = (rule.map_err(|error| error.to_string())?, RandomState::new());
    let charge = |key: usize| table.apply(secret.hash_one(key), &rule, NOW, Operation::Charge(1));
    let admitted = (0..MILLION).filter(|key| charge(*key).is_allowed()).count();
    let others = (MILLION..11 * MILLION).filter(|key| charge(*key).is_allowed()).count();
    let served = (0..MILLION).filter(|key| charge(*key).remaining == 8).count();
    if (admitted, served) != (MILLION, MILLION) {
        return Err(format!("of a million keys {admitted} had a place, and {served} were known"));
    }
    let full = table.counts().full;
    Ok(format!(
        "\nA million keys take {bytes} bytes, made once. Of a flood of ten million others, {others} found a \
         place that was left and {full} were refused; each of the first million was served as before.\n"
    ))
}

pub(super) const NAME: &str = "ratelimit-process";
pub(super) const TABLE: &str = "Wardgate, table, clock that stands";
pub(super) const HASHED: &str = "Wardgate, hash and table, clock that stands";
pub(super) const MEMORY: &str = "Wardgate, store in memory";
pub(super) const TABLE_TWO: &str = "Wardgate, two threads, table, clock that stands";
pub(super) const GOVERNOR: &str = "governor 0.10.4, keyed";
pub(super) const GOVERNOR_ALONE: &str = "governor 0.10.4 (clock that stands), keyed";
pub(super) const GOVERNOR_TWO: &str = "governor 0.10.4 (two threads, clock that stands), keyed";

const KEYS: usize = 10_000;
const MILLION: usize = 1_000_000;
const NOW: u64 = 1_800_000_000_000_000;

const NOTE: &str = "One limit, 10,000 keys. With two threads a figure is the time of all checks by their number. \
    The table takes the fingerprint of a key, which the store makes by a keyed hash; governor hashes in each row.";

//! The table: equal to bare states, and never over the quota, whoever writes at once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use wardgate_ratelimit::{
    Admission, Algorithm, Operation, Rule, Set, State, Table, TableCounts, WhenFull, Window,
};

#[test]
fn keys_with_places_have_the_outcomes_of_bare_states() {
    let mut random = fastrand::Rng::with_seed(1);
    let table = Table::new(sets(256), WhenFull::Deny);
    let rules = [
        rule(Algorithm::Gcra { burst: Some(5) }, 1000),
        rule(Algorithm::Fixed, 1000),
        rule(Algorithm::Sliding, 1000),
    ];
    let mut states: HashMap<u64, State> = HashMap::new();
    let mut now = START;
    for _ in 0..100_000 {
        now += random.u64(..3000);
        let number = random.u64(..600);
        let rule = &rules[usize::try_from(number % 3).unwrap()];
        let state = states.entry(number).or_default();
        let operation = match random.u8(..10) {
            0 => Operation::Look(random.u64(..3)),
            1 => Operation::Refund(random.u64(..3)),
            2 => Operation::Reset,
            _ => Operation::Charge(random.u64(..3)),
        };
        let (next, expected) = rule.apply(*state, now, operation);
        assert_eq!(table.apply(hash(number), rule, now, operation), expected);
        *state = next;
    }
    assert_eq!(table.counts(), TableCounts::default());
}

#[test]
fn threads_on_one_key_share_its_quota_exactly() {
    let table = Table::new(sets(1), WhenFull::Deny);
    let rules = [Algorithm::Gcra { burst: None }, Algorithm::Fixed, Algorithm::Sliding];
    for (number, algorithm) in (1..).zip(rules) {
        let rule = rule(algorithm, 10_000);
        let admitted = together(|_| {
            let calls = 0..5000;
            let table = &table;
            calls.filter(|_| table.apply(number, &rule, START, CHARGE).is_allowed()).count()
        });
        assert_eq!(admitted.iter().sum::<usize>(), 10_000);
    }
}

#[test]
fn a_new_key_that_threads_race_for_gets_one_place() {
    let table = Table::new(sets(Set::count_for(KEYS.into())), WhenFull::Deny);
    let rule = rule(Algorithm::Fixed, 3);
    let admitted = together(|_| {
        let charge = |key| table.apply(hash(key), &rule, START, CHARGE).is_allowed();
        (0..u64::from(KEYS)).map(|key| (0..2).filter(|_| charge(key)).count()).collect::<Vec<_>>()
    });
    for key in 0..usize::from(KEYS) {
        let sum: usize = admitted.iter().map(|thread| thread[key]).sum();
        assert_eq!(sum, 3, "key {key}");
    }
}

/// More keys than places, and places that change hands with each round.
///
/// A charge that meets another key in its place counts against that key. So a round with threads may
/// admit less than one without, and never more.
#[test]
fn keys_that_fight_for_places_stay_within_their_quota() {
    let table = Table::new(sets(2), WhenFull::Deny);
    let rule = rule(Algorithm::Gcra { burst: Some(2) }, 2);
    let barrier = Barrier::new(THREADS);
    let admitted = together(|thread| {
        let mut random = fastrand::Rng::with_seed(thread);
        let mut admitted = vec![[0_u32; 24]; ROUNDS];
        for (now, keys) in (0..).map(|round| START + round * WINDOW).zip(&mut admitted) {
            barrier.wait();
            for _ in 0..200 {
                let key = random.usize(..24);
                let outcome = table.apply(hash(u64::try_from(key).unwrap()), &rule, now, CHARGE);
                keys[key] += u32::from(outcome.is_allowed());
            }
            barrier.wait();
            // No thread is in the next round yet.
            assert_eq!(table.live(now), table.places(), "all places are used in each round");
        }
        admitted
    });
    for round in 0..ROUNDS {
        for key in 0..24 {
            let tokens: u32 = admitted.iter().map(|thread| thread[round][key]).sum();
            assert!(tokens <= 2, "{tokens} in round {round}");
        }
    }
    assert_eq!(table.counts().evicted, 0);
}

/// The same with one thread, which has every token.
#[test]
fn keys_of_one_thread_have_every_token_of_their_places() {
    let table = Table::new(sets(2), WhenFull::Deny);
    let rule = rule(Algorithm::Gcra { burst: Some(2) }, 2);
    for now in (0..).map(|round| START + round * WINDOW).take(ROUNDS) {
        let calls = (0..24).chain(0..24).chain(0..24);
        let admitted = calls.filter(|key| table.apply(hash(*key), &rule, now, CHARGE).is_allowed());
        assert_eq!(admitted.count(), table.places() * 2);
    }
    assert_eq!((table.counts().evicted, table.counts().contended), (0, 0));
}

/// Threads that read a time and are late with it.
#[test]
fn late_times_charge_nothing_twice() {
    let table = Table::new(sets(1), WhenFull::Deny);
    let rule = rule(Algorithm::Fixed, 2);
    let clock = AtomicU64::new(START);
    let admitted = together(|thread| {
        let mut random = fastrand::Rng::with_seed(thread);
        let mut admitted = [0_u64; 12];
        let mut now = START;
        for call in 0..20_000 {
            if call % 3 == 0 {
                now = clock.fetch_add(WINDOW / 1000, Ordering::Relaxed);
            }
            let key = random.usize(..12);
            let outcome = table.apply(hash(u64::try_from(key).unwrap()), &rule, now, CHARGE);
            admitted[key] += u64::from(outcome.is_allowed());
        }
        admitted
    });
    let windows = (clock.into_inner() - START).div_ceil(WINDOW);
    for key in 0..12 {
        let tokens: u64 = admitted.iter().map(|thread| thread[key]).sum();
        assert!(tokens > 0 && tokens <= windows * 2, "{tokens} in {windows} windows");
    }
}

/// A key that lost its place when it was full again, and comes back with a time before that.
#[test]
fn a_late_time_starts_a_new_state_no_earlier_than_the_place_was_given_away() {
    let table = Table::new(sets(1), WhenFull::Deny);
    let rule = rule(Algorithm::Gcra { burst: None }, 10);
    let charge = |key, now, cost| table.apply(hash(key), &rule, now, Operation::Charge(cost));
    for key in 0..8 {
        assert!(charge(key, START, 10).is_allowed());
    }
    for key in 8..15 {
        assert!(charge(key, START + WINDOW, 10).is_allowed());
    }
    let lost: Vec<u64> = (0..8).filter(|key| charge(*key, START, 1).remaining == 9).collect();
    assert_eq!(lost.len(), 1, "the one place that was left has one of the old keys");
    let key = lost[0];
    assert!(charge(key, START + WINDOW, 9).is_allowed());
    // Nothing came back since the time at which the others got their places.
    assert_eq!(charge(key, START + WINDOW, 1).admission, Admission::After { micros: WINDOW / 10 });
}

#[test]
fn a_full_table_denies_until_a_state_is_over() {
    let table = Table::new(sets(1), WhenFull::Deny);
    let rule = rule(Algorithm::Gcra { burst: None }, 10);
    for key in 0..8 {
        assert!(table.apply(hash(key), &rule, START + key, CHARGE).is_allowed());
    }
    let refused = table.apply(hash(8), &rule, START + 8, CHARGE);
    assert_eq!(refused.admission, Admission::After { micros: WINDOW / 10 - 8 });
    assert_eq!((table.counts().full, table.live(START + 8), table.places()), (1, 8, 8));
    // Looks need no place.
    assert_eq!(table.apply(hash(8), &rule, START + 8, Operation::Look(1)).remaining, 10);
    assert!(table.apply(hash(7), &rule, START + 8, CHARGE).is_allowed(), "a known key is served");
    assert!(table.apply(hash(8), &rule, START + WINDOW / 10, CHARGE).is_allowed());
    assert_eq!(table.counts(), TableCounts { full: 1, ..TableCounts::default() });
}

#[test]
fn a_full_table_evicts_what_is_over_first() {
    let table = Table::new(sets(1), WhenFull::Evict);
    let rule = rule(Algorithm::Gcra { burst: None }, 10);
    for key in 0..9 {
        assert_eq!(table.apply(hash(key), &rule, START + key, CHARGE).remaining, 9);
    }
    assert_eq!(table.apply(hash(0), &rule, START + 9, Operation::Look(1)).remaining, 10);
    assert_eq!(table.apply(hash(1), &rule, START + 9, Operation::Look(1)).remaining, 9);
    assert_eq!(table.counts(), TableCounts { evicted: 1, ..TableCounts::default() });
}

#[test]
fn a_table_without_memory_refuses() {
    let sets: [Set; 0] = [];
    let table = Table::new(sets, WhenFull::Evict);
    let rule = rule(Algorithm::Fixed, 10);
    assert!(!table.apply(1, &rule, START, CHARGE).is_allowed());
    assert_eq!(table.counts().full, 1);
}

#[test]
fn a_million_keys_fit_into_24_megabytes() {
    let count = Set::count_for(1_000_000);
    assert!(count * size_of::<Set>() <= 24_000_000);
    let table = Table::new(sets(count), WhenFull::Deny);
    let rule = rule(Algorithm::Fixed, 10);
    for key in 0..1_000_000 {
        assert!(table.apply(hash(key), &rule, START, CHARGE).is_allowed(), "key {key}");
    }
    // A flood of other keys changes nothing for those.
    let others = (1_000_000..3_000_000).map(|key| table.apply(hash(key), &rule, START, CHARGE));
    let refused = others.filter(|outcome| !outcome.is_allowed()).count();
    assert_eq!(table.counts().full, u64::try_from(refused).unwrap());
    for key in 0..1_000_000 {
        assert_eq!(table.apply(hash(key), &rule, START, CHARGE).remaining, 8, "key {key}");
    }
    println!("{} of {} places", table.live(START), table.places());
}

/// Runs all threads and returns what each returned.
fn together<T: Send>(run: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let run = &run;
    thread::scope(|scope| {
        let numbers = 0..u64::try_from(THREADS).unwrap();
        let threads: Vec<_> = numbers.map(|number| scope.spawn(move || run(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn rule(algorithm: Algorithm, quota: u64) -> Rule {
    Rule::new(algorithm, quota, Window::Micros(WINDOW)).unwrap()
}

fn sets(count: usize) -> Vec<Set> {
    (0..count).map(|_| Set::default()).collect()
}

/// Returns a fingerprint as a hash would make it, the same ones in each run.
fn hash(key: u64) -> u64 {
    fastrand::Rng::with_seed(key).u64(..)
}

const CHARGE: Operation = Operation::Charge(1);
const THREADS: usize = 4;
const ROUNDS: usize = 500;
const KEYS: u16 = 20_000;
const WINDOW: u64 = 1_000_000;
const START: u64 = 1_800_000_000_000_000;

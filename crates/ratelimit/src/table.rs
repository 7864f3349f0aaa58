//! States of many keys in fixed memory: 16 bytes a key, and nothing is allocated.
//!
//! The caller brings the memory: sets of eight keys, each a word for its fingerprint and a word for
//! its state. A key has two sets that it may be in, and gets a place in the one with more room: a
//! million keys fit into 24 MB, of which a table with one set for each key would refuse three in a
//! hundred. An operation on a key with a place reads its fingerprint, loads its state and exchanges
//! it: one load and one compare-and-swap, without a lock.
//! A key without one gets a place under a lock of its sets, so that no key gets two.
//!
//! **Two writers never admit more than the quota.** A charge counts if the state that it read is
//! exchanged, and if the word of the fingerprint is afterwards what it was before. To give a place
//! to another key, the state is first exchanged by a mark that is no state, so that no charge of
//! the old key succeeds from then on; then the fingerprint changes, with a version in its lower bits;
//! then the new state is stored. A charge that read the old key and met the new one sees another
//! version, and begins again: the stray charge counts against the new key, which can only refuse
//! more. (Versions have seven bits. A charge would be lost if a place changed hands 128 times,
//! or a multiple, between two instructions and then had the old state again.)
//!
//! A place is given away if its state is over. The time at which that was so is kept, and a new key
//! starts no earlier: a thread with an older time cannot charge twice what came back once.
//!
//! **Fingerprints** are 64 bits of a hash with a secret key, made by the caller, who has the parts of
//! the key: `std::hash::RandomState` (SipHash with a random key) or BLAKE3 with a key. With a secret,
//! nobody can choose keys that meet. Keys whose fingerprints are equal share a state; of one rule,
//! they can only be refused more. The hash covers the name of the limit, its algorithm and window.

mod set;

use core::borrow::Borrow;
use core::sync::atomic::{AtomicU64, Ordering};

pub use set::Set;
use set::{Claim, Place, Put};

use crate::limits::{ATTEMPTS, WAYS};
use crate::outcome::{Admission, Operation, Outcome};
use crate::rule::Rule;
use crate::state::{State, bounded};

/// A store in memory that the caller brings: an array, a slice or a vector of [`Set`].
///
/// # Examples
/// ```
/// use std::hash::{BuildHasher, RandomState};
/// use wardgate_ratelimit::{Algorithm, Operation, Rule, Set, Table, WhenFull, Window};
///
/// let sets: Vec<Set> = (0..Set::count_for(1000)).map(|_| Set::default()).collect();
/// let table = Table::new(sets, WhenFull::Deny);
/// let rule = Rule::new(Algorithm::Gcra { burst: None }, 100, Window::MINUTE)?;
/// let secret = RandomState::new();
/// let key = secret.hash_one(("api", "gcra", 60_000_000_u64, "sam"));
/// assert_eq!(table.apply(key, &rule, 5, Operation::Charge(1)).remaining, 99);
/// # Ok::<(), wardgate_ratelimit::RuleError>(())
/// ```
#[derive(Debug)]
pub struct Table<M> {
    sets: M,
    when_full: WhenFull,
    /// The latest time at which a key got a place.
    latest: AtomicU64,
    full: AtomicU64,
    evicted: AtomicU64,
    contended: AtomicU64,
}

/// The treatment of a new key whose sets are full of states that are not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Its charge is refused until the first of those states is over.
    Deny,
    /// It takes the place of the one that is over first, whose key is full from then on.
    Evict,
}

/// The events of a table since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Charges refused since no place was free.
    pub full: u64,
    /// States that were given up for others.
    pub evicted: u64,
    /// Operations refused since other threads changed the same set all the time.
    pub contended: u64,
}

impl<M: Borrow<[Set]>> Table<M> {
    /// Makes a table of empty sets. Without a set, every charge is refused.
    pub const fn new(sets: M, when_full: WhenFull) -> Self {
        let [latest, full, evicted, contended] = [const { AtomicU64::new(0) }; 4];
        Self { sets, when_full, latest, full, evicted, contended }
    }

    /// Applies an operation to the state of a key, at a time in microseconds of one clock.
    #[inline]
    pub fn apply(&self, key: u64, rule: &Rule, now: u64, operation: Operation) -> Outcome {
        let now = bounded(now);
        for _ in 0..ATTEMPTS {
            let found = match self.find(key) {
                Some(place) => place.apply(rule, now, operation),
                None => self.add(key, rule, now, operation),
            };
            if let Some(outcome) = found {
                return outcome;
            }
        }
        self.contended.fetch_add(1, Ordering::Relaxed);
        refused(RETRY_MICROS)
    }

    /// Returns the events since the table was made.
    pub fn counts(&self) -> TableCounts {
        TableCounts {
            full: self.full.load(Ordering::Relaxed),
            evicted: self.evicted.load(Ordering::Relaxed),
            contended: self.contended.load(Ordering::Relaxed),
        }
    }

    /// Returns the number of keys that the memory has places for.
    pub fn places(&self) -> usize {
        self.sets.borrow().len().saturating_mul(WAYS)
    }

    /// Counts the states that are not over. It reads the whole memory.
    pub fn live(&self, now: u64) -> usize {
        let sets = self.sets.borrow().iter();
        sets.map(|set| set.live(bounded(now))).fold(0, usize::saturating_add)
    }

    #[inline]
    fn find(&self, key: u64) -> Option<Place<'_>> {
        match self.first(key)?.find(key) {
            Some(place) => Some(place),
            None => self.second(key)?.find(key),
        }
    }

    #[inline]
    fn first(&self, key: u64) -> Option<&Set> {
        self.set_at(key)
    }

    #[inline]
    fn second(&self, key: u64) -> Option<&Set> {
        self.set_at(key.wrapping_mul(ODD))
    }

    /// Returns the set at a part of all: the higher half of a product.
    #[inline]
    fn set_at(&self, part: u64) -> Option<&Set> {
        let sets = self.sets.borrow();
        let count = u128::try_from(sets.len()).unwrap_or(0);
        let at = u128::from(part).saturating_mul(count) >> 64;
        sets.get(usize::try_from(at).ok()?)
    }

    /// Applies an operation to a key without a state, and gives it a place if it gets one. Returns
    /// None if another thread was faster.
    #[inline(never)]
    fn add(&self, key: u64, rule: &Rule, now: u64, operation: Operation) -> Option<Outcome> {
        let now = now.max(self.latest.load(Ordering::Acquire));
        let (state, outcome) = rule.apply(State::NONE, now, operation);
        if state == State::NONE {
            return Some(outcome);
        }
        let Some((first, second)) = self.first(key).zip(self.second(key)) else {
            self.full.fetch_add(1, Ordering::Relaxed);
            return Some(refused(RETRY_MICROS));
        };
        let claim = Claim::of(first, second)?;
        if claim.has(key) {
            return None;
        }
        let may_evict = self.when_full == WhenFull::Evict;
        // Before the place is given away: who sees the old key gone sees this time too.
        self.latest.fetch_max(now, Ordering::AcqRel);
        match claim.put(key, state, now, may_evict)? {
            Put::Free => Some(outcome),
            Put::Evicted => {
                self.evicted.fetch_add(1, Ordering::Relaxed);
                Some(outcome)
            }
            Put::Full { until } => {
                self.full.fetch_add(1, Ordering::Relaxed);
                Some(refused(until.end().saturating_sub(now).max(1)))
            }
        }
    }
}

const fn refused(micros: u64) -> Outcome {
    Outcome { admission: Admission::After { micros }, remaining: 0, reset: micros }
}

/// The wait after a refusal that no state explains.
const RETRY_MICROS: u64 = 1000;

/// An odd number without structure, the fraction of the golden ratio: products with it have other
/// high bits.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

//! The leases of a process: how many tokens of which keys, and until when.
//!
//! All times are arguments, in microseconds of one clock.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wardgate_ratelimit::{Admission, Algorithm, Outcome};

use crate::demand::{Demand, Terms};
use crate::limits::{
    CHECKS_OF_A_LEASE, LEASE_MICROS, LEASE_SHARDS, LEASES_OF_A_KEY, LEASES_OF_THE_REST,
};

/// Leases by their keys, in parts with a lock each.
#[derive(Debug)]
pub(super) struct Book {
    shards: Vec<Mutex<Leases>>,
    /// An empty part, for a number that no shard has.
    spare: Mutex<Leases>,
    /// The most leases of a shard.
    most: usize,
    secret: RandomState,
}

/// Leases by the keyed hash of their states.
type Leases = HashMap<u64, Lease, BuildHasherDefault<Hashed>>;

/// The hash of a number that is a keyed hash already.
#[derive(Debug, Default)]
struct Hashed(u64);

/// Tokens of one key under one rule.
#[derive(Debug)]
struct Lease {
    /// Limit, key and terms; its cost is the tokens that are left.
    demand: Demand,
    ends: u64,
    /// What the store had left after the lease, and when it is full.
    remaining: u64,
    full_at: u64,
    /// True while somebody is about to pay the next lease.
    is_renewed: bool,
}

/// Tokens that were taken from a lease.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) outcome: Outcome,
    /// The end of the lease, by which it is known again.
    ends: u64,
}

/// The right to pay the next lease of a key, which one check has at a time.
#[derive(Debug)]
pub(super) struct Renewal<'a> {
    book: &'a Book,
    demand: Demand,
    tokens: u64,
    unspent: Option<Demand>,
}

impl Book {
    pub(super) fn new(keys: usize) -> Self {
        let shards = (0..LEASE_SHARDS).map(|_| Mutex::default()).collect();
        let (spare, most) = (Mutex::default(), keys.div_ceil(LEASE_SHARDS));
        Self { shards, spare, most, secret: RandomState::new() }
    }

    /// Takes the cost of a demand from its lease, if there is one with so many tokens.
    pub(super) fn take(&self, demand: &Demand, now: u64) -> Option<Taken> {
        let (id, mut leases) = self.shard(demand);
        let lease = leases.get_mut(&id).filter(|lease| lease.is_of(demand))?;
        // A cost of 0 looks, and is for the store to answer.
        if now >= lease.ends || demand.cost == 0 {
            return None;
        }
        let left = lease.demand.cost.checked_sub(demand.cost)?;
        lease.demand.cost = left;
        let remaining = lease.remaining.saturating_add(left);
        let reset = lease.full_at.saturating_sub(now).max(1);
        Some(Taken {
            outcome: Outcome { admission: Admission::Allowed, remaining, reset },
            ends: lease.ends,
        })
    }

    /// Puts tokens back that were taken for nothing, unless their lease has ended.
    pub(super) fn put_back(&self, demand: &Demand, taken: &Taken) {
        let (id, mut leases) = self.shard(demand);
        let lease = leases.get_mut(&id).filter(|lease| lease.is_of(demand));
        if let Some(lease) = lease.filter(|lease| lease.ends == taken.ends) {
            lease.demand.cost = lease.demand.cost.saturating_add(demand.cost);
        }
    }

    /// Begins to renew the lease of a demand. Returns None if somebody else does, if there is no
    /// room, or if its algorithm has no leases.
    pub(super) fn begin(&self, demand: &Demand, now: u64) -> Option<Renewal<'_>> {
        if matches!(demand.terms.algorithm(), Algorithm::Sliding) || demand.cost == 0 {
            return None;
        }
        let (id, mut leases) = self.shard(demand);
        if !leases.contains_key(&id) && leases.len() >= self.most {
            leases.retain(|_, lease| lease.is_renewed || now < lease.ends);
            if leases.len() >= self.most {
                return None;
            }
        }
        let lease = leases.entry(id).or_insert_with(|| Lease::none(demand));
        let is_own = lease.is_of(demand);
        if lease.is_renewed || !is_own && now < lease.ends {
            return None;
        }
        // Fewer tokens than the cost, or too old: they would be older still in the next lease.
        let unspent = (lease.demand.cost > 0).then(|| lease.demand.clone());
        lease.demand.cost = 0;
        if !is_own {
            *lease = Lease::none(demand);
        }
        lease.is_renewed = true;
        let tokens = size(demand, lease.remaining);
        Some(Renewal { book: self, demand: demand.clone(), tokens, unspent })
    }

    /// Ends the lease of a demand.
    pub(super) fn forget(&self, demand: &Demand) {
        let (id, mut leases) = self.shard(demand);
        leases.remove(&id);
    }

    /// Ends all leases, and returns the tokens that are left.
    pub(super) fn drain(&self) -> Vec<Demand> {
        let mut unspent = Vec::new();
        for shard in &self.shards {
            let mut leases = shard.lock().unwrap_or_else(PoisonError::into_inner);
            unspent.extend(leases.drain().map(|(_, lease)| lease.demand));
        }
        unspent.retain(|demand| demand.cost > 0);
        unspent
    }

    /// Returns the number of a key, and the part of the book that it belongs to.
    fn shard(&self, demand: &Demand) -> (u64, MutexGuard<'_, Leases>) {
        let Demand { limit, key, terms, .. } = demand;
        let state = (key.bytes(), terms.letter(), terms.micros(), limit.name());
        let id = self.secret.hash_one(state);
        let [low, ..] = id.to_le_bytes();
        let shard = self.shards.get(usize::from(low) % LEASE_SHARDS).unwrap_or(&self.spare);
        // A thread that panics leaves whole leases: no code between two writes can panic.
        (id, shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Lease {
    /// Returns a lease without tokens, whose key may have nothing left.
    fn none(demand: &Demand) -> Self {
        let demand = Demand { cost: 0, ..demand.clone() };
        Self { demand, ends: 0, remaining: 0, full_at: 0, is_renewed: false }
    }

    /// Returns true if the lease was paid for such a demand: another quota is another rule.
    fn is_of(&self, demand: &Demand) -> bool {
        let Demand { limit, key, terms, .. } = &self.demand;
        *key == demand.key && *terms == demand.terms && limit.name() == demand.limit.name()
    }
}

impl Renewal<'_> {
    /// Returns the tokens of the next lease, which may be none.
    pub(super) const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns the tokens that the last lease had left.
    pub(super) fn unspent(&self) -> Option<Demand> {
        self.unspent.clone()
    }

    /// Begins the lease, which was paid after that time.
    pub(super) fn grant(self, outcome: &Outcome, before: u64) {
        let ends = before.saturating_add(duration(&self.demand.terms, outcome));
        self.change(|lease| {
            lease.demand.cost = self.tokens;
            lease.ends = ends;
        });
        self.note(outcome, before);
    }

    /// Notes what the store has left, by which the next lease is measured.
    pub(super) fn note(self, outcome: &Outcome, now: u64) {
        self.change(|lease| {
            lease.remaining = outcome.remaining;
            lease.full_at = now.saturating_add(outcome.reset);
            // What is left is remembered for a while, so that the next check may have a lease. The
            // end of tokens stays as it is.
            if lease.demand.cost == 0 {
                lease.ends = now.saturating_add(duration(&self.demand.terms, outcome));
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Lease)) {
        let (id, mut leases) = self.book.shard(&self.demand);
        leases.get_mut(&id).filter(|lease| lease.is_of(&self.demand)).map(change);
    }
}

/// However a renewal ends, the next check may begin another one.
impl Drop for Renewal<'_> {
    fn drop(&mut self) {
        self.change(|lease| lease.is_renewed = false);
    }
}

/// Returns the microseconds for which tokens that were just paid may be spent.
fn duration(terms: &Terms, outcome: &Outcome) -> u64 {
    match terms.algorithm() {
        // The count of a fixed window is full when it ends.
        Algorithm::Fixed => LEASE_MICROS.min(outcome.reset),
        Algorithm::Gcra { .. } => LEASE_MICROS.min(terms.micros()),
        Algorithm::Sliding => 0,
    }
}

/// Returns the tokens of the next lease of a key that has so many left.
fn size(demand: &Demand, remaining: u64) -> u64 {
    let capacity = demand.terms.rule().capacity();
    let tokens = (capacity / LEASES_OF_A_KEY).min(remaining / LEASES_OF_THE_REST);
    let tokens = tokens.min(capacity.saturating_sub(demand.cost));
    // A lease for few checks is not worth asking for, and what it has left at last is a larger part.
    if tokens < demand.cost.saturating_mul(CHECKS_OF_A_LEASE) { 0 } else { tokens }
}

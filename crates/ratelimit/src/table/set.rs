//! Sets of eight keys.
//!
//! The word of a key holds 56 bits of its fingerprint, seven bits of a version that changes with the
//! key, and in the first place of a set the lock. The upper bits of the fingerprint choose the set.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{ATTEMPTS, SPINS, WAYS};
use crate::outcome::{Operation, Outcome};
use crate::rule::Rule;
use crate::state::State;

/// Places for eight keys: a line of the cache for what they are, and one for their states.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Set {
    keys: [AtomicU64; WAYS],
    states: [AtomicU64; WAYS],
}

/// The place of a key, with the word that was there.
pub(super) struct Place<'a> {
    word: &'a AtomicU64,
    found: u64,
    state: &'a AtomicU64,
}

/// The locks of two sets, which end with it.
pub(super) struct Claim<'a> {
    first: &'a Set,
    /// None if it is the first.
    second: Option<&'a Set>,
}

/// Where a new key is.
pub(super) enum Put {
    /// In a place that was free.
    Free,
    /// In the place of a state that was not over.
    Evicted,
    /// Nowhere, until that state is over.
    Full { until: State },
}

impl Set {
    /// Returns a number of sets for so many keys at once, with a third of all places free.
    pub const fn count_for(keys: usize) -> usize {
        keys.saturating_add(keys.div_ceil(2)).div_ceil(WAYS)
    }

    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<Place<'_>> {
        let tag = tag(key);
        for (word, state) in self.keys.iter().zip(&self.states) {
            let found = word.load(Ordering::Acquire);
            if found & TAG == tag {
                return Some(Place { word, found: found & !LOCK, state });
            }
        }
        None
    }

    pub(super) fn live(&self, now: u64) -> usize {
        let states = self.states.iter().map(|state| state.load(Ordering::Relaxed));
        states.filter(|bits| *bits != MARK && !State::from_bits(*bits).is_over(now)).count()
    }

    /// Takes the lock. Returns false if others have it for too long.
    fn lock(&self) -> bool {
        let [word, ..] = &self.keys;
        for _ in 0..SPINS {
            let is_free = word.load(Ordering::Relaxed) & LOCK == 0;
            if is_free && word.fetch_or(LOCK, Ordering::AcqRel) & LOCK == 0 {
                return true;
            }
            spin_loop();
        }
        false
    }

    fn unlock(&self) {
        let [word, ..] = &self.keys;
        word.fetch_and(!LOCK, Ordering::AcqRel);
    }

    /// Returns the place that is over first, its state, and the number of places that are over.
    fn soonest(&self, now: u64) -> (Place<'_>, u64, usize) {
        let ([word, ..], [state, ..]) = (&self.keys, &self.states);
        let mut best = (word, state, u64::MAX);
        let mut free: usize = 0;
        for (word, state) in self.keys.iter().zip(&self.states) {
            let bits = state.load(Ordering::Acquire);
            free = free.saturating_add(usize::from(State::from_bits(bits).is_over(now)));
            if bits < best.2 {
                best = (word, state, bits);
            }
        }
        let (word, state, bits) = best;
        (Place { word, found: word.load(Ordering::Acquire), state }, bits, free)
    }
}

impl Place<'_> {
    /// Applies an operation to the state. Returns None if another key may have the place.
    #[inline]
    pub(super) fn apply(&self, rule: &Rule, now: u64, operation: Operation) -> Option<Outcome> {
        let mut bits = self.state.load(Ordering::Acquire);
        for _ in 0..ATTEMPTS {
            if bits == MARK {
                spin_loop();
                break;
            }
            let state = State::from_bits(bits);
            let (next, outcome) = rule.apply(state, now, operation);
            if next != state {
                let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                let swap = self.state.compare_exchange_weak(bits, next.bits(), success, failure);
                if let Err(other) = swap {
                    bits = other;
                    continue;
                }
            }
            let is_same = self.word.load(Ordering::Acquire) & !LOCK == self.found;
            return is_same.then_some(outcome);
        }
        None
    }
}

impl<'a> Claim<'a> {
    /// Takes the locks of two sets, in the order of their addresses.
    pub(super) fn of(first: &'a Set, second: &'a Set) -> Option<Self> {
        if core::ptr::eq(first, second) {
            return first.lock().then_some(Self { first, second: None });
        }
        let is_above = core::ptr::from_ref(first) > core::ptr::from_ref(second);
        let (lower, upper) = if is_above { (second, first) } else { (first, second) };
        if !lower.lock() {
            return None;
        }
        if !upper.lock() {
            lower.unlock();
            return None;
        }
        Some(Self { first, second: Some(second) })
    }

    pub(super) fn has(&self, key: u64) -> bool {
        self.first.find(key).is_some() || self.second.is_some_and(|set| set.find(key).is_some())
    }

    /// Puts a key into the place that is over first. Returns None if its key was charged meanwhile.
    pub(super) fn put(&self, key: u64, state: State, now: u64, may_evict: bool) -> Option<Put> {
        let (place, bits) = self.place(now);
        let is_over = State::from_bits(bits).is_over(now);
        if !is_over && !may_evict {
            return Some(Put::Full { until: State::from_bits(bits) });
        }
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        place.state.compare_exchange(bits, MARK, success, failure).ok()?;
        let version = place.found.wrapping_add(VERSION) & !TAG & !LOCK;
        place.word.store(tag(key) | version | place.found & LOCK, Ordering::Release);
        place.state.store(state.bits(), Ordering::Release);
        Some(if is_over { Put::Free } else { Put::Evicted })
    }

    /// Chooses the set with more room, the first if equal. To prefer the first until it had two free
    /// places left was tried: of a million keys in 24 MB, twelve found no place.
    fn place(&self, now: u64) -> (Place<'a>, u64) {
        let (place, bits, free) = self.first.soonest(now);
        let Some(second) = self.second else {
            return (place, bits);
        };
        let (other, other_bits, other_free) = second.soonest(now);
        match other_free > free || free == 0 && other_bits < bits {
            true => (other, other_bits),
            false => (place, bits),
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.first.unlock();
        if let Some(second) = self.second {
            second.unlock();
        }
    }
}

/// Returns the part of a fingerprint that is in the word of a place, which is not 0.
#[inline]
fn tag(key: u64) -> u64 {
    match key << TAG_SHIFT {
        0 => 1 << TAG_SHIFT,
        tag => tag,
    }
}

/// The bits below the tag.
const TAG_SHIFT: u32 = 8;

/// The bits of the tag.
const TAG: u64 = u64::MAX << TAG_SHIFT;

/// The bit of the lock; it counts in the first place of a set.
const LOCK: u64 = 1;

/// The lowest bit of the version.
const VERSION: u64 = 2;

/// The word in the place of a state while another key gets the place. No rule makes it.
const MARK: u64 = u64::MAX;

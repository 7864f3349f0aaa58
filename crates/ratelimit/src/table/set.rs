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

/// The two words of a key in its set, with the fingerprint that was read.
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

/// The result of giving a new key a place.
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

    /// Gives the place to another key, under the lock. Returns None if its state is not that one any
    /// more: the key was charged meanwhile.
    fn give(&self, bits: u64, key: u64, state: State) -> Option<()> {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.state.compare_exchange(bits, MARK, success, failure).ok()?;
        let version = self.found.wrapping_add(VERSION) & !TAG & !LOCK;
        self.word.store(tag(key) | version | self.found & LOCK, Ordering::Release);
        self.state.store(state.bits(), Ordering::Release);
        Some(())
    }
}

impl<'a> Claim<'a> {
    /// Takes the locks of two sets, in the order of their addresses.
    pub(super) fn of(first: &'a Set, second: &'a Set) -> Option<Self> {
        if core::ptr::eq(first, second) {
            // Only who has the lock may make a claim: its end releases it.
            return first.lock().then(|| Self { first, second: None });
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
        place.give(bits, key, state)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Algorithm, Window};

    // Each test takes apart what one thread does, and lets another act in between.

    #[test]
    fn a_charge_begins_again_where_its_place_changed_hands() {
        let set = Set::default();
        put(&set, A, START);
        let found = set.find(A).unwrap();
        put(&set, B, LATER);
        // The state that it meets is that of the other key, and allows the charge.
        assert_eq!(found.apply(&rule(), LATER, CHARGE), None);
    }

    #[test]
    fn a_charge_begins_again_where_its_key_has_the_place_anew() {
        let set = Set::default();
        put(&set, A, START);
        let found = set.find(A).unwrap();
        put(&set, B, LATER);
        put(&set, A, LATER * 2);
        assert_eq!(found.apply(&rule(), LATER * 2, CHARGE), None);
        assert!(set.find(A).unwrap().apply(&rule(), LATER * 2, CHARGE).is_some());
    }

    #[test]
    fn a_place_that_was_charged_meanwhile_is_not_given_away() {
        let set = Set::default();
        put(&set, A, START);
        let claim = Claim::of(&set, &set).unwrap();
        let (place, bits) = (set.find(A).unwrap(), state(START).bits());
        assert!(set.find(A).unwrap().apply(&rule(), LATER, CHARGE).is_some());
        assert_eq!(place.give(bits, B, state(LATER)), None);
        assert!(claim.has(A) && !claim.has(B));
    }

    #[test]
    fn a_place_in_other_hands_is_not_charged() {
        let set = Set::default();
        put(&set, A, START);
        let place = set.find(A).unwrap();
        place.state.store(MARK, Ordering::Release);
        assert_eq!(place.apply(&rule(), START, CHARGE), None);
        assert_eq!(place.state.load(Ordering::Acquire), MARK);
    }

    #[test]
    fn a_lock_that_others_have_is_given_up() {
        let [first, second] = [Set::default(), Set::default()];
        let claim = Claim::of(&first, &second).unwrap();
        assert!(Claim::of(&second, &first).is_none());
        assert!(Claim::of(&second, &second).is_none());
        assert!(Claim::of(&second, &second).is_none(), "the first try released nothing");
        drop(claim);
        assert!(Claim::of(&second, &first).is_some());
        // Both locks are free again, and the words of keys are as they were.
        assert!(
            first.keys[0].load(Ordering::Acquire) | second.keys[0].load(Ordering::Acquire) == 0
        );
    }

    /// Puts a key into the first place, with one token charged at that time.
    fn put(set: &Set, key: u64, now: u64) {
        let claim = Claim::of(set, set).unwrap();
        let state_word = set.states[0].load(Ordering::Acquire);
        let word = &set.keys[0];
        let place = Place { word, found: word.load(Ordering::Acquire), state: &set.states[0] };
        place.give(state_word, key, state(now)).unwrap();
        drop(claim);
    }

    fn state(now: u64) -> State {
        rule().apply(State::NONE, now, CHARGE).0
    }

    fn rule() -> Rule {
        Rule::new(Algorithm::Gcra { burst: None }, 10, Window::Micros(1_000_000)).unwrap()
    }

    const CHARGE: Operation = Operation::Charge(1);
    const A: u64 = 1;
    const B: u64 = 2;
    const START: u64 = 1_000_000;
    const LATER: u64 = 5_000_000;
}

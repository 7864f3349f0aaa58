//! The classes that are most like a query.

use std::cmp::Ordering;

use crate::index::{Features, at};

/// A class with a likeness, as a fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    pub(super) class: u32,
    /// The weight of what both have.
    pub(super) shared: u32,
    /// The weight of what one of them has.
    pub(super) either: u32,
}

impl Ranked {
    /// Orders the most alike first, and equals by age.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let (ours, theirs) = (self.scaled(other.either), other.scaled(self.either));
        theirs.cmp(&ours).then(self.class.cmp(&other.class))
    }

    fn scaled(&self, by: u32) -> u64 {
        u64::from(self.shared).saturating_mul(u64::from(by))
    }

    /// Returns the likeness in millionths.
    pub(super) fn score(&self) -> u32 {
        let either = u64::from(self.either).max(1);
        u32::try_from(self.scaled(1_000_000) / either).unwrap_or(1_000_000)
    }
}

/// Returns at most `top` classes, the most alike first, of those that share something and are open.
///
/// Counting the rare features first and ending where no other class can be among the best was
/// tried: with 4,000 classes it took three times as long, since the few that are left are looked up one by one.
pub(super) fn best(
    features: &Features,
    query: &[u32],
    top: usize,
    is_open: &dyn Fn(u32) -> bool,
) -> Vec<Ranked> {
    let own: u32 = query.iter().map(|feature| features.weight(*feature)).sum();
    let mut best = Best::new(top, own);
    let shared = shared(features, query);
    for ((class, shared), total) in (0_u32..).zip(shared).zip(features.totals()) {
        if shared >= best.least && is_open(class) {
            let either = own.saturating_add(*total).saturating_sub(shared);
            best.offer(Ranked { class, shared, either });
        }
    }
    best.list
}

/// Returns the weight that each class shares with a query.
fn shared(features: &Features, query: &[u32]) -> Vec<u32> {
    let mut all = vec![0_u32; features.totals().len()];
    for feature in query {
        let weight = features.weight(*feature);
        for class in features.classes(*feature) {
            if let Some(shared) = all.get_mut(at(*class)) {
                *shared = shared.wrapping_add(weight);
            }
        }
    }
    all
}

/// The best so far.
struct Best {
    list: Vec<Ranked>,
    top: usize,
    own: u32,
    /// What a class must share to be among the best: the union is no smaller than the query.
    least: u32,
}

impl Best {
    fn new(top: usize, own: u32) -> Self {
        Self { list: Vec::with_capacity(top.saturating_add(1)), top, own, least: 1 }
    }

    fn offer(&mut self, ranked: Ranked) {
        let position = self.list.partition_point(|one| one.order(&ranked) == Ordering::Less);
        if position >= self.top {
            return;
        }
        self.list.insert(position, ranked);
        self.list.truncate(self.top);
        if let Some(last) = self.list.last()
            && self.list.len() == self.top
        {
            let least = last.scaled(self.own) / u64::from(last.either.max(1));
            self.least = u32::try_from(least).unwrap_or(u32::MAX).max(1);
        }
    }
}

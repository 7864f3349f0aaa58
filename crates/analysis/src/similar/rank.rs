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
    let blocks = shared.chunks(BLOCK).zip(features.totals().chunks(BLOCK));
    for (block, (shared, totals)) in (0_u32..).step_by(BLOCK).zip(blocks) {
        // All of a block are compared at once, and most blocks have none that shares enough.
        let least = best.least;
        if !shared.iter().fold(false, |any, shared| any | (*shared >= least)) {
            continue;
        }
        for ((class, shared), total) in (block..).zip(shared).zip(totals) {
            if *shared >= best.least && is_open(class) {
                let either = own.saturating_add(*total).saturating_sub(*shared);
                best.offer(Ranked { class, shared: *shared, either });
            }
        }
    }
    best.list
}

/// Returns the likeness of each class to a query, in millionths.
pub(super) fn scores(features: &Features, query: &[u32]) -> Vec<u32> {
    let own: u32 = query.iter().map(|feature| features.weight(*feature)).sum();
    let score = |(shared, total): (u32, &u32)| {
        let either = own.saturating_add(*total).saturating_sub(shared);
        Ranked { class: 0, shared, either }.score()
    };
    shared(features, query).into_iter().zip(features.totals()).map(score).collect()
}

/// Returns the weight that each class shares with a query.
fn shared(features: &Features, query: &[u32]) -> Vec<u32> {
    let mut all = common(features, query);
    for feature in query {
        if !features.lanes(*feature).is_empty() {
            continue; // It is among the common ones.
        }
        let weight = features.weight(*feature);
        for class in features.classes(*feature) {
            if let Some(shared) = all.get_mut(at(*class)) {
                *shared = shared.wrapping_add(weight);
            }
        }
    }
    all
}

/// Returns the weight that each class shares with a query in common features.
fn common(features: &Features, query: &[u32]) -> Vec<u32> {
    let classes = features.totals().len();
    let mut all = vec![0_u32; classes];
    let lanes = query.iter().map(|feature| (features.lanes(*feature), features.weight(*feature)));
    let lanes: Vec<(&[u16], u16)> = lanes
        .filter(|(lanes, _)| !lanes.is_empty())
        .map(|(lanes, weight)| (lanes, u16::try_from(weight).unwrap_or(u16::MAX)))
        .collect();
    let mut sums = vec![0_u16; if lanes.is_empty() { 0 } else { classes }];
    for some in lanes.chunks(MAX_SUMMANDS) {
        sums.fill(0);
        for (lanes, weight) in some {
            for (sum, lane) in sums.iter_mut().zip(*lanes) {
                *sum = sum.wrapping_add(lane & weight);
            }
        }
        for (shared, sum) in all.iter_mut().zip(&sums) {
            *shared = shared.wrapping_add(u32::from(*sum));
        }
    }
    all
}

/// The classes of a block.
const BLOCK: usize = 32;

/// The weights of common features, each of 812 at most, whose sum fits 16 bits.
const MAX_SUMMANDS: usize = 64;

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

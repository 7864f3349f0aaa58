//! What classes have in common: features, how much each says, and the classes that have it.
//!
//! A feature of few classes says more than one of many: its weight is the logarithm of the classes
//! for each that has it, in whole numbers, so that every host computes the same.

use super::at;

/// The features of classes, and the classes of features.
#[derive(Debug, Default)]
pub(crate) struct Features {
    /// The features of each class, sorted, each once; none if the class has no rules.
    of_class: Vec<Vec<u32>>,
    /// The classes of each feature.
    holders: Vec<Holders>,
    /// The weight of each feature.
    weights: Vec<u32>,
    /// The weight of all features of each class; 0 if it has no rules.
    totals: Vec<u32>,
    live: usize,
}

/// The classes that have a feature.
#[derive(Debug, Default)]
struct Holders {
    /// The classes, sorted.
    classes: Vec<u32>,
    /// All bits for each class that has it, and none for others, if it is common: to add a weight to all classes
    /// at once. Empty if it is rare.
    lanes: Vec<u16>,
}

impl Features {
    /// Adds a class; `known` is the number of all features that have a number.
    pub(super) fn insert(&mut self, class: u32, mut features: Vec<u32>, known: usize) {
        features.sort_unstable();
        features.dedup();
        if self.holders.len() < known {
            self.holders.resize_with(known, Holders::default);
        }
        for feature in &features {
            if let Some(holders) = self.holders.get_mut(at(*feature)) {
                holders.insert(class);
            }
        }
        if self.of_class.len() <= at(class) {
            self.of_class.resize(at(class).saturating_add(1), Vec::new());
        }
        if let Some(of_class) = self.of_class.get_mut(at(class)) {
            *of_class = features;
        }
        self.live = self.live.saturating_add(1);
    }

    /// Removes a class.
    pub(super) fn remove(&mut self, class: u32) {
        let Some(features) = self.of_class.get_mut(at(class)).map(std::mem::take) else { return };
        for feature in features {
            if let Some(holders) = self.holders.get_mut(at(feature)) {
                holders.remove(class);
            }
        }
        self.live = self.live.saturating_sub(1);
    }

    /// Computes the weights anew.
    pub(super) fn weigh(&mut self) {
        let live = u64::try_from(self.live).unwrap_or(u64::MAX);
        let all = self.of_class.len();
        for holders in &mut self.holders {
            holders.spread(all);
        }
        self.weights.clear();
        self.weights.extend(self.holders.iter().map(|holders| weight(live, holders.classes.len())));
        self.totals.clear();
        let weights = &self.weights;
        let total = |features: &Vec<u32>| {
            features.iter().filter_map(|feature| weights.get(at(*feature))).sum::<u32>()
        };
        self.totals.extend(self.of_class.iter().map(total));
    }

    /// Returns the features of a class.
    pub(crate) fn of(&self, class: u32) -> &[u32] {
        self.of_class.get(at(class)).map_or(&[], Vec::as_slice)
    }

    /// Returns the classes that have a feature, sorted.
    pub(crate) fn classes(&self, feature: u32) -> &[u32] {
        self.holders.get(at(feature)).map_or(&[], |holders| holders.classes.as_slice())
    }

    /// Returns all bits for each class that has a common feature, and none for others; nothing for a rare one.
    pub(crate) fn lanes(&self, feature: u32) -> &[u16] {
        self.holders.get(at(feature)).map_or(&[], |holders| holders.lanes.as_slice())
    }

    /// Returns the weight of a feature; that of a feature that no class has is that of a rare one.
    pub(crate) fn weight(&self, feature: u32) -> u32 {
        match self.weights.get(at(feature)) {
            Some(weight) => *weight,
            None => weight(u64::try_from(self.live).unwrap_or(u64::MAX), 1),
        }
    }

    /// Returns the weight of all features of each class.
    pub(crate) fn totals(&self) -> &[u32] {
        &self.totals
    }
}

impl Holders {
    fn insert(&mut self, class: u32) {
        match self.classes.last() {
            Some(last) if *last > class => {
                let position = self.classes.partition_point(|other| *other < class);
                self.classes.insert(position, class);
            }
            _ => self.classes.push(class),
        }
        self.set(class, u16::MAX);
    }

    fn remove(&mut self, class: u32) {
        if let Ok(position) = self.classes.binary_search(&class) {
            self.classes.remove(position);
        }
        self.set(class, 0);
    }

    fn set(&mut self, class: u32, bits: u16) {
        if self.lanes.is_empty() {
            return;
        }
        if self.lanes.len() <= at(class) {
            self.lanes.resize(at(class).saturating_add(1), 0);
        }
        if let Some(lane) = self.lanes.get_mut(at(class)) {
            *lane = bits;
        }
    }

    /// Makes the lanes as long as there are classes, or drops them if few classes have the feature.
    fn spread(&mut self, all: usize) {
        if self.classes.len().saturating_mul(COMMON) < all {
            self.lanes = Vec::new();
            return;
        }
        if self.lanes.is_empty() {
            self.lanes.resize(all, 0);
            for class in &self.classes {
                if let Some(lane) = self.lanes.get_mut(at(*class)) {
                    *lane = u16::MAX;
                }
            }
        }
        self.lanes.resize(all, 0);
    }
}

/// A feature is common if at least one class in so many has it: there adding to all classes, eight at once, takes no longer
/// than to those that have it.
const COMMON: usize = 8;

/// Returns `256 log2(1 + live / with)`, with a straight line between powers of two.
fn weight(live: u64, with: usize) -> u32 {
    let with = u64::try_from(with).unwrap_or(u64::MAX).max(1);
    let ratio = live.saturating_add(with).saturating_mul(256) / with;
    let power = ratio.max(256).ilog2();
    let fraction = (ratio.max(256) >> power.saturating_sub(8)) & 255;
    let whole = power.saturating_sub(8).saturating_mul(256);
    whole.saturating_add(u32::try_from(fraction).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn a_rare_feature_weighs_more() {
        assert_eq!([weight(1, 1), weight(3, 1), weight(7, 1)], [256, 512, 768]);
        assert_eq!(weight(100, 100), 256);
        assert!(weight(1000, 1) > weight(1000, 2) && weight(1000, 999) >= 256);
    }
}

//! The sets of filters of an instance, by numbers.

use wardgate_mqtt::{Filter, Filters, Full, Id, Name};

/// Sets whose values are numbers that the host gives.
pub(crate) struct Sets {
    sets: Vec<Option<Set>>,
    /// The numbers without a set.
    free: Vec<u32>,
}

struct Set {
    filters: Filters<u32>,
    /// The place of each number in the set. The host gives small numbers and reuses them.
    places: Vec<Option<Id>>,
}

impl Sets {
    pub(crate) const fn new() -> Self {
        Self { sets: Vec::new(), free: Vec::new() }
    }

    /// Makes a set, and returns its number.
    pub(crate) fn open(&mut self, seed: u64) -> u32 {
        let set = Some(Set { filters: Filters::seeded(seed), places: Vec::new() });
        let number = self.free.pop().unwrap_or_else(|| {
            self.sets.push(None);
            u32::try_from(self.sets.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.sets.get_mut(index(number)) {
            *place = set;
        }
        number
    }

    /// Frees a set.
    pub(crate) fn close(&mut self, set: u32) {
        if self.sets.get_mut(index(set)).and_then(Option::take).is_some() {
            self.free.push(set);
        }
    }

    /// Inserts a filter with a number that no other filter of the set has.
    pub(crate) fn insert(&mut self, set: u32, filter: Filter<'_>, value: u32) -> Result<(), Full> {
        let set = self.sets.get_mut(index(set)).and_then(Option::as_mut).ok_or(Full)?;
        let at = index(value);
        if at > set.places.len() {
            return Err(Full);
        }
        let id = set.filters.insert(filter, value)?;
        match set.places.get_mut(at) {
            Some(place) => *place = Some(id),
            None => set.places.push(Some(id)),
        }
        Ok(())
    }

    /// Removes the filter with a number from a set. Returns true if there was one.
    pub(crate) fn remove(&mut self, set: u32, value: u32) -> bool {
        let set = self.sets.get_mut(index(set)).and_then(Option::as_mut);
        let Some(Set { filters, places }) = set else { return false };
        let id = places.get_mut(index(value)).and_then(Option::take);
        id.and_then(|id| filters.remove(id)).is_some()
    }

    /// Adds the numbers of all filters of a set that match a name to `found`.
    pub(crate) fn find(&self, set: u32, name: Name<'_>, found: &mut Vec<u32>) {
        if let Some(Some(set)) = self.sets.get(index(set)) {
            set.filters.matches(name, &mut |value| found.push(*value));
        }
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

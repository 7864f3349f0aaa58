//! Sorting, compiled once for every type of element, and collecting without it.
//!
//! The sort of the standard library is compiled again, 3 to 6 KB each time, for every type that is
//! sorted. This one orders indices and calls its caller to compare their elements, so one copy
//! serves all. Like that one it is stable and takes O(n log n) comparisons at worst.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts `items` by `compare`; equal ones stay in their order.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    let mut slots: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|at| slots.get_mut(at).and_then(Option::take)));
}

/// Collects items one after the other.
///
/// `collect` sorts the items of a set or a map first, by code that is compiled anew for each type.
pub fn in_order<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut collection = C::default();
    collection.extend(items);
    collection
}

/// Returns the numbers below `count` in the order of `compare`: a merge sort from the bottom up.
fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut merged = Vec::with_capacity(count);
    let mut width = 1;
    while width < count {
        for pair in order.chunks(width.saturating_mul(2)) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, compare, &mut merged);
        }
        core::mem::swap(&mut order, &mut merged);
        merged.clear();
        width = width.saturating_mul(2);
    }
    order
}

/// Appends the numbers of two sorted lists to `merged`, sorted; of equal ones those of `left`
/// first.
pub(crate) fn merge(
    mut left: &[usize],
    mut right: &[usize],
    compare: &dyn Fn(usize, usize) -> Ordering,
    merged: &mut Vec<usize>,
) {
    while let (Some((&a, after_a)), Some((&b, after_b))) = (left.split_first(), right.split_first())
    {
        if compare(b, a) == Ordering::Less {
            merged.push(b);
            right = after_b;
        } else {
            merged.push(a);
            left = after_a;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::sort_by;

    /// Compares with the sort of the standard library, order of equal elements included.
    fn check(keys: &[u8]) {
        let mut ours: Vec<_> = keys.iter().copied().enumerate().collect();
        let mut theirs = ours.clone();
        sort_by(&mut ours, |(_, a), (_, b)| a.cmp(b));
        theirs.sort_by_key(|(_, key)| *key);
        assert_eq!(ours, theirs, "{keys:?}");
    }

    #[test]
    fn sorts_as_the_standard_library_does() {
        check(&[]);
        check(&[1]);
        check(&[2, 1]);
        check(&[1, 1, 0, 1, 0, 0, 2]);
        let mut random = fastrand::Rng::with_seed(1);
        for length in 0..200 {
            let keys: Vec<u8> = (0..length).map(|_| random.u8(..16)).collect();
            check(&keys);
        }
    }
}

//! Collecting into sets and maps by little code.

/// Collects items one after the other.
///
/// `collect` sorts the items of a set or a map first, by code that is compiled anew for each type:
/// some kilobytes of the module for the package each time.
pub fn in_order<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut collection = C::default();
    collection.extend(items);
    collection
}

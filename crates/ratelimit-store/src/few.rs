//! A list of mostly one item, which then is not allocated.

use core::borrow::Borrow;
use core::ops::{Deref, DerefMut};

/// Items in their order; one of them has its place in the list itself.
#[derive(Clone, Debug, Default)]
pub enum Few<T> {
    /// No item.
    #[default]
    None,
    /// One item.
    One(T),
    /// Any number of items.
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// Adds an item behind the others.
    pub fn push(&mut self, item: T) {
        *self = match core::mem::take(self) {
            Self::None => Self::One(item),
            Self::One(first) => Self::Many(vec![first, item]),
            Self::Many(mut items) => {
                items.push(item);
                Self::Many(items)
            }
        };
    }

    /// Returns the items as a vector.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::None => Vec::new(),
            Self::One(item) => vec![item],
            Self::Many(items) => items,
        }
    }

    /// Keeps the items for which `keeps` returns true.
    pub fn retain_mut(&mut self, mut keeps: impl FnMut(&mut T) -> bool) {
        match self {
            Self::None => {}
            Self::One(item) => {
                if !keeps(item) {
                    *self = Self::None;
                }
            }
            Self::Many(items) => items.retain_mut(keeps),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(item) => core::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::None => &mut [],
            Self::One(item) => core::slice::from_mut(item),
            Self::Many(items) => items,
        }
    }
}

impl<T> Borrow<[T]> for Few<T> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Many(items)
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        let Some(first) = items.next() else { return Self::None };
        let Some(second) = items.next() else { return Self::One(first) };
        let mut all = Vec::with_capacity(items.size_hint().0.saturating_add(2));
        all.extend([first, second]);
        all.extend(items);
        Self::Many(all)
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = core::iter::Chain<core::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Self::None => (None, Vec::new()),
            Self::One(item) => (Some(item), Vec::new()),
            Self::Many(items) => (None, items),
        };
        one.into_iter().chain(many)
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = core::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_their_order_however_they_come() {
        for count in 0..5 {
            let expected: Vec<usize> = (0..count).collect();
            let mut pushed = Few::None;
            expected.iter().for_each(|item| pushed.push(*item));
            let collected: Few<usize> = expected.iter().copied().collect();
            assert_eq!(*pushed, *expected);
            assert_eq!(pushed, collected);
            assert_eq!(pushed.clone().into_vec(), expected);
            assert_eq!(pushed.into_iter().collect::<Vec<_>>(), expected);
            let mut odd = collected;
            odd.retain_mut(|item| *item % 2 == 1);
            assert!(odd.iter().all(|item| item % 2 == 1) && odd.len() == count / 2);
        }
    }
}

//! A stack of numbers that allocates only when it is large.

use alloc::vec::Vec;

/// Numbers, the first few of them inline.
pub(super) struct Stack {
    few: [u32; FEW],
    /// All numbers, once they do not fit inline.
    many: Vec<u32>,
    len: usize,
}

impl Stack {
    pub(super) const fn new() -> Self {
        Self { few: [0; FEW], many: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Returns the numbers from an index on.
    pub(super) fn above(&self, at: usize) -> &[u32] {
        let all = if self.many.is_empty() { &self.few[..] } else { &self.many[..] };
        all.get(at..self.len).unwrap_or_default()
    }

    /// Returns the numbers from an index on.
    pub(super) fn above_mut(&mut self, at: usize) -> &mut [u32] {
        let all = if self.many.is_empty() { &mut self.few[..] } else { &mut self.many[..] };
        all.get_mut(at..self.len).unwrap_or_default()
    }

    pub(super) fn push(&mut self, number: u32) {
        match self.few.get_mut(self.len) {
            Some(position) if self.many.is_empty() => *position = number,
            _ => self.spill(number),
        }
        self.len = self.len.saturating_add(1);
    }

    #[cold]
    fn spill(&mut self, number: u32) {
        if self.many.is_empty() {
            self.many.extend_from_slice(&self.few);
        }
        self.many.truncate(self.len);
        self.many.push(number);
    }

    pub(super) fn extend(&mut self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.push(*number));
    }

    /// Copies `count` numbers from an index on to the top.
    pub(super) fn repeat(&mut self, at: usize, count: usize) {
        for position in at..at.saturating_add(count) {
            let number = self.above(position).first().copied();
            number.into_iter().for_each(|number| self.push(number));
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Sorts the numbers from an index on, and removes duplicates.
    pub(super) fn sort(&mut self, at: usize) {
        self.above_mut(at).sort_unstable();
        let mut last = None;
        self.retain(at, |number| last.replace(number) != Some(number));
    }

    /// Keeps the numbers from `at` to `middle` that also occur from `middle` on. Both parts are
    /// sorted.
    pub(super) fn intersect(&mut self, at: usize, middle: usize) {
        let Some((left, mut right)) = split(self.above_mut(at), middle.saturating_sub(at)) else {
            return;
        };
        let mut count = 0_usize;
        for position in 0..left.len() {
            let Some(number) = left.get(position).copied() else { continue };
            let before = right.partition_point(|other| *other < number);
            right = right.get(before..).unwrap_or_default();
            if right.first() == Some(&number) {
                left.get_mut(count).into_iter().for_each(|target| *target = number);
                count = count.saturating_add(1);
            }
        }
        self.truncate(at.saturating_add(count));
    }

    /// Removes some numbers below the top.
    pub(super) fn drain(&mut self, at: usize, count: usize) {
        let numbers = self.above_mut(at);
        let count = count.min(numbers.len());
        numbers.copy_within(count.., 0);
        self.truncate(self.len.saturating_sub(count));
    }

    /// Keeps the numbers from an index on for which `stays` is true.
    pub(super) fn retain(&mut self, at: usize, mut stays: impl FnMut(u32) -> bool) {
        let mut count = 0_usize;
        let numbers = self.above_mut(at);
        for position in 0..numbers.len() {
            let Some(number) = numbers.get(position).copied().filter(|number| stays(*number))
            else {
                continue;
            };
            if let Some(target) = numbers.get_mut(count) {
                *target = number;
            }
            count = count.saturating_add(1);
        }
        self.truncate(at.saturating_add(count));
    }
}

fn split(numbers: &mut [u32], at: usize) -> Option<(&mut [u32], &[u32])> {
    let (left, right) = numbers.split_at_mut_checked(at)?;
    Some((left, right))
}

const FEW: usize = 32;

//! Choices out of a list of bytes.

/// The choices that are left.
pub(super) struct Choices<'c> {
    rest: std::slice::Iter<'c, u8>,
}

impl<'c> Choices<'c> {
    pub(super) fn new(bytes: &'c [u8]) -> Self {
        Self { rest: bytes.iter() }
    }

    /// Returns a number below `bound`; zero at the end of the bytes.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or_default()) % bound.max(1)
    }

    /// Returns true `times` times out of eight.
    pub(super) fn chance(&mut self, times: usize) -> bool {
        self.below(8) + times >= 8
    }

    pub(super) fn pick<T: Copy>(&mut self, first: T, others: &[T]) -> T {
        let at = self.below(others.len() + 1);
        at.checked_sub(1).and_then(|at| others.get(at)).copied().unwrap_or(first)
    }
}

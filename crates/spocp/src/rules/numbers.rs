//! The node where the rule with a number ends.
//!
//! Numbers rise, so an array in their order suffices. A removed number leaves a gap; when half of
//! the array is gaps, it is compacted.

use alloc::vec::Vec;

/// Nodes by the numbers of rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// Numbers and nodes, in order; `None` for a gap.
    entries: Vec<(u32, Option<core::num::NonZeroU32>)>,
    gaps: usize,
}

impl Numbers {
    pub(super) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.gaps)
    }

    /// Adds a number greater than all others. Node 0 is the root, where no rule ends.
    pub(super) fn push(&mut self, number: u32, node: u32) {
        self.entries.push((number, core::num::NonZeroU32::new(node)));
    }

    pub(super) fn node(&self, number: u32) -> Option<u32> {
        let at = self.position(number)?;
        self.entries.get(at)?.1.map(core::num::NonZeroU32::get)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<u32> {
        let at = self.position(number)?;
        let node = self.entries.get_mut(at)?.1.take()?;
        self.gaps = self.gaps.saturating_add(1);
        if self.gaps > self.entries.len() / 2 {
            self.entries.retain(|(_, node)| node.is_some());
            self.gaps = 0;
        }
        Some(node.get())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries.iter().filter_map(|(number, node)| Some((*number, node.as_ref()?.get())))
    }

    fn position(&self, number: u32) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.0).ok()
    }
}

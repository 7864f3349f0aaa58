//! What a sequencer knows of an isolate: which of its decisions are in the log.

use alloc::vec::Vec;

use super::Refusal;
use crate::limits::MAX_RANGES;

/// The random number of an isolate.
pub(super) type Source = [u8; 16];

/// The decisions of an isolate that are in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Isolate {
    /// The stream of the log that has its decisions.
    pub(super) stream: u16,
    /// The highest time of its frames, in microseconds since 1970.
    pub(super) last: i64,
    // INVARIANT: in their order, without overlap.
    pub(super) ranges: Vec<Range>,
}

/// Sequences of an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first sequence.
    pub(super) begin: u32,
    /// The sequence behind the last one.
    pub(super) end: u32,
    /// True if these are not in the log, and will not be: a record says that they are lost.
    pub(super) is_lost: bool,
    /// The time at which the gap before the range was seen, in microseconds since 1970.
    pub(super) noticed: i64,
}

impl Isolate {
    pub(super) const fn new(stream: u16) -> Self {
        Self { stream, last: i64::MIN, ranges: Vec::new() }
    }

    /// Adds sequences. Returns false, and adds nothing, if all of them are in the log.
    pub(super) fn add(&mut self, begin: u32, end: u32, now: i64) -> Result<bool, Refusal> {
        let at = self.ranges.partition_point(|range| range.end <= begin);
        match self.ranges.get(at) {
            Some(range) if range.begin < end => {
                let is_within = range.begin <= begin && end <= range.end;
                match (is_within, range.is_lost) {
                    (true, false) => Ok(false),
                    (true, true) => Err(Refusal::Late),
                    (false, _) => Err(Refusal::Overlap),
                }
            }
            after => {
                let noticed = after.map_or(now, |after| after.noticed);
                self.insert(at, Range { begin, end, is_lost: false, noticed })?;
                Ok(true)
            }
        }
    }

    /// Marks sequences, none of which is in the log, as lost.
    pub(super) fn lose(&mut self, begin: u32, end: u32) {
        let at = self.ranges.partition_point(|range| range.end <= begin);
        let is_free = self.ranges.get(at).is_none_or(|after| after.begin >= end);
        if is_free && begin < end {
            let range = Range { begin, end, is_lost: true, noticed: i64::MIN };
            // Lost ranges are never refused.
            self.insert(at, range).unwrap_or_default();
        }
    }

    /// Returns the gaps that were seen up to a time: the first sequence, and the one behind the last.
    pub(super) fn gaps(&self, noticed: i64) -> Vec<(u32, u32)> {
        let ends = core::iter::once(0).chain(self.ranges.iter().map(|range| range.end));
        let gaps = ends
            .zip(&self.ranges)
            .filter(|(end, range)| *end < range.begin && range.noticed <= noticed);
        gaps.map(|(end, range)| (end, range.begin)).collect()
    }

    fn insert(&mut self, at: usize, range: Range) -> Result<(), Refusal> {
        let joins =
            |one: &Range, other: &Range| one.end == other.begin && one.is_lost == other.is_lost;
        let before = at.checked_sub(1);
        let has_before =
            before.and_then(|at| self.ranges.get(at)).is_some_and(|one| joins(one, &range));
        let has_after = self.ranges.get(at).is_some_and(|after| joins(&range, after));
        match (before.filter(|_| has_before), has_after) {
            (Some(before), true) => {
                let after = self.ranges.remove(at);
                self.widen(before, |one| one.end = after.end);
            }
            (Some(before), false) => self.widen(before, |one| one.end = range.end),
            (None, true) => self.widen(at, |one| one.begin = range.begin),
            (None, false) => {
                // Of the lost ranges there is at most one for each gap between the others.
                let removed = if range.is_lost { 0 } else { self.make_room()? };
                self.ranges.insert(at.saturating_sub(removed), range);
            }
        }
        Ok(())
    }

    fn widen(&mut self, at: usize, change: impl FnOnce(&mut Range)) {
        if let Some(range) = self.ranges.get_mut(at) {
            change(range);
        }
    }

    /// Makes one range of the first ones if there are too many, and returns how many went. Which of their sequences
    /// are in the log is forgotten: frames with them are refused.
    fn make_room(&mut self) -> Result<usize, Refusal> {
        let mut removed = 0_usize;
        while self.ranges.len() >= MAX_RANGES {
            let [first, second, ..] = self.ranges.as_mut_slice() else { break };
            if first.end != second.begin {
                return Err(Refusal::Gaps);
            }
            (second.begin, second.noticed, second.is_lost) = (first.begin, first.noticed, true);
            self.ranges.remove(0);
            removed = removed.saturating_add(1);
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(isolate: &Isolate) -> Vec<(u32, u32, bool)> {
        isolate.ranges.iter().map(|range| (range.begin, range.end, range.is_lost)).collect()
    }

    #[test]
    fn sequences_are_taken_once_in_any_order() {
        let mut isolate = Isolate::new(1);
        for (begin, end, is_new) in
            [(0, 3, true), (7, 9, true), (0, 3, false), (3, 7, true), (7, 9, false), (1, 8, false)]
        {
            assert_eq!(isolate.add(begin, end, 5), Ok(is_new), "{begin}");
        }
        assert_eq!(ranges(&isolate), [(0, 9, false)]);
        assert_eq!(isolate.add(8, 10, 5), Err(Refusal::Overlap));
    }

    #[test]
    fn a_gap_is_one_from_when_it_was_seen() {
        let mut isolate = Isolate::new(1);
        isolate.add(4, 5, 10).unwrap();
        isolate.add(8, 9, 20).unwrap();
        isolate.add(2, 3, 30).unwrap();
        assert_eq!((isolate.gaps(9), isolate.gaps(10)), (Vec::new(), alloc::vec![(0, 2), (3, 4)]));
        assert_eq!(isolate.gaps(20), [(0, 2), (3, 4), (5, 8)]);
        isolate.lose(0, 2);
        isolate.lose(3, 4);
        assert_eq!(isolate.gaps(19), []);
        assert_eq!(isolate.add(0, 1, 40), Err(Refusal::Late));
        assert_eq!(isolate.add(2, 3, 40), Ok(false));
        isolate.add(5, 8, 40).unwrap();
        let expected = [(0, 2, true), (2, 3, false), (3, 4, true), (4, 9, false)];
        assert_eq!(ranges(&isolate), expected);
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let mut isolate = Isolate::new(1);
        let most = u32::try_from(MAX_RANGES).unwrap();
        for number in 0..most {
            isolate.add(number * 2, number * 2 + 1, 0).unwrap();
        }
        assert_eq!(isolate.add(most * 2, most * 2 + 1, 0), Err(Refusal::Gaps));
        isolate.lose(1, 2);
        isolate.add(most * 2, most * 2 + 1, 0).unwrap();
        assert_eq!(isolate.ranges.len(), MAX_RANGES);
        assert_eq!(isolate.add(0, 1, 0), Err(Refusal::Late), "it may be there or not");
        assert_eq!(isolate.add(4, 5, 0), Ok(false));
    }
}

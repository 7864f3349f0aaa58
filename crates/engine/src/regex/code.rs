//! Instructions under construction.
//!
//! Jumps are relative, so a fragment is a plain list: it can be moved, repeated and inserted
//! between others without changes.

use alloc::vec;
use alloc::vec::Vec;

/// One instruction; unless noted otherwise, the next one follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draft {
    /// Ends the search with a match.
    Match,
    /// One code point.
    Char(u32),
    /// One code point of the class at this offset of the class table.
    Class(u32),
    /// Any code point.
    Any,
    /// Any code point but a line feed.
    NotNewline,
    /// All of these conditions hold at this position; see [`super::search::Look`].
    Assert(u32),
    /// Stores the position in this capture slot.
    Save(u32),
    /// Continues at a distance.
    Jump(i64),
    /// Continues at the next instruction and at a distance; `next_first` is true if the next one is
    /// preferred.
    Split { by: i64, next_first: bool },
}

/// The repetition of an atom: least count, largest count, and the preference for more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) min: usize,
    pub(super) max: Option<usize>,
    pub(super) greedy: bool,
}

impl Repeat {
    /// Returns the number of instructions that `apply` makes from `len` of them.
    pub(super) fn size(self, len: usize) -> usize {
        match self.max {
            None => len.saturating_mul(self.min.max(1)).saturating_add(2),
            Some(max) => len.saturating_add(1).saturating_mul(max),
        }
    }

    pub(super) fn apply(self, body: &[Draft]) -> Vec<Draft> {
        let mut code = Vec::new();
        match self.max {
            None => self.unbounded(body, &mut code),
            Some(max) => self.bounded(body, max, &mut code),
        }
        code
    }

    /// Writes `x*`, a loop that is entered at its test. For an `x` that can be empty the loop would
    /// reach the end in the wrong order of preference, so there `x*` is `(x+)?`.
    fn unbounded(self, body: &[Draft], code: &mut Vec<Draft>) {
        let len = distance(body.len());
        if self.min == 0 {
            code.push(Draft::Split { by: len.saturating_add(2), next_first: self.greedy });
        }
        for _ in 0..self.min.max(1) {
            code.extend_from_slice(body);
        }
        code.push(if self.min == 0 && !can_be_empty(body) {
            Draft::Jump(len.saturating_add(1).saturating_neg())
        } else {
            Draft::Split { by: len.saturating_neg(), next_first: !self.greedy }
        });
    }

    /// Writes `x{2,4}` as `xx(x(x)?)?`, with one end for all exits.
    fn bounded(self, body: &[Draft], max: usize, code: &mut Vec<Draft>) {
        for _ in 0..self.min {
            code.extend_from_slice(body);
        }
        let step = distance(body.len()).saturating_add(1);
        for left in (1..=max.saturating_sub(self.min)).rev() {
            let by = step.saturating_mul(distance(left));
            code.push(Draft::Split { by, next_first: self.greedy });
            code.extend_from_slice(body);
        }
    }
}

/// Joins branches; an earlier one is preferred.
pub(super) fn alternate(branches: Vec<Vec<Draft>>, last: Vec<Draft>) -> Vec<Draft> {
    if branches.is_empty() {
        return last;
    }
    let mut left = branches.iter().map(|branch| branch.len().saturating_add(2)).sum::<usize>();
    left = left.saturating_add(last.len());
    let mut code = Vec::new();
    for branch in branches {
        let len = branch.len().saturating_add(2);
        code.push(Draft::Split { by: distance(len), next_first: true });
        code.extend(branch);
        left = left.saturating_sub(len);
        code.push(Draft::Jump(distance(left).saturating_add(1)));
    }
    code.extend(last);
    code
}

/// Returns true if `code` can be passed without reading a character. A backward jump leads to an
/// instruction that was passed before, so one walk forward finds all paths.
fn can_be_empty(code: &[Draft]) -> bool {
    let mut reached = vec![false; code.len().saturating_add(1)];
    reach(&mut reached, 0, 0);
    for (at, draft) in code.iter().enumerate() {
        if reached.get(at) != Some(&true) {
            continue;
        }
        match *draft {
            Draft::Assert(_) | Draft::Save(_) => reach(&mut reached, at, 1),
            Draft::Jump(by) => reach(&mut reached, at, by),
            Draft::Split { by, .. } => {
                reach(&mut reached, at, 1);
                reach(&mut reached, at, by);
            }
            Draft::Match | Draft::Char(_) | Draft::Class(_) | Draft::Any | Draft::NotNewline => {}
        }
    }
    reached.last() == Some(&true)
}

fn reach(reached: &mut [bool], at: usize, by: i64) {
    let to = usize::try_from(by).ok().and_then(|by| at.checked_add(by));
    if let Some(cursor) = to.and_then(|to| reached.get_mut(to)) {
        *cursor = true;
    }
}

/// Converts a length, which is below `limits::MAX_REGEX_INSTRUCTIONS`, without loss.
fn distance(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

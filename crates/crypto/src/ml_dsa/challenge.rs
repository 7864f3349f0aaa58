//! SampleInBall (FIPS 204, Algorithm 29): the challenge, a polynomial with few ones.

use super::field::Rows;
use super::level::Parameters;
use crate::shake::{Blocks, Message, RATE_256};

/// Writes the challenge into `lane` of rows whose lane is zero.
///
/// `block` is the first block that SHAKE256 gives for the bytes of the challenge, which nearly
/// always suffices. Returns `None` if several blocks do not suffice, which no attacker can cause.
pub(super) fn sample(
    set: &Parameters,
    (bytes, block): (&[u8], &[u8; RATE_256]),
    lane: usize,
    rows: &mut Rows,
) -> Option<()> {
    let (signs, candidates) = block.split_first_chunk::<8>()?;
    let mut positions =
        Places { lane, rows, signs: u64::from_le_bytes(*signs), next: 256 - set.ones };
    if positions.fill(candidates) {
        return Some(());
    }
    let mut blocks = Blocks::<RATE_256>::of_short(&Message([bytes, &[], &[], &[]]));
    let _known = blocks.next_block();
    (0..MORE_BLOCKS).any(|_| positions.fill(&blocks.next_block())).then_some(())
}

/// The progress of sampling: coefficients below `next` are final, except for the ones still to
/// come.
struct Places<'a> {
    lane: usize,
    rows: &'a mut Rows,
    signs: u64,
    next: usize,
}

impl Places<'_> {
    /// Places a one for each candidate that is not too great; returns true once all are placed.
    fn fill(&mut self, candidates: &[u8]) -> bool {
        for candidate in candidates.iter().copied().map(usize::from) {
            if self.next > 255 {
                break;
            }
            if candidate <= self.next {
                let one = if self.signs & 1 == 1 { -1.0 } else { 1.0 };
                let moved = self.replace(candidate, one);
                if candidate != self.next {
                    self.replace(self.next, moved);
                }
                self.signs >>= 1;
                self.next += 1;
            }
        }
        self.next > 255
    }

    fn replace(&mut self, position: usize, value: f64) -> f64 {
        let number = self.rows.get_mut(position).and_then(|row| row.0.get_mut(self.lane));
        number.map(|number| core::mem::replace(number, value)).unwrap_or_default()
    }
}

/// The number of further blocks. FIPS 204, Appendix C, allows an end after 121 bytes; these are ten
/// times as many.
const MORE_BLOCKS: usize = 8;

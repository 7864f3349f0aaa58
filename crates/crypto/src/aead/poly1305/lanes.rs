//! Many blocks at once: of n lanes, each adds every n-th block, and multiplies with the n-th power of
//! the key in between. Then one step for each lane, as for a block, joins the sums of all lanes.

use wardgate_simd::lanes::{Kernel, Lanes64, Quad, Tier};

use super::Poly1305;
use super::factor::{Factor, Limbs, MARK, carried, limbs, plus};

/// Adds groups of eight blocks, which fill the lanes of every tier.
pub(in super::super) struct AddGroups<'a> {
    pub(in super::super) poly: &'a mut Poly1305,
    pub(in super::super) groups: &'a [[Quad; 8]],
}

impl Kernel for AddGroups<'_> {
    type Output = ();

    fn run<T: Tier>(self, tier: T) {
        let Self { poly, groups } = self;
        let Some((first, others)) = groups.as_flattened().split_at_checked(T::LANES) else {
            return;
        };
        let mut key = poly.key;
        let mut lanes = 1;
        while lanes < T::LANES {
            (key, lanes) = (key.square(), 2 * lanes);
        }
        let mut rows = poly.sum.map(|limb| [limb, 0, 0, 0, 0, 0, 0, 0]);
        sum(tier, &key, &mut rows, first, others);
        poly.sum = [0; 5];
        for lane in 0..T::LANES {
            poly.step(&rows.map(|row| row.get(lane).copied().unwrap_or_default()));
        }
    }
}

/// Adds whole rounds of blocks to the sums of the lanes, the first without a product; `key` is the
/// power of the key. Two rounds share one carry: `h = h r^2 + m1 r + m2`.
///
/// Out of line, so that these vectors have all registers.
#[inline(never)]
fn sum<T: Lanes64>(
    tier: T,
    key: &Factor<u64>,
    rows: &mut [[u64; 8]; 5],
    first: &[Quad],
    others: &[Quad],
) {
    tier.enter(
        #[inline(always)]
        |tier| {
            let (square, key) = (key.square().splat(tier), key.splat(tier));
            let sum = rows.each_ref().map(
                #[inline(always)]
                |row| tier.load_u64(row, 0),
            );
            let mut sum = plus(tier, &sum, &numbers(tier, first));
            let pairs = others.chunks_exact(2 * T::LANES);
            let last = pairs.remainder();
            for pair in pairs {
                let (near, next) = pair.split_at(T::LANES);
                let near = key.times(tier, &numbers(tier, near));
                let far = square.times(tier, &sum);
                let product = carried(tier, plus(tier, &far, &near));
                sum = plus(tier, &product, &numbers(tier, next));
            }
            if !last.is_empty() {
                let product = carried(tier, key.times(tier, &sum));
                sum = plus(tier, &product, &numbers(tier, last));
            }
            for (row, limb) in rows.iter_mut().zip(sum) {
                tier.store_u64(limb, row, 0);
            }
        },
    );
}

/// Reads a block into each lane.
#[inline(always)]
fn numbers<T: Lanes64>(tier: T, blocks: &[Quad]) -> Limbs<T::U64> {
    limbs(tier, tier.load_blocks(blocks), MARK)
}

//! The shape that both trees have: that of RFC 6962, section 2.1.
//!
//! A tree over `n` leaves splits before the largest power of two below `n`. A path has the digests
//! beside the way from a leaf to the root, the lowest first.

/// A digest of 32 bytes.
pub type Digest = [u8; 32];

/// Returns the root that a path leads to, as RFC 9162, section 2.1.3.2 says, or `None` if the path
/// is none of that leaf. `node` makes the digest of two.
pub(crate) fn climb(
    (leaf, index): (Digest, u64),
    size: u64,
    path: &[Digest],
    node: impl Fn(&Digest, &Digest) -> Digest,
) -> Option<Digest> {
    let last = size.checked_sub(1).filter(|last| index <= *last)?;
    let (mut at, mut last, mut root) = (index, last, leaf);
    for beside in path {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            root = node(beside, &root);
            // The node has no brother on these levels.
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            root = node(&root, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    (last == 0).then_some(root)
}

/// Returns the largest power of two below `count`, which is at least 2.
pub(crate) fn split(count: u64) -> u64 {
    count.saturating_sub(1).checked_ilog2().map_or(0, |level| 1 << level)
}

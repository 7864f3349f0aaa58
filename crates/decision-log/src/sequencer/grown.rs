//! The log of frames as it grows, and its tiles.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Condition, Write};
use crate::merkle::{self, Digest, Frontier};
use crate::tile::{self, Tile, Tiles, WIDTH};

/// The levels of tiles of a log of less than 2^64 leaves.
pub(super) const LEVELS: usize = 8;

/// A log, of which the last tile of each level is in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Grown {
    frontier: Frontier,
    /// The digests of the last tile of each level, fewer than a full one has.
    pub(super) levels: [Vec<Digest>; LEVELS],
    /// The entries of the last tile of level 0.
    pub(super) entries: Vec<u8>,
    /// Full tiles that are not written yet, by their paths.
    full: Vec<(String, Vec<u8>)>,
    /// The size whose tiles are written.
    written: u64,
}

impl Grown {
    /// Makes the log of the first `size` frames out of its last tiles, or returns `None` if they are others.
    pub(super) fn of(size: u64, levels: [Vec<Digest>; LEVELS], entries: Vec<u8>) -> Option<Self> {
        let read = |tile: Tile| {
            let level = levels.get(usize::try_from(tile.level).ok()?)?;
            Some(level.as_flattened().to_vec())
        };
        let frontier = Frontier::read(size, &Tiles { size, read })?;
        let leaves = tile::entries(&entries)?.into_iter().map(merkle::leaf);
        let [first, ..] = &levels;
        leaves.eq(first.iter().copied()).then_some(())?;
        Some(Self { frontier, levels, entries, full: Vec::new(), written: size })
    }

    /// Returns the number of digests that the last tile of a level has in a log of that size.
    pub(super) fn width(size: u64, level: usize) -> usize {
        let shift = u32::try_from(level).unwrap_or(u32::MAX).saturating_mul(8);
        usize::try_from(size.checked_shr(shift).unwrap_or(0) & 255).unwrap_or(0)
    }

    pub(super) const fn size(&self) -> u64 {
        self.frontier.size()
    }

    pub(super) fn head(&self) -> merkle::Head {
        self.frontier.head()
    }

    /// Adds the entry of a frame.
    pub(super) fn append(&mut self, entry: &[u8]) {
        tile::put_entry(entry, &mut self.entries);
        let Self { frontier, levels, entries, full, .. } = self;
        let size = frontier.size();
        frontier.append(merkle::leaf(entry), |level, digest| {
            let at = usize::try_from(level / 8).unwrap_or(LEVELS);
            let Some(digests) = levels.get_mut(at).filter(|_| level % 8 == 0) else { return };
            digests.push(digest);
            if digests.len() == WIDTH {
                let tile = Tile { level: level / 8, index: (size >> level) >> 8, width: 256 };
                full.push((tile.path(), digests.as_flattened().to_vec()));
                if level == 0 {
                    full.push((tile.entries_path(), core::mem::take(entries)));
                }
                digests.clear();
            }
        });
    }

    /// Returns the tiles that are not written, and the deletions of what full ones replace.
    pub(super) fn take(&mut self) -> (Vec<Write>, Vec<Write>) {
        let (mut writes, mut deletions) = (Vec::new(), Vec::new());
        for (name, bytes) in core::mem::take(&mut self.full) {
            let beginnings = (1..256).map(|width| Write::delete(format!("{name}.p/{width}")));
            deletions.extend(beginnings);
            writes.push(Write { name, bytes, condition: Condition::Always });
        }
        let size = self.size();
        for tile in tile::between(self.written, size).filter(|tile| tile.width < 256) {
            let level = usize::try_from(tile.level).unwrap_or(LEVELS);
            let digests = self.levels.get(level).map(|digests| digests.as_flattened().to_vec());
            let bytes = digests.unwrap_or_default();
            writes.push(Write { name: tile.path(), bytes, condition: Condition::Always });
            if tile.level == 0 {
                let (name, bytes) = (tile.entries_path(), self.entries.clone());
                writes.push(Write { name, bytes, condition: Condition::Always });
            }
        }
        self.written = size;
        (writes, deletions)
    }
}

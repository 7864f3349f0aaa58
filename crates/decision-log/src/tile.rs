//! Tiles: the digests of a log as files of others' verifiers (C2SP, tlog-tiles).
//!
//! A tile of level `l` has up to 256 digests, of subtrees over `256^l` leaves each. All but the last tile of
//! a level are full. Entry bundles have the leaves of a tile of level 0 themselves.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::frame::ENTRY_HEAD_BYTES;
use crate::limits::MAX_ORIGIN_BYTES;
use crate::merkle::{Digest, Subtrees, node};

/// The digests of a full tile.
pub const WIDTH: usize = 256;

/// The levels of the tree in a level of tiles.
const HEIGHT: u32 = 8;

/// The most bytes of an entry: the head of a frame and an origin.
pub const MAX_ENTRY_BYTES: usize = ENTRY_HEAD_BYTES + MAX_ORIGIN_BYTES;

/// The name of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    /// The level, below 8 for a log of less than 2^64 leaves.
    pub level: u32,
    /// The number of the tile in its level.
    pub index: u64,
    /// The digests of the tile, from 1 to 256.
    pub width: u16,
}

impl Tile {
    /// Returns the path of the tile, relative to the log.
    #[must_use]
    pub fn path(&self) -> String {
        format!("tile/{}/{}", self.level, self.tail())
    }

    /// Returns the path of the bundle with the entries of this tile of level 0.
    #[must_use]
    pub fn entries_path(&self) -> String {
        format!("tile/entries/{}", self.tail())
    }

    fn tail(&self) -> String {
        let mut tail = format!("{:03}", self.index % 1000);
        let mut rest = self.index / 1000;
        while rest > 0 {
            tail = format!("x{:03}/{tail}", rest % 1000);
            rest /= 1000;
        }
        if usize::from(self.width) == WIDTH { tail } else { format!("{tail}.p/{}", self.width) }
    }
}

/// Returns the tiles that a log of size `new` has and one of size `old` has not, level by level.
pub fn between(old: u64, new: u64) -> impl Iterator<Item = Tile> {
    (0..u64::BITS / HEIGHT).flat_map(move |level| {
        let (had, has) = (old >> (level * HEIGHT), new >> (level * HEIGHT));
        let tiles = if had < has { had >> HEIGHT..has.div_ceil(256) } else { 0..0 };
        tiles.filter_map(move |index| {
            let width = has.saturating_sub(index << HEIGHT).min(256);
            Some(Tile { level, index, width: u16::try_from(width).ok()? })
        })
    })
}

/// Tiles as subtrees, by a function that reads the bytes of a tile.
///
/// The function is asked for the tile as a log of `size` has it, and may answer with a wider one.
#[derive(Clone, Debug)]
pub struct Tiles<F> {
    /// The leaves of the log.
    pub size: u64,
    /// Reads a tile.
    pub read: F,
}

impl<F: Fn(Tile) -> Option<Vec<u8>>> Subtrees for Tiles<F> {
    fn subtree(&self, level: u32, index: u64) -> Option<Digest> {
        let (tiles, within) = (level / HEIGHT, level % HEIGHT);
        let first = index.checked_shl(within)?;
        let has = self.size.checked_shr(tiles * HEIGHT)?;
        let (tile, from) = (first >> HEIGHT, usize::try_from(first & 255).ok()?);
        let width = u16::try_from(has.checked_sub(tile << HEIGHT)?.min(256)).ok()?;
        let bytes = (self.read)(Tile { level: tiles, index: tile, width })?;
        let (digests, _) = bytes.as_chunks::<32>();
        let part = digests.get(from..from.checked_add(1 << within)?)?;
        let mut part = part.to_vec();
        while part.len() > 1 {
            let (pairs, _) = part.as_chunks::<2>();
            part = pairs.iter().map(|[left, right]| node(left, right)).collect();
        }
        part.first().copied()
    }
}

/// Writes an entry into an entry bundle, after its length.
pub fn put_entry(entry: &[u8], bundle: &mut Vec<u8>) {
    let entry = entry.get(..MAX_ENTRY_BYTES).unwrap_or(entry);
    bundle.extend(u16::try_from(entry.len()).unwrap_or(u16::MAX).to_be_bytes());
    bundle.extend_from_slice(entry);
}

/// Returns the entries of a bundle, or `None` if it is none.
#[must_use]
pub fn entries(mut bundle: &[u8]) -> Option<Vec<&[u8]>> {
    let mut entries = Vec::new();
    while let Some((length, rest)) = bundle.split_first_chunk() {
        let (entry, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        if entries.len() == WIDTH {
            return None;
        }
        entries.push(entry);
        bundle = rest;
    }
    bundle.is_empty().then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(level: u32, index: u64, width: u16, expected: &str) {
        assert_eq!(Tile { level, index, width }.path(), expected);
    }

    #[test]
    fn paths_are_those_of_the_specification() {
        check(0, 1_234_067, 256, "tile/0/x001/x234/067");
        check(1, 0, 17, "tile/1/000.p/17");
        check(2, 999, 1, "tile/2/999.p/1");
        check(0, 1000, 256, "tile/0/x001/000");
        let entries = Tile { level: 0, index: 273, width: 112 }.entries_path();
        assert_eq!(entries, "tile/entries/273.p/112");
    }

    #[test]
    fn a_log_has_the_tiles_of_the_specification() {
        // The example of a tree of size 70,000.
        let tiles: Vec<Tile> = between(0, 70_000).collect();
        let count = |level: u32, is_full: bool| {
            let of = |tile: &&Tile| tile.level == level && (tile.width == 256) == is_full;
            tiles.iter().filter(of).count()
        };
        assert_eq!((count(0, true), count(0, false)), (273, 1));
        assert_eq!((count(1, true), count(1, false)), (1, 1));
        assert_eq!((count(2, true), count(2, false)), (0, 1));
        let partial: Vec<u16> =
            tiles.iter().filter(|tile| tile.width < 256).map(|tile| tile.width).collect();
        assert_eq!(partial, [112, 17, 1]);
        // And that of a tree of size 256.
        let tiles: Vec<Tile> = between(0, 256).collect();
        assert_eq!(
            tiles,
            [Tile { level: 0, index: 0, width: 256 }, Tile { level: 1, index: 0, width: 1 }]
        );
    }

    #[test]
    fn a_log_that_grows_writes_only_what_is_new() {
        assert_eq!(between(256, 256).count(), 0);
        let tiles: Vec<Tile> = between(250, 257).collect();
        let tile = |level, index, width| Tile { level, index, width };
        assert_eq!(tiles, [tile(0, 0, 256), tile(0, 1, 1), tile(1, 0, 1)]);
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let mut bundle = Vec::new();
        put_entry(b"one", &mut bundle);
        put_entry(b"", &mut bundle);
        assert_eq!(entries(&bundle), Some(alloc::vec![&b"one"[..], b""]));
        assert_eq!(entries(&bundle[..4]), None);
        assert_eq!(entries(&[0; 2 * 257]), None);
        assert_eq!(entries(&bundle[..1]), None);
    }
}

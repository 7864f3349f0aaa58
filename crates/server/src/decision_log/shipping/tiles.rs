//! The tiles that a shipped segment needs before it: it is the first one at the target and not the first of its log, or
//! an operator accepted that frames before it are missing.

use std::path::Path;

use wardgate_decision_log::tile::{self, Tile};

use super::object::Object;
use crate::decision_log::error::Result;
use crate::decision_log::tree::{last_tiles, read_entries, read_tile};

/// Returns the tiles by which a log is known that has its first `size` frames elsewhere, and of these the first `found`
/// as segments. Those that are not in files are left out.
pub(super) fn before(log: &Path, size: u64, found: u64) -> Result<Vec<Object>> {
    let Some(last) = size.checked_sub(1) else { return Ok(Vec::new()) };
    let bottom = widened(Tile { level: 0, index: last >> 8, width: 1 }, size);
    let mut tiles: Vec<Tile> = [size, found].into_iter().flat_map(last_tiles).flatten().collect();
    tiles.iter_mut().for_each(|tile| *tile = widened(*tile, size));
    tiles.push(bottom);
    tiles.sort();
    tiles.dedup();
    let mut objects = Vec::new();
    for tile in tiles {
        let Some(mut digests) = read_tile(log, tile)? else { continue };
        digests.truncate(usize::from(tile.width).saturating_mul(32));
        objects.push(Object::of(tile.path(), digests));
    }
    if let Some(bundle) = read_entries(log, bottom)? {
        let entries = tile::entries(&bundle).unwrap_or_default();
        let mut bytes = Vec::new();
        let entries = entries.iter().take(usize::from(bottom.width));
        entries.for_each(|entry| tile::put_entry(entry, &mut bytes));
        objects.push(Object::of(bottom.entries_path(), bytes));
    }
    Ok(objects)
}

/// Returns a tile as a log of this size has it.
fn widened(tile: Tile, size: u64) -> Tile {
    let has = size >> (tile.level * 8);
    let width = has.saturating_sub(tile.index << 8).min(256);
    Tile { width: u16::try_from(width).unwrap_or(256), ..tile }
}

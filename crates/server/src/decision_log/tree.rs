//! The tiles of the log of frames, in files.
//!
//! A partial tile is written with each checkpoint. Those before it stay for readers of older checkpoints until
//! the tile is full.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wardgate_decision_log::frame::Head;
use wardgate_decision_log::merkle::{self, Digest, Frontier, Subtrees};
use wardgate_decision_log::tile::{self, Tile, Tiles, WIDTH};

use super::error::{LogError, Result};

/// The levels of tiles of a log of less than 2^64 leaves.
const LEVELS: usize = 8;

/// The most bytes of a tile, and of a bundle of entries, which is the longer one.
pub(super) const MAX_TILE_BYTES: u64 = 256 * 256;

/// The log of frames that grows.
#[derive(Debug)]
pub(super) struct Tree {
    folder: PathBuf,
    origin: String,
    frontier: Frontier,
    /// The digests of the last tile of each level, fewer than a full one has.
    levels: [Vec<Digest>; LEVELS],
    /// The entries of the last tile of level 0.
    entries: Vec<u8>,
    /// Full tiles that are not in files yet, by their paths.
    full: Vec<(String, Vec<u8>)>,
    /// The size whose tiles are in files.
    written: u64,
}

impl Tree {
    /// Makes the log without frames.
    pub(super) fn new(folder: &Path, origin: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            origin: origin.to_owned(),
            frontier: Frontier::default(),
            levels: Default::default(),
            entries: Vec::new(),
            full: Vec::new(),
            written: 0,
        }
    }

    /// Reads the log of the first `size` frames out of its tiles. Returns `None` if some of them are missing.
    pub(super) fn read(folder: &Path, origin: &str, size: u64) -> Result<Option<Self>> {
        let mut tree = Self::new(folder, origin);
        let read = |tile: Tile| read_tile(folder, tile).ok().flatten();
        let Some(frontier) = Frontier::read(size, &Tiles { size, read }) else { return Ok(None) };
        for (tile, level) in last_tiles(size).zip(&mut tree.levels) {
            let Some(tile) = tile else { continue };
            let Some(bytes) = read_tile(folder, tile)? else { return Ok(None) };
            let (digests, _) = bytes.as_chunks::<32>();
            level.extend(digests.iter().take(usize::from(tile.width)));
            if level.len() != usize::from(tile.width) {
                return Ok(None);
            }
        }
        if let Some(Some(tile)) = last_tiles(size).next() {
            let Some(bundle) = read_entries(folder, tile)? else { return Ok(None) };
            let entries = tile::entries(&bundle).unwrap_or_default();
            let Some(entries) = entries.get(..usize::from(tile.width)) else { return Ok(None) };
            let leaves = entries.iter().map(|entry| merkle::leaf(entry));
            if !leaves.eq(tree.levels[0].iter().copied()) {
                return Ok(None);
            }
            entries.iter().for_each(|entry| tile::put_entry(entry, &mut tree.entries));
        }
        (tree.frontier, tree.written) = (frontier, size);
        Ok(Some(tree))
    }

    /// Adds a frame.
    pub(super) fn append(&mut self, head: &Head) {
        let entry = head.entry(&self.origin);
        tile::put_entry(&entry, &mut self.entries);
        let Self { frontier, levels, entries, full, .. } = self;
        let size = frontier.size();
        frontier.append(merkle::leaf(&entry), |level, digest| {
            if level % 8 != 0 {
                return;
            }
            let Some(digests) = levels.get_mut(usize::try_from(level / 8).unwrap_or(LEVELS)) else {
                return;
            };
            digests.push(digest);
            if digests.len() == WIDTH {
                let index = (size >> level) >> 8;
                let tile = Tile { level: level / 8, index, width: 256 };
                full.push((tile.path(), digests.as_flattened().to_vec()));
                if level == 0 {
                    full.push((tile.entries_path(), std::mem::take(entries)));
                }
                digests.clear();
            }
        });
    }

    /// Adds frames out of whole bundles of entries up to a size, or up to the first bundle that is missing.
    pub(super) fn grow_from_entries(&mut self, size: u64) -> Result<()> {
        while self.size() < size {
            let tile = Tile { level: 0, index: self.size() >> 8, width: 256 };
            let path = self.folder.join(tile.entries_path());
            let bundle = match crate::files::bounded(&path, MAX_TILE_BYTES) {
                Ok(bundle) => bundle,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(LogError::Read(path, error)),
            };
            let entries = tile::entries(&bundle).unwrap_or_default();
            let heads: Option<Vec<Head>> =
                entries.iter().map(|entry| Head::read_entry(entry)).collect();
            let Some(heads) = heads.filter(|heads| heads.len() == WIDTH) else { return Ok(()) };
            let count = usize::try_from(size.saturating_sub(self.size())).unwrap_or(WIDTH);
            heads.iter().take(count).for_each(|head| self.append(head));
        }
        Ok(())
    }

    /// Returns the size and root of the log.
    pub(super) fn head(&self) -> merkle::Head {
        self.frontier.head()
    }

    /// Returns the origin of the log.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns true if the tiles prove that the log goes on from another one.
    pub(super) fn goes_on_from(&self, old: merkle::Head) -> bool {
        let proof = merkle::consistency(old.size, self.size(), &self.tiles());
        proof.is_some_and(|proof| merkle::is_consistent(old, self.head(), &proof))
    }

    /// Returns the root that the log had with its first `size` frames, or `None` if it has fewer or a digest is not known.
    pub(super) fn root_of(&self, size: u64) -> Option<Digest> {
        (size <= self.size()).then(|| merkle::root(size, &self.tiles()))?
    }

    /// Returns the digest of the leaf of a frame, if it is known.
    pub(super) fn leaf(&self, frame: u64) -> Option<Digest> {
        self.tiles().subtree(0, frame)
    }

    /// Returns the head of the last frame out of the entries in files, or `None` if they do not have it.
    pub(super) fn last_head(&self) -> Result<Option<Head>> {
        let Some(last) = self.size().checked_sub(1) else { return Ok(None) };
        let at = last & 255;
        let width = u16::try_from(at.saturating_add(1)).unwrap_or(256);
        let bundle = read_entries(&self.folder, Tile { level: 0, index: last >> 8, width })?;
        let entries = bundle.as_deref().and_then(tile::entries).unwrap_or_default();
        let entry = usize::try_from(at).ok().and_then(|at| entries.get(at));
        let entry = entry.filter(|entry| self.leaf(last) == Some(merkle::leaf(entry)));
        Ok(entry.and_then(|entry| Head::read_entry(entry)))
    }

    fn tiles(&self) -> Tiles<impl Fn(Tile) -> Option<Vec<u8>>> {
        Tiles { size: self.size(), read: |tile| self.tile(tile) }
    }

    /// Returns a tile, in memory or in its file.
    fn tile(&self, tile: Tile) -> Option<Vec<u8>> {
        if u64::from(tile.width) < 256 {
            let level = self.levels.get(usize::try_from(tile.level).ok()?)?;
            return Some(level.as_flattened().to_vec());
        }
        let path = tile.path();
        let full = self.full.iter().find(|(full, _)| *full == path);
        full.map(|(_, bytes)| bytes.clone()).or_else(|| read_tile(&self.folder, tile).ok()?)
    }

    /// Returns the full tiles that are not in files yet, by their paths, and keeps them no longer.
    pub(super) fn take_full(&mut self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.full)
    }

    /// Returns the last tiles, which are not full, and the entries of the last one of level 0, by their paths.
    pub(super) fn partial(&self) -> Vec<(String, Vec<u8>)> {
        let mut partial = Vec::new();
        for (tile, level) in last_tiles(self.size()).zip(&self.levels) {
            let Some(tile) = tile else { continue };
            partial.push((tile.path(), level.as_flattened().to_vec()));
            if tile.level == 0 {
                partial.push((tile.entries_path(), self.entries.clone()));
            }
        }
        partial
    }

    /// Returns the number of frames.
    pub(super) const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Writes the tiles that are not in files.
    pub(super) fn write(&mut self) -> Result<()> {
        for (path, bytes) in &self.full {
            let path = self.folder.join(path);
            write_file(&path, bytes).map_err(LogError::write(&path))?;
            // Its beginnings are in it.
            fs::remove_dir_all(path.with_added_extension("p")).unwrap_or_default();
        }
        self.full.clear();
        let size = self.size();
        for tile in tile::between(self.written, size).filter(|tile| tile.width < 256) {
            let level = usize::try_from(tile.level).unwrap_or(LEVELS);
            let digests = self.levels.get(level).map(|digests| digests.as_flattened());
            let path = self.folder.join(tile.path());
            write_file(&path, digests.unwrap_or_default()).map_err(LogError::write(&path))?;
            if tile.level == 0 {
                let path = self.folder.join(tile.entries_path());
                write_file(&path, &self.entries).map_err(LogError::write(&path))?;
            }
        }
        self.written = size;
        Ok(())
    }
}

/// Returns the last tile of each level of a log, where it is partial.
pub(super) fn last_tiles(size: u64) -> impl Iterator<Item = Option<Tile>> {
    (0..8_u32).map(move |level| {
        let has = size >> (level * 8);
        let width = u16::try_from(has & 255).ok().filter(|width| *width > 0)?;
        Some(Tile { level, index: has >> 8, width })
    })
}

/// Reads a tile, or a wider one that begins with it; `None` if there is none.
pub(super) fn read_tile(folder: &Path, tile: Tile) -> Result<Option<Vec<u8>>> {
    read_widened(folder, tile, Tile::path)
}

/// Reads the entries of a tile of level 0, or of a wider one.
pub(super) fn read_entries(folder: &Path, tile: Tile) -> Result<Option<Vec<u8>>> {
    read_widened(folder, tile, Tile::entries_path)
}

fn read_widened(
    folder: &Path,
    tile: Tile,
    path: impl Fn(&Tile) -> String,
) -> Result<Option<Vec<u8>>> {
    // Few files: a tile has at most 255 beginnings, and mostly it is full or as asked.
    let widths = [tile.width, 256].into_iter().chain(tile.width.saturating_add(1)..256);
    for width in widths {
        let file = folder.join(path(&Tile { width, ..tile }));
        match crate::files::bounded(&file, MAX_TILE_BYTES) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(LogError::Read(file, error)),
        }
    }
    Ok(None)
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    #[cfg(test)]
    crate::journal::volume::check(bytes.len())?;
    fs::write(path, bytes)
}

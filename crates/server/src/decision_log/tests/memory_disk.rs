//! A disk in memory that fails on demand and loses power.
//!
//! It is harsher than most: what a failed sync has not written, no later sync writes either.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::decision_log::error::Result;
use crate::decision_log::folder::Segment;
use crate::decision_log::segments::Disk;
use crate::journal::log::Medium;
use crate::journal::recover::Torn;

const SECTOR: usize = 512;

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Calls that fail: `count` of them from `at` on. A write takes so many bytes before it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) taken: usize,
}

#[derive(Debug)]
pub(super) struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Debug)]
pub(super) struct MemoryFile {
    state: Arc<Mutex<State>>,
    inode: usize,
}

#[derive(Clone, Debug)]
struct State {
    files: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    /// The names as they were on the disk for certain, and after each change since.
    history: Vec<BTreeMap<PathBuf, usize>>,
    /// The bytes that each call that can fail was to write.
    calls: Vec<usize>,
    failure: Option<Failure>,
    random: Random,
}

#[derive(Clone, Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// The sectors that the next sync writes.
    dirty: BTreeSet<usize>,
}

impl Content {
    /// Writes a dirty sector to the disk.
    fn persist(&mut self, sector: usize) {
        let from = sector * SECTOR;
        let to = self.bytes.len().min(from + SECTOR);
        if from < to {
            let length = self.durable.len().max(to);
            self.durable.resize(length, 0);
            self.durable[from..to].copy_from_slice(&self.bytes[from..to]);
        }
    }

    /// Writes any subset of the dirty sectors, and perhaps the length.
    fn persist_some(&mut self, random: &mut Random) {
        for sector in std::mem::take(&mut self.dirty) {
            if random.coin() {
                self.persist(sector);
            }
        }
        if random.coin() {
            self.durable.resize(self.bytes.len(), 0);
        }
    }
}

impl MemoryDisk {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: Vec::new(),
            names: BTreeMap::new(),
            history: vec![BTreeMap::new()],
            calls: Vec::new(),
            failure: None,
            random: Random(seed),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Returns the same disk, which open files do not change.
    pub(super) fn copied(&self) -> Self {
        Self(Arc::new(Mutex::new(State { failure: None, ..self.state().clone() })))
    }

    /// Returns another handle to this disk.
    pub(super) fn shared(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    pub(super) fn fail(&self, failure: Option<Failure>) {
        self.state().failure = failure;
    }

    /// Returns the bytes that each call so far was to write.
    pub(super) fn calls(&self) -> Vec<usize> {
        self.state().calls.clone()
    }

    /// Returns what is left after a loss of power.
    pub(super) fn without_power(&self, seed: u64) -> Self {
        let copy = self.copied();
        let mut state = copy.state();
        let mut random = Random(seed);
        for file in &mut state.files {
            file.persist_some(&mut random);
            file.bytes.clone_from(&file.durable);
        }
        let State { names, history, .. } = &mut *state;
        history.push(names.clone());
        // Changes of names go to the disk in their order.
        *names = history.swap_remove(random.below(history.len()));
        *history = vec![names.clone()];
        drop(state);
        copy
    }

    /// Returns the bytes of a file.
    pub(super) fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        state.files[state.names[path]].bytes.clone()
    }
}

impl State {
    /// Counts a call, and fails if it is its turn: with the bytes that a write takes before.
    fn call(&mut self, bytes: usize) -> Result<(), usize> {
        let number = self.calls.len();
        self.calls.push(bytes);
        match self.failure {
            Some(Failure { at, count, taken }) if number >= at && number - at < count => Err(taken),
            _ => Ok(()),
        }
    }

    fn try_call(&mut self) -> io::Result<()> {
        self.call(0).map_err(|_| io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

impl Disk for MemoryDisk {
    type File = MemoryFile;

    fn segments(&self) -> Result<Vec<Segment>> {
        let state = self.state();
        let segments = state.names.keys().filter_map(|path| {
            let number = path.to_str()?.strip_suffix(".wgl")?;
            Some(Segment { first_frame: number.parse().ok()?, path: path.clone() })
        });
        Ok(segments.collect())
    }

    fn segment(&self, first_frame: u64) -> PathBuf {
        PathBuf::from(format!("{first_frame:012}.wgl"))
    }

    fn open(&self, path: &Path) -> io::Result<MemoryFile> {
        let mut state = self.state();
        state.try_call()?;
        let before = state.names.clone();
        let State { files, names, history, .. } = &mut *state;
        history.extend((!names.contains_key(path)).then_some(before));
        let inode = *names.entry(path.to_owned()).or_insert_with(|| {
            files.push(Content::default());
            files.len() - 1
        });
        Ok(MemoryFile { state: Arc::clone(&self.0), inode })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.try_call()?;
        let before = state.names.clone();
        state.history.push(before);
        let inode = state.names.remove(from).unwrap();
        state.names.insert(to.to_owned(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.try_call()?;
        let before = state.names.clone();
        state.history.push(before);
        state.names.remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.state();
        state.try_call()?;
        state.history = vec![state.names.clone()];
        Ok(())
    }

    fn save_torn(&self, path: &Path, _: &Torn) -> io::Result<PathBuf> {
        self.state().try_call()?;
        Ok(path.with_added_extension("torn"))
    }
}

impl Medium for MemoryFile {
    fn length(&mut self) -> io::Result<u64> {
        Ok(self.state.lock().unwrap().files[self.inode].bytes.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let state = self.state.lock().unwrap();
        let from = state.files[self.inode].bytes.get(at as usize..).unwrap_or_default();
        // Small pieces, so that no code relies on reads that fill the buffer.
        let read = from.len().min(into.len()).min(700);
        into[..read].copy_from_slice(&from[..read]);
        Ok(read)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let written = state.call(bytes.len());
        let taken = written.map_or_else(|taken| taken.min(bytes.len()), |()| bytes.len());
        let file = &mut state.files[self.inode];
        let (from, to) = (at as usize, at as usize + taken);
        if taken > 0 {
            let length = file.bytes.len().max(to);
            file.bytes.resize(length, 0);
            file.bytes[from..to].copy_from_slice(&bytes[..taken]);
            file.dirty.extend(from / SECTOR..=(to - 1) / SECTOR);
        }
        written.map_err(|_| io::ErrorKind::StorageFull.into())
    }

    fn truncate(&mut self, to: u64) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.try_call()?;
        let file = &mut state.files[self.inode];
        file.bytes.resize(to as usize, 0);
        // What is left of the last sector is zeros behind the end.
        file.dirty.insert(to as usize / SECTOR);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let State { files, random, .. } = &mut *state;
        let file = &mut files[self.inode];
        let mut random = random.clone();
        let mut failed = file.clone();
        failed.persist_some(&mut random);
        for sector in std::mem::take(&mut file.dirty) {
            file.persist(sector);
        }
        file.durable.resize(file.bytes.len(), 0);
        // What the disk got is another thing at each failure.
        state.random = random;
        state.try_call().inspect_err(|_| state.files[self.inode] = failed)
    }
}

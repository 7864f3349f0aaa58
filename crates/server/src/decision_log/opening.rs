//! The log that a folder holds: its last segment, and its frames as far as checkpoints cover them.
//!
//! A checkpoint that covers more frames than there are, or others, stops the start: the newest one, and the newest one that
//! witnesses have cosigned.

use std::path::{Path, PathBuf};

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::frame::Head;
use wardgate_decision_log::merkle;
use wardgate_decision_log::signer::LogSigner;

use super::error::{LogError, Result};
use super::folder::{Folder, Lock};
use super::reading::LogReader;
use super::segments::{Disk, Last, Segments};
use super::tree::Tree;
use super::witnessed;

/// What is in the folder of a log: its last segment, and its newest checkpoints.
pub(super) struct Found {
    pub(super) folder: Folder,
    pub(super) lock: Lock,
    pub(super) segments: Segments<Folder>,
    pub(super) last: Option<Last>,
    pub(super) sealed: merkle::Head,
    /// The one that enough witnesses have cosigned.
    witnessed: merkle::Head,
    /// The file to which an unfinished end went.
    pub(super) torn: Option<PathBuf>,
}

impl Found {
    pub(super) fn open(path: &Path, signer: &LogSigner, instance: &[u8; 16]) -> Result<Self> {
        let folder = Folder::new(path);
        let lock = folder.lock()?;
        let verifier = signer.verifier().to_string();
        folder.identify(&verifier, instance)?;
        let key = LogKey::read(&verifier);
        let key = key.ok_or_else(|| LogError::Checkpoint("its key is none".to_owned()))?;
        let (segments, last, torn) = Segments::open(folder.clone())?;
        let sealed = sealed(&folder, &key)?;
        let witnessed = witnessed::read(path, &key)?.map_or_else(empty, |(_, head)| head);
        Ok(Self { folder, lock, segments, last, sealed, witnessed, torn })
    }

    /// Returns the number of frames.
    fn end(&self) -> u64 {
        self.last.as_ref().map_or(0, Last::end)
    }

    /// Returns the log of frames: its beginning out of tiles with the root of the checkpoint, or else of segments, and then
    /// the frames that no checkpoint covers.
    ///
    /// # Errors
    /// A checkpoint is about more frames or others, or a file cannot be read.
    pub(super) fn tree(&self, origin: &str) -> Result<Tree> {
        let (found, covered) = (self.end(), self.sealed.size.max(self.witnessed.size));
        if covered > found {
            return Err(LogError::Truncated { sealed: covered, found });
        }
        let mut tree = self.sealed_tree(origin)?;
        grow(&mut tree, &self.folder, found)?;
        self.meet(&tree, self.witnessed, "the witnessed checkpoint")?;
        Ok(tree)
    }

    /// Returns the log of the frames that the newest checkpoint covers.
    fn sealed_tree(&self, origin: &str) -> Result<Tree> {
        let is_sealed = |tree: &Tree| tree.head() == self.sealed;
        let compared = |tree: &Tree| {
            let compare = |last| compare(tree, origin, last, self.sealed.size);
            self.last.as_ref().map_or(Ok(()), compare)
        };
        let size = self.sealed.size;
        let tree = Tree::read(self.folder.path(), origin, size)?.filter(is_sealed);
        let fault = match tree.map(|tree| (compared(&tree), tree)) {
            Some((Ok(()), tree)) => return Ok(tree),
            Some((Err(fault), _)) => Some(fault),
            None => None,
        };
        // A tile may be missing or damaged, or the segment.
        let tree = match (rebuilt(&self.folder, origin, size), fault) {
            (Ok(tree), _) if is_sealed(&tree) => tree,
            (_, Some(fault)) => return Err(fault),
            (Err(error), None) => return Err(error),
            (Ok(_), None) => {
                let what = "the frames in the folder have another root".to_owned();
                return Err(LogError::Checkpoint(what));
            }
        };
        compared(&tree)?;
        Ok(tree)
    }

    /// Returns the log of frames up to the newest checkpoint, of which the last frames are missing, and the head of the last
    /// one.
    ///
    /// # Errors
    /// No frame is missing, the tiles of those are missing, too, a checkpoint is about other frames, or a file cannot be read.
    pub(super) fn tree_of_truncated(&self, origin: &str) -> Result<(Tree, Head)> {
        let newest =
            if self.witnessed.size > self.sealed.size { self.witnessed } else { self.sealed };
        if newest.size <= self.end() {
            return Err(LogError::Missing(
                "no frame is missing that a checkpoint covers".to_owned(),
            ));
        }
        let lost = || {
            let what = "its tiles are missing too: begin a new log in another folder";
            LogError::Checkpoint(what.to_owned())
        };
        let tree = Tree::read(self.folder.path(), origin, newest.size)?;
        let tree = tree.filter(|tree| tree.head() == newest).ok_or_else(lost)?;
        if let Some(last) = &self.last {
            compare(&tree, origin, last, newest.size)?;
        }
        self.meet(&tree, self.sealed, "the newest checkpoint")?;
        self.meet(&tree, self.witnessed, "the witnessed checkpoint")?;
        let last = tree.last_head()?.ok_or_else(lost)?;
        Ok((tree, last))
    }

    /// Checks that a log goes on from the frames that a checkpoint covers.
    fn meet(&self, tree: &Tree, checkpoint: merkle::Head, name: &str) -> Result<()> {
        if tree.goes_on_from(checkpoint) {
            return Ok(());
        }
        // A full tile may be missing or damaged, which only readers need.
        let again = rebuilt(&self.folder, tree.origin(), tree.size())?;
        if again.head() == tree.head() && again.goes_on_from(checkpoint) {
            return Ok(());
        }
        let size = checkpoint.size;
        let what =
            format!("{name} is about another log: its first {size} frames have another root");
        Err(LogError::Checkpoint(what))
    }
}

/// Returns the size and root of the newest checkpoint.
fn sealed(folder: &Folder, key: &LogKey) -> Result<merkle::Head> {
    let Some(note) = folder.checkpoint()? else { return Ok(empty()) };
    let opened = key.open(&note).map_err(|error| LogError::Checkpoint(error.to_string()))?;
    Ok(opened.checkpoint.head)
}

/// Makes the log of the first `size` frames anew out of segments.
fn rebuilt(folder: &Folder, origin: &str, size: u64) -> Result<Tree> {
    let mut tree = Tree::new(folder.path(), origin);
    // Frames of segments that are deleted are in whole tiles, which were on the disk before.
    let deleted = folder.segments()?.first().map_or(0, |segment| segment.first_frame);
    tree.grow_from_entries(deleted.min(size))?;
    grow(&mut tree, folder, size)?;
    Ok(tree)
}

/// Compares the last segment with the frames that a checkpoint of this size covers.
fn compare(tree: &Tree, origin: &str, last: &Last, size: u64) -> Result<()> {
    for (number, head) in (last.first_frame..size).zip(&last.heads) {
        if tree.leaf(number) != Some(merkle::leaf(&head.entry(origin))) {
            let what = format!("frame {number} is another one than the checkpoint covers");
            return Err(LogError::damaged(&last.path, 0, what));
        }
    }
    Ok(())
}

/// Adds the frames of the segments up to a size.
fn grow(tree: &mut Tree, folder: &Folder, size: u64) -> Result<()> {
    let mut reader = LogReader::open_at(folder.path(), tree.size())?;
    let mut before = None;
    while tree.size() < size {
        let Some(stored) = reader.next_frame()?.filter(|stored| stored.number <= tree.size())
        else {
            let what =
                format!("frames from {} on are neither in tiles nor in segments", tree.size());
            return Err(LogError::Checkpoint(what));
        };
        let head = stored.frame()?.head;
        if before.is_some_and(|before| before != head.before) {
            let what = "the frame follows another one than this";
            return Err(LogError::damaged(&stored.path, stored.offset, what));
        }
        before = Some(head.digest());
        if stored.number == tree.size() {
            tree.append(&head);
        }
        // Few tiles are in memory at a time.
        if tree.size().is_multiple_of(1 << 16) {
            tree.write()?;
        }
    }
    Ok(())
}

/// Returns the log without frames, from which every other one goes on.
fn empty() -> merkle::Head {
    merkle::Head { size: 0, root: merkle::empty() }
}

//! Verifying a log from its first frame to its newest checkpoint.

use std::io;
use std::path::{Path, PathBuf};

use wardgate_decision_log::checkpoint::{LogKey, Opened};
use wardgate_decision_log::limits::MAX_NOTE_BYTES;
use wardgate_decision_log::merkle;
use wardgate_decision_log::record::{Body, Loss, Record};
use wardgate_decision_log::tree::Digest;
use wardgate_decision_log::witness_policy::WitnessPolicy;

use super::error::{LogError, Result};
use super::folder::{CHECKPOINT, WITNESSED, note_name};
use super::reading::{LogReader, StoredFrame};
use super::tree::{MAX_TILE_BYTES, Tree};
use super::witnessed::{self, Witnessed};

/// A log that was verified.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The number of frames, those before the first segment included.
    pub frames: u64,
    /// The number of records.
    pub records: u64,
    /// The records before the first segment, which are deleted.
    pub deleted: u64,
    /// The records that are missing since their frames are, as an operator accepted.
    pub missing: u64,
    /// The last record by which an operator accepted that frames are missing.
    pub loss: Option<Loss>,
    /// The decisions among the records that were read.
    pub decisions: u64,
    /// The records that were lost before they were written, as records say.
    pub lost: u64,
    /// The records that no checkpoint covers yet.
    pub unsealed: u64,
    /// The lowest and highest time of the records that were read, in microseconds since 1970.
    pub times: Option<(i64, i64)>,
    /// The newest checkpoint, in a shipped log the newest one about frames that are there.
    pub checkpoint: Option<Opened>,
    /// The newest checkpoint that enough witnesses have cosigned, if there is a policy that says which.
    pub witnessed: Option<Witnessed>,
    /// In a shipped log, the frames of the newest checkpoint if some of them have not come yet.
    pub ahead: Option<u64>,
}

/// The state of the verification behind a frame.
struct Progress {
    folder: PathBuf,
    origin: String,
    tree: Tree,
    verified: Verified,
    /// The digest of the head before; `None` before the first frame that was read.
    before: Option<Digest>,
    /// The checkpoints that must be met, the largest first.
    due: Vec<Due>,
    /// The shipped checkpoint that was met last: its size.
    met: Option<u64>,
}

/// A checkpoint that must be met.
struct Due {
    head: merkle::Head,
    kind: DueKind,
}

/// The source of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DueKind {
    /// The file of that name in the folder.
    Newest,
    /// The one that the caller has.
    Older,
    /// Cosigned by witnesses.
    Witnessed,
    /// Shipped to the folder.
    Shipped,
    /// Cosigned by witnesses, and shipped to the folder.
    ShippedWitnessed,
}

/// Verifies the log in a folder with its key, and with an older checkpoint if there is one: every frame and record, their
/// order, the tiles that the first segment builds on, and the root of each checkpoint. To a shipped log checkpoints come before
/// the segments that they are about. With a policy of witnesses it also wants a checkpoint that enough of them have
/// cosigned.
///
/// # Errors
/// The first wrong place.
pub fn verify(
    path: &Path,
    key: &LogKey,
    older: Option<&[u8]>,
    policy: Option<&WitnessPolicy>,
) -> Result<Verified> {
    let mut reader = LogReader::open(path)?;
    let mut due = shipped(&reader, key, (CHECKPOINT, DueKind::Shipped))?;
    due.extend(shipped(&reader, key, (WITNESSED, DueKind::ShippedWitnessed))?);
    let mut cosigned = witnessed::read(path, key)?;
    due.extend(cosigned.as_ref().map(|(_, head)| Due { head: *head, kind: DueKind::Witnessed }));
    if cosigned.is_none()
        && let Some((_, path)) = reader.shipped_notes(WITNESSED)?.pop()
    {
        cosigned = Some(witnessed::open(&note(&path)?, &path, key)?);
    }
    let witnessed = policy.map(|policy| witnessed::must_suit(cosigned.as_ref(), policy));
    let witnessed = witnessed.transpose()?.flatten();
    // Read before the frames, of which a writer may add some.
    let newest = reader.checkpoint()?.map(|note| opened(key, &note)).transpose()?;
    let older = older.map(|note| opened(key, note)).transpose()?;
    let mut add = |opened: &Option<Opened>, kind| {
        due.extend(opened.as_ref().map(|one| Due { head: one.checkpoint.head, kind }));
    };
    add(&older, DueKind::Older);
    add(&newest, DueKind::Newest);
    due.sort_by_key(|due| std::cmp::Reverse(due.head.size));
    let origin = key.name().to_owned();
    let mut frame = reader.next_frame()?;
    let first = frame.as_ref().map(first).transpose()?.unwrap_or(0);
    let tree = known(path, &origin, first)?;
    let records = tree.last_head()?.map_or(0, |last| last.next());
    let verified = Verified {
        frames: first,
        records,
        deleted: records,
        missing: 0,
        loss: None,
        decisions: 0,
        lost: 0,
        unsealed: 0,
        times: None,
        checkpoint: newest,
        witnessed,
        ahead: None,
    };
    let folder = path.to_owned();
    let mut progress = Progress { folder, origin, tree, verified, before: None, due, met: None };
    progress.meet()?;
    while let Some(stored) = frame {
        progress.add(&stored)?;
        frame = reader.next_frame()?;
    }
    progress.end(key)
}

/// Opens the checkpoints that were shipped to a folder under names with this end.
fn shipped(reader: &LogReader, key: &LogKey, (end, kind): (&str, DueKind)) -> Result<Vec<Due>> {
    let mut due = Vec::new();
    for (size, path) in reader.shipped_notes(end)? {
        let head = opened(key, &note(&path)?)?.checkpoint.head;
        if head.size != size {
            let what = format!("it is about {} frames", head.size);
            return Err(LogError::damaged(&path, 0, what));
        }
        due.push(Due { head, kind });
    }
    Ok(due)
}

/// Reads a checkpoint.
fn note(path: &Path) -> Result<Vec<u8>> {
    let most = u64::try_from(MAX_NOTE_BYTES).unwrap_or(u64::MAX);
    crate::files::bounded(path, most).map_err(LogError::read(path))
}

/// Returns the number of the first frame that is not deleted. Those whose loss was accepted count, but are missing.
fn first(stored: &StoredFrame) -> Result<u64> {
    Ok(stored.loss()?.map_or(stored.number, |loss| loss.found.min(stored.number)))
}

/// Returns the log of the first `size` frames, which are not in segments.
fn known(path: &Path, origin: &str, size: u64) -> Result<Tree> {
    let missing =
        || LogError::Checkpoint(format!("the tiles of its first {size} frames are missing"));
    Tree::read(path, origin, size)?.ok_or_else(missing)
}

fn opened(key: &LogKey, note: &[u8]) -> Result<Opened> {
    key.open(note).map_err(|error| LogError::Checkpoint(error.to_string()))
}

impl Progress {
    fn add(&mut self, stored: &StoredFrame) -> Result<()> {
        let fault = |what: &str| LogError::damaged(&stored.path, stored.offset, what);
        if stored.number > self.tree.size() {
            self.skip(stored)?;
        }
        let frame = stored.frame()?;
        let head = frame.head;
        let before = self.before.unwrap_or(if stored.number == 0 { [0; 32] } else { head.before });
        if head.before != before {
            return Err(fault("the frame follows another one than this"));
        }
        if head.first != self.verified.records {
            return Err(fault("its first record has another number than the one after the last"));
        }
        for record in &frame.records {
            let record = Record::read(record).ok_or_else(|| fault("a record of it is none"))?;
            self.count(&record.body);
        }
        let (lowest, highest) = self.verified.times.unwrap_or((head.lowest, head.highest));
        self.verified.times = Some((lowest.min(head.lowest), highest.max(head.highest)));
        self.verified.records = head.next();
        self.verified.unsealed = self.verified.unsealed.saturating_add(u64::from(head.count));
        self.before = Some(head.digest());
        self.tree.append(&head);
        // A writer adds those with its next checkpoint.
        let full = self.tree.take_full();
        self.compare_tiles(full)?;
        self.verified.frames = self.tree.size();
        self.meet()
    }

    /// Goes on with a frame before which some are missing: the tiles have their digests, and the entry of the last one.
    fn skip(&mut self, stored: &StoredFrame) -> Result<()> {
        let tree = known(&self.folder, &self.origin, stored.number)?;
        let last = tree.last_head()?;
        let Some(last) =
            last.filter(|_| tree.root_of(self.tree.size()) == Some(self.tree.head().root))
        else {
            let what = "the tiles of the frames that are missing before it are of another log";
            return Err(LogError::damaged(&stored.path, stored.offset, what));
        };
        let missing = last.next().saturating_sub(self.verified.records);
        self.verified.loss = stored.loss()?;
        self.verified.missing = self.verified.missing.saturating_add(missing);
        self.verified.records = last.next();
        self.before = Some(last.digest());
        self.tree = tree;
        self.meet()
    }

    fn count(&mut self, body: &Body) {
        match body {
            Body::Decision(_) => {
                self.verified.decisions = self.verified.decisions.saturating_add(1)
            }
            Body::Lost(lost) => self.verified.lost = self.verified.lost.saturating_add(lost.count),
            _ => {}
        }
    }

    /// Compares tiles with their files, if there are such.
    fn compare_tiles(&self, tiles: Vec<(String, Vec<u8>)>) -> Result<()> {
        for (name, bytes) in tiles {
            let path = self.folder.join(name);
            match crate::files::bounded(&path, MAX_TILE_BYTES) {
                Ok(found) if found == bytes => {}
                Ok(_) => {
                    return Err(LogError::damaged(
                        &path,
                        0,
                        "it has other digests or entries than the frames",
                    ));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(LogError::Read(path, error)),
            }
        }
        Ok(())
    }

    /// Compares the root with the checkpoints of this size.
    fn meet(&mut self) -> Result<()> {
        let (here, mut partial) = (self.tree.head(), Vec::new());
        while let Some(Due { head, kind }) = self.due.pop_if(|due| due.head.size <= here.size) {
            if kind == DueKind::Shipped {
                self.met = Some(head.size);
            }
            if head.size == here.size {
                self.verified.unsealed = 0;
                partial = self.tree.partial();
            }
            // The beginning of a log whose first segments are gone is in its tiles.
            let is_same = if head.size == here.size {
                head.root == here.root
            } else {
                self.tree.root_of(head.size) == Some(head.root)
            };
            if !is_same {
                return Err(LogError::Checkpoint(format!(
                    "{} is about another log: its first {} frames have another root",
                    kind.name(),
                    head.size
                )));
            }
        }
        self.compare_tiles(partial)
    }

    fn end(mut self, key: &LogKey) -> Result<Verified> {
        let found = self.tree.size();
        let is_shipped = |kind| matches!(kind, DueKind::Shipped | DueKind::ShippedWitnessed);
        let must_be_here = |due: &&Due| !is_shipped(due.kind);
        if let Some(Due { head, .. }) = self.due.iter().find(must_be_here) {
            return Err(LogError::Truncated { sealed: head.size, found });
        }
        self.verified.ahead = self.due.first().map(|due| due.head.size);
        if let (None, Some(size)) = (&self.verified.checkpoint, self.met) {
            let path = self.folder.join(note_name(size, CHECKPOINT));
            self.verified.checkpoint = Some(opened(key, &note(&path)?)?);
        }
        Ok(self.verified)
    }
}

impl DueKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Newest => "the newest checkpoint",
            Self::Older => "the older checkpoint",
            Self::Witnessed => "the witnessed checkpoint",
            Self::Shipped => "a shipped checkpoint",
            Self::ShippedWitnessed => "a shipped witnessed checkpoint",
        }
    }
}

//! The tail of a log: entries that are not in frames yet, in files beside it.
//!
//! An answer that waits for its record waits for one short write. A thread in the background makes frames of many entries,
//! and frees their tail once the frames are where answers wait for them. What a process left is made into frames when the next one starts.
//!
//! A tail has two files of rounds. One grows, the other one is made into frames or free, which means full of zeros: no value
//! stays in it that was made into a commitment. Entries are written before their values are hidden, so the files lie
//! with the keys that open the values.
//!
//! | bytes | head of a round |
//! |---|---|
//! | 4 | `MAGIC` |
//! | 4 | bytes of its entries, as a batch has them |
//! | 8 | number of the round: counted without gaps in a file |
//! | 8 | the frame that is the first one which may have its records |
//! | 4 | sequence that the next record of the log itself may have in that frame |
//! | 3, 1 | forms of the principal, the resource and the evidence, and zero |
//! | 16 | beginning of the BLAKE3 digest of the above and the entries |

mod shared_file;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wardgate_crypto::blake3;
use wardgate_native::decision_log::{EvidenceForm, Form, Forms};

use super::error::{LogError, Result};
use super::private::Private;
use crate::journal::files::{open, sync_names};
use crate::journal::log::Medium;

pub(super) use shared_file::SharedFile;

/// The place in the log before which no record of a round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Floor {
    /// The number of a frame.
    pub(super) frame: u64,
    /// The sequence of the next record of the log itself.
    pub(super) sequence: u32,
}

/// Entries that were written as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) number: u64,
    pub(super) floor: Floor,
    pub(super) forms: Forms,
    pub(super) entries: Vec<u8>,
}

/// The two files.
#[derive(Debug)]
pub(super) struct Tail<M> {
    grows: TailFile<M>,
    /// The other one, if it is free.
    free: Option<TailFile<M>>,
    /// The number of rounds.
    rounds: u64,
    forms: Forms,
    /// True if nobody knows what of the file that grows is on the disk.
    is_broken: bool,
    round: Vec<u8>,
}

/// A file of rounds.
#[derive(Debug)]
pub(super) struct TailFile<M> {
    path: PathBuf,
    medium: M,
    /// The bytes of its rounds.
    end: u64,
}

impl<M: Medium> Tail<M> {
    pub(super) fn new(grows: TailFile<M>, free: TailFile<M>, forms: Forms) -> Self {
        Self { grows, free: Some(free), rounds: 0, forms, is_broken: false, round: Vec::new() }
    }

    /// Returns the number of rounds.
    pub(super) const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Writes entries as one round.
    ///
    /// # Errors
    /// They cannot be written. The file is as it was before.
    pub(super) fn write(&mut self, entries: &[u8], floor: Floor) -> Result<()> {
        if self.is_broken || self.grows.end > MAX_BYTES / 2 {
            return Err(LogError::Broken);
        }
        self.round.clear();
        write_round(self.rounds, floor, self.forms, entries, &mut self.round);
        self.grows.append(&self.round)?;
        self.rounds = self.rounds.saturating_add(1);
        Ok(())
    }

    /// Lets rounds go to the other file if it is free. Returns the one that grew, which stays until the frames of its rounds are written.
    pub(super) fn switch(&mut self) -> Option<TailFile<M>> {
        if self.grows.end == 0 {
            return None;
        }
        let free = self.free.take()?;
        self.is_broken = false;
        Some(std::mem::replace(&mut self.grows, free))
    }

    /// Writes no rounds any more into the file that grows, whose sync has failed.
    pub(super) fn break_off(&mut self, error: io::Error) -> LogError {
        self.is_broken = true;
        LogError::Write(self.grows.path.clone(), error)
    }

    /// Returns when all rounds are on the disk.
    #[cfg(test)]
    pub(super) fn sync_all(&mut self, used: Option<&mut TailFile<M>>) -> Result<()> {
        used.map_or(Ok(()), TailFile::sync)?;
        self.grows.sync()
    }

    /// Takes a file back whose rounds are in frames, and which was cleared.
    pub(super) fn take_back(&mut self, file: TailFile<M>) {
        self.free = Some(file);
    }
}

impl Tail<SharedFile> {
    /// Makes the files of a log, with room for the usual rounds. Where nobody waits for the disk, they are in memory that the system
    /// keeps when the process is killed.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn make(log: &Path, forms: Forms, is_synced: bool) -> Result<Self> {
        let [one, other] = paths(log).map(|path| TailFile::make(path, is_synced));
        let tail = Self::new(one?, other?, forms);
        let folder = Private::folder(log);
        sync_names(&folder).map_err(LogError::write(&folder))?;
        Ok(tail)
    }

    /// Returns the file that grows.
    pub(super) fn file(&self) -> SharedFile {
        self.grows.medium.clone()
    }
}

impl<M: Medium> TailFile<M> {
    pub(super) const fn new(path: PathBuf, medium: M) -> Self {
        Self { path, medium, end: 0 }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if let Err(error) = self.medium.write_at(self.end, bytes) {
            // The next round would follow a part of this one.
            self.medium.write_at(self.end, &vec![0; bytes.len()]).unwrap_or_default();
            return Err(LogError::Write(self.path.clone(), error));
        }
        self.end = self.end.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Returns when all rounds are on the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.medium.sync().map_err(LogError::write(&self.path))
    }

    /// Writes zeros over all rounds.
    ///
    /// # Errors
    /// They cannot be written. The rounds may still be there, which harms nothing.
    pub(super) fn clear(&mut self) -> Result<()> {
        let mut at = 0;
        while at < self.end {
            let length = self.end.saturating_sub(at).min(ROOM_BYTES);
            let zeros = ZEROS.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
            self.medium.write_at(at, zeros).map_err(LogError::write(&self.path))?;
            at = at.saturating_add(length);
        }
        if self.end > ROOM_BYTES {
            self.medium.truncate(ROOM_BYTES).map_err(LogError::write(&self.path))?;
        }
        self.end = 0;
        Ok(())
    }
}

impl TailFile<SharedFile> {
    fn make(path: PathBuf, is_synced: bool) -> Result<Self> {
        let made = open(&path).and_then(|file| {
            file.set_len(0)?;
            let mut medium = SharedFile::new(file);
            #[cfg(test)]
            crate::journal::volume::check(ZEROS.len())?;
            medium.write_at(0, &ZEROS)?;
            medium.sync()?;
            Ok(if is_synced { medium } else { medium.mapped(&path) })
        });
        Ok(Self::new(path.clone(), made.map_err(LogError::write(&path))?))
    }
}

/// Reads the rounds that a process left, in their order.
///
/// # Errors
/// A file cannot be read.
pub(super) fn left_rounds(log: &Path) -> Result<Vec<Round>> {
    let mut rounds = Vec::new();
    for path in paths(log) {
        match crate::files::bounded(&path, MAX_BYTES) {
            Ok(bytes) => rounds.extend(read_rounds(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(LogError::Read(path, error)),
        }
    }
    rounds.sort_unstable_by_key(|round| round.number);
    Ok(rounds)
}

/// Writes zeros over the files of a tail whose rounds are in frames on the disk, and removes them.
///
/// # Errors
/// They cannot be written or removed.
pub(super) fn remove(log: &Path) -> Result<()> {
    for path in paths(log) {
        let removed = fs::metadata(&path).and_then(|found| {
            let mut file = TailFile::new(path.clone(), SharedFile::new(open(&path)?));
            file.end = found.len();
            file.clear().map_err(|_| io::Error::other("zeros cannot be written"))?;
            file.medium.sync()?;
            fs::remove_file(&path)
        });
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LogError::Write(path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn paths(log: &Path) -> [PathBuf; 2] {
    ["tail.0", "tail.1"].map(|name| Private::folder(log).join(name))
}

fn write_round(number: u64, floor: Floor, forms: Forms, entries: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.extend(MAGIC);
    out.extend(u32::try_from(entries.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(number.to_le_bytes());
    out.extend(floor.frame.to_le_bytes());
    out.extend(floor.sequence.to_le_bytes());
    let (principal, resource, evidence) = forms;
    out.extend([form_code(principal), form_code(resource), evidence_code(evidence), 0]);
    let covered = out.len();
    out.extend_from_slice(entries);
    let check = blake3::hash(out.get(from..).unwrap_or_default());
    let check = check.first_chunk::<CHECK_BYTES>().copied().unwrap_or_default();
    out.splice(covered..covered, check);
}

/// Reads rounds up to the first bytes that are none.
pub(super) fn read_rounds(mut bytes: &[u8]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    while let Some((round, rest)) = read_round(bytes) {
        // Behind the end there may be one of a time before.
        let next = rounds.last().map_or(round.number, |last| last.number.wrapping_add(1));
        if round.number != next {
            break;
        }
        rounds.push(round);
        bytes = rest;
    }
    rounds
}

fn read_round(bytes: &[u8]) -> Option<(Round, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<COVERED_BYTES>()?;
    let (check, rest) = rest.split_first_chunk::<CHECK_BYTES>()?;
    let fields = head.strip_prefix(MAGIC)?;
    let (length, fields) = fields.split_first_chunk()?;
    let (number, fields) = fields.split_first_chunk()?;
    let (frame, fields) = fields.split_first_chunk()?;
    let (sequence, fields) = fields.split_first_chunk()?;
    let [principal, resource, evidence, 0] = *fields.first_chunk()? else { return None };
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (entries, rest) = rest.split_at_checked(length)?;
    let covered = [head.as_slice(), entries].concat();
    if !blake3::hash(&covered).starts_with(check) {
        return None;
    }
    let floor =
        Floor { frame: u64::from_le_bytes(*frame), sequence: u32::from_le_bytes(*sequence) };
    let forms = (form(principal)?, form(resource)?, evidence_form(evidence)?);
    let number = u64::from_le_bytes(*number);
    Some((Round { number, floor, forms, entries: entries.to_vec() }, rest))
}

const fn form_code(form: Form) -> u8 {
    match form {
        Form::Absent => 0,
        Form::Clear => 1,
        Form::Pseudonym => 2,
        Form::Commitment => 3,
    }
}

const fn form(code: u8) -> Option<Form> {
    match code {
        0 => Some(Form::Absent),
        1 => Some(Form::Clear),
        2 => Some(Form::Pseudonym),
        3 => Some(Form::Commitment),
        _ => None,
    }
}

const fn evidence_code(form: EvidenceForm) -> u8 {
    match form {
        EvidenceForm::Absent => 0,
        EvidenceForm::Clear => 1,
        EvidenceForm::Commitment => 3,
    }
}

const fn evidence_form(code: u8) -> Option<EvidenceForm> {
    match code {
        0 => Some(EvidenceForm::Absent),
        1 => Some(EvidenceForm::Clear),
        3 => Some(EvidenceForm::Commitment),
        _ => None,
    }
}

/// The first bytes of a round.
const MAGIC: &[u8; 4] = b"\xd7WGt";

const COVERED_BYTES: usize = 32;
const CHECK_BYTES: usize = 16;

/// The bytes of a file that are there from the start: a sync within them changes nothing but content.
const ROOM_BYTES: u64 = 1 << 20;

/// The most bytes of a file: those of all entries that wait for frames, and of those that are made into frames.
const MAX_BYTES: u64 = 64 << 20;

static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

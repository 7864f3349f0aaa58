//! One log out of the frames of many isolates.
//!
//! Isolates send frames that can be read alone, at least once and in any order. A sequencer takes each once, gives its
//! records the names and numbers of one log, and says what is to be written to a store of objects, in this order:
//!
//! ```text
//! private/keys.wgk   if unchanged   with values that are hidden: the keys of subjects
//! private/NUMBER.RANDOM.wgv         the sealed values of the segment
//! NUMBER.wgl   new only     the segment: from here on its frames are in the log, and another sequencer goes on behind them
//! tile/...                  what follows from the segments: whoever writes it writes the same
//! checkpoint   if unchanged
//! sequencer                 what this one remembers, never more than the checkpoint says
//! ```
//!
//! Law: nothing but segments decides what the log is, and a name is given to one segment only. So a crash between any two writes, and a
//! second sequencer, lose nothing and never make two logs. After a write that failed or was refused the sequencer is
//! to be opened again from the store: [`Sequencer::follow`] reads the segments that it does not remember.

mod grown;
mod hiding;
mod isolate;
mod part;
mod refusal;
mod segment;
mod state;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::checkpoint::{CheckpointError, LogKey};
use crate::frame::{Frame, START};
use crate::limits::{MAX_DRAFTED_BYTES, MAX_FOLLOWED_BYTES, MAX_ISOLATES};
use crate::merkle;
use crate::record::{
    Body, Erasure, Lost, Process, ProcessEvent, Record, Settings, ShortText, Text,
};
use crate::shape::Digest;
use crate::signer::LogSigner;
use hiding::Hiding;
use isolate::Isolate;
pub use part::FORM;
use part::Part;
pub use refusal::{Refusal, SequencerError};
use segment::Segment;
use state::State;

/// A sequencer of a log.
#[derive(Debug)]
pub struct Sequencer {
    signer: LogSigner,
    state: State,
    segment: Segment,
    /// What hides values, if they are hidden.
    hiding: Option<Hiding>,
    /// The newest checkpoint that was found, until the log has its frames.
    due: Option<merkle::Head>,
    /// The number of frames that the newest checkpoint covers.
    sealed: u64,
    /// The random number of this sequencer, until it is in the log.
    instance: Option<[u8; 16]>,
}

/// The place of what a log gets next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// The number of the next record.
    next: u64,
    /// The digest of the last head.
    before: Digest,
    /// The sequence of the next event of the log itself.
    sequence: u32,
    /// The numbers of the next policies and the next target.
    policies: u32,
    targets: u32,
    /// The stream that the last new isolate was given.
    stream: u16,
}

/// A write to the store, after those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The name of the object.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// The condition.
    pub condition: Condition,
}

/// The condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is no object of the name. Otherwise another sequencer was first.
    New,
    /// None.
    Always,
    /// The object is as this sequencer read or wrote it. Otherwise there is another one.
    Unchanged,
    /// The object is deleted; a deletion that fails is no failure.
    Deletion,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Its records will be in the next segment.
    New,
    /// Its records are in the log or in the next segment already.
    Known,
}

impl Sequencer {
    /// Opens the log of a key with the objects `sequencer` and `checkpoint`, if there are such. `instance` is a
    /// random number.
    ///
    /// # Errors
    /// The objects are damaged, or not of this log.
    pub fn open(
        signer: LogSigner,
        instance: [u8; 16],
        (state, checkpoint): (Option<&[u8]>, Option<&[u8]>),
    ) -> Result<Self, SequencerError> {
        let checkpoint = checkpoint.map(|note| head_of(&signer, note)).transpose()?;
        let state = state.map(|bytes| unmarked(&signer, bytes)).transpose()?.unwrap_or_default();
        let size = checkpoint.map_or(0, |head| head.size);
        if state.grown.size() > size {
            return Err(SequencerError::State);
        }
        let (segment, instance) = (Segment::new(&state.place), Some(instance));
        let (due, hiding) = (checkpoint, None);
        let mut opened = Self { signer, state, segment, hiding, due, sealed: size, instance };
        opened.meet()?;
        Ok(opened)
    }

    /// Returns the sequencer, just opened, as one that commits to the ids and the evidence which isolates send as they are. The
    /// object `private/keys.wgk` has the keys of subjects; it is empty if there is none. The keys of new subjects come from
    /// `randomness`, a random seed. Values of a principal whose id is not sent as it is are left out.
    ///
    /// # Errors
    /// The keys are damaged.
    pub fn hiding(mut self, keys: &[u8], randomness: [u8; 32]) -> Result<Self, SequencerError> {
        let instance = self.instance.unwrap_or_default();
        self.hiding = Some(Hiding::read((self.signer.secret(), instance), keys, randomness)?);
        Ok(self)
    }

    /// Returns the name of the object that has the next frame, if it is there already.
    #[must_use]
    pub fn next_segment(&self) -> String {
        format!("{:012}.wgl", self.state.grown.size())
    }

    /// Returns the first lines of the object `identity` of the log.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("wardgate decision log 1\n{}\n", self.signer.verifier())
    }

    /// Adds a segment that was found in the store under the name of the next one. `now` is in microseconds since 1970.
    ///
    /// # Errors
    /// It is not as a sequencer of this log wrote it.
    pub fn follow(&mut self, segment: &[u8], now: i64) -> Result<(), SequencerError> {
        let frames = frames_of(segment).ok_or(SequencerError::Segment)?;
        if !segment::is_marked(&frames, &self.state.place.before, &self.signer) {
            return Err(SequencerError::Foreign);
        }
        for frame in &frames {
            self.follow_frame(frame, now)?;
        }
        self.segment = Segment::new(&self.state.place);
        Ok(())
    }

    fn follow_frame(&mut self, frame: &Frame<'_>, now: i64) -> Result<(), SequencerError> {
        let place = &self.state.place;
        if frame.head.before != place.before || frame.head.first != place.next {
            return Err(SequencerError::Segment);
        }
        for record in &frame.records {
            let record = Record::read(record).ok_or(SequencerError::Segment)?;
            self.state.read_record(&record, now).ok_or(SequencerError::Segment)?;
        }
        (self.state.place.next, self.state.place.before) = (frame.head.next(), frame.head.digest());
        self.state.grown.append(&frame.head.entry(self.signer.origin()));
        self.meet()
    }

    /// Compares the log with the checkpoint if it has its size.
    fn meet(&mut self) -> Result<(), SequencerError> {
        let Some(due) = self.due.filter(|due| due.size == self.state.grown.size()) else {
            return Ok(());
        };
        self.due = None;
        if self.state.grown.head() == due { Ok(()) } else { Err(SequencerError::Forked) }
    }

    /// Returns an error if the checkpoint is about frames that were not found. To be asked before the first frame is taken.
    ///
    /// # Errors
    /// Frames are missing.
    pub const fn must_be_whole(&self) -> Result<(), SequencerError> {
        if self.due.is_none() { Ok(()) } else { Err(SequencerError::Truncated) }
    }

    /// Takes a frame of an isolate. `now` is in microseconds since 1970.
    ///
    /// # Errors
    /// The frame is not taken, and nothing is changed.
    pub fn take(&mut self, frame: &[u8], now: i64) -> Result<Taken, Refusal> {
        let part = Part::read(frame)?;
        if part.highest > now.saturating_add(AHEAD_MICROS) {
            return Err(Refusal::Future);
        }
        if part.highest < now.saturating_sub(FORGET_MICROS) {
            return Err(Refusal::Old);
        }
        let values = self.hiding.as_ref().map_or(0, Hiding::length);
        if self.segment.length().saturating_add(values) > MAX_DRAFTED_BYTES {
            return Err(Refusal::Full);
        }
        let source = part.process.instance;
        let mut isolate = match self.state.isolates.get(&source) {
            Some(isolate) => isolate.clone(),
            None => Isolate::new(self.state.free_stream().ok_or(Refusal::Isolates)?),
        };
        if !isolate.add(part.begin, part.end, now)? {
            return Ok(Taken::Known);
        }
        isolate.last = isolate.last.max(part.highest);
        let stream = isolate.stream;
        self.state.place.stream = self.state.place.stream.max(stream);
        self.state.isolates.insert(source, isolate);
        self.state.streams.insert(stream, source);
        self.begin(now);
        self.segment.add((&part, stream), &mut self.state, self.hiding.as_mut());
        Ok(Taken::New)
    }

    /// Deletes the keys of subjects, so that their values cannot be opened in any copy of the log, and records how many had one,
    /// with those that were deleted `before` in the store and not recorded since a write failed. Returns that number. The next
    /// commit writes both. `now` is in microseconds since 1970.
    pub fn erase<'s>(
        &mut self,
        subjects: impl Iterator<Item = &'s str>,
        before: u32,
        now: i64,
    ) -> u32 {
        let erased = self.hiding.as_mut().map_or(0, |hiding| hiding.erase(subjects));
        let keys = erased.saturating_add(before);
        if keys > 0 {
            self.begin(now);
            self.segment.event(Body::Erasure(Erasure { micros: now, keys }), now, &mut self.state);
        }
        keys
    }

    /// Records the start of this sequencer, before its first record.
    fn begin(&mut self, now: i64) {
        let Some(instance) = self.instance.take() else { return };
        let version = ShortText::cut(env!("CARGO_PKG_VERSION"));
        let event = ProcessEvent::Started;
        let process = Process { micros: now, event, instance, version };
        self.segment.event(Body::Process(process), now, &mut self.state);
        let settings = Settings { micros: now, text: Text::cut("writer = \"sequencer\"") };
        self.segment.event(Body::Settings(settings), now, &mut self.state);
    }

    /// Returns the writes that put what was taken into the log, and sign it; none if there is nothing to sign. The
    /// signature is hedged with `randomness`. If one of the writes fails, this sequencer is of no use any more.
    ///
    /// # Errors
    /// The library found no signature.
    pub fn commit(
        &mut self,
        now: i64,
        randomness: &[u8; 32],
    ) -> Result<Vec<Write>, SequencerError> {
        let mut writes = Vec::new();
        if !self.segment.is_empty() {
            let segment = self.state.grown.size();
            writes.extend(self.hiding.iter_mut().flat_map(|hiding| hiding.take(segment)));
            writes.push(self.end_segment(now));
        } else if self.state.grown.size() == self.sealed {
            return Ok(writes);
        }
        let (tiles, deletions) = self.state.grown.take();
        writes.extend(tiles);
        let seconds = u64::try_from(now / 1_000_000).unwrap_or(0);
        let note = self.signer.sign(self.state.grown.head(), seconds, randomness);
        let bytes = note.map_err(|_| SequencerError::Unsigned)?.to_string().into_bytes();
        writes.push(Write { name: "checkpoint".into(), bytes, condition: Condition::Unchanged });
        let mut bytes = self.state.to_bytes();
        bytes.extend(self.signer.mark(&bytes));
        writes.push(Write { name: "sequencer".into(), bytes, condition: Condition::Always });
        writes.extend(deletions);
        self.sealed = self.state.grown.size();
        Ok(writes)
    }

    /// Adds the frames of the next segment to the log, and returns its write.
    fn end_segment(&mut self, now: i64) -> Write {
        self.lose(now);
        self.state.forget(now);
        let name = self.next_segment();
        let segment = core::mem::replace(&mut self.segment, Segment::new(&Place::default()));
        let (bytes, heads) = segment.end(&self.signer, now, &mut self.state);
        for head in heads {
            self.state.grown.append(&head.entry(self.signer.origin()));
        }
        self.segment = Segment::new(&self.state.place);
        Write { name, bytes, condition: Condition::New }
    }

    /// Records which decisions of isolates did not come in time.
    fn lose(&mut self, now: i64) {
        let seen = now.saturating_sub(LATE_MICROS);
        let mut lost = Vec::new();
        for isolate in self.state.isolates.values_mut() {
            // What is left is for the next segment.
            let most = MAX_LOST.saturating_sub(lost.len());
            for (begin, end) in isolate.gaps(seen).into_iter().take(most) {
                isolate.lose(begin, end);
                lost.push((isolate.stream, begin, end));
            }
        }
        for (stream, first, end) in lost {
            let count = u64::from(end.saturating_sub(first));
            let reason = ShortText::cut(UNDELIVERED);
            let lost = Lost { micros: now, stream, first, count, reason };
            self.segment.event(Body::Lost(lost), now, &mut self.state);
        }
    }
}

impl Write {
    const fn delete(name: String) -> Self {
        Self { name, bytes: Vec::new(), condition: Condition::Deletion }
    }
}

impl State {
    /// Returns a stream of the log that no isolate has, or `None` if there are too many isolates.
    fn free_stream(&self) -> Option<u16> {
        if self.isolates.len() >= MAX_ISOLATES {
            return None;
        }
        if let Some(next) = self.place.stream.checked_add(1) {
            return Some(next);
        }
        // All were given once: those of isolates that are forgotten are free.
        (1..=u16::MAX).find(|stream| !self.streams.contains_key(stream))
    }

    /// Forgets isolates whose frames would be refused for their age.
    fn forget(&mut self, now: i64) {
        let oldest = now.saturating_sub(FORGET_MICROS);
        self.isolates.retain(|_, isolate| isolate.last >= oldest);
        let Self { isolates, streams, .. } = self;
        streams.retain(|_, source| isolates.contains_key(source));
    }

    /// Remembers what a record of a segment tells, or returns `None` if no sequencer writes it there.
    fn read_record(&mut self, record: &Record, now: i64) -> Option<()> {
        let stream = record.stream;
        if stream == 0 {
            self.place.sequence = record.sequence.wrapping_add(1);
        }
        match &record.body {
            Body::Policies(policies) => {
                self.place.policies = policies.number.wrapping_add(1).max(self.place.policies);
                self.know(policies.clone());
            }
            Body::Target(target) => {
                self.place.targets = target.number.wrapping_add(1) & segment::MAX_TARGET;
            }
            Body::Process(process) if stream != 0 => self.assign(stream, process.instance),
            Body::Decision(decision) => {
                self.cover(stream, (record.sequence, 1), decision.micros, now)?;
            }
            Body::Search(search) => self.cover(stream, (record.sequence, 1), search.micros, now)?,
            Body::Lost(lost) if lost.reason.as_str() == UNDELIVERED => {
                let end = end_of(lost.first, lost.count)?;
                self.of_stream(lost.stream)?.lose(lost.first, end);
            }
            Body::Lost(lost) => {
                self.cover(lost.stream, (lost.first, lost.count), lost.micros, now)?
            }
            _ => {}
        }
        Some(())
    }

    /// Gives an isolate a stream, which may have been that of one that is forgotten.
    fn assign(&mut self, stream: u16, source: [u8; 16]) {
        self.place.stream = self.place.stream.max(stream);
        if let Some(before) = self.streams.insert(stream, source).filter(|before| *before != source)
        {
            self.isolates.remove(&before);
        }
        self.isolates.entry(source).or_insert_with(|| Isolate::new(stream)).stream = stream;
    }

    /// Adds sequences of a stream of the log.
    fn cover(
        &mut self,
        stream: u16,
        (first, count): (u32, u64),
        micros: i64,
        now: i64,
    ) -> Option<()> {
        let isolate = self.of_stream(stream)?;
        isolate.add(first, end_of(first, count)?, now).ok()?;
        isolate.last = isolate.last.max(micros);
        Some(())
    }

    fn of_stream(&mut self, stream: u16) -> Option<&mut Isolate> {
        self.isolates.get_mut(self.streams.get(&stream)?)
    }
}

fn end_of(first: u32, count: u64) -> Option<u32> {
    first.checked_add(u32::try_from(count).ok()?)
}

/// Returns the frames of a segment, or `None` if it is damaged or has none.
fn frames_of(segment: &[u8]) -> Option<Vec<Frame<'_>>> {
    let mut rest = segment.strip_prefix(START)?;
    if rest.is_empty() || segment.len() > MAX_FOLLOWED_BYTES {
        return None;
    }
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let frame = Frame::read(rest).ok()?;
        rest = rest.get(frame.bytes()..)?;
        frames.push(frame);
    }
    Some(frames)
}

/// Returns the tree head of a checkpoint of this log.
fn head_of(signer: &LogSigner, note: &[u8]) -> Result<merkle::Head, SequencerError> {
    let unsigned = SequencerError::Checkpoint(CheckpointError::Unsigned);
    let key = LogKey::read(&signer.verifier().to_string()).ok_or(unsigned)?;
    let opened = key.open(note).map_err(SequencerError::Checkpoint)?;
    if opened.checkpoint.origin == signer.origin() {
        Ok(opened.checkpoint.head)
    } else {
        Err(unsigned)
    }
}

/// Reads a state that a sequencer of this log wrote.
fn unmarked(signer: &LogSigner, bytes: &[u8]) -> Result<State, SequencerError> {
    let marked = bytes.split_last_chunk().filter(|(state, mark)| signer.mark(state) == **mark);
    marked.and_then(|(state, _)| State::read(state)).ok_or(SequencerError::State)
}

/// The reason in the record of decisions that did not come.
const UNDELIVERED: &str = "undelivered";

/// The most records of lost decisions that a segment gets.
const MAX_LOST: usize = 4096;

/// The time for which a sequencer waits for frames that are missing between others, in microseconds: an hour.
const LATE_MICROS: i64 = 3_600_000_000;

/// The time after its last frame for which an isolate is known, and the age of frames that are refused, in
/// microseconds: a day.
const FORGET_MICROS: i64 = 24 * 3_600_000_000;

/// How far the clock of an isolate may be ahead, in microseconds: five minutes.
const AHEAD_MICROS: i64 = 300_000_000;

#[cfg(test)]
mod tests;

//! Records out of the entries of rings, with the definitions that they need and the values that they hide.
//!
//! An assembler knows the number of the next record of its log, since commitments are over it. So every record of a
//! log comes from one assembler, and they go into the log in their order.
//!
//! Records wait until there are some hundred, or [`Assembler::flush`] is called: then the values of all of them are hidden
//! together, which takes a fraction of the time.

use std::collections::HashMap;
use std::sync::Arc;

use wardgate_decision_log::limits::MAX_SEALED_BYTES;
use wardgate_decision_log::record::{
    Body, BorrowedDecision, BorrowedEvidence, BorrowedIdentity, Lost, Outcome, Record, Search,
    ShortText, Target,
};
use wardgate_decision_log::redaction::{
    Field, HiddenValue, LogSecret, SubjectKey, ValueBatch, ValuePosition,
};
use wardgate_engine::text::is_same;

use super::entry::{Entry, EntryRead, Evidence, SearchCounts};
use super::ring::Drained;

/// The stream of the records that the log itself writes.
pub const LOG_STREAM: u16 = 0;

/// Makes the records of one log.
#[derive(Debug)]
pub struct Assembler {
    redaction: Redaction,
    /// The number of the next record.
    next: u64,
    /// The sequence of the next record of the log itself.
    sequence: u32,
    /// The number of each target, by the bytes of its name.
    targets: HashMap<Box<[u8]>, u32>,
    /// Targets that were looked for lately, each at a place that follows from its name.
    recent: Box<[Recent; RECENT]>,
    /// The bytes of the name that was looked for last among all targets.
    name: Vec<u8>,
    /// The numbers that were given; others follow.
    given: u32,
    /// The outcomes of the last decision.
    outcomes: Vec<Outcome>,
    queue: Queue,
}

/// A target that was looked for. No action is empty, so a place without one has no action.
#[derive(Debug)]
struct Recent {
    policies: u32,
    /// The kind, version, scope and action.
    names: [String; 4],
    number: u32,
}

/// Records that wait for the values that they hide.
#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// The end of each record, and its time.
    ends: Vec<(usize, i64)>,
    values: ValueBatch,
    /// The place of the commitment to each value.
    places: Vec<usize>,
}

/// The forms in which values are recorded.
#[derive(Debug)]
pub struct Redaction {
    /// The form of the id of the principal.
    pub principal: Form,
    /// The form of the id of the resource.
    pub resource: Form,
    /// The form of the evidence.
    pub evidence: EvidenceForm,
    /// The key of pseudonyms.
    pub secret: LogSecret,
}

/// The form of an id in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Not at all.
    Absent,
    /// As it is.
    Clear,
    /// As a keyed digest, equal for equal ids.
    Pseudonym,
    /// As a commitment, which the sealed value beside the log opens.
    Commitment,
}

/// The form of the evidence in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceForm {
    /// Not at all.
    #[default]
    Absent,
    /// As it is.
    Clear,
    /// As a commitment, which the sealed value beside the log opens.
    Commitment,
}

/// The forms of the principal, the resource and the evidence.
pub type Forms = (Form, Form, EvidenceForm);

/// Where records and sealed values go, and where the keys of subjects are.
pub trait Sink {
    /// Takes the bytes of a record with its time, in microseconds since 1970.
    fn record(&mut self, record: &[u8], micros: i64);

    /// Takes a value that a record hides, after the record.
    fn sealed(&mut self, value: HiddenValue<'_>);

    /// Returns the key of a subject, a new one if it has none. None leaves the values of this subject out.
    fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>>;
}

impl Assembler {
    /// Makes an assembler for a log that has so many records.
    #[must_use]
    pub fn new(redaction: Redaction, records: u64) -> Self {
        Self {
            redaction,
            next: records,
            sequence: 0,
            targets: HashMap::new(),
            recent: Box::new([const { Recent::NONE }; RECENT]),
            name: Vec::new(),
            given: 0,
            outcomes: Vec::new(),
            queue: Queue::default(),
        }
    }

    /// Returns the number of the next record.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Defines all targets anew: records behind this can be read without those before.
    pub fn forget_targets(&mut self) {
        self.targets.clear();
        self.recent.iter_mut().for_each(|recent| *recent = Recent::NONE);
    }

    /// Returns the sequence of the next record of the log itself.
    #[must_use]
    pub const fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Goes on as another process, whose next record of the log itself has this sequence: targets are defined anew. Returns
    /// the forms of ids and of the evidence before.
    pub fn restart(&mut self, sequence: u32, forms: Forms) -> Forms {
        let Redaction { principal, resource, evidence, .. } = &mut self.redaction;
        let before = (*principal, *resource, *evidence);
        (*principal, *resource, *evidence) = forms;
        (self.sequence, self.given) = (sequence, 0);
        self.forget_targets();
        before
    }

    /// Writes an event of the log itself, and all that waits before it.
    pub fn event(&mut self, body: Body, micros: i64, sink: &mut impl Sink) {
        self.add_event(body, micros);
        self.flush(sink);
    }

    /// Writes all records that wait.
    pub fn flush(&mut self, sink: &mut impl Sink) {
        self.queue.flush(sink);
    }

    fn add_event(&mut self, body: Body, micros: i64) {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        self.add(&Record { stream: LOG_STREAM, caller: 0, sequence, body }, micros);
    }

    /// Adds what was read from the ring of a stream at a time: a decision or a search, with definitions of names that are new, or how
    /// many are lost.
    pub fn drained(&mut self, stream: u16, drained: &Drained<'_>, now: i64, sink: &mut impl Sink) {
        match drained {
            Drained::Entry(sequence, read) => match read.entry.search {
                Some(counts) => self.search(stream, *sequence, read, counts),
                None => self.entry(stream, *sequence, read, sink),
            },
            Drained::Lost { first, count } => {
                let reason = ShortText::cut("full");
                let lost = Lost { micros: now, stream, first: low(*first), count: *count, reason };
                self.add_event(Body::Lost(lost), now);
            }
        }
        if self.queue.is_full() {
            self.flush(sink);
        }
    }

    fn entry(&mut self, stream: u16, sequence: u64, read: &EntryRead<'_>, sink: &mut impl Sink) {
        let entry = &read.entry;
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.clear();
        let actions = read.actions();
        outcomes.extend(
            actions.map(|(action, effect)| Outcome { target: self.target(entry, action), effect }),
        );
        // After the definitions: commitments are over the number of this record.
        let key = self.redaction.hides(entry).then(|| sink.key(entry.principal)).flatten();
        let Queue { bytes, values, places, .. } = &mut self.queue;
        let mut hiding = Hiding { redaction: &self.redaction, record: self.next, key, values };
        let decision = BorrowedDecision {
            micros: entry.micros,
            policies: entry.policies,
            outcomes: &outcomes,
            principal: hiding.id(self.redaction.principal, Field::Principal, entry.principal),
            resource: hiding.id(self.redaction.resource, Field::Resource, entry.resource),
            trace: entry.trace.as_ref(),
            request: (!entry.request.is_empty()).then_some(entry.request),
            is_general: entry.is_general,
            is_cut: read.is_cut,
            evidence: hiding.evidence(entry.evidence),
        };
        let commitments = decision.write(stream, entry.caller, low(sequence), bytes);
        places.extend(commitments.into_iter().flatten());
        self.outcomes = outcomes;
        self.added(entry.micros);
    }

    fn search(&mut self, stream: u16, sequence: u64, read: &EntryRead<'_>, counts: SearchCounts) {
        let Entry { micros, policies, caller, .. } = read.entry;
        let action = read.actions().next().map_or("", |(action, _)| action);
        let target = self.target(&read.entry, action);
        let SearchCounts { asked, allowed } = counts;
        let body = Body::Search(Search { micros, policies, target, asked, allowed });
        self.add(&Record { stream, caller, sequence: low(sequence), body }, micros);
    }

    /// Returns the number of a target, which it defines if it is new.
    fn target(&mut self, entry: &Entry<'_>, action: &str) -> u32 {
        let names = [entry.kind, entry.version, entry.scope, action];
        let place = place(entry.policies, names);
        match self.recent.get(place) {
            Some(recent) if recent.is(entry.policies, names) => return recent.number,
            _ => {}
        }
        put_name(entry.policies, names, &mut self.name);
        let number = match self.targets.get(self.name.as_slice()) {
            Some(number) => *number,
            None => self.define(entry, names),
        };
        if let Some(recent) = self.recent.get_mut(place) {
            (recent.policies, recent.number) = (entry.policies, number);
            recent.names = names.map(str::to_owned);
        }
        number
    }

    /// Defines the target that was looked for.
    fn define(&mut self, entry: &Entry<'_>, names: [&str; 4]) -> u32 {
        // Whoever asks about ever new kinds makes the log longer, but not this memory.
        if self.targets.len() >= MAX_TARGETS {
            self.forget_targets();
        }
        let number = self.given;
        self.targets.insert(self.name.as_slice().into(), number);
        self.given = number.wrapping_add(1) & MAX_TARGET;
        let [kind, version, scope, action] = names.map(ShortText::cut);
        let policies = entry.policies;
        let body = Target { policies, number, kind, version, scope, action };
        self.add_event(Body::Target(body), entry.micros);
        number
    }

    fn add(&mut self, record: &Record, micros: i64) {
        record.write(&mut self.queue.bytes);
        self.added(micros);
    }

    /// Counts the record at the end of the queue.
    fn added(&mut self, micros: i64) {
        self.queue.ends.push((self.queue.bytes.len(), micros));
        self.next = self.next.wrapping_add(1);
    }
}

impl Queue {
    fn is_full(&self) -> bool {
        self.ends.len() >= MAX_QUEUE || self.bytes.len() >= MAX_QUEUE_BYTES
    }

    fn flush(&mut self, sink: &mut impl Sink) {
        self.values.hide();
        for (place, hidden) in self.places.iter().zip(self.values.hidden()) {
            let end = place.saturating_add(hidden.commitment.len());
            if let Some(commitment) = self.bytes.get_mut(*place..end) {
                commitment.copy_from_slice(&hidden.commitment);
            }
        }
        let mut start = 0;
        for (end, micros) in &self.ends {
            sink.record(self.bytes.get(start..*end).unwrap_or_default(), *micros);
            start = *end;
        }
        self.values.hidden().for_each(|hidden| sink.sealed(hidden));
        self.bytes.clear();
        self.ends.clear();
        self.values.clear();
        self.places.clear();
    }
}

impl Redaction {
    /// Returns true if the record of an entry needs the key of its principal.
    fn hides(&self, entry: &Entry<'_>) -> bool {
        let is_hidden = |form: Form| form == Form::Commitment;
        is_hidden(self.principal)
            || is_hidden(self.resource)
            || self.evidence == EvidenceForm::Commitment
                && !matches!(entry.evidence, Evidence::None | Evidence::TooLarge)
    }
}

/// The hiding of the values of one record.
struct Hiding<'h> {
    redaction: &'h Redaction,
    record: u64,
    key: Option<Arc<SubjectKey>>,
    values: &'h mut ValueBatch,
}

impl Hiding<'_> {
    fn id<'i>(&mut self, form: Form, field: Field, id: &'i str) -> BorrowedIdentity<'i> {
        match form {
            Form::Absent => BorrowedIdentity::Absent,
            Form::Clear => BorrowedIdentity::Clear(id),
            Form::Pseudonym => {
                BorrowedIdentity::Pseudonym(self.redaction.secret.pseudonym(field, id))
            }
            Form::Commitment => match self.commit(field, id.as_bytes()) {
                Some(commitment) => BorrowedIdentity::Commitment(commitment),
                None => BorrowedIdentity::Absent,
            },
        }
    }

    fn evidence<'e>(&mut self, evidence: Evidence<'e>) -> BorrowedEvidence<'e> {
        let recorded = match (evidence, self.redaction.evidence) {
            (Evidence::None | Evidence::TooLarge, _) | (_, EvidenceForm::Absent) => None,
            (Evidence::Digest(digest), EvidenceForm::Clear) => {
                Some(BorrowedEvidence::Digest(*digest))
            }
            // With a digest as it is, requests could be guessed.
            (Evidence::Digest(digest), EvidenceForm::Commitment) => {
                self.commit(Field::Evidence, digest).map(BorrowedEvidence::CommittedDigest)
            }
            (Evidence::Read(bytes), EvidenceForm::Clear) => Some(BorrowedEvidence::Read(bytes)),
            (Evidence::Request(bytes), EvidenceForm::Clear) => {
                Some(BorrowedEvidence::Request(bytes))
            }
            (Evidence::Read(bytes), EvidenceForm::Commitment) => {
                self.commit(Field::Evidence, bytes).map(BorrowedEvidence::CommittedRead)
            }
            (Evidence::Request(bytes), EvidenceForm::Commitment) => {
                self.commit(Field::Evidence, bytes).map(BorrowedEvidence::CommittedRequest)
            }
        };
        recorded.unwrap_or(BorrowedEvidence::None)
    }

    /// Returns the place of the commitment to a value, or None if there is no key for it.
    fn commit(&mut self, field: Field, value: &[u8]) -> Option<[u8; 32]> {
        let (key, place) = (self.key.as_ref()?, ValuePosition { record: self.record, field });
        self.values.add(key, place, value).then_some([0; 32])
    }
}

impl Recent {
    const NONE: Self = Self { policies: 0, names: [const { String::new() }; 4], number: 0 };

    fn is(&self, policies: u32, names: [&str; 4]) -> bool {
        let [_, _, _, action] = &self.names;
        !action.is_empty()
            && self.policies == policies
            && self.names.iter().zip(names).all(|(recent, name)| is_same(recent, name))
    }
}

/// Writes bytes that no other target has: each name is behind its length.
fn put_name(policies: u32, names: [&str; 4], out: &mut Vec<u8>) {
    out.clear();
    out.extend(policies.to_le_bytes());
    for name in names {
        out.extend(name.len().to_le_bytes());
        out.extend_from_slice(name.as_bytes());
    }
}

/// Returns the place of a target among the recent ones: any function will do, since names are compared.
fn place(policies: u32, [kind, version, scope, action]: [&str; 4]) -> usize {
    let mix =
        |mixed: u64, word: u64| (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    // Names of one length that begin and end alike share a place: that costs a search in a map.
    let ends = |name: &str| match (name.as_bytes().first_chunk(), name.as_bytes().last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_be_bytes(*last),
        _ => name.bytes().fold(0, |word, byte| word << 8 | u64::from(byte)),
    };
    let length = |name: &str| u64::try_from(name.len()).unwrap_or(0);
    let names = [kind, action, scope].map(ends);
    let mixed = names.into_iter().fold(u64::from(policies), mix);
    let mixed = mix(mixed, length(version) ^ length(kind) << 16 ^ length(action) << 32);
    usize::try_from(mixed % 64).unwrap_or(0)
}

/// Returns the part of a sequence that records have.
fn low(sequence: u64) -> u32 {
    u32::try_from(sequence & u64::from(u32::MAX)).unwrap_or(0)
}

/// The targets that are found without a hash that withstands chosen names.
const RECENT: usize = 64;

/// The most targets whose numbers are kept, at about 150 bytes each. Beyond them all are defined anew.
const MAX_TARGETS: usize = 1 << 16;

/// The most records that wait, and about the most of their bytes.
const MAX_QUEUE: usize = 256;
const MAX_QUEUE_BYTES: usize = 128 << 10;

/// The largest number of a target.
const MAX_TARGET: u32 = (1 << 30) - 1;

// Ids and evidence of an entry are within the bound of sealed values.
const _: () = assert!(MAX_SEALED_BYTES >= 16 << 10);

#[cfg(test)]
mod tests;

//! A frame of an isolate, which can be read alone.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Refusal, UNDELIVERED};
use crate::frame::Frame;
use crate::limits::MAX_PART_BYTES;
use crate::record::{Body, Policies, Process, ProcessEvent, Record, Target};

/// The form of frames that can be read alone, in the record of the process that begins each.
pub const FORM: &str = "independent frames 1";

/// A frame of an isolate: where it is from, and what it has.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) process: Process,
    /// The sequences of its decisions: the first one, and the one behind the last.
    pub(super) begin: u32,
    pub(super) end: u32,
    /// The highest time of its decisions, in microseconds since 1970.
    pub(super) highest: i64,
    /// The records but those of the process and of names.
    pub(super) records: Vec<Record>,
    /// The names, by the numbers that the isolate gave them.
    pub(super) policies: BTreeMap<u32, Policies>,
    pub(super) targets: BTreeMap<(u32, u32), Target>,
}

impl Part {
    /// Reads a frame.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_PART_BYTES {
            return Err(Refusal::Large);
        }
        let frame = Frame::read(bytes).map_err(Refusal::Frame)?;
        if frame.bytes() != bytes.len() {
            return Err(Refusal::Trailing);
        }
        let records = frame.records.iter().map(|record| Record::read(record));
        let mut records = records.map(|record| record.ok_or(Refusal::Record));
        let first = records.next().transpose()?;
        let process = begun(first)?;
        let mut reading = Reading::default();
        for record in records {
            reading.add(record?)?;
        }
        let Reading { sequences, highest, records, policies, targets, .. } = reading;
        let (begin, end) = sequences.ok_or(Refusal::Empty)?;
        Ok(Self { process, begin, end, highest, records, policies, targets })
    }
}

/// Reads the record that begins a frame: of its isolate.
fn begun(first: Option<Record>) -> Result<Process, Refusal> {
    match first.map(|record| record.body) {
        Some(Body::Process(process))
            if process.event == ProcessEvent::Started && process.version.as_str() == FORM =>
        {
            Ok(process)
        }
        _ => Err(Refusal::Version),
    }
}

/// What was read of a frame.
#[derive(Default)]
struct Reading {
    /// The stream of the decisions in their isolate.
    stream: Option<u16>,
    /// The first sequence, and the one behind the last.
    sequences: Option<(u32, u32)>,
    highest: i64,
    records: Vec<Record>,
    policies: BTreeMap<u32, Policies>,
    targets: BTreeMap<(u32, u32), Target>,
}

impl Reading {
    fn add(&mut self, record: Record) -> Result<(), Refusal> {
        match &record.body {
            Body::Policies(policies) => {
                self.policies.insert(policies.number, policies.clone());
                return Ok(());
            }
            Body::Target(target) => {
                self.targets.insert((target.policies, target.number), target.clone());
                return Ok(());
            }
            Body::Decision(decision) => {
                let targets = decision.outcomes.iter().map(|outcome| outcome.target);
                self.must_know(decision.policies, targets)?;
                self.follow(record.stream, (record.sequence, 1), decision.micros)?;
            }
            Body::Search(search) => {
                self.must_know(search.policies, [search.target])?;
                self.follow(record.stream, (record.sequence, 1), search.micros)?;
            }
            Body::Lost(lost) if lost.reason.as_str() != UNDELIVERED => {
                self.follow(lost.stream, (lost.first, lost.count), lost.micros)?;
            }
            Body::Settings(_) | Body::Clock(_) => {}
            // Those of the log itself are not an isolate's to write.
            Body::Process(_) | Body::Erasure(_) | Body::Loss(_) | Body::Lost(_) => {
                return Err(Refusal::Kind);
            }
        }
        self.records.push(record);
        Ok(())
    }

    fn must_know(
        &self,
        policies: u32,
        targets: impl IntoIterator<Item = u32>,
    ) -> Result<(), Refusal> {
        let are_known = self.policies.contains_key(&policies)
            && targets.into_iter().all(|target| self.targets.contains_key(&(policies, target)));
        if are_known { Ok(()) } else { Err(Refusal::Name) }
    }

    /// Goes on with so many sequences of a stream, which must be those behind the ones before.
    fn follow(
        &mut self,
        stream: u16,
        (sequence, count): (u32, u64),
        micros: i64,
    ) -> Result<(), Refusal> {
        let end = u32::try_from(count).ok().and_then(|count| sequence.checked_add(count));
        let is_next = self.sequences.is_none_or(|(_, next)| next == sequence)
            && self.stream.is_none_or(|known| known == stream)
            && stream != 0
            && count > 0;
        let end = end.filter(|_| is_next).ok_or(Refusal::Sequence)?;
        let (begin, _) = self.sequences.unwrap_or((sequence, end));
        (self.stream, self.sequences) = (Some(stream), Some((begin, end)));
        self.highest = self.highest.max(micros);
        Ok(())
    }
}

//! The entries that a process left in the tail of a log, without those that are records already.

use std::collections::HashMap;
use std::path::Path;

use wardgate_decision_log::record::{Body, ProcessEvent, Record};
use wardgate_native::decision_log::{Drained, Forms, Items, LOG_STREAM};

use super::error::Result;
use super::reading::LogReader;
use super::tail::{self, Floor, Round};

/// What a process left.
#[derive(Debug)]
pub(super) struct Left {
    forms: Forms,
    rounds: Vec<Round>,
    recorded: Recorded,
}

impl Left {
    /// Reads the tail of a log of so many frames. Returns `None` if it is empty.
    ///
    /// # Errors
    /// A file cannot be read, or a frame is damaged.
    pub(super) fn read(log: &Path, frames: u64) -> Result<Option<Self>> {
        let rounds = tail::left_rounds(log)?;
        let Some(first) = rounds.first() else { return Ok(None) };
        let Floor { frame, sequence } = first.floor;
        let (forms, recorded) = (first.forms, Recorded::read(log, frame.min(frames), sequence)?);
        Ok(Some(Self { forms, rounds, recorded }))
    }

    /// Returns the forms of values in its records.
    pub(super) const fn forms(&self) -> Forms {
        self.forms
    }

    /// Returns the sequence of the next record of the log itself.
    pub(super) fn sequence(&self) -> u32 {
        self.recorded.next.get(&LOG_STREAM).copied().unwrap_or(0)
    }

    /// Returns the entries without a record, and their streams.
    pub(super) fn unrecorded(&self) -> impl Iterator<Item = (u16, Drained<'_>)> {
        let entries = self.rounds.iter().flat_map(|round| Items::new(&round.entries));
        entries.filter(|(stream, drained)| !self.recorded.has(*stream, drained))
    }
}

/// The records of the last process of a log, as far as entries of its tail may be among them.
#[derive(Debug, Default)]
struct Recorded {
    /// For each stream the sequence behind its records.
    next: HashMap<u16, u32>,
}

impl Recorded {
    /// Reads the records from a frame on. Before it the next sequence of the log itself is `sequence`.
    fn read(log: &Path, frame: u64, sequence: u32) -> Result<Self> {
        let mut next = HashMap::from([(LOG_STREAM, sequence)]);
        let mut reader = LogReader::open_at(log, frame)?;
        while let Some(stored) = reader.next_frame()? {
            for bytes in stored.frame()?.records {
                let Some(record) = Record::read(bytes) else { continue };
                match &record.body {
                    Body::Process(process) if process.event == ProcessEvent::Started => {
                        next.clear()
                    }
                    Body::Lost(lost) => {
                        let count = u32::try_from(lost.count & u64::from(u32::MAX)).unwrap_or(0);
                        next.insert(lost.stream, lost.first.wrapping_add(count));
                    }
                    _ => {}
                }
                next.insert(record.stream, record.sequence.wrapping_add(1));
            }
        }
        Ok(Self { next })
    }

    /// Returns true if an entry has a record.
    fn has(&self, stream: u16, drained: &Drained<'_>) -> bool {
        let (Drained::Entry(sequence, _) | Drained::Lost { first: sequence, .. }) = drained;
        let sequence = u32::try_from(sequence & u64::from(u32::MAX)).unwrap_or(0);
        // Sequences begin again after 2^32: what is ahead by less than half of them is new.
        self.next.get(&stream).is_some_and(|next| sequence.wrapping_sub(*next) >= 1 << 31)
    }
}

//! The state of a sequencer as bytes, so that it need not read the whole log when it starts.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Place;
use super::grown::{Grown, LEVELS};
use super::isolate::{Isolate, Range, Source};
use crate::bytes::Reader;
use crate::limits::{MAX_ISOLATES, MAX_NUMBERED_POLICIES, MAX_RANGES};
use crate::record::{Body, Policies, Record};
use crate::shape::Digest;

/// The first bytes. The last one is the version of the form.
const START: &[u8; 16] = b"wardgate-seq\0\0\0\x01";

/// The most bytes of the entries of a tile.
const MAX_ENTRIES: usize = 1 << 16;

/// What a sequencer remembers of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) grown: Grown,
    pub(super) place: Place,
    pub(super) isolates: BTreeMap<Source, Isolate>,
    /// The isolate that has a stream of the log.
    pub(super) streams: BTreeMap<u16, Source>,
    /// The policies that records may name, the newest last.
    pub(super) policies: Vec<Policies>,
}

impl State {
    /// Writes the state.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::from(START);
        let Place { next, before, sequence, policies, targets, stream } = self.place;
        out.extend(self.grown.size().to_le_bytes());
        out.extend(next.to_le_bytes());
        out.extend(before);
        [sequence, policies, targets].iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(stream.to_le_bytes());
        self.grown.levels.iter().for_each(|level| out.extend(level.as_flattened()));
        put_count(self.grown.entries.len(), &mut out);
        out.extend(&self.grown.entries);
        put_count(self.policies.len(), &mut out);
        for policies in &self.policies {
            let body = Body::Policies(policies.clone());
            let record = Record { stream: 0, caller: 0, sequence: 0, body }.to_bytes();
            put_count(record.len(), &mut out);
            out.extend(record);
        }
        put_count(self.isolates.len(), &mut out);
        self.isolates.iter().for_each(|one| put_isolate(one, &mut out));
        out
    }

    /// Reads a state, or returns `None` if it is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes.strip_prefix(START)?);
        let (size, next, before) = (reader.long()?, reader.long()?, reader.array()?);
        let (sequence, policies, targets) = (reader.word()?, reader.word()?, reader.word()?);
        let place = Place { next, before, sequence, policies, targets, stream: reader.short()? };
        let mut levels: [Vec<Digest>; LEVELS] = Default::default();
        for (level, digests) in levels.iter_mut().enumerate() {
            let bytes = reader.take(Grown::width(size, level).checked_mul(32)?)?;
            digests.extend(bytes.as_chunks::<32>().0);
        }
        let entries = count(&mut reader, MAX_ENTRIES)?;
        let grown = Grown::of(size, levels, reader.take(entries)?.to_vec())?;
        let policies = (0..count(&mut reader, MAX_NUMBERED_POLICIES)?)
            .map(|_| read_policies(&mut reader))
            .collect::<Option<_>>()?;
        // Not collected: that sorts, which makes a larger module.
        let (mut isolates, mut streams) = (BTreeMap::new(), BTreeMap::new());
        for _ in 0..count(&mut reader, MAX_ISOLATES)? {
            let (source, isolate) = read_isolate(&mut reader)?;
            streams.insert(isolate.stream, source);
            isolates.insert(source, isolate);
        }
        reader.is_done().then_some(Self { grown, place, isolates, streams, policies })
    }
}

fn read_policies(reader: &mut Reader<'_>) -> Option<Policies> {
    let length = count(reader, crate::limits::MAX_RECORD_BYTES)?;
    match Record::read(reader.take(length)?)?.body {
        Body::Policies(policies) => Some(policies),
        _ => None,
    }
}

fn put_isolate((source, isolate): (&Source, &Isolate), out: &mut Vec<u8>) {
    out.extend(source);
    out.extend(isolate.stream.to_le_bytes());
    out.extend(isolate.last.to_le_bytes());
    put_count(isolate.ranges.len(), out);
    for range in &isolate.ranges {
        out.extend(range.begin.to_le_bytes());
        out.extend(range.end.to_le_bytes());
        out.push(u8::from(range.is_lost));
        out.extend(range.noticed.to_le_bytes());
    }
}

fn read_isolate(reader: &mut Reader<'_>) -> Option<(Source, Isolate)> {
    let (source, stream, last) = (reader.array()?, reader.short()?, reader.signed()?);
    let ranges = (0..count(reader, 2 * MAX_RANGES)?)
        .map(|_| {
            let (begin, end, is_lost) = (reader.word()?, reader.word()?, reader.byte()? == 1);
            Some(Range { begin, end, is_lost, noticed: reader.signed()? })
        })
        .collect::<Option<_>>()?;
    Some((source, Isolate { stream, last, ranges }))
}

fn put_count(count: usize, out: &mut Vec<u8>) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn count(reader: &mut Reader<'_>, most: usize) -> Option<usize> {
    usize::try_from(reader.word()?).ok().filter(|count| *count <= most)
}

//! The segment that a sequencer writes next: records of isolates under the numbers of the log.
//!
//! It defines every name that its records use, so it can be read without those before it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use wardgate_crypto::blake3;

use super::Place;
use super::hiding::Hiding;
use super::part::Part;
use super::state::State;
use crate::frame::{Draft, Frame, FramePosition, Head, START};
use crate::limits::{MAX_NUMBERED_POLICIES, MAX_SETTINGS_BYTES};
use crate::record::{
    Body, Decision, Lost, Policies, Record, Search, Settings, ShortText, Target, Text,
};
use crate::shape::Digest;
use crate::signer::LogSigner;

/// Frames that are not written yet.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    heads: Vec<Head>,
    draft: Draft,
    /// The records of the segments before.
    durable: u64,
    /// The digest of all records so far, and of the head before the first.
    digest: Digest,
    /// The policies, targets and streams that are defined here.
    policies: BTreeSet<u32>,
    targets: BTreeMap<(u32, [ShortText; 4]), u32>,
    streams: BTreeSet<u16>,
}

impl Segment {
    /// Begins a segment at a place of a log.
    pub(super) fn new(place: &Place) -> Self {
        Self {
            bytes: Vec::from(START),
            heads: Vec::new(),
            draft: Draft::default(),
            durable: place.next,
            digest: place.before,
            policies: BTreeSet::new(),
            targets: BTreeMap::new(),
            streams: BTreeSet::new(),
        }
    }

    /// Returns the bytes so far.
    pub(super) fn length(&self) -> usize {
        self.bytes.len().saturating_add(self.draft.bytes())
    }

    /// Returns true if there is no record.
    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty() && self.draft.count() == 0
    }

    /// Adds the records of a frame of an isolate, whose decisions are in that stream of the log.
    pub(super) fn add(
        &mut self,
        (part, stream): (&Part, u16),
        state: &mut State,
        hiding: Option<&mut Hiding>,
    ) {
        let mut hiding = hiding;
        if self.streams.insert(stream) {
            let body = Body::Process(part.process.clone());
            let process = Record { stream, caller: 0, sequence: part.begin, body };
            self.put(&process, part.process.micros, &mut state.place);
        }
        for record in &part.records {
            self.of_isolate(record, (part, stream), state, hiding.as_deref_mut());
        }
    }

    fn of_isolate(
        &mut self,
        record: &Record,
        (part, stream): (&Part, u16),
        state: &mut State,
        hiding: Option<&mut Hiding>,
    ) {
        let (caller, sequence) = (record.caller, record.sequence);
        match &record.body {
            Body::Decision(decision) => {
                let mut decision: Decision = decision.clone();
                let given = decision.policies;
                for outcome in &mut decision.outcomes {
                    let target = part.targets.get(&(given, outcome.target));
                    outcome.target = self.target(target, decision.micros, part, state);
                }
                decision.policies =
                    self.policies(part.policies.get(&given), decision.micros, state);
                let micros = decision.micros;
                // Behind the definitions: commitments are over the number of this record.
                if let Some(hiding) = hiding {
                    hiding.hide(&mut decision, self.next(&state.place));
                }
                let body = Body::Decision(decision);
                self.put(&Record { stream, caller, sequence, body }, micros, &mut state.place);
            }
            Body::Search(search) => {
                let target = part.targets.get(&(search.policies, search.target));
                let target = self.target(target, search.micros, part, state);
                let policies = part.policies.get(&search.policies);
                let policies = self.policies(policies, search.micros, state);
                let body = Body::Search(Search { policies, target, ..search.clone() });
                self.put(
                    &Record { stream, caller, sequence, body },
                    search.micros,
                    &mut state.place,
                );
            }
            Body::Lost(lost) => {
                self.event(Body::Lost(Lost { stream, ..lost.clone() }), lost.micros, state)
            }
            Body::Clock(clock) => self.event(record.body.clone(), clock.now, state),
            Body::Settings(settings) => self.event(record.body.clone(), settings.micros, state),
            // Reading a part leaves no others.
            _ => {}
        }
    }

    /// Returns the number of policies, which it defines if they are new here.
    fn policies(&mut self, policies: Option<&Policies>, micros: i64, state: &mut State) -> u32 {
        let Some(policies) = policies else { return 0 };
        let numbered = state.number(policies);
        let number = numbered.number;
        if self.policies.insert(number) {
            self.event(Body::Policies(numbered), micros, state);
        }
        number
    }

    /// Returns the number of a target, which it defines if it is new here.
    fn target(
        &mut self,
        target: Option<&Target>,
        micros: i64,
        part: &Part,
        state: &mut State,
    ) -> u32 {
        let Some(target) = target else { return 0 };
        let policies = self.policies(part.policies.get(&target.policies), micros, state);
        let Target { kind, version, scope, action, .. } = target.clone();
        let names = (policies, [kind, version, scope, action]);
        if let Some(number) = self.targets.get(&names) {
            return *number;
        }
        let number = state.place.targets;
        state.place.targets = number.wrapping_add(1) & MAX_TARGET;
        self.targets.insert(names, number);
        self.event(Body::Target(Target { policies, number, ..target.clone() }), micros, state);
        number
    }

    /// Adds an event of the log itself.
    pub(super) fn event(&mut self, body: Body, micros: i64, state: &mut State) {
        let sequence = state.place.sequence;
        state.place.sequence = sequence.wrapping_add(1);
        self.put(&Record { stream: 0, caller: 0, sequence, body }, micros, &mut state.place);
    }

    /// Returns the number that the next record gets.
    fn next(&self, place: &Place) -> u64 {
        place.next.saturating_add(u64::try_from(self.draft.count()).unwrap_or(u64::MAX))
    }

    fn put(&mut self, record: &Record, micros: i64, place: &mut Place) {
        let record = record.to_bytes();
        self.digest = digest_with(&self.digest, &record);
        if !self.draft.add(&record, micros) {
            self.seal(place);
            // An empty frame has room for each record.
            self.draft.add(&record, micros);
        }
    }

    fn seal(&mut self, place: &mut Place) {
        let position =
            FramePosition { first: place.next, durable: self.durable, before: place.before };
        let head = self.draft.write(position, 0, &mut self.bytes);
        (place.next, place.before) = (head.next(), head.digest());
        self.heads.push(head);
    }

    /// Ends the segment with the mark of its log, and returns its bytes and the heads of its frames.
    pub(super) fn end(
        mut self,
        signer: &LogSigner,
        micros: i64,
        state: &mut State,
    ) -> (Vec<u8>, Vec<Head>) {
        let text = mark(signer, &self.digest);
        self.event(Body::Settings(Settings { micros, text }), micros, state);
        self.seal(&mut state.place);
        (self.bytes, self.heads)
    }
}

/// Returns true if the last record of a segment, which begins behind a head, is the mark of its log: so nobody else wrote it.
pub(super) fn is_marked(frames: &[Frame<'_>], before: &Digest, signer: &LogSigner) -> bool {
    let records: Vec<&[u8]> =
        frames.iter().flat_map(|frame| frame.records.iter().copied()).collect();
    let Some((last, others)) = records.split_last() else { return false };
    let digest = others.iter().fold(*before, |digest, record| digest_with(&digest, record));
    match Record::read(last).map(|record| record.body) {
        Some(Body::Settings(settings)) => settings.text == mark(signer, &digest),
        _ => false,
    }
}

/// Returns the mark over all records of a segment.
fn mark(signer: &LogSigner, digest: &Digest) -> Text<MAX_SETTINGS_BYTES> {
    let mark = signer.mark(&[b"segment".as_slice(), digest].concat());
    let hex: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
    Text::cut(&format!("mark = \"{hex}\""))
}

fn digest_with(digest: &Digest, record: &[u8]) -> Digest {
    blake3::hash(&[digest.as_slice(), record].concat())
}

impl State {
    /// Returns policies under their number in this log.
    fn number(&mut self, policies: &Policies) -> Policies {
        let is_same = |known: &&Policies| {
            known.root == policies.root
                && known.revision == policies.revision
                && known.name == policies.name
        };
        if let Some(known) = self.policies.iter().find(is_same) {
            return known.clone();
        }
        let number = self.place.policies;
        self.place.policies = number.wrapping_add(1);
        let numbered = Policies { number, ..policies.clone() };
        self.know(numbered.clone());
        numbered
    }

    /// Remembers policies, of which the oldest ones go.
    pub(super) fn know(&mut self, policies: Policies) {
        self.policies.retain(|known| known.number != policies.number);
        if self.policies.len() >= MAX_NUMBERED_POLICIES {
            self.policies.remove(0);
        }
        self.policies.push(policies);
    }
}

/// The largest number of a target.
pub(super) const MAX_TARGET: u32 = (1 << 30) - 1;

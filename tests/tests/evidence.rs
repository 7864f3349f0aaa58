//! Deciding from the evidence of a record alone equals deciding the request.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::Value as Json;
use wardgate_bundle::Trust;
use wardgate_decision_log::limits::MAX_EVIDENCE_BYTES;
use wardgate_decision_log::record::request_digest;
use wardgate_engine::cel::Timestamp;
use wardgate_native::decision_log::{
    Drained, Entry, Evidence, RecordedDecision, Recorder, Recording, RingReader, canonical_request,
    known_request, moment, replay, replay_with, ring,
};
use wardgate_native::{Pdp, Request, Resource, Target};
use wardgate_tests::generate::{World, world};
use wardgate_tests::{check, property};

#[test]
fn evidence_alone_gives_the_answers_of_generated_requests() {
    let [read, whole, large] = [const { Cell::new(0_u32) }; 3];
    for plain in [false, true] {
        property::run([120, 12_000], &world(60), |world| {
            let world = if plain { world.plain() } else { world };
            let pdp = Pdp::open(&world.compiled()?.bundle, Trust::Unsigned).unwrap();
            let now = World::now().map_err(TestCaseError::fail)?;
            let mut log = Log::new(pdp);
            for request in &world.requests {
                log.compare(request, now)?;
            }
            read.set(read.get() + log.read);
            whole.set(whole.get() + log.whole);
            large.set(large.get() + log.large);
            Ok(())
        });
    }
    let [read, whole, large] = [&read, &whole, &large].map(Cell::get);
    println!(
        "{read} decisions from what was read, {whole} from the request, {large} with a digest"
    );
    assert!(read > 5_000 && read + whole > 20_000, "only {read} and {whole} decisions");
    assert!(large > 0, "no request is too large");
}

#[test]
fn other_policies_give_their_own_answers_or_none() {
    let [told, kept, known] = [const { Cell::new(0_u32) }; 3];
    for plain in [false, true] {
        property::run([60, 3_000], &(world(60), any::<u8>()), |(world, which)| {
            let world = if plain { world.plain() } else { world };
            let mut log = Log::new(Pdp::open(&world.compiled()?.bundle, Trust::Unsigned).unwrap());
            let other = world.clone().with_changed_rule(which.into());
            let candidate = Pdp::open(&other.compiled()?.bundle, Trust::Unsigned).unwrap();
            let now = World::now().map_err(TestCaseError::fail)?;
            for json in &world.requests {
                let request = check::request(json).map_err(TestCaseError::fail)?;
                for action in &request.actions {
                    let expected = candidate.is_allowed(&request, action, now);
                    match log.replay_with(&candidate, &request, action, now)? {
                        Some(found) => prop_assert_eq!(found, expected, "{} {}", action, json),
                        None => kept.set(kept.get() + 1),
                    }
                    told.set(told.get() + 1);
                }
            }
            known.set(known.get() + log.known);
            Ok(())
        });
    }
    let [told, kept, known] = [&told, &kept, &known].map(Cell::get);
    println!("{told} decisions, {kept} not told, {known} requests made of evidence");
    assert!(known * 2 > told, "only {known} requests");
    assert!(told > 5_000 && kept * 4 < told, "{kept} of {told} decisions are not told");
}

/// A PDP whose decisions are recorded.
struct Log {
    pdp: Pdp,
    recorder: Recorder,
    reader: RingReader,
    read: u32,
    whole: u32,
    large: u32,
    /// The requests that were made of what was read.
    known: u32,
    /// The actions of the last request, the answers, and what was read for them.
    parts: Vec<(String, bool, Vec<u8>)>,
}

impl Log {
    fn new(pdp: Pdp) -> Self {
        let (writer, reader) = ring(1 << 20);
        let recording = Recording { has_evidence: true, denies_unrecorded: true, caller: 7 };
        Self {
            pdp,
            recorder: Recorder::new(writer, recording),
            reader,
            read: 0,
            whole: 0,
            large: 0,
            known: 0,
            parts: Vec::new(),
        }
    }

    /// Decides on each action, as a request and as fields, and again from the evidence.
    fn compare(&mut self, json: &Json, now: Timestamp) -> Result<(), TestCaseError> {
        let request = check::request(json).map_err(TestCaseError::fail)?;
        self.parts.clear();
        for action in &request.actions {
            let expected = self.pdp.snapshot().table().is_allowed(&request, action, now);
            let found = self.recorder.is_allowed_request(&self.pdp, &request, action, now);
            prop_assert_eq!(found, expected, "request: {} {}", action, json);
            self.replay(expected, json)?;
            if json.get("auxData").is_none() {
                let question = check::question(&request, action);
                let found = self.recorder.is_allowed(&self.pdp, &question, now);
                prop_assert_eq!(found, expected, "fields: {} {}", action, json);
                self.replay(expected, json)?;
            }
        }
        self.replay_parts(&request, now)
    }

    /// Records a decision, and decides from its evidence by other policies.
    fn replay_with(
        &mut self,
        candidate: &Pdp,
        request: &Request,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<bool>, TestCaseError> {
        let was_allowed = self.recorder.is_allowed_request(&self.pdp, request, action, now);
        let Some(Drained::Entry(_, found)) = self.reader.next() else {
            return Err(TestCaseError::fail("no entry"));
        };
        let (recorded, candidate) = (self.pdp.snapshot(), candidate.snapshot());
        let targets = &[target(&request.resource, action)];
        let Entry { evidence, micros, principal, resource, .. } = found.entry;
        let [principal, resource] = [principal, resource].map(Some);
        let decision = RecordedDecision { targets, evidence, micros, principal, resource };
        let unknown = RecordedDecision { principal: None, resource: None, ..decision };
        let replay = |decision| *replay_with(&recorded, &candidate, decision).first().unwrap();
        let found = replay(&decision);
        prop_assert!([None, found].contains(&replay(&unknown)));
        // What was read makes a request of which the policies say the same.
        if let Some(known) = known_request(&recorded, &decision, 0) {
            let now = moment(micros).unwrap();
            let is_allowed = recorded.is_allowed(&known, action, now);
            prop_assert_eq!(is_allowed, was_allowed, "{:?}", known);
            self.known += 1;
        }
        Ok(found)
    }

    /// Decides again on those actions whose parts are known, all at once.
    fn replay_parts(&self, request: &Request, now: Timestamp) -> Result<(), TestCaseError> {
        let policies = self.pdp.snapshot();
        let replay = |targets: &[_], evidence: &[u8]| {
            replay(&policies, targets, Evidence::Read(evidence), micros(now))
        };
        let actions = self.parts.iter().map(|(action, ..)| action.as_str());
        let mut targets: Vec<_> = actions.map(|action| target(&request.resource, action)).collect();
        let parts: Vec<&[u8]> = self.parts.iter().map(|(.., part)| part.as_slice()).collect();
        let all = parts.concat();
        let mut expected: Vec<_> = self.parts.iter().map(|(_, answer, _)| Some(*answer)).collect();
        prop_assert_eq!(&replay(&targets, &all), &expected, "{:?}", request);
        // A part that is no evidence leaves the others their answers.
        let without = [&all[..], &[0, 0]].concat();
        targets.push(Target::default());
        expected.push(None);
        prop_assert_eq!(replay(&targets, &without), expected);
        prop_assert_eq!(replay(&targets, &all), vec![None; targets.len()]);
        Ok(())
    }

    fn replay(&mut self, expected: bool, json: &Json) -> Result<(), TestCaseError> {
        let Some(Drained::Entry(_, found)) = self.reader.next() else {
            return Err(TestCaseError::fail("no entry"));
        };
        let (entry, policies) = (found.entry, self.pdp.snapshot());
        let (action, _) = found.actions().next().unwrap();
        let target =
            Target { kind: entry.kind, action, policy_version: entry.version, scope: entry.scope };
        let replay = |evidence: Evidence<'_>| {
            replay(&policies, &[target], evidence, entry.micros).first().copied().flatten()
        };
        let again = replay(entry.evidence);
        if let Evidence::Digest(digest) = entry.evidence {
            prop_assert_eq!((again, found.is_cut), (None, false));
            // Who has the request confirms it, and then it decides.
            let request = check::request(json).map_err(TestCaseError::fail)?;
            let asked = Request { actions: vec![action.to_owned()], ..request };
            let bytes = canonical_request(&asked).unwrap();
            prop_assert_eq!(&request_digest(&bytes), digest, "{}", json);
            prop_assert!(bytes.len() > MAX_EVIDENCE_BYTES, "it fits: {}", json);
            prop_assert_eq!(replay(Evidence::Request(&bytes)), Some(expected));
            self.large += 1;
            return Ok(());
        }
        prop_assert_eq!(again, Some(expected), "{} {} {:?}", action, json, entry);
        let (bytes, is_read) = match entry.evidence {
            Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => {
                return Err(TestCaseError::fail("no evidence"));
            }
            Evidence::Read(bytes) => (bytes, true),
            Evidence::Request(bytes) => (bytes, false),
        };
        *(if is_read { &mut self.read } else { &mut self.whole }) += 1;
        // A part of an evidence, or more than one, gives no answer.
        let longer = [bytes, &[1]].concat();
        for wrong in [bytes.get(..bytes.len() / 2).unwrap(), &longer] {
            let wrong = if is_read { Evidence::Read(wrong) } else { Evidence::Request(wrong) };
            prop_assert_eq!(replay(wrong), None);
        }
        if is_read {
            self.parts.push((action.to_owned(), expected, bytes.to_vec()));
        }
        Ok(())
    }
}

fn target<'t>(resource: &'t Resource, action: &'t str) -> Target<'t> {
    let Resource { kind, policy_version, scope, .. } = resource;
    Target { kind, action, policy_version, scope }
}

fn micros(now: Timestamp) -> i64 {
    now.seconds() * 1_000_000 + i64::from(now.nanos() / 1000)
}

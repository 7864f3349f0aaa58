use super::*;
use crate::decision_log::{Effect, RingReader, RingWriter, ring};
use wardgate_decision_log::record::{self, Decision, Identity};
use wardgate_decision_log::redaction::Sealed;

/// A log in memory.
#[derive(Default)]
struct Log {
    records: Vec<Record>,
    sealed: Vec<Sealed>,
    keys: HashMap<String, Arc<SubjectKey>>,
    /// True if no subject gets a key.
    is_keyless: bool,
}

impl Sink for Log {
    fn record(&mut self, record: &[u8], _micros: i64) {
        self.records.push(Record::read(record).unwrap());
    }

    fn sealed(&mut self, value: HiddenValue<'_>) {
        let HiddenValue { place, key, bytes, .. } = value;
        self.sealed.push(Sealed { place, key, bytes: bytes.to_vec() });
    }

    fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>> {
        let seed = u8::try_from(self.keys.len()).unwrap();
        let key = || Arc::new(SubjectKey::new([seed; 32]));
        (!self.is_keyless).then(|| self.keys.entry(subject.to_owned()).or_insert_with(key).clone())
    }
}

fn redaction(ids: Form, evidence: EvidenceForm) -> Redaction {
    let secret = LogSecret::new([9; 32]);
    Redaction { principal: ids, resource: ids, evidence, secret }
}

/// A log of entries, and the rings that they go through.
struct Rig {
    assembler: Assembler,
    log: Log,
    ring: (RingWriter, RingReader),
}

impl Rig {
    fn new(redaction: Redaction) -> Self {
        Self { assembler: Assembler::new(redaction, 100), log: Log::default(), ring: ring(0) }
    }

    fn add(&mut self, entry: &Entry<'_>, actions: &[(&str, Effect)]) {
        assert!(self.ring.0.write(entry, actions));
        let drained = self.ring.1.next().unwrap();
        self.assembler.drained(3, &drained, 77, &mut self.log);
        self.assembler.flush(&mut self.log);
    }

    fn decision(&self, at: usize) -> &Decision {
        match &self.log.records[at].body {
            Body::Decision(decision) => decision,
            other => panic!("{other:?}"),
        }
    }
}

const ENTRY: Entry<'_> = Entry {
    micros: 5,
    policies: 2,
    caller: 4,
    is_general: true,
    principal: "ada",
    resource: "a1",
    kind: "album",
    version: "default",
    scope: "acme",
    trace: Some([1; 16]),
    request: "call",
    evidence: Evidence::Read(b"read"),
    search: None,
};

#[test]
fn a_target_is_defined_before_the_first_decision_about_it() {
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Clear));
    rig.add(&ENTRY, &[("view", Effect::Allowed), ("edit", Effect::Denied)]);
    rig.add(&ENTRY, &[("edit", Effect::Limited)]);
    rig.add(&Entry { policies: 3, ..ENTRY }, &[("edit", Effect::Allowed)]);
    let defined = |at: usize| match &rig.log.records[at].body {
        Body::Target(target) => (target.policies, target.number, target.action.as_str()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (defined(0), defined(1), defined(4)),
        ((2, 0, "view"), (2, 1, "edit"), (3, 2, "edit"))
    );
    let outcomes = |at: usize| {
        let outcomes = rig.decision(at).outcomes.iter();
        outcomes.map(|outcome| (outcome.target, outcome.effect)).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(2), [(0, Effect::Allowed), (1, Effect::Denied)]);
    assert_eq!(
        (outcomes(3), outcomes(5)),
        (vec![(1, Effect::Limited)], vec![(2, Effect::Allowed)])
    );
    // Records of a stream are counted without gaps, whatever the log writes between them.
    let counted = |stream: u16| {
        let of = rig.log.records.iter().filter(|record| record.stream == stream);
        of.map(|record| record.sequence).collect::<Vec<_>>()
    };
    assert_eq!((counted(LOG_STREAM), counted(3)), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(rig.assembler.next(), 106);
}

#[test]
fn a_search_is_recorded_with_its_target_and_names_nobody() {
    let mut rig = Rig::new(redaction(Form::Commitment, EvidenceForm::Commitment));
    let search = Some(SearchCounts { asked: 1000, allowed: 3 });
    rig.add(&Entry { search, ..ENTRY }, &[("view", Effect::Denied)]);
    assert!(matches!(&rig.log.records[0].body, Body::Target(target) if target.number == 0));
    let expected = Search { micros: 5, policies: 2, target: 0, asked: 1000, allowed: 3 };
    let found = &rig.log.records[1];
    assert_eq!((&found.body, found.stream, found.sequence), (&Body::Search(expected), 3, 0));
    assert_eq!(rig.log.records.len(), 2);
}

#[test]
fn a_record_tells_what_the_entry_told() {
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Clear));
    rig.add(&ENTRY, &[("view", Effect::Allowed)]);
    assert_eq!(rig.log.records[1].caller, 4);
    assert_eq!(
        *rig.decision(1),
        Decision {
            micros: 5,
            policies: 2,
            outcomes: vec![Outcome { target: 0, effect: Effect::Allowed }],
            principal: Identity::Clear(ShortText::cut("ada")),
            resource: Identity::Clear(ShortText::cut("a1")),
            trace: Some([1; 16]),
            request: Some(ShortText::cut("call")),
            is_general: true,
            is_cut: false,
            evidence: record::Evidence::Read(b"read".to_vec()),
        }
    );
    assert!(rig.log.sealed.is_empty() && rig.log.keys.is_empty());
}

#[test]
fn committed_values_are_sealed_under_the_key_of_the_principal() {
    let mut rig = Rig::new(redaction(Form::Commitment, EvidenceForm::Commitment));
    rig.add(&ENTRY, &[("view", Effect::Allowed)]);
    let decision = rig.decision(1);
    let key = &rig.log.keys["ada"];
    let place = |field: Field| ValuePosition { record: 101, field };
    let committed = |field: Field, value: &[u8]| key.commit(place(field), value);
    assert_eq!(decision.principal, Identity::Commitment(committed(Field::Principal, b"ada")));
    assert_eq!(decision.resource, Identity::Commitment(committed(Field::Resource, b"a1")));
    let read = committed(Field::Evidence, b"read");
    assert_eq!(decision.evidence, record::Evidence::CommittedRead(read));
    let values = [&b"ada"[..], b"a1", b"read"];
    assert_eq!(rig.log.sealed.len(), values.len());
    for (sealed, value) in rig.log.sealed.iter().zip(values) {
        let commitment = key.commit(sealed.place, value);
        assert_eq!(key.unseal(sealed.place, &commitment, &sealed.bytes).unwrap(), value);
    }
    let bytes: Vec<u8> = rig.log.records.iter().flat_map(Record::to_bytes).collect();
    assert!(!bytes.windows(3).any(|part| part == b"ada"));
}

#[test]
fn an_absent_evidence_is_in_no_form_and_needs_no_key() {
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Absent));
    for evidence in [Evidence::Read(b"read"), Evidence::Request(b"all")] {
        rig.add(&Entry { evidence, ..ENTRY }, &[]);
    }
    for at in [0, 1] {
        assert_eq!(rig.decision(at).evidence, record::Evidence::None);
    }
    assert!(rig.log.keys.is_empty() && rig.log.sealed.is_empty());
}

#[test]
fn pseudonyms_and_absent_ids_need_no_key() {
    let mut rig = Rig::new(redaction(Form::Pseudonym, EvidenceForm::Clear));
    rig.add(&Entry { evidence: Evidence::None, ..ENTRY }, &[]);
    rig.add(&Entry { resource: "a2", evidence: Evidence::None, ..ENTRY }, &[]);
    let secret = LogSecret::new([9; 32]);
    assert_eq!(
        rig.decision(0).principal,
        Identity::Pseudonym(secret.pseudonym(Field::Principal, "ada"))
    );
    assert_eq!(rig.decision(0).principal, rig.decision(1).principal);
    assert_ne!(rig.decision(0).resource, rig.decision(1).resource);
    let mut rig = Rig::new(redaction(Form::Absent, EvidenceForm::Clear));
    rig.add(&ENTRY, &[]);
    assert_eq!(rig.decision(0).principal, Identity::Absent);
    assert!(rig.log.keys.is_empty() && rig.log.sealed.is_empty());
}

#[test]
fn without_a_key_nothing_of_a_subject_is_recorded() {
    let mut rig = Rig::new(redaction(Form::Commitment, EvidenceForm::Commitment));
    rig.log.is_keyless = true;
    rig.add(&ENTRY, &[]);
    let decision = rig.decision(0);
    assert_eq!((&decision.principal, &decision.resource), (&Identity::Absent, &Identity::Absent));
    assert_eq!(decision.evidence, record::Evidence::None);
    assert!(rig.log.sealed.is_empty());
}

#[test]
fn a_record_tells_that_its_evidence_was_too_large() {
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Commitment));
    rig.add(&Entry { evidence: Evidence::TooLarge, ..ENTRY }, &[]);
    let decision = rig.decision(0);
    assert_eq!((decision.is_cut, &decision.evidence), (true, &record::Evidence::None));
    assert!(rig.log.keys.is_empty());
}

#[test]
fn a_digest_is_hidden_where_evidence_is() {
    let entry = Entry { evidence: Evidence::Digest(&[7; 32]), ..ENTRY };
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Clear));
    rig.add(&entry, &[]);
    let decision = rig.decision(0);
    assert_eq!((decision.is_cut, &decision.evidence), (false, &record::Evidence::Digest([7; 32])));
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Commitment));
    rig.add(&entry, &[]);
    let record::Evidence::CommittedDigest(commitment) = rig.decision(0).evidence else {
        panic!("expected a commitment");
    };
    let sealed = &rig.log.sealed[0];
    let key = rig.log.keys.values().next().unwrap();
    assert_eq!(key.unseal(sealed.place, &commitment, &sealed.bytes).as_deref(), Some(&[7; 32][..]));
}

#[test]
fn lost_entries_become_a_record() {
    let mut rig = Rig::new(redaction(Form::Clear, EvidenceForm::Clear));
    let lost = Drained::Lost { first: (1 << 32) + 7, count: 9 };
    rig.assembler.drained(3, &lost, 77, &mut rig.log);
    rig.assembler.flush(&mut rig.log);
    let expected =
        Lost { micros: 77, stream: 3, first: 7, count: 9, reason: ShortText::cut("full") };
    assert_eq!(rig.log.records[0].body, Body::Lost(expected));
}

#[test]
fn ever_new_names_take_bounded_memory() {
    let mut rig = Rig::new(redaction(Form::Absent, EvidenceForm::Clear));
    let count = MAX_TARGETS + 10;
    for number in 0..count {
        let kind = number.to_string();
        rig.add(&Entry { kind: &kind, ..ENTRY }, &[("view", Effect::Denied)]);
    }
    assert!(rig.assembler.targets.len() <= MAX_TARGETS);
    // Numbers are not given twice.
    let numbers: std::collections::HashSet<u32> = rig
        .log
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Target(target) => Some(target.number),
            _ => None,
        })
        .collect();
    assert_eq!(numbers.len(), count);
}

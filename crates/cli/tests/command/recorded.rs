//! A decision log of decisions by a bundle, with fixed times and keys.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use wardgate_bundle::{Conditions, Trust, open};
use wardgate_crypto::blake3;
use wardgate_decision_log::record::{
    Body, Decision, Effect, Evidence, Identity, Outcome, Policies, Record, ShortText,
    request_digest,
};
use wardgate_decision_log::redaction::{HiddenValue, SubjectKey};
use wardgate_decision_log::signer::LogSigner;
use wardgate_engine::attr::Attr;
use wardgate_native::decision_log::{
    Assembler, Drained, EvidenceForm, Form, Recorder, Recording, Redaction, Sink,
    canonical_request, ring,
};
use wardgate_native::{Pdp, Principal, Request, Resource, Timestamp};
use wardgate_server::decision_log::{LogSettings, LogWriter};

/// 2026-01-02T03:04:05Z in seconds since 1970.
const TIME: i64 = 1_767_323_045;

/// Writes `log`, whose decisions are by a bundle: first with clear evidence, then with committed values, then without
/// evidence. The key of `ann` is the first one in `keys.wgk`.
pub(crate) fn write(folder: &Path, bundle: &str) {
    let bundle = fs::read(folder.join(bundle)).unwrap();
    let opened = open(&bundle, Trust::Unsigned, &Conditions::default()).unwrap();
    let pdp = Pdp::open(&bundle, Trust::Unsigned).unwrap();
    let signer = || LogSigner::new("log.example/a", &[7; 32]).unwrap();
    let settings = LogSettings { segment_bytes: 1 << 20, ..LogSettings::default() };
    let (writer, _) = LogWriter::open(&folder.join("log"), signer(), settings, &[1; 16]).unwrap();
    let mut files = Files { writer, values: Vec::new() };
    for (ids, evidence) in [
        (Form::Clear, EvidenceForm::Clear),
        (Form::Commitment, EvidenceForm::Commitment),
        (Form::Clear, EvidenceForm::Absent),
    ] {
        let (principal, resource, secret) = (ids, ids, signer().secret());
        let redaction = Redaction { principal, resource, evidence, secret };
        let mut assembler = Assembler::new(redaction, files.writer.next());
        let root = opened.header.content;
        let name = ShortText::cut("photos");
        let policies = Policies { micros: TIME * 1_000_000, number: 0, revision: 7, root, name };
        assembler.event(Body::Policies(policies), TIME * 1_000_000, &mut files);
        let has_evidence = evidence != EvidenceForm::Absent;
        decide(&pdp, has_evidence, |drained| {
            assembler.drained(1, drained, TIME * 1_000_000, &mut files);
        });
        assembler.flush(&mut files);
        files.writer.write(TIME * 1_000_000).unwrap();
    }
    for (number, body) in (0..).zip(others()) {
        let record = Record { stream: 2, caller: 0, sequence: number, body: Body::Decision(body) };
        files.record(&record.to_bytes(), TIME * 1_000_000);
    }
    files.writer.write(TIME * 1_000_000).unwrap();
    files.writer.seal(TIME.cast_unsigned(), &[0; 32]).unwrap();
    let private = folder.join("log/private");
    fs::create_dir(&private).unwrap();
    fs::write(private.join("000000000000.wgv"), files.values).unwrap();
    let key = |subject: &str| {
        let both = [signer().secret().subject(subject).as_slice(), &secret(subject)].concat();
        [both.as_slice(), &blake3::hash(&both)[..8]].concat()
    };
    fs::write(private.join("keys.wgk"), [key("ann"), key("sam")].concat()).unwrap();
    fs::write(folder.join("log.key"), LogSigner::text("log.example/a", &[7; 32]).unwrap()).unwrap();
}

/// Returns decisions that cannot be made again, the first one without its request alone.
fn others() -> Vec<Decision> {
    let decision = |target, evidence, is_cut| Decision {
        micros: TIME * 1_000_000,
        policies: 0,
        outcomes: vec![Outcome { target, effect: Effect::Denied }],
        principal: Identity::Absent,
        resource: Identity::Absent,
        trace: None,
        request: None,
        is_general: true,
        is_cut,
        evidence,
    };
    let asked = canonical_request(&request("sam", &["view"])).unwrap();
    let allowed = vec![Outcome { target: 0, effect: Effect::Allowed }];
    let digested = decision(0, Evidence::Digest(request_digest(&asked)), false);
    vec![
        Decision { outcomes: allowed, ..digested },
        decision(0, Evidence::None, true),
        decision(99, Evidence::Read(vec![1, 2]), false),
        decision(0, Evidence::Read(vec![1, 2]), false),
    ]
}

/// Records decisions on single actions by the fast path, and one on all actions by the general path.
fn decide(pdp: &Pdp, has_evidence: bool, mut act: impl FnMut(&Drained<'_>)) {
    let now = Timestamp::new(TIME, 0).unwrap();
    let (writer, mut reader) = ring(1 << 20);
    let recording = Recording { has_evidence, denies_unrecorded: true, caller: 0 };
    let mut recorder = Recorder::new(writer, recording);
    for (principal, action) in [("sam", "view"), ("ann", "edit"), ("sam", "edit")] {
        let request = request(principal, &[action]);
        let _ = recorder.is_allowed_request(pdp, &request, action, now);
    }
    assert!(recorder.check(pdp, &request("sam", &["view", "edit", "sell"]), now).is_some());
    while let Some(drained) = reader.next() {
        act(&drained);
    }
}

/// Returns a request about a photo of Ann.
fn request(principal: &str, actions: &[&str]) -> Request {
    let owner = Attr::String("ann".into());
    Request {
        principal: Principal {
            id: principal.to_owned(),
            roles: vec!["member".to_owned()],
            ..Principal::default()
        },
        resource: Resource {
            kind: "photo".to_owned(),
            id: "p1".to_owned(),
            attr: [("owner".into(), owner)].into_iter().collect(),
            ..Resource::default()
        },
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        ..Request::default()
    }
}

struct Files {
    writer: LogWriter,
    values: Vec<u8>,
}

impl Sink for Files {
    fn record(&mut self, record: &[u8], micros: i64) {
        assert!(self.writer.add(record, micros));
    }

    fn sealed(&mut self, value: HiddenValue<'_>) {
        value.write(&mut self.values);
    }

    fn key(&mut self, subject: &str) -> Option<Arc<SubjectKey>> {
        Some(Arc::new(SubjectKey::new(secret(subject))))
    }
}

fn secret(subject: &str) -> [u8; 32] {
    blake3::hash(subject.as_bytes())
}

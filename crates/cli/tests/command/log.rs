//! A small decision log for transcripts, with fixed times and the key of 32 sevens.

use std::fs;
use std::path::Path;

use wardgate_decision_log::checkpoint::Checkpoint;
use wardgate_decision_log::note::Note;
use wardgate_decision_log::record::{
    Body, Clock, Decision, Effect, Erasure, Evidence, Identity, Loss, Lost, Outcome, Policies,
    Process, ProcessEvent, Record, Search, Settings, ShortText, Target, Text,
};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::{LogSettings, LogWriter};

/// 2026-01-02T03:04:05Z in microseconds since 1970.
const TIME: i64 = 1_767_323_045_000_000;

/// Writes `log`, `log.key` and `log.vkey`, and the first checkpoint as `first`. The last of three frames is not sealed.
pub(crate) fn write(folder: &Path) {
    let signer = || LogSigner::new("log.example/a", &[7; 32]).unwrap();
    let log = folder.join("log");
    let files = LogSettings { segment_bytes: 1, ..LogSettings::default() };
    let opened = LogWriter::open(&log, signer(), files, &[1; 16]);
    let (mut writer, _) = opened.unwrap();
    let frames = [first(), decisions(), others()];
    for (number, bodies) in (0..).zip(frames) {
        for body in bodies {
            let sequence = u32::try_from(writer.next()).unwrap();
            let record = Record { stream: 0, caller: 0, sequence, body };
            assert!(writer.add(&record.to_bytes(), TIME + number));
        }
        writer.write(TIME).unwrap();
        if number < 2 {
            writer.seal(1_767_323_050 + number.cast_unsigned(), &[0; 32]).unwrap();
        }
        if number == 0 {
            fs::copy(log.join("checkpoint"), folder.join("first")).unwrap();
            witness(folder);
        }
    }
    fs::create_dir(log.join("private")).unwrap();
    fs::write(log.join("private/keys.wgk"), subject_key(&signer(), "ada")).unwrap();
    fs::write(folder.join("log.key"), LogSigner::text("log.example/a", &[7; 32]).unwrap()).unwrap();
    fs::write(folder.join("log.vkey"), format!("{}\n", signer().verifier())).unwrap();
}

/// Writes the first checkpoint with the cosignature of a witness as `witnessed`, the key of that witness as `w.key`, and two
/// policies of witnesses: the one cosignature suffices for `witnesses`, and not for `more`.
fn witness(folder: &Path) {
    let witness = |seed| LogSigner::new("w.example/1", &[seed; 32]).unwrap();
    let mut note = Note::read(&fs::read(folder.join("first")).unwrap()).unwrap();
    let checkpoint = Checkpoint::read(&note.text).unwrap();
    note.signatures.push(witness(8).cosign(&checkpoint, 1_767_323_050, &[0; 32]).unwrap());
    fs::write(folder.join("witnessed"), note.to_string()).unwrap();
    fs::write(folder.join("w.key"), LogSigner::text("w.example/1", &[8; 32]).unwrap()).unwrap();
    let [one, other] = [witness(8), witness(9)].map(|witness| witness.verifier().to_string());
    let lines = format!("witness b {one}\nwitness c {other}\n");
    fs::write(folder.join("witnesses"), format!("{lines}group g any b c\nquorum g\n")).unwrap();
    fs::write(folder.join("more"), format!("{lines}group g all b c\nquorum g\n")).unwrap();
}

/// Returns the key of a subject, of 32 sixes, as it is kept.
fn subject_key(signer: &LogSigner, subject: &str) -> Vec<u8> {
    let both = [signer.secret().subject(subject).as_slice(), &[6; 32]].concat();
    [&both, &wardgate_crypto::blake3::hash(&both)[..8]].concat()
}

fn text(text: &str) -> ShortText {
    ShortText::new(text).unwrap()
}

fn first() -> Vec<Body> {
    let policies =
        Policies { micros: TIME, number: 0, revision: 7, root: [3; 32], name: text("albums") };
    let target = Target {
        policies: 0,
        number: 0,
        kind: text("album"),
        version: text("default"),
        scope: text("acme"),
        action: text("view"),
    };
    vec![
        Body::Process(process(ProcessEvent::Started)),
        Body::Policies(policies),
        Body::Target(target),
    ]
}

fn decisions() -> Vec<Body> {
    let hidden = Identity::Commitment([4; 32]);
    [
        (Identity::Clear(text("ada")), hidden.clone(), Effect::Allowed, 0),
        (Identity::Clear(text("eve")), hidden, Effect::Denied, 0),
        (Identity::Pseudonym([5; 16]), Identity::Absent, Effect::Limited, 7),
    ]
    .map(|(principal, resource, effect, target)| {
        Body::Decision(Decision {
            micros: TIME + 1,
            policies: 0,
            outcomes: vec![Outcome { target, effect }],
            principal,
            resource,
            trace: None,
            request: Some(text("r7")),
            is_general: true,
            is_cut: false,
            evidence: Evidence::None,
        })
    })
    .into()
}

fn others() -> Vec<Body> {
    let (micros, reason) = (TIME + 2, text("full"));
    let settings = Text::new("keep = \"system\"").unwrap();
    vec![
        Body::Lost(Lost { micros, stream: 1, first: 9, count: 12, reason: reason.clone() }),
        Body::Clock(Clock { before: i64::MAX, now: micros }),
        Body::Erasure(Erasure { micros, keys: 2 }),
        Body::Settings(Settings { micros, text: settings }),
        Body::Search(Search { micros, policies: 0, target: 0, asked: 9, allowed: 4 }),
        Body::Loss(Loss { micros, frames: 9, found: 7, reason }),
        Body::Process(process(ProcessEvent::Stopped)),
    ]
}

fn process(event: ProcessEvent) -> Process {
    Process { micros: TIME, event, instance: [2; 16], version: text("1.0.0") }
}

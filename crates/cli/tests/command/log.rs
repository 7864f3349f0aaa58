//! A small decision log for transcripts, with fixed times and the key of 32 sevens.

use std::fs;
use std::path::Path;

use wardgate_decision_log::record::{
    Body, Decision, Effect, Evidence, Identity, Lost, Outcome, Policies, Process, ProcessEvent,
    Record, ShortText, Target,
};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::{LogSettings, LogWriter};

/// 2026-01-02T03:04:05Z in microseconds since 1970.
const TIME: i64 = 1_767_323_045_000_000;

/// Writes `log`, `log.key` and `log.vkey`, and the first checkpoint as `first`. The last of three frames is not sealed.
pub(crate) fn write(folder: &Path) {
    let signer = || LogSigner::new("log.example/a", &[7; 32]).unwrap();
    let log = folder.join("log");
    let opened = LogWriter::open(&log, signer(), LogSettings::default(), &[1; 16]);
    let (mut writer, _) = opened.unwrap();
    let frames = [first(), vec![decision("ada", Effect::Allowed), decision("eve", Effect::Denied)], vec![lost()]];
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
        }
    }
    fs::write(folder.join("log.key"), LogSigner::text("log.example/a", &[7; 32]).unwrap()).unwrap();
    fs::write(folder.join("log.vkey"), format!("{}\n", signer().verifier())).unwrap();
}

fn text(text: &str) -> ShortText {
    ShortText::new(text).unwrap()
}

fn first() -> Vec<Body> {
    let process = Process {
        micros: TIME,
        event: ProcessEvent::Started,
        instance: [2; 16],
        version: text("1.0.0"),
    };
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
    vec![Body::Process(process), Body::Policies(policies), Body::Target(target)]
}

fn decision(principal: &str, effect: Effect) -> Body {
    Body::Decision(Decision {
        micros: TIME + 1,
        policies: 0,
        outcomes: vec![Outcome { target: 0, effect }],
        principal: Identity::Clear(text(principal)),
        resource: Identity::Commitment([4; 32]),
        trace: None,
        request: Some(text("r7")),
        is_general: true,
        is_cut: false,
        evidence: Evidence::None,
    })
}

fn lost() -> Body {
    let reason = text("full");
    Body::Lost(Lost { micros: TIME + 2, stream: 1, first: 9, count: 12, reason })
}

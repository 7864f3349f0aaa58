//! Recorded decisions are made again in the sandbox.

use wardgate_bundle::Trust;
use wardgate_native::Pdp as NativePdp;
use wardgate_native::decision_log::{Drained, Evidence, Recorder, Recording, ring, whole_micros};
use wardgate_tests::check;
use wardgate_tests::generate::{World, worlds};
use wardgate_wasmtime_host::Target;

use crate::{FORMS, opened};

#[test]
fn recorded_decisions_are_made_again_from_their_evidence() {
    let (now, micros) = whole_micros(World::now().unwrap());
    let (mut read, mut whole) = (0, 0);
    let compiled = worlds(6, 20).filter_map(|world| {
        let bundle = world.compiled().ok()?.bundle;
        Some((world, bundle))
    });
    for (world, bundle) in compiled.take(20) {
        let native = NativePdp::open(&bundle, Trust::Unsigned).unwrap();
        let (writer, mut reader) = ring(1 << 20);
        let recording = Recording { has_evidence: true, ..Recording::default() };
        let mut recorder = Recorder::new(writer, recording);
        let mut sessions = FORMS.iter().map(|(form, code)| (form, opened(code, &bundle).session()));
        let mut sessions: Vec<_> = sessions.by_ref().collect();
        for json in &world.requests {
            let request = check::request(json).unwrap();
            for action in &request.actions {
                let was_allowed = recorder.is_allowed_request(&native, &request, action, now);
                let Some(Drained::Entry(_, found)) = reader.next() else { panic!("no entry") };
                let entry = found.entry;
                let target = Target {
                    kind: entry.kind,
                    action,
                    policy_version: entry.version,
                    scope: entry.scope,
                };
                match entry.evidence {
                    Evidence::Read(_) => read += 1,
                    Evidence::Request(_) => whole += 1,
                    Evidence::None | Evidence::Digest(_) | Evidence::TooLarge => continue,
                }
                for (form, session) in &mut sessions {
                    let again = session.replay(&[target], entry.evidence, micros);
                    assert_eq!(again.unwrap(), [Some(was_allowed)], "{form}: {action} {json}");
                    let other = Target { action: "none of the policies", ..target };
                    let cut = session.replay(&[other, target], entry.evidence, micros).unwrap();
                    assert_eq!(cut.len(), 2);
                    if matches!(entry.evidence, Evidence::Read(_)) {
                        assert_eq!(cut, [None, None], "one part is none for two targets");
                    }
                }
            }
        }
    }
    assert!(read > 400 && whole > 50, "{read} and {whole}");
}

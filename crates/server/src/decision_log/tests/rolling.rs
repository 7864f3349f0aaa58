//! Segments that end by time.

use wardgate_decision_log::redaction::LogSecret;
use wardgate_native::decision_log::{Effect, Form, RingWriter, ring};

use super::recording::{decisions, entry, settings};
use super::*;
use crate::config::{Keep, OnFull};
use crate::decision_log::core::Core;
use crate::decision_log::intake::Intake;
use crate::decision_log::private::Private;

/// A log whose segments end after a minute; each tick writes a frame.
struct Machine {
    core: Core,
    intake: Intake,
    ring: RingWriter,
}

impl Machine {
    fn start(folder: &Temporary) -> Self {
        let (writer, _) = open(&folder.0, 1 << 20).unwrap();
        let private = Private::open(&folder.0, LogSecret::new([9; 32]), writer.next()).unwrap();
        let settings = RecorderSettings {
            heartbeat: Duration::ZERO,
            segment: Some(Duration::from_secs(60)),
            ..settings(Form::Clear, OnFull::Deny, Keep::Memory)
        };
        let core = Core::new(writer, private, settings);
        let intake = Intake::new(core.lock());
        let (ring, reader) = ring(0);
        intake.add(1, reader);
        Self { core, intake, ring }
    }

    fn record(&mut self) {
        assert!(self.ring.write(&entry("ada"), &[("view", Effect::Allowed)]));
    }

    fn tick(&mut self, seconds: i64) {
        self.core.tick(&self.intake, seconds * 1_000_000).unwrap();
    }
}

fn segments(folder: &Temporary) -> usize {
    folder.files().iter().filter(|path| path.extension().is_some_and(|end| end == "wgl")).count()
}

#[test]
fn a_segment_with_news_ends_after_its_time() {
    let folder = Temporary::new();
    let mut machine = Machine::start(&folder);
    let policies = wardgate_decision_log::record::Policies {
        micros: 0,
        number: 1,
        revision: 7,
        root: [3; 32],
        name: ShortText::cut("bundle"),
    };
    machine.core.event(Body::Policies(policies), 1_000_000);
    machine.tick(1);
    machine.record();
    machine.tick(60);
    assert_eq!(segments(&folder), 1);
    machine.tick(61);
    assert_eq!(segments(&folder), 2);
    // One with nothing but what each segment repeats stays.
    (62..600).for_each(|seconds| machine.tick(seconds));
    assert_eq!(segments(&folder), 2);
    machine.record();
    machine.tick(600);
    machine.tick(601);
    assert_eq!(segments(&folder), 3);
    machine.record();
    machine.tick(602);
    drop(machine);
    // The time of a segment goes on in the next process.
    let mut machine = Machine::start(&folder);
    machine.record();
    machine.tick(659);
    assert_eq!(segments(&folder), 3);
    machine.record();
    machine.tick(660);
    machine.tick(661);
    assert_eq!(segments(&folder), 4);
    drop(machine);
    assert_eq!(decisions(&folder).0.len(), 5);
    verified(&folder).unwrap();
}

//! A disk that is full at any write: the log says so in a record under a checkpoint, and goes on when there is room.

use wardgate_decision_log::redaction::LogSecret;
use wardgate_native::decision_log::{Effect, EvidenceForm, Form, RingWriter, ring};

use super::recording::{decisions, entry, settings};
use super::*;
use crate::config::{Keep, OnFull};
use crate::decision_log::core::Core;
use crate::decision_log::intake::{Intake, Taking};
use crate::decision_log::private::Private;
use crate::decision_log::recorder::process;
use crate::decision_log::tail::Tail;
use crate::journal::volume;
use wardgate_decision_log::record::ProcessEvent;

const RESERVE: u64 = 200_000;

/// The writer of a log on this thread, whose volume may be full.
struct Machine {
    folder: Temporary,
    core: Core,
    intake: Intake,
    ring: RingWriter,
    /// The entries that were written to the ring, and those that its answers could rely on.
    asked: usize,
    told: usize,
    now: i64,
}

impl Machine {
    fn start(keep: Keep) -> Self {
        Self::start_in(Temporary::new(), keep).unwrap()
    }

    fn start_in(folder: Temporary, keep: Keep) -> Result<Self, LogError> {
        let (writer, _) = open(&folder.0, 3000)?;
        let private = Private::open(&folder.0, LogSecret::new([9; 32]), writer.next())?;
        let settings = RecorderSettings {
            reserve: RESERVE,
            checkpoint: Duration::ZERO,
            ..settings(Form::Commitment, OnFull::Deny, keep)
        };
        let mut core = Core::new(writer, private, settings);
        let left = core.left()?;
        core.recover(left, 1)?;
        let _ = core.fill_reserve();
        let forms = (Form::Commitment, Form::Commitment, EvidenceForm::Absent);
        let (is_kept, is_synced) = (keep != Keep::Memory, keep == Keep::Disk);
        let mut intake = Intake::new(core.lock());
        if is_kept {
            intake = intake.with_tail(Tail::make(&folder.0, forms, is_synced)?, is_synced);
        }
        let (ring, reader) = ring(0);
        intake.add(1, reader);
        core.event(process(ProcessEvent::Started, [3; 16], 1), 1);
        Ok(Self { folder, core, intake, ring, asked: 0, told: 0, now: 1 })
    }

    /// Lets the volume have so many bytes more than it uses now.
    fn limit(&self, more: Option<u64>) {
        let used = volume::used(&self.folder.0).unwrap();
        volume::limit(&self.folder.0, more.map(|more| used + more));
    }

    /// Writes an entry to the ring, and waits until its answer may leave.
    fn record(&mut self) {
        let principal = format!("principal {}", self.asked % 7);
        assert!(self.ring.write(&entry(&principal), &[("view", Effect::Allowed)]));
        self.asked += 1;
        if self.intake.keep().unwrap_or(false) {
            self.told = self.asked;
        }
    }

    fn tick(&mut self) -> Result<(), LogError> {
        self.now += 1;
        let done = self.core.tick(&self.intake, self.now);
        self.core.after(done, self.now)?;
        let sealed = self.core.seal_if_due(self.now).unwrap_or(Ok(()));
        self.core.after(sealed, self.now)
    }

    /// Ends the log, and returns its folder.
    fn close(mut self) -> Temporary {
        let stopped = process(ProcessEvent::Stopped, [3; 16], 9);
        self.core.finish(&self.intake, stopped, 9).unwrap();
        std::mem::replace(&mut self.folder, Temporary::new())
    }

    /// Checks that the log ends with a record which says that the disk is full, and that a checkpoint covers it.
    fn check_last_words(&self) {
        let found = verified(&self.folder).unwrap();
        assert_eq!((found.unsealed, found.lost), (0, 0));
        assert_eq!(last_words(&self.folder), 1);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        volume::limit(&self.folder.0, None);
    }
}

/// Returns how many records at the end of a log say that the disk is full.
fn last_words(folder: &Temporary) -> usize {
    let mut reader = LogReader::open(&folder.0).unwrap();
    let mut words = 0;
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            let is_last = matches!(Record::read(bytes).unwrap().body, Body::Lost(lost)
                if lost.count == 0 && lost.reason.as_str() == "no room on the disk");
            words = if is_last { words + 1 } else { 0 };
        }
    }
    words
}

/// Records until the disk is full, with so many bytes of room. Returns `None` if it is not.
fn fill(machine: &mut Machine, room: u64) -> Option<LogError> {
    machine.limit(Some(room));
    for _ in 0..8 {
        machine.record();
        if let Err(error) = machine.tick() {
            return Some(error);
        }
    }
    None
}

#[test]
fn wherever_the_disk_is_full_the_log_says_so_and_loses_nothing() {
    for keep in [Keep::Memory, Keep::System, Keep::Disk] {
        let mut cases = 0;
        for room in (0..).step_by(131) {
            let mut machine = Machine::start(keep);
            machine.tick().unwrap();
            let Some(error) = fill(&mut machine, room) else { break };
            cases += 1;
            assert_eq!(error.code(), "log-full", "{room}");
            machine.check_last_words();
            // Others take the room, all but that for a part of the reserve.
            machine.limit(Some(RESERVE / 2));
            // Nothing more is written, and nothing is made of what comes.
            machine.record();
            let before = decisions(&machine.folder).0.len();
            assert!(before <= machine.asked);
            for _ in 0..3 {
                machine.core.hurry();
                assert_eq!(machine.tick().unwrap_err().code(), "log-full");
            }
            machine.check_last_words();
            assert_eq!(decisions(&machine.folder).0.len(), before);
            // There is room again.
            machine.limit(None);
            machine.core.hurry();
            machine.tick().unwrap();
            assert_eq!(fs::metadata(machine.folder.0.join("reserve")).unwrap().len(), RESERVE);
            machine.record();
            machine.tick().unwrap();
            assert_eq!(decisions(&machine.folder).0.len(), machine.asked);
            assert_eq!(verified(&machine.folder).unwrap().lost, 0);
        }
        assert!(cases > 40, "{cases}");
    }
}

#[test]
fn a_kill_on_a_full_disk_loses_nothing_that_an_answer_could_rely_on() {
    for keep in [Keep::System, Keep::Disk] {
        for room in (0..12_000).step_by(1000) {
            let mut machine = Machine::start(keep);
            machine.tick().unwrap();
            let error = fill(&mut machine, room).unwrap();
            assert_eq!(error.code(), "log-full");
            machine.record();
            let (told, folder) = (machine.told, machine.folder.as_killed());
            drop(machine);
            let machine = Machine::start_in(folder, keep).unwrap();
            let found = decisions(&machine.folder).0.len();
            assert!(found >= told && told > 0, "{found} of {told}");
            verified(&machine.folder).unwrap();
        }
    }
}

#[test]
fn the_end_of_a_log_on_a_full_disk_is_written_with_the_reserve() {
    let mut machine = Machine::start(Keep::Memory);
    machine.tick().unwrap();
    for _ in 0..5 {
        machine.record();
    }
    machine.limit(Some(0));
    let stopped = process(ProcessEvent::Stopped, [3; 16], 9);
    machine.core.finish(&machine.intake, stopped, 9).unwrap();
    assert_eq!(decisions(&machine.folder).0.len(), 5);
    assert_eq!(verified(&machine.folder).unwrap().unsealed, 0);
    // A disk with less room than the reserve counts as full from the start.
    let folder = machine.folder.as_killed();
    drop(machine);
    volume::limit(&folder.0, Some(volume::used(&folder.0).unwrap() + RESERVE / 2));
    let mut machine = Machine::start_in(folder, Keep::Memory).unwrap();
    machine.record();
    assert_eq!(machine.tick().unwrap_err().code(), "log-full");
    assert_eq!(decisions(&machine.folder).0.len(), 5);
    machine.limit(None);
    machine.core.hurry();
    machine.tick().unwrap();
    assert_eq!(decisions(&machine.folder).0.len(), 6);
}

#[test]
fn a_process_starts_on_a_full_disk_with_the_reserve_of_the_one_before() {
    for is_killed in [true, false] {
        let mut machine = Machine::start(Keep::System);
        machine.record();
        let (folder, tails) = if is_killed {
            let folder = machine.folder.as_killed();
            fs::write(folder.0.join("reserve"), [1; RESERVE as usize]).unwrap();
            (folder, 0)
        } else {
            (machine.close(), 2 << 20)
        };
        let used = volume::used(&folder.0).unwrap();
        volume::limit(&folder.0, Some(used + tails - RESERVE / 2));
        let (writer, _) = open(&folder.0, 3000).unwrap();
        let settings = RecorderSettings {
            reserve: RESERVE,
            ..settings(Form::Commitment, OnFull::Deny, Keep::System)
        };
        let secret = LogSecret::new([9; 32]);
        let recorder = Recorder::start(&folder.0, writer, secret, settings).unwrap();
        volume::limit(&folder.0, None);
        recorder.close().unwrap();
        assert_eq!(decisions(&folder).0.len(), 1, "{is_killed}");
        assert_eq!(verified(&folder).unwrap().unsealed, 0);
    }
}

#[test]
fn without_a_reserve_a_full_disk_is_tried_again() {
    let folder = Temporary::new();
    let (writer, _) = open(&folder.0, 3000).unwrap();
    let private = Private::open(&folder.0, LogSecret::new([9; 32]), 0).unwrap();
    let settings = settings(Form::Clear, OnFull::Deny, Keep::Memory);
    let mut core = Core::new(writer, private, settings);
    let intake = Intake::new(core.lock());
    volume::limit(&folder.0, Some(0));
    core.event(process(ProcessEvent::Started, [3; 16], 1), 1);
    for _ in 0..3 {
        let done = core.drain(&intake, Taking::All, 1).and_then(|()| core.write(1));
        assert_eq!(core.after(done, 1).unwrap_err().code(), "log-write");
    }
    volume::limit(&folder.0, None);
    core.write(1).unwrap();
    assert_eq!(verified(&folder).unwrap().records, 1);
}

//! The recorder of a server: from its configuration, and with the policies in use.

use ring::rand::{SecureRandom, SystemRandom};
use wardgate_decision_log::signer::LogSigner;
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_native::decision_log::{EvidenceForm, Redaction, whole_micros};
use wardgate_native::{Budget, Clock, SystemClock, Timestamp};

use super::noted::{Noted, Noting};
use super::shipping::Shipper;
use super::{LogSettings, LogWriter, Recorder, RecorderSettings};
use crate::config::DecisionLog;
use crate::files::secret;
use crate::policies::state::State;

/// Begins to record as the configuration says, with the shipper of the log if it has one.
///
/// # Errors
/// The key cannot be used, or the log cannot be written, in words for the operator.
pub(crate) fn start(config: &DecisionLog, shipper: Option<&Shipper>) -> Result<Recorder, String> {
    let key = key(config)?;
    let redaction = Redaction {
        principal: config.principal,
        resource: config.resource,
        evidence: config.evidence,
        secret: key.secret(),
    };
    let settings = RecorderSettings {
        redaction,
        on_full: config.on_full,
        keep: config.keep,
        filter: config.filter,
        sync: config.sync,
        checkpoint: config.checkpoint,
        heartbeat: config.heartbeat,
        segment: config.segment_time,
        retention: config.retention,
        reserve: config.reserve,
        shipped: shipper.map(Shipper::shipped),
        ring_bytes: match config.evidence {
            EvidenceForm::Absent => RING_BYTES,
            EvidenceForm::Clear | EvidenceForm::Commitment => RING_BYTES_WITH_EVIDENCE,
        },
    };
    let failed = |error: super::LogError| format!("{}: {error}", error.code());
    let mut instance = [0; 16];
    SystemRandom::new().fill(&mut instance).map_err(|_| "the system has no randomness")?;
    let secret = key.secret();
    let files = LogSettings {
        segment_bytes: config.segment_bytes,
        also_ed25519: config.also_ed25519,
        ..LogSettings::default()
    };
    let (writer, torn) = LogWriter::open(&config.folder, key, files, &instance).map_err(failed)?;
    if let Some(torn) = torn {
        tracing::warn!(torn = %torn.display(), "the end of the decision log was not whole, and is kept beside it");
    }
    Recorder::start(&config.folder, writer, secret, settings).map_err(failed)
}

/// Reads the key of the log.
///
/// # Errors
/// It cannot be read, or is none, in words for the operator.
pub(crate) fn key(config: &DecisionLog) -> Result<LogSigner, String> {
    let path = &config.key;
    let text = secret(path)?;
    let key = std::str::from_utf8(&text).ok().and_then(LogSigner::read);
    let refused = || {
        format!("`{}` is no key of a decision log: `wardgate log keys` makes one", path.display())
    };
    key.ok_or_else(refused)
}

/// Records that the policies of a state came into force.
pub(crate) fn follow(recorder: &Recorder, state: &State) {
    if let Some(header) = state.header() {
        let label = &header.label;
        recorder.policies(number(state), label.revision, header.content, &label.name);
    }
}

/// Returns true if the policies of a state allow an action, and the decision is where answers wait for it.
pub(crate) fn is_allowed(
    recorder: &Recorder,
    state: &State,
    (request, action): (&Request, &str),
    steps: &Budget,
) -> bool {
    let Some(policies) = state.policies() else { return false };
    let request = Request { actions: vec![action.to_owned()], ..request.clone() };
    let now = now();
    let decision = policies.check_within(&request, now, steps);
    let noted = Noted::new(Noting::of(recorder), &request, &decision, now);
    let is_kept = noted.record(recorder, number(state)) && recorder.keep();
    is_kept && decision.actions.iter().all(|action| action.effect == Effect::Allow)
}

/// Records what was decided about an action now, without evidence. Returns true if it is allowed, and the decision is where
/// answers wait for it.
pub(crate) fn is_recorded(
    recorder: &Recorder,
    state: &State,
    (request, action): (&Request, &str),
    is_allowed: bool,
) -> bool {
    let noted = Noted::of_outcome(request, (action, is_allowed), now());
    noted.record(recorder, number(state)) && recorder.keep() && is_allowed
}

/// Reads the time of a decision, in whole microseconds as a record holds it.
fn now() -> Timestamp {
    whole_micros(SystemClock.now()).0
}

/// Returns the number of the policies of a state in records.
pub(crate) fn number(state: &State) -> u32 {
    u32::try_from(state.serial()).unwrap_or(u32::MAX)
}

/// The bytes of the ring of a thread: about ten thousand decisions.
const RING_BYTES: usize = 1 << 20;

/// The same with evidence: a call about many resources brings that many requests.
const RING_BYTES_WITH_EVIDENCE: usize = 4 << 20;

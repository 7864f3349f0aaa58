//! `[decision-log]`: where decisions are recorded, and how.

use std::path::PathBuf;
use std::time::Duration;

use wardgate_native::decision_log::{EvidenceForm, Form};

use super::{ConfigError, Filter, LogExport, Section, Shipping, Witnesses};

/// The treatment of a decision for whose record there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// It stands; a record says how many are missing.
    Drop,
    /// It waits for so long, and is denied then.
    Block(Duration),
    /// It is denied.
    Deny,
}

/// The place in which a record must be before its answer leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Once its record is in memory.
    Memory,
    /// Once the system has its record: a killed process loses none.
    System,
    /// Once its record is on the disk: a machine that loses power loses none.
    Disk,
}

/// The recording of decisions.
#[derive(Clone, Debug)]
pub struct DecisionLog {
    /// The folder of the log.
    pub folder: PathBuf,
    /// The file of the key that signs checkpoints.
    pub key: PathBuf,
    /// True if checkpoints are signed with Ed25519, too.
    pub also_ed25519: bool,
    /// When an answer may leave.
    pub keep: Keep,
    /// The treatment of a decision for whose record there is no room.
    pub on_full: OnFull,
    /// The decisions that are recorded.
    pub filter: Filter,
    /// The form of the ids of principals.
    pub principal: Form,
    /// The form of the ids of resources.
    pub resource: Form,
    /// The form of the evidence for decisions.
    pub evidence: EvidenceForm,
    /// The longest time until a record is on the disk.
    pub sync: Duration,
    /// The time between two checkpoints.
    pub checkpoint: Duration,
    /// The longest time between two frames.
    pub heartbeat: Duration,
    /// The bytes after which a new segment begins.
    pub segment_bytes: u64,
    /// The time after which a segment with new records ends that is not full; `None` for never.
    pub segment_time: Option<Duration>,
    /// The bytes of the disk that are taken for last words on a full one; 0 for none.
    pub reserve: u64,
    /// How long records stay at least; `None` for ever.
    pub retention: Option<Duration>,
    /// Where copies go, if they do.
    pub shipping: Option<Shipping>,
    /// The collector that gets the records, if one does.
    pub export: Option<LogExport>,
    /// Who cosigns checkpoints, if somebody does.
    pub witnesses: Option<Witnesses>,
}

impl DecisionLog {
    /// Reads the table; returns `None` if the file lacks it.
    pub(super) fn read(mut section: Section<'_>) -> Result<Option<Self>, ConfigError> {
        if !section.is_given() {
            return Ok(None);
        }
        let (folder, key) = (section.path("folder")?, section.path("key-file")?);
        let block = section.number("block-milliseconds", 1..=60_000)?.map(Duration::from_millis);
        let on_full = section.choice("on-full", ON_FULL)?.unwrap_or(OnFull::Drop);
        let shipping = Shipping::read(section.section("ship")?)?;
        let segment_time = section.number("segment-minutes", 1..=525_600)?.map(minutes);
        let log = Self {
            folder: folder.clone().unwrap_or_default(),
            key: key.clone().unwrap_or_default(),
            also_ed25519: section.flag("also-ed25519")?.unwrap_or(false),
            keep: section.choice("keep", KEEP)?.unwrap_or(Keep::System),
            on_full: match (on_full, block) {
                (OnFull::Block(_), Some(most)) => OnFull::Block(most),
                (other, _) => other,
            },
            filter: Filter::read(&mut section)?,
            principal: section.choice("principal", FORMS)?.unwrap_or(Form::Commitment),
            resource: section.choice("resource", FORMS)?.unwrap_or(Form::Commitment),
            evidence: section.choice("evidence", EVIDENCE)?.unwrap_or_default(),
            sync: section
                .number("sync-milliseconds", 10..=60_000)?
                .map_or(SYNC, Duration::from_millis),
            checkpoint: section.seconds("checkpoint-seconds", 1..=3600)?.unwrap_or(CHECKPOINT),
            heartbeat: section.seconds("heartbeat-seconds", 1..=3600)?.unwrap_or(HEARTBEAT),
            segment_bytes: section
                .number("segment-bytes", 1 << 20..=1 << 40)?
                .unwrap_or(SEGMENT_BYTES),
            segment_time: segment_time.or(shipping.as_ref().map(|_| SEGMENT_TIME)),
            reserve: section.number("reserve-bytes", 0..=1 << 30)?.unwrap_or(RESERVE),
            retention: section.number("keep-days", 1..=36_500)?.map(days),
            shipping,
            export: LogExport::read(section.section("otlp")?)?,
            witnesses: Witnesses::read(section.section("witness")?)?,
        };
        section.finish()?;
        if folder.is_none() {
            return refuse("`decision-log.folder` is required: the log is there");
        }
        if key.is_none() {
            return refuse("`decision-log.key-file` is required: `wardgate log keys` makes it");
        }
        if block.is_some() && !matches!(log.on_full, OnFull::Block(_)) {
            return refuse("`decision-log.block-milliseconds` needs `on-full = \"block\"`");
        }
        Ok(Some(log))
    }
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes.saturating_mul(60))
}

fn days(days: u64) -> Duration {
    Duration::from_secs(days.saturating_mul(24 * 60 * 60))
}

fn refuse<T>(message: &str) -> Result<T, ConfigError> {
    Err(ConfigError::new(message))
}

const KEEP: &[(&str, Keep)] =
    &[("memory", Keep::Memory), ("system", Keep::System), ("disk", Keep::Disk)];
const ON_FULL: &[(&str, OnFull)] =
    &[("drop", OnFull::Drop), ("block", OnFull::Block(BLOCK)), ("deny", OnFull::Deny)];
const FORMS: &[(&str, Form)] = &[
    ("committed", Form::Commitment),
    ("pseudonym", Form::Pseudonym),
    ("clear", Form::Clear),
    ("absent", Form::Absent),
];
const EVIDENCE: &[(&str, EvidenceForm)] = &[
    ("absent", EvidenceForm::Absent),
    ("committed", EvidenceForm::Commitment),
    ("clear", EvidenceForm::Clear),
];
const BLOCK: Duration = Duration::from_millis(100);
const SYNC: Duration = Duration::from_secs(1);
const CHECKPOINT: Duration = Duration::from_secs(1);
const HEARTBEAT: Duration = Duration::from_secs(10);
const SEGMENT_BYTES: u64 = 64 << 20;
/// Of a log that is shipped.
const SEGMENT_TIME: Duration = Duration::from_secs(60 * 60);
const RESERVE: u64 = 16 << 20;

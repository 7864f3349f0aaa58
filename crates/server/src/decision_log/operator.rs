//! What an operator does to a log: it is recorded, signed and sealed like a decision.
//!
//! The lock of the log is held meanwhile, so no server writes it at the same time.

use std::path::Path;
use std::time::Duration;

use wardgate_decision_log::record::{Body, Erasure, Loss, ProcessEvent, ShortText};
use wardgate_decision_log::redaction::LogSecret;
use wardgate_decision_log::signer::LogSigner;
use wardgate_native::decision_log::{EvidenceForm, Form, Redaction};

use super::core::Core;
use super::ed25519;
use super::error::{LogError, Result};
use super::folder::Folder;
use super::intake::Intake;
use super::private::Private;
use super::recorder::{RecorderSettings, now_micros, process, random};
use super::recovering::Left;
use super::writer::{LogSettings, LogWriter};
use crate::config::{Filter, Keep, OnFull};

/// Deletes the keys of subjects, so that their values cannot be opened in any copy of the log, and records how many
/// there were. Returns that number; if it is 0, nothing is recorded.
///
/// # Errors
/// There is no log, a server writes it, it is of another key or damaged, or a file cannot be written. If only the record
/// cannot be written, the keys are deleted all the same.
pub fn erase(folder: &Path, signer: LogSigner, subjects: &[&str]) -> Result<u32> {
    must_be_there(folder)?;
    let (secret, redacting) = (signer.secret(), signer.secret());
    let also_ed25519 = ed25519::is_used(&Folder::new(folder));
    let files = LogSettings { also_ed25519, ..LogSettings::default() };
    let (writer, _) = LogWriter::open(folder, signer, files, &[0; 16])?;
    let private = Private::open(folder, secret, writer.next())?;
    let (mut core, micros) = (Core::new(writer, private, settings(redacting)), now_micros());
    // What a killed server left is hidden under the keys before they go.
    let left = core.left()?;
    core.recover(left, micros)?;
    let keys = core.erase(subjects)?;
    if keys > 0 {
        record(core, Body::Erasure(Erasure { micros, keys }), None, micros)?;
    }
    Ok(keys)
}

/// Goes on with a log whose end is missing, behind its newest checkpoint, and records that an operator accepted the
/// loss for a reason. Returns the record.
///
/// # Errors
/// There is no log, nothing is missing, a server writes it, it is of another key or damaged, or a file cannot be written. If the
/// tiles of what is missing are missing too, the log cannot go on.
pub fn accept_loss(folder: &Path, signer: LogSigner, reason: ShortText) -> Result<Loss> {
    must_be_there(folder)?;
    let (secret, redacting) = (signer.secret(), signer.secret());
    let (writer, found) = LogWriter::open_truncated(folder, signer)?;
    let private = Private::open(folder, secret, writer.next())?;
    let micros = now_micros();
    let loss = Loss { micros, frames: writer.frames(), found, reason };
    let core = Core::new(writer, private, settings(redacting));
    let left = core.left()?;
    record(core, Body::Loss(loss.clone()), left, micros)?;
    Ok(loss)
}

fn must_be_there(folder: &Path) -> Result<()> {
    let missing = || format!("there is no decision log in `{}`", folder.display());
    Folder::new(folder).verifier()?.map(|_| ()).ok_or_else(|| LogError::Foreign(missing()))
}

/// Records an event at the beginning of a frame, as a process of its own, and what a killed server left.
fn record(mut core: Core, event: Body, left: Option<Left>, now: i64) -> Result<()> {
    let instance = random()?;
    core.event(process(ProcessEvent::Started, instance, now), now);
    core.event(event, now);
    if left.is_some() {
        core.write(now)?;
        core.recover(left, now)?;
    }
    let intake = Intake::new(core.lock());
    core.finish(&intake, process(ProcessEvent::Stopped, instance, now), now)
}

/// Returns settings for a log of which no decision is recorded.
fn settings(secret: LogSecret) -> RecorderSettings {
    let (principal, resource) = (Form::Absent, Form::Absent);
    RecorderSettings {
        redaction: Redaction { principal, resource, evidence: EvidenceForm::Absent, secret },
        on_full: OnFull::Drop,
        keep: Keep::Disk,
        sync: Duration::ZERO,
        checkpoint: Duration::ZERO,
        heartbeat: Duration::ZERO,
        segment: None,
        retention: None,
        shipped: None,
        filter: Filter::All,
        reserve: 0,
        ring_bytes: 0,
    }
}

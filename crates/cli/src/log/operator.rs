//! `wardgate log erase` and `accept-loss`.

use std::path::Path;

use wardgate_decision_log::record::ShortText;
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log;

use super::{read, refused};
use crate::arguments::{AcceptLoss, EraseLog};
use crate::failure::{Failure, Result};
use crate::limits::MAX_KEY_FILE_BYTES;
use crate::output::{InOneLine, Output};

pub(super) fn erase(erase: &EraseLog, out: &mut Output) -> Result<()> {
    let signer = secret(&erase.key)?;
    let subjects: Vec<&str> = erase.subject.iter().map(String::as_str).collect();
    let keys = decision_log::erase(&erase.folder, signer, &subjects).map_err(refused)?;
    let folder = erase.folder.in_one_line();
    if keys == 0 {
        return Err(Failure::policies(format!(
            "`{folder}` has no key of this subject: nothing was recorded as `committed`, or it is erased already"
        )));
    }
    out.line(format_args!("{folder}: {keys} of {} keys deleted, as a record says", subjects.len()))
}

pub(super) fn accept_loss(accept: &AcceptLoss, out: &mut Output) -> Result<()> {
    let refused_reason = || Failure::usage("`--reason` must have 1 to 1024 bytes");
    let reason = ShortText::new(&accept.reason).filter(|reason| !reason.as_str().is_empty());
    let reason = reason.ok_or_else(refused_reason)?;
    let signer = secret(&accept.key)?;
    let loss = decision_log::accept_loss(&accept.folder, signer, reason).map_err(refused)?;
    let (folder, first, next) = (accept.folder.in_one_line(), loss.found, loss.frames);
    let missing = next.saturating_sub(first);
    out.line(format_args!(
        "{folder}: goes on with frame {next}; {missing} frames from {first} on are missing, as a record says"
    ))
}

/// Reads the secret key of a log, or of a witness.
pub(super) fn secret(path: &Path) -> Result<LogSigner> {
    let text = String::from_utf8(read(path, MAX_KEY_FILE_BYTES)?).unwrap_or_default();
    let refused = || {
        let shown = path.in_one_line();
        Failure::policies(format!(
            "`{shown}` is no secret key of a log: `wardgate log keys` writes one"
        ))
    };
    LogSigner::read(&text).ok_or_else(refused)
}

//! `wardgate log erase`.

use std::path::Path;

use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log;

use super::{read, refused};
use crate::arguments::EraseLog;
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

/// Reads the secret key of a log.
fn secret(path: &Path) -> Result<LogSigner> {
    let text = String::from_utf8(read(path, MAX_KEY_FILE_BYTES)?).unwrap_or_default();
    let refused = || {
        let shown = path.in_one_line();
        Failure::policies(format!(
            "`{shown}` is no secret key of a log: `wardgate log keys` writes one"
        ))
    };
    LogSigner::read(&text).ok_or_else(refused)
}

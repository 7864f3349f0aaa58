//! The records of a log, one after another, with what earlier ones define.

use std::ops::ControlFlow;
use std::path::Path;

use wardgate_decision_log::record::Record;
use wardgate_server::decision_log::{LogReader, Names};

use super::refused;
use crate::failure::{Failure, Result};

/// A record, and what was defined before it.
pub(super) struct LoggedRecord<'f> {
    pub(super) number: u64,
    pub(super) record: &'f Record,
    pub(super) names: &'f Names,
}

/// Calls `act` with the records of a log in their order, until it breaks. They are not verified.
pub(super) fn each(
    folder: &Path,
    mut act: impl FnMut(LoggedRecord<'_>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut reader = LogReader::open(folder).map_err(refused)?;
    reader.verifier().map_err(refused)?;
    let mut names = Names::default();
    while let Some(stored) = reader.next_frame().map_err(refused)? {
        let frame = stored.frame().map_err(refused)?;
        for (number, bytes) in (frame.head.first..).zip(&frame.records) {
            let broken = || Failure::policies(format!("record {number} is none"));
            let record = &Record::read(bytes).ok_or_else(broken)?;
            names.learn(&record.body);
            if act(LoggedRecord { number, record, names: &names })?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

//! `wardgate log show`: records in words, or as JSON.

use wardgate_decision_log::record::Record;
use wardgate_server::decision_log::LogReader;

use super::records::{Names, json, words};
use super::refused;
use crate::answer::line;
use crate::arguments::ShowLog;
use crate::failure::{Failure, Result};
use crate::output::{Output, shown};

pub(super) fn run(show: &ShowLog, out: &mut Output) -> Result<()> {
    let mut reader = LogReader::open(&show.folder).map_err(refused)?;
    reader.verifier().map_err(refused)?;
    let end = show.count.map_or(u64::MAX, |count| show.from.saturating_add(count));
    let mut names = Names::default();
    while let Some(stored) = reader.next_frame().map_err(refused)? {
        let frame = stored.frame().map_err(refused)?;
        for (number, bytes) in (frame.head.first..).zip(&frame.records) {
            if number >= end {
                return Ok(());
            }
            let broken = || Failure::policies(format!("record {number} is none"));
            let record = Record::read(bytes).ok_or_else(broken)?;
            names.learn(&record.body);
            if number < show.from {
                continue;
            }
            if show.json {
                out.line(line(&json(number, &record, &names)))?;
            } else {
                out.line(format_args!("{number}  {}", shown(&words(&record, &names))))?;
            }
        }
    }
    Ok(())
}

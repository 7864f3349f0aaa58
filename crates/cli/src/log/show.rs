//! `wardgate log show`: records in words, or as JSON.

use std::ops::ControlFlow;

use wardgate_server::decision_log::{record_json, record_words};

use super::each::each;
use crate::answer::line;
use crate::arguments::ShowLog;
use crate::failure::Result;
use crate::output::{Output, shown};

pub(super) fn run(show: &ShowLog, out: &mut Output) -> Result<()> {
    let end = show.count.map_or(u64::MAX, |count| show.from.saturating_add(count));
    each(&show.folder, |found| {
        let (number, record, names) = (found.number, found.record, found.names);
        if number >= end {
            return Ok(ControlFlow::Break(()));
        }
        if number < show.from {
            return Ok(ControlFlow::Continue(()));
        }
        match show.json {
            true => out.line(line(&record_json(number, record, names)))?,
            false => out.line(format_args!("{number}  {}", shown(&record_words(record, names))))?,
        }
        Ok(ControlFlow::Continue(()))
    })
}

//! A replay as SARIF 2.1.0, in the form of a comparison.

use serde_json::Value as Json;
use wardgate_analysis::report;

use super::{Shown, table};
use crate::compare::sarif;

/// Returns the report of one run. What is no decision that changed is a warning.
pub(super) fn report(all: Shown<'_>) -> Json {
    let changed = all.report.groups.iter().map(|group| {
        let request = group.samples.first().map(|one| report::request(&one.request).to_string());
        let sides = [&group.key.old, &group.key.new];
        let request = request.unwrap_or_default();
        sarif::changed(group.key.change, &table::title(group), sides, &request)
    });
    let notes = table::notes(all).into_iter().map(|note| sarif::unknown(&note));
    sarif::framed(changed.chain(notes).collect())
}

//! A replay as one page of HTML, in the form of a comparison.

use wardgate_analysis::report;

use super::{Shown, table};
use crate::compare::{decision, html};
use crate::output::InOneLine;

/// Returns the page.
pub(super) fn page(all: Shown<'_>) -> String {
    let title = format!("The log with {}", all.new.in_one_line());
    let buckets = all.buckets().map(|(name, count)| format!("{count} {name}"));
    let summary = format!("{}: {}", table::summary(all.report), buckets.join(", "));
    let changed = all.report.groups.iter().map(|group| {
        let key = &group.key;
        let request = group.samples.first().map(|one| report::request(&one.request).to_string());
        html::changed(
            (report::word(key.change), &table::title(group)),
            [decision(&key.old, all.old), decision(&key.new, all.new)],
            &request.unwrap_or_default(),
        )
    });
    let notes = table::notes(all);
    let notes = notes.iter().filter_map(|note| note.split_once(": "));
    let notes = notes.map(|(title, text)| html::noted("unknown", title, text));
    html::framed((&title, &summary), &changed.chain(notes).collect::<String>())
}

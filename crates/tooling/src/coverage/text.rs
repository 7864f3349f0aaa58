//! Coverage as text: a line for each policy, the total, and the gaps.

use std::fmt::Write;

use super::{Coverage, Share, Summary};
use wardgate_compiler::diagnostics::visible;

/// Returns the report; each line ends with a line feed.
#[must_use]
pub fn report(coverage: &Coverage) -> String {
    let mut rows = vec![["coverage", "rules", "conditions", "derived roles"].map(str::to_owned)];
    for policy in &coverage.policies {
        rows.push(row(visible(&policy.key).into_owned(), policy.summary()));
    }
    rows.push(row("all policies".to_owned(), coverage.summary()));
    let mut text = table(&rows);
    let total = coverage.summary().total();
    let _ = writeln!(text, "{} of {} exercised, {}", total.covered, total.all, total.text());
    let gaps = coverage.gaps();
    if !gaps.is_empty() {
        text.push_str("\nnot exercised\n");
    }
    for gap in gaps {
        let line = format!("{}:{}: {}: {}", gap.file, gap.position.line, gap.what, gap.missing);
        let _ = writeln!(text, "{}", visible(&line));
    }
    text
}

fn row(name: String, summary: Summary) -> [String; 4] {
    [name, cell(summary.rules), cell(summary.outcomes), cell(summary.grants)]
}

fn cell(share: Share) -> String {
    if share.all == 0 {
        return "-".to_owned();
    }
    format!("{} of {}", share.covered, share.all)
}

fn table(rows: &[[String; 4]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for [name, rules, outcomes, grants] in rows {
        let _ = writeln!(text, "{name:a$}  {rules:>b$}  {outcomes:>c$}  {grants:>d$}");
    }
    text
}

//! An explanation in at most three lines, for a test that failed.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::observe::{Read, Sight, Truth};
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use super::gather::Meetings;
use super::need::{Expression, Need};
use super::steps::one_line;
use super::values::sight;
use super::verdict::{Answer, Verdict};
use super::words::{answer_words, titled, truth_words};

/// Returns the reason of the decision on the only action of `request`, and the unmet condition.
pub(crate) fn lines(table: &PolicyTable, request: &Request, now: Timestamp) -> Vec<String> {
    let (decision, _) = table.check_timed(request, now);
    let Some(action) = decision.actions.first() else { return Vec::new() };
    let meetings = Meetings::of(table, request, now);
    let verdict = super::verdict(table, request, action, &meetings, None);
    let mut lines = vec![answer_words(action, &verdict)];
    lines.extend(verdict.hint.clone());
    lines.extend(obstacle(&verdict));
    lines
}

/// Returns the condition that failed, or the first one that does not hold.
fn obstacle(verdict: &Verdict) -> Vec<String> {
    match &verdict.answer {
        Answer::Failed => {
            let rule = verdict.rule.iter().flat_map(|rule| &rule.expressions);
            let failed = rule.filter(|leaf| leaf.truth == Truth::Error);
            failed.take(1).flat_map(|leaf| expression(leaf, "")).collect()
        }
        Answer::Narrowed | Answer::NotPermitted => {
            let Some((rule, needs)) = verdict.could.first() else { return Vec::new() };
            let would = match verdict.answer {
                Answer::NotPermitted => format!("{} would allow it, if ", titled(rule)),
                _ => String::new(),
            };
            needs.first().map(|need| first(need, &would)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns the first expression that a need consists of.
fn first(need: &Need, before: &str) -> Vec<String> {
    match need {
        Need::Expression(leaf) if leaf.wanted => expression(leaf, before),
        Need::Expression(leaf) => expression(leaf, &format!("{before}not: ")),
        Need::DerivedRole(_, needs) | Need::AnyOf(needs) | Need::AllOf(needs) => {
            needs.first().map(|need| first(need, before)).unwrap_or_default()
        }
        Need::Role(roles) => {
            vec![format!("{before}the principal had the role {}", roles.join(" or "))]
        }
        Need::Consent(_) | Need::Never => Vec::new(),
    }
}

fn expression(leaf: &Expression, before: &str) -> Vec<String> {
    let line = format!("{before}{}  ->  {}", one_line(&leaf.text), truth_words(leaf));
    let lacks = |read: &&Read| matches!(read.sight, Sight::Missing | Sight::Failed(_));
    let lacking: Vec<String> = leaf.reads.iter().filter(lacks).map(sight).collect();
    let lacking = (!lacking.is_empty()).then(|| lacking.join(", "));
    std::iter::once(line).chain(lacking).collect()
}

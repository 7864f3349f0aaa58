//! `wardgate similar`: finds the rules that are most like a rule or a draft.

use std::fs;
use std::path::Path;

use wardgate_analysis::index::Index;
use wardgate_analysis::policies::{DraftError, IndexedPolicies};
use wardgate_analysis::report;
use wardgate_analysis::similar::{Match, PolicyMatch, Query, Relation};
use wardgate_compiler::reading;

use crate::arguments::Similar;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, Tone, counted, shown};
use crate::rules::{few, file_name, name, read, shown_place};

pub(crate) fn run(similar: &Similar, out: &mut Output) -> Result<Status> {
    let (repository, resolved) = read(&similar.directory, &similar.options)?;
    let policies = IndexedPolicies::new(repository, &resolved);
    let (index, to) = (policies.index(), Path::new(&similar.to));
    let queries = if is_file(to) { of_draft(&policies, to)? } else { of_rules(similar, index)? };
    let top = usize::from(similar.top);
    // A rule alone is no policy.
    let is_of_policy = is_file(to) || !similar.to.contains('#');
    let alike = if is_of_policy { index.similar_policies(&queries, top) } else { Vec::new() };
    let found: Vec<(&Query, Vec<Match<'_>>)> =
        queries.iter().map(|query| (query, index.similar(query, top))).collect();
    if similar.json {
        let file = &file_name(&similar.directory);
        out.line(report::similar(index, &alike, &found, file))?;
    } else {
        let shown = Shown { index, similar };
        shown.print_policies(queries.first(), &alike, out)?;
        for (query, matches) in found {
            shown.print(query, &matches, out)?;
        }
    }
    Ok(Status::Done)
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file())
}

fn of_rules(similar: &Similar, index: &Index) -> Result<Vec<Query>> {
    let rules = index.named(&similar.to);
    if rules.is_empty() {
        let (directory, to) =
            (similar.directory.in_one_line(), Path::new(&similar.to).in_one_line());
        let message =
            format!("`{directory}` has no policy or rule `{to}`, and there is no such file");
        return Err(Failure::policies(message));
    }
    Ok(rules.into_iter().filter_map(|rule| index.query(rule)).collect())
}

fn of_draft(policies: &IndexedPolicies, draft: &Path) -> Result<Vec<Query>> {
    let bytes = reading::file(draft).map_err(|error| Failure::reading(draft, &error))?;
    let file = draft.file_name().unwrap_or_default().to_string_lossy();
    policies.draft(&file, &bytes).map_err(|error| match error {
        DraftError::NoPolicy => {
            Failure::policies(format!("`{}` holds no policy", draft.in_one_line()))
        }
        DraftError::Diagnostics(mut errors) => {
            for error in &mut errors {
                error.file = draft.display().to_string();
            }
            Failure::Diagnostics(errors)
        }
    })
}

struct Shown<'s> {
    index: &'s Index,
    similar: &'s Similar,
}

impl Shown<'_> {
    fn print_policies(
        &self,
        query: Option<&Query>,
        alike: &[PolicyMatch<'_>],
        out: &mut Output,
    ) -> Result<()> {
        let Some(query) = query.filter(|_| !alike.is_empty()) else { return Ok(()) };
        let policy = shown(&query.place().policy);
        out.line(out.paint(Tone::Title, &format!("policies like {policy}")).into_owned())?;
        for PolicyMatch { place, rules, equal, score } in alike {
            let file = self.similar.directory.join(&place.location.file.path);
            let name = format!("{} ({})", place.policy, file.display());
            let (name, rules) = (shown(&name), counted(*rules, "rule", "rules"));
            out.line(format_args!("  {:>3} %  {name}: {equal} of {rules} equal", score / 10_000))?;
        }
        out.line("")
    }

    fn print(&self, query: &Query, matches: &[Match<'_>], out: &mut Output) -> Result<()> {
        out.line(out.paint(Tone::Title, &name(query.place())).into_owned())?;
        if matches.is_empty() {
            out.line("  nothing is similar")?;
        }
        for found in matches {
            let Some(place) = self.index.place(found.rule) else { continue };
            let more = match found.rules {
                0 | 1 => String::new(),
                rules => format!(", and {}", counted(rules - 1, "equal rule", "equal rules")),
            };
            let place = shown_place(&self.similar.directory, place);
            out.line(format_args!("  {:>3} %  {place}{more}", found.score / 10_000))?;
            let parts = found.parts();
            let same: Vec<&str> = parts.same.iter().map(|part| part.name()).collect();
            out.line(format_args!("         same: {}", same.join(", ")))?;
            if found.relation() != Relation::Unknown {
                out.line(format_args!("         relation: {}", found.relation().name()))?;
            }
            for differs in &parts.differs {
                let (ours, theirs) =
                    (few(differs.query.iter().copied()), few(differs.other.iter().copied()));
                out.line(format_args!("         {}: {ours} -> {theirs}", differs.part.name()))?;
            }
        }
        out.line("")
    }
}

//! `wardgate similar`: finds the rules that are most like a rule or a draft.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_analysis::index::Index;
use wardgate_analysis::similar::{Match, Query};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::reading;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::resolve::resolve;

use crate::arguments::Similar;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, Tone, counted};
use crate::rules::{few, name, place_json, read, shown_place};

pub(crate) fn run(similar: &Similar, out: &mut Output) -> Result<Status> {
    let (repository, resolved) = read(&similar.directory, &similar.options)?;
    let draft = Path::new(&similar.to);
    let (index, queries) = match is_file(draft) {
        true => of_draft(repository, draft)?,
        false => of_rules(similar, &resolved)?,
    };
    let found = queries.iter().map(|query| (query, index.similar(query, similar.top.into())));
    let shown = Shown { index: &index, similar };
    if similar.json {
        let all: Vec<Json> = found.map(|(query, matches)| shown.json(query, &matches)).collect();
        out.line(Json::from(all))?;
    } else {
        for (query, matches) in found {
            shown.print(query, &matches, out)?;
        }
    }
    Ok(Status::Done)
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file())
}

fn of_rules(similar: &Similar, resolved: &Resolved) -> Result<(Index, Vec<Query>)> {
    let index = Index::new(resolved);
    let (policy, rule) = match similar.to.split_once('#') {
        Some((policy, rule)) => (policy, Some(rule)),
        None => (similar.to.as_str(), None),
    };
    let rules = index.find(policy, rule);
    if rules.is_empty() {
        let (directory, to) =
            (similar.directory.in_one_line(), Path::new(&similar.to).in_one_line());
        let message =
            format!("`{directory}` has no policy or rule `{to}`, and there is no such file");
        return Err(Failure::policies(message));
    }
    let queries = rules.into_iter().filter_map(|rule| index.query(rule)).collect();
    Ok((index, queries))
}

/// Returns the index without the policies of a draft, and the questions about its rules. What the
/// draft imports comes from the directory.
fn of_draft(mut repository: Repository, draft: &Path) -> Result<(Index, Vec<Query>)> {
    let bytes = reading::file(draft).map_err(|error| Failure::reading(draft, &error))?;
    let file = draft.file_name().unwrap_or_default().to_string_lossy();
    let read = Repository::from_files([(&*file, bytes.as_slice())]);
    // The policies above a draft in a scope are those of the directory.
    let errors = read.errors.iter().filter(|one| one.code != Code::MissingAncestor).cloned();
    refuse(draft, errors.collect())?;
    if read.policies.is_empty() {
        return Err(Failure::policies(format!("`{}` holds no policy", draft.in_one_line())));
    }
    let keys: Vec<String> = read.policies.iter().map(|policy| policy.key()).collect();
    repository.policies.retain(|policy| !keys.contains(&policy.key()));
    let index = Index::new(&resolve(&repository).0);
    repository.policies.extend(read.policies);
    let (mut resolved, errors) = resolve(&repository);
    refuse(draft, errors.into_iter().filter(|one| one.file == file).collect())?;
    resolved.resource.retain(|policy| keys.contains(&policy.head.key));
    resolved.principal.retain(|policy| keys.contains(&policy.head.key));
    resolved.role.retain(|policy| keys.contains(&policy.head.key));
    let queries = index.queries(&resolved);
    Ok((index, queries))
}

fn refuse(draft: &Path, mut errors: Vec<Diagnostic>) -> Result<()> {
    for error in &mut errors {
        error.file = draft.display().to_string();
    }
    if errors.is_empty() { Ok(()) } else { Err(Failure::Diagnostics(errors)) }
}

struct Shown<'s> {
    index: &'s Index,
    similar: &'s Similar,
}

impl Shown<'_> {
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
            let same: Vec<&str> = found.same.iter().map(|part| part.name()).collect();
            out.line(format_args!("         same: {}", same.join(", ")))?;
            for differs in &found.differs {
                let (ours, theirs) =
                    (few(differs.query.iter().copied()), few(differs.other.iter().copied()));
                out.line(format_args!("         {}: {ours} -> {theirs}", differs.part.name()))?;
            }
        }
        out.line("")
    }

    fn json(&self, query: &Query, matches: &[Match<'_>]) -> Json {
        let directory = &self.similar.directory;
        let matches = matches.iter().filter_map(|found| {
            let mut one = place_json(directory, self.index.place(found.rule)?);
            let differs = found.differs.iter().map(|differs| {
                json!({
                    "part": differs.part.name(),
                    "query": differs.query,
                    "other": differs.other,
                })
            });
            let same = found.same.iter().map(|part| part.name());
            let members: [(&str, Json); 4] = [
                ("rules", json!(found.rules)),
                ("score", json!(f64::from(found.score) / 1e6)),
                ("same", same.collect()),
                ("differs", differs.collect()),
            ];
            one.extend(members.map(|(name, value)| (name.to_owned(), value)));
            Some(one)
        });
        json!({
            "policy": &*query.place().policy,
            "rule": &*query.place().rule,
            "matches": matches.collect::<Vec<_>>(),
        })
    }
}

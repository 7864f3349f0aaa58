//! `wardgate lint`: finds probable mistakes in a directory of policies.
//!
//! Findings are the answer, so they go to standard output; errors of policies are reported as
//! `wardgate compile` does.

mod sarif;

use std::collections::{BTreeMap, BTreeSet};

use wardgate_compiler::diagnostics::{Code, Diagnostic, Severity};
use wardgate_tooling::lint_dir;

use crate::arguments::{Denied, Known, Lint};
use crate::failure::{Result, Status};
use crate::output::{Output, Tone, counted, shown};
use crate::overwriting::Paths;
use crate::{compile, globals, pages, policies, replace};

pub(crate) fn run(lint: &Lint, out: &mut Output) -> Result<Status> {
    policies::must_be_directory(&lint.directory)?;
    paths(lint).check()?;
    let options = policies::table_options(&lint.options)?;
    let found = lint_dir(&lint.directory, &options);
    if found.iter().any(|one| one.severity == Severity::Error) {
        return Err(policies::below(&lint.directory, found));
    }
    let found = judged(lint, found);
    if let Some(path) = &lint.sarif {
        replace::file(path, sarif::report(&found).to_string().as_bytes())?;
    }
    let is_denied = found.iter().any(|one| one.severity == Severity::Error);
    let found = policies::located(&lint.directory, found);
    match lint.json {
        true => out.line(compile::diagnostics_json(&found))?,
        false => print(&found, out)?,
    }
    Ok(if is_denied { Status::BadPolicies } else { Status::Done })
}

/// Returns the files that are written and read.
fn paths(lint: &Lint) -> Paths<'_> {
    Paths {
        outputs: lint.sarif.iter().map(|path| ("--sarif", path.as_path())).collect(),
        inputs: lint.options.globals.as_deref().and_then(globals::path).into_iter().collect(),
        directories: vec![&lint.directory],
    }
}

/// Removes findings that are allowed, and makes errors of those that are denied.
fn judged(lint: &Lint, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is = |one: &Diagnostic, known: &Known| one.code == Code::Lint(known.0);
    let is_allowed = |one: &Diagnostic| lint.allow.iter().any(|known| is(one, known));
    let is_denied = |one: &Diagnostic| {
        lint.deny.iter().any(|denied| match denied {
            Denied::Warnings => true,
            Denied::Only(known) => is(one, known),
        })
    };
    let mut found: Vec<Diagnostic> = found.into_iter().filter(|one| !is_allowed(one)).collect();
    for one in &mut found {
        if is_denied(one) {
            one.severity = Severity::Error;
        }
    }
    found
}

fn print(found: &[Diagnostic], out: &mut Output) -> Result<()> {
    for one in found {
        let text = pages::explained(one);
        for line in text.lines() {
            out.line(shown(line))?;
        }
        out.line("")?;
    }
    let files: BTreeSet<&str> = found.iter().map(|one| one.file.as_str()).collect();
    if found.is_empty() {
        return out.line("no findings");
    }
    let findings = counted(found.len(), "finding", "findings");
    let files = counted(files.len(), "file", "files");
    out.line(out.paint(Tone::Title, &format!("{findings} in {files}")).into_owned())?;
    let mut by_code: BTreeMap<&str, usize> = BTreeMap::new();
    for one in found {
        *by_code.entry(one.code.name()).or_default() += 1;
    }
    by_code.iter().try_for_each(|(code, count)| out.line(format_args!("{count:>6}  {code}")))
}

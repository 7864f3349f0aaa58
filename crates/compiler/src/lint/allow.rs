//! Comments that silence findings: `# wardgate: allow CODE, CODE -- why`.
//!
//! One beside a line is about that line, one on a line of its own about the next line that is no comment,
//! and one at the head of a file about all of it. One that silences nothing is a finding itself, because
//! it would hide the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Lint;
use super::comments::{Comment, comments};
use crate::diagnostics::{Code, Diagnostic};
use crate::repository::Repository;
use crate::source::{Place, Position, SourceFile};

/// One code of one comment.
struct Allow {
    lint: Lint,
    /// The line that it is about; the whole file if absent.
    line: Option<u32>,
    place: Place,
    is_used: bool,
}

/// Takes away what comments allow, and adds what is wrong with the comments.
pub(super) fn without_allowed(repository: &Repository, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut allows: BTreeMap<&str, Vec<Allow>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files(repository) {
        let (here, mut odd) = read(file);
        allows.insert(&file.path, here);
        wrong.append(&mut odd);
    }
    let mut left: Vec<Diagnostic> =
        found.into_iter().chain(wrong).filter(|one| !is_allowed(&mut allows, one)).collect();
    // What allows the findings about comments is looked at last.
    let about_unused = |allow: &Allow| allow.lint == Lint::UnusedAllow;
    let of_others = unused(&allows, |allow| !about_unused(allow));
    left.extend(of_others.into_iter().filter(|one| !is_allowed(&mut allows, one)));
    left.extend(unused(&allows, about_unused));
    left
}

/// Returns the files that hold policies, each once.
fn files(repository: &Repository) -> Vec<&Arc<SourceFile>> {
    let used = repository.policies.iter().map(|policy| &policy.place.file);
    let all = used.chain(repository.disabled.iter().map(|policy| &policy.place.file));
    let by_path: BTreeMap<&str, &Arc<SourceFile>> =
        all.map(|file| (file.path.as_str(), file)).collect();
    by_path.into_values().filter(|file| file.text.contains(DIRECTIVE)).collect()
}

fn is_allowed(allows: &mut BTreeMap<&str, Vec<Allow>>, found: &Diagnostic) -> bool {
    let lines = [found.position, found.field].map(|at| at.map(|at| at.line));
    let mut is_allowed = false;
    for allow in allows.get_mut(found.file.as_str()).into_iter().flatten() {
        let is_about = allow.line.is_none_or(|line| lines.contains(&Some(line)));
        if is_about && found.code == Code::Lint(allow.lint) {
            allow.is_used = true;
            is_allowed = true;
        }
    }
    is_allowed
}

fn unused(allows: &BTreeMap<&str, Vec<Allow>>, of: impl Fn(&Allow) -> bool) -> Vec<Diagnostic> {
    let unused = allows.values().flatten().filter(|allow| !allow.is_used && of(allow));
    let diagnostic = |allow: &Allow| {
        let message = format!("`{}` is allowed here, and there is none", allow.lint.name());
        Diagnostic::lint(Lint::UnusedAllow, &allow.place, message)
    };
    unused.map(diagnostic).collect()
}

fn read(file: &Arc<SourceFile>) -> (Vec<Allow>, Vec<Diagnostic>) {
    let comments = comments(file);
    let (mut allows, mut wrong) = (Vec::new(), Vec::new());
    for comment in &comments {
        let Some(directive) = comment.text.trim_start().strip_prefix(DIRECTIVE) else { continue };
        let line = if comment.is_first { None } else { Some(line_of(comment, &comments)) };
        let place = place(file, comment);
        match codes(directive) {
            None => wrong.push(unknown(&place, directive.trim())),
            Some(names) => {
                for name in names {
                    match Lint::from_name(name) {
                        Some(lint) => {
                            allows.push(Allow { lint, line, place: place.clone(), is_used: false });
                        }
                        None => wrong.push(unknown(&place, name)),
                    }
                }
            }
        }
    }
    (allows, wrong)
}

/// Returns the codes that a directive names.
fn codes(directive: &str) -> Option<Vec<&str>> {
    let (codes, _reason) = directive.split_once(" -- ").unwrap_or((directive, ""));
    let codes = codes.trim_start().strip_prefix("allow")?;
    let codes = codes.strip_prefix([' ', '\t'])?;
    let codes: Vec<&str> = codes.split(',').map(str::trim).collect();
    codes.iter().all(|code| !code.is_empty()).then_some(codes)
}

/// Returns the line that a comment is about.
fn line_of(comment: &Comment<'_>, comments: &[Comment<'_>]) -> u32 {
    if !comment.is_alone {
        return comment.line;
    }
    let mut line = comment.line.saturating_add(1);
    for other in comments.iter().filter(|other| other.is_alone) {
        if other.line == line {
            line = line.saturating_add(1);
        }
    }
    line
}

fn unknown(place: &Place, found: &str) -> Diagnostic {
    let error =
        Diagnostic::lint(Lint::UnknownAllow, place, "the comment allows nothing that is known");
    error.found(format!("`{found}`")).expected("`# wardgate: allow CODE`")
}

fn place(file: &Arc<SourceFile>, comment: &Comment<'_>) -> Place {
    let position = Position { line: comment.line, column: comment.column };
    Place { file: Arc::clone(file), position, path: Arc::from("") }
}

const DIRECTIVE: &str = "wardgate:";

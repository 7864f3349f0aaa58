//! Comments that silence findings: `# wardgate: allow CODE, CODE -- why`.
//!
//! One beside a line is about that line, one on a line of its own about the next line that is no
//! comment, and one at the head of a file about all of it. One that silences nothing is a finding
//! itself, because it would hide the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Lint;
use super::comments::{Comment, comments};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::nearest::nearest;
use wardgate_compiler::repository::Repository;
use wardgate_compiler::source::{Location, Position, SourceFile};

/// The allowed findings of a file: by the line that they are about, the whole file if absent, and
/// the code.
type Allows = BTreeMap<(Option<u32>, Lint), Allow>;

/// One code, allowed in one place.
#[derive(Default)]
struct Allow {
    /// The locations of the comments.
    locations: Vec<Location>,
    is_used: bool,
}

/// Removes the findings that comments allow, and adds those about the comments.
pub(super) fn without_allowed(repository: &Repository, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut allows: BTreeMap<&str, Allows> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files(repository) {
        let (here, mut unknown) = read(file);
        allows.insert(&file.path, here);
        wrong.append(&mut unknown);
    }
    let mut left: Vec<Diagnostic> =
        found.into_iter().chain(wrong).filter(|one| !is_allowed(&mut allows, one)).collect();
    // The comments that allow findings about comments are checked last.
    let about_unused = |lint: Lint| lint == Lint::UnusedAllow;
    let of_others = unused(&allows, |lint| !about_unused(lint));
    left.extend(of_others.into_iter().filter(|one| !is_allowed(&mut allows, one)));
    left.extend(unused(&allows, about_unused));
    left
}

/// Returns the files that hold policies, each once.
fn files(repository: &Repository) -> Vec<&Arc<SourceFile>> {
    let used = repository.policies.iter().map(|policy| &policy.location.file);
    let all = used.chain(repository.disabled.iter().map(|policy| &policy.location.file));
    let by_path: BTreeMap<&str, &Arc<SourceFile>> =
        wardgate_engine::order::in_order(all.map(|file| (file.path.as_str(), file)));
    by_path.into_values().filter(|file| file.text.contains(DIRECTIVE)).collect()
}

fn is_allowed(allows: &mut BTreeMap<&str, Allows>, found: &Diagnostic) -> bool {
    let (Some(allows), Code::Lint(lint)) = (allows.get_mut(found.file.as_str()), found.code) else {
        return false;
    };
    let lines = [found.position, found.field].map(|at| at.map(|at| at.line));
    let mut is_allowed = false;
    for line in [None].into_iter().chain(lines) {
        if let Some(allow) = allows.get_mut(&(line, lint)) {
            allow.is_used = true;
            is_allowed = true;
        }
    }
    is_allowed
}

fn unused(allows: &BTreeMap<&str, Allows>, of: impl Fn(Lint) -> bool) -> Vec<Diagnostic> {
    let unused = allows.values().flatten().filter(|((_, lint), allow)| !allow.is_used && of(*lint));
    let diagnostics = unused.flat_map(|((_, lint), allow)| {
        let message = format!("the comment allows `{}`, and there is no such finding", lint.name());
        let locations = allow.locations.iter();
        locations
            .map(move |location| Diagnostic::lint(Lint::UnusedAllow, location, message.clone()))
    });
    diagnostics.collect()
}

fn read(file: &Arc<SourceFile>) -> (Allows, Vec<Diagnostic>) {
    let comments = comments(file);
    let (mut allows, mut wrong) = (Allows::new(), Vec::new());
    for (comment, line) in comments.iter().zip(lines(&comments)) {
        let Some(directive) = comment.text.trim_start().strip_prefix(DIRECTIVE) else { continue };
        let line = if comment.is_first { None } else { Some(line) };
        let location = location(file, comment);
        let Some(names) = codes(directive) else {
            wrong.push(no_directive(&location, directive.trim()));
            continue;
        };
        for name in names {
            match Lint::from_name(name) {
                Some(lint) => {
                    allows.entry((line, lint)).or_default().locations.push(location.clone())
                }
                None => wrong.push(no_code(&location, name)),
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

/// Returns the line that each comment is about.
fn lines(comments: &[Comment<'_>]) -> Vec<u32> {
    let mut lines = Vec::with_capacity(comments.len());
    // The comment below on a line of its own, and the line that it is about.
    let mut below = None;
    for comment in comments.iter().rev() {
        let next = comment.line.saturating_add(1);
        let line = match below {
            _ if !comment.is_alone => comment.line,
            Some((line, about)) if line == next => about,
            _ => next,
        };
        if comment.is_alone {
            below = Some((comment.line, line));
        }
        lines.push(line);
    }
    lines.reverse();
    lines
}

fn no_code(location: &Location, found: &str) -> Diagnostic {
    let near = nearest(found, Lint::ALL.iter().map(|lint| lint.name()));
    let expected =
        near.map_or_else(|| "a code of docs/lints.md".to_owned(), |name| format!("`{name}`"));
    let message = format!("no finding has the code `{found}`");
    Diagnostic::lint(Lint::UnknownAllow, location, message).expected(expected)
}

fn no_directive(location: &Location, found: &str) -> Diagnostic {
    let error = Diagnostic::lint(Lint::UnknownAllow, location, "the comment names no code");
    error.found(format!("`{found}`")).expected("`# wardgate: allow CODE`")
}

fn location(file: &Arc<SourceFile>, comment: &Comment<'_>) -> Location {
    let position = Position { line: comment.line, column: comment.column };
    Location { file: Arc::clone(file), position, path: Arc::from("") }
}

const DIRECTIVE: &str = "wardgate:";

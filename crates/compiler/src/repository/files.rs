//! The files of a directory that hold policies, or rules of SPOCP.
//!
//! The rules are those of Cerbos: `.yaml`, `.yml` and `.json` in any case; hidden entries and
//! directories named `testdata` are passed over, and so are test suites (`*_test.yaml`) and the
//! directory `_schemas` at the root. A directory `_schemas` anywhere else is a mistake. Files of
//! rules end in `.spoc`, and lie where policies lie.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::ignore::Ignore;
use super::rules::is_rules_name;
use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{MAX_DIRECTORY_DEPTH, MAX_ENTRIES};
use crate::reading::unreadable;
use crate::walk::{too_many, walk};

/// Reads the policy files below `root`, sorted by path.
pub(super) fn directory(
    root: &Path,
    ignored: &mut usize,
    errors: &mut Vec<Diagnostic>,
) -> Vec<(String, Vec<u8>)> {
    let ignore = Ignore::below(root, errors);
    let mut found = Vec::new();
    let unread = walk(root, &mut |entry| {
        let Some(name) = entry.name.to_str() else {
            return match is_policy_name(&entry.name.to_string_lossy()) {
                true => Err(io::Error::other("the name of a file is not UTF-8")),
                false => Ok(false),
            };
        };
        let is_directory = entry.kind.is_dir();
        match (is_directory, enters(entry.is_at_root(), name)) {
            (false, _) if !is_policy_name(name) => {}
            (true, Enter::No) => {}
            _ if ignore.leaves_out(&entry.path(), is_directory) => {
                *ignored = ignored.saturating_add(1);
            }
            (false, _) => found.push(entry.file()),
            (true, Enter::Yes) => return Ok(true),
            (true, Enter::Misplaced) => errors.push(misplaced_schemas(&entry.path())),
        }
        Ok(false)
    });
    errors.extend(unread.iter().map(|one| unreadable(&one.path, &one.error)));
    wardgate_engine::order::sort_by(&mut found, |a, b| in_walk_order(&a.path, &b.path));
    let mut files = Vec::with_capacity(found.len());
    for one in found {
        match one.read(root) {
            Ok(bytes) => files.push((one.path, bytes)),
            Err(error) => errors.push(unreadable(&one.path, &error)),
        }
    }
    files
}

/// Picks the policy files among `files` and sorts them by path.
pub(super) fn select<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ignored: &mut usize,
    errors: &mut Vec<Diagnostic>,
) -> Vec<(&'f str, &'f [u8])> {
    let (mut misplaced, mut too_deep) = (BTreeSet::new(), BTreeSet::new());
    let mut chosen: Vec<_> = files.into_iter().take(MAX_ENTRIES.saturating_add(1)).collect();
    if chosen.len() > MAX_ENTRIES {
        errors.push(unreadable(".", &too_many()));
        return Vec::new();
    }
    let ignore = Ignore::among(chosen.iter().copied(), errors);
    chosen.retain(|(path, _)| match role(path) {
        Role::Policy | Role::Misplaced(_) if ignore.leaves_out_file(path) => {
            *ignored = ignored.saturating_add(1);
            false
        }
        Role::Policy if path.matches('/').count() > MAX_DIRECTORY_DEPTH => {
            too_deep.extend(path.rsplit_once('/').map(|(directory, _)| directory));
            false
        }
        Role::Policy => true,
        Role::Other => false,
        Role::Misplaced(directory) => {
            misplaced.insert(directory);
            false
        }
    });
    errors.extend(misplaced.iter().map(|directory| misplaced_schemas(directory)));
    errors.extend(too_deep.iter().map(|directory| unreadable(directory, &too_many())));
    wardgate_engine::order::sort_by(&mut chosen, |(a, _), (b, _)| in_walk_order(a, b));
    chosen
}

/// Returns true if the file at a path is one of policies or rules.
pub fn is_policy_file(path: &str) -> bool {
    matches!(role(path), Role::Policy)
}

enum Role<'p> {
    Policy,
    Other,
    Misplaced(&'p str),
}

fn role(path: &str) -> Role<'_> {
    let mut start = 0;
    for (end, _) in path.match_indices('/') {
        let name = path.get(start..end).unwrap_or_default();
        match enters(start == 0, name) {
            Enter::Yes => start = end.saturating_add(1),
            Enter::No => return Role::Other,
            Enter::Misplaced => return Role::Misplaced(path.get(..end).unwrap_or(path)),
        }
    }
    match is_policy_name(path.get(start..).unwrap_or_default()) {
        true => Role::Policy,
        false => Role::Other,
    }
}

enum Enter {
    Yes,
    No,
    Misplaced,
}

fn enters(at_root: bool, directory: &str) -> Enter {
    match directory {
        SCHEMAS if at_root => Enter::No,
        SCHEMAS => Enter::Misplaced,
        TEST_DATA => Enter::No,
        name if is_hidden(name) => Enter::No,
        _ => Enter::Yes,
    }
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !matches!(name, "." | "..")
}

fn is_policy_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let stem = EXTENSIONS.iter().find_map(|extension| lower.strip_suffix(extension));
    let is_policy = stem.is_some_and(|stem| !stem.ends_with("_test"));
    !is_hidden(name) && (is_policy || is_rules_name(name))
}

/// Compares paths name by name, so that the entries of a directory are adjacent.
fn in_walk_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.split('/').cmp(b.split('/'))
}

fn misplaced_schemas(directory: &str) -> Diagnostic {
    let message = format!("a directory `{SCHEMAS}` must be at the root");
    Diagnostic::in_file(Code::Unreadable, directory, message)
}

/// The directory of the schemas, at the root of the policies.
pub const SCHEMAS: &str = "_schemas";
const TEST_DATA: &str = "testdata";
const EXTENSIONS: [&str; 3] = [".yaml", ".yml", ".json"];

//! Runs again at every change of a file.
//!
//! Files are polled, because that works on every system and file system. Changes show in sizes and
//! times; a file that is written twice in one tick of its clock is seen at the next change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use wardgate_compiler::walk::walk;

use super::folder;
use crate::arguments::Test;
use crate::failure::{Failure, Result, Status};
use crate::output::{InOneLine, Output, complain};

/// Sizes and times of files, by their paths.
pub(super) type Snapshot = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Runs `once` now and after every change, until the command is stopped or its output is closed.
pub(super) fn run(
    test: &Test,
    out: &mut Output,
    once: &dyn Fn(&mut Output) -> Result<Status>,
) -> Result<Status> {
    let mut before = look(test);
    loop {
        if let Err(failure) = once(out).and_then(|_| out.flush()) {
            // The user is about to mend it.
            if matches!(failure, Failure::Message(..)) {
                out.flush()?;
            }
            failure.complain()?;
        }
        complain("waiting for changes; Ctrl-C ends");
        let mut after = look(test);
        while changed(&before, &after).is_empty() {
            sleep(PAUSE);
            after = look(test);
        }
        // A program that writes several files gets the time to finish.
        sleep(PAUSE);
        let after = look(test);
        for path in changed(&before, &after) {
            complain(format_args!("changed: {}", path.in_one_line()));
        }
        before = after;
    }
}

fn look(test: &Test) -> Snapshot {
    let mut snapshot = Snapshot::new();
    for root in [test.directory.as_path(), folder(test)] {
        add(root, &mut snapshot);
    }
    snapshot
}

/// Adds the files below a directory that may hold policies, schemas or tests. An unreadable
/// directory is skipped: the run reports it.
fn add(root: &Path, snapshot: &mut Snapshot) {
    let _ = walk(root, &mut |entry| {
        if is_ours(&entry.location)
            && let Ok(about) = fs::metadata(&entry.location)
            && about.is_file()
        {
            snapshot.insert(entry.location.clone(), (about.len(), about.modified().ok()));
        }
        Ok(true)
    });
}

fn is_ours(path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name == IGNORE) {
        return true;
    }
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known))
}

/// Returns the files that are new, gone or different.
pub(super) fn changed<'s>(before: &'s Snapshot, after: &'s Snapshot) -> Vec<&'s Path> {
    let new = after.iter().filter(|(path, about)| before.get(*path) != Some(about));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let mut paths: Vec<&Path> =
        new.map(|(path, _)| path.as_path()).chain(gone.map(PathBuf::as_path)).collect();
    paths.sort_unstable();
    paths
}

/// The file that lists ignored files.
const IGNORE: &str = ".wardgateignore";

const PAUSE: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(files: &[(&str, u64, u64)]) -> Snapshot {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        files.iter().map(|(path, size, time)| (PathBuf::from(path), (*size, at(*time)))).collect()
    }

    fn check(before: &[(&str, u64, u64)], after: &[(&str, u64, u64)], expected: &[&str]) {
        let (before, after) = (snapshot(before), snapshot(after));
        let found = changed(&before, &after);
        assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
    }

    #[test]
    fn files_that_are_new_gone_or_different_have_changed() {
        check(&[], &[], &[]);
        check(&[("a", 1, 1)], &[("a", 1, 1)], &[]);
        check(&[("a", 1, 1)], &[("a", 1, 2)], &["a"]);
        check(&[("a", 1, 1)], &[("a", 2, 1)], &["a"]);
        check(&[("b", 1, 1)], &[("a", 1, 1)], &["a", "b"]);
    }

    #[test]
    fn only_files_that_can_matter_are_looked_at() {
        assert!(is_ours(Path::new("x/a.YAML")) && is_ours(Path::new("a_test.json")));
        assert!(is_ours(Path::new("x/.wardgateignore")));
        assert!(!is_ours(Path::new("yaml")) && !is_ours(Path::new("a.yaml.swp")));
    }
}

//! The difference between two texts, in the unified form that `patch` reads.
//!
//! `similar` finds the lines that differ (Myers' algorithm). The header of a hunk always has both counts.

use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Returns the difference as text, which is empty if there is none.
pub(crate) fn unified(name: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let deadline = Some(Instant::now() + PATIENCE);
    let edits = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let mut out = String::new();
    for hunk in group_diff_ops(edits, CONTEXT) {
        if out.is_empty() {
            let _ = write!(out, "--- a/{name}\n+++ b/{name}\n");
        }
        print(&hunk, (&old, &new), &mut out);
    }
    out
}

fn print(hunk: &[DiffOp], (old, new): (&[&str], &[&str]), out: &mut String) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    // A side without lines is named by the line before it.
    let range = |from: usize, to: usize| if from == to { (from, 0) } else { (from + 1, to - from) };
    let (from, removed) = range(first.old_range().start, last.old_range().end);
    let (to, added) = range(first.new_range().start, last.new_range().end);
    let _ = writeln!(out, "@@ -{from},{removed} +{to},{added} @@");
    for change in hunk.iter().flat_map(|edit| edit.iter_changes(old, new)) {
        let line = change.value();
        out.push(match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        });
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// The time after which the difference need not be the shortest any more.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let expected = match expected {
            "" => String::new(),
            hunks => format!("--- a/x\n+++ b/x\n{hunks}"),
        };
        assert_eq!(unified("x", old, new), expected);
    }

    #[test]
    fn a_change_stands_among_the_lines_around_it() {
        check("a\nb\n", "a\nb\n", "");
        check("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        check("a\n", "", "@@ -1,1 +0,0 @@\n-a\n");
        check("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
        check("a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
        let old = "1\n2\n3\n4\n5\nx\n6\n7\n8\n9\n";
        check(old, &old.replace("x\n", ""), "@@ -3,7 +3,6 @@\n 3\n 4\n 5\n-x\n 6\n 7\n 8\n");
    }

    #[test]
    fn distant_changes_are_two_hunks() {
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("2\n3\n", "2\nx\n3\n").replace("17\n", "y\n");
        let hunks = unified("x", &old, &new);
        assert_eq!(hunks.matches("@@ -").count(), 2, "{hunks}");
    }

    #[test]
    fn texts_without_a_common_line_are_one_change() {
        let many = |c: char| (0..1000).map(|n| format!("{c}{n}\n")).collect::<String>();
        let (old, new) = (many('a'), many('b'));
        let lines = unified("x", &old, &new);
        assert_eq!(lines.lines().filter(|line| line.starts_with("-a")).count(), 1000);
        assert_eq!(lines.lines().filter(|line| line.starts_with("+b")).count(), 1000);
    }
}

//! The difference between two texts, in the unified form that `patch` reads.
//!
//! `similar` finds the lines that differ (Myers' algorithm). The header of a hunk always has both counts.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use wardgate_tooling::edit::{self, Edit};

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

/// Returns the difference that edits make, as text. It is the same every time, however large it is.
pub(crate) fn of_edits(name: &str, old: &str, edits: &[Edit]) -> Option<String> {
    let new = edit::apply(old, edits)?;
    let mut ops = Vec::new();
    let (mut at, mut lines) = (0, [0, 0]);
    for (range, text) in changed_lines(old, edits)? {
        let count = |text: &str| text.split_inclusive('\n').count();
        let len = count(old.get(at..range.start)?);
        ops.push(DiffOp::Equal { old_index: lines[0], new_index: lines[1], len });
        let (old_len, new_len) = (count(old.get(range.clone())?), count(&text));
        let [old_index, new_index] = lines.map(|line| line + len);
        ops.push(DiffOp::Replace { old_index, old_len, new_index, new_len });
        (at, lines) = (range.end, [old_index + old_len, new_index + new_len]);
    }
    let len = old.get(at..)?.split_inclusive('\n').count();
    ops.push(DiffOp::Equal { old_index: lines[0], new_index: lines[1], len });
    let sides: [Vec<&str>; 2] = [old, &new].map(|text| text.split_inclusive('\n').collect());
    let mut out = format!("--- a/{name}\n+++ b/{name}\n");
    for hunk in group_diff_ops(ops, CONTEXT) {
        print(&hunk, (&sides[0], &sides[1]), &mut out);
    }
    Some(out)
}

/// Returns a new file as a difference.
pub(crate) fn of_new_file(name: &str, text: &str) -> String {
    let lines = text.lines().count();
    let mut out = format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n");
    text.lines().for_each(|line| out.push_str(&format!("+{line}\n")));
    out
}

/// Returns the whole lines that edits change, each with the lines in their place.
fn changed_lines(text: &str, edits: &[Edit]) -> Option<Vec<(Range<usize>, String)>> {
    let mut edits: Vec<Edit> = edits.to_vec();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut groups: Vec<(Range<usize>, Vec<Edit>)> = Vec::new();
    for edit in edits {
        let end = (edit::line_end(text, edit.range.end) + 1).min(text.len());
        match groups.last_mut() {
            Some((lines, group)) if edit.range.start < lines.end => {
                lines.end = lines.end.max(end);
                group.push(edit);
            }
            _ => groups.push((edit::line_start(text, edit.range.start)..end, vec![edit])),
        }
    }
    let changed = |(lines, edits): (Range<usize>, Vec<Edit>)| {
        let moved = edits.into_iter().map(|Edit { range, text }| {
            let range = range.start - lines.start..range.end - lines.start;
            Edit { range, text }
        });
        let old = text.get(lines.clone())?;
        let new = edit::apply(old, &moved.collect::<Vec<_>>())?;
        let same = |(one, other): &(&str, &str)| one == other;
        let pairs = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
        let before: usize = pairs.take_while(same).map(|(line, _)| line.len()).sum();
        let (old, new) = (old.get(before..)?, new.get(before..)?);
        let pairs = old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
        let after: usize = pairs.take_while(same).map(|(line, _)| line.len()).sum();
        let new = new.get(..new.len().checked_sub(after)?)?;
        Some((lines.start + before..lines.end - after, new.to_owned()))
    };
    groups.into_iter().map(changed).collect()
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

    /// Checks the difference of one edit, which replaces a part of the text.
    fn check_edit(old: &str, part: &str, new: &str, expected: &str) {
        let start = old.find(part).unwrap();
        let edits = [Edit { range: start..start + part.len(), text: new.to_owned() }];
        let found = of_edits("x", old, &edits).unwrap();
        assert_eq!(found, format!("--- a/x\n+++ b/x\n{expected}"));
    }

    #[test]
    fn an_edit_changes_whole_lines_and_no_other() {
        check_edit("a\nb\nc\n", "b\n", "", "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
        check_edit(
            "a\nb\nc",
            "\nc",
            "",
            "@@ -1,3 +1,2 @@\n a\n-b\n-c\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        );
        check_edit("a: [b]\nc\n", "b", "b, d", "@@ -1,2 +1,2 @@\n-a: [b]\n+a: [b, d]\n c\n");
        check_edit("a\r\nb\r\n", "b\r\n", "", "@@ -1,2 +1,1 @@\n a\r\n-b\r\n");
    }

    #[test]
    fn edits_of_one_line_are_one_change_and_distant_ones_two_hunks() {
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let edit = |at, text: &str| Edit { range: at..at + 1, text: text.to_owned() };
        let found = of_edits("x", &old, &[edit(47, "y"), edit(2, "z"), edit(48, "w")]).unwrap();
        assert_eq!(found.matches("@@ -").count(), 2, "{found}");
        assert_eq!(found.matches("\n-").count(), 2, "{found}");
        assert!(found.contains("-19\n+yw"), "{found}");
    }

    #[test]
    fn a_new_file_has_all_its_lines() {
        let expected = "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert_eq!(of_new_file("x", "a\nb\n"), expected);
    }
}

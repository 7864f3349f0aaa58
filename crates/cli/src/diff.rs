//! The difference between two texts, in the unified form that `patch` reads.
//!
//! It is right, and as short as looking a little ahead makes it: after a line that differs, the nearest
//! lines that agree again are where both go on.

use std::fmt::Write;

/// Returns the difference, or nothing if there is none.
pub(crate) fn unified(name: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let edits = edits(&old, &new);
    let mut out = String::new();
    for hunk in hunks(&edits) {
        if out.is_empty() {
            let _ = write!(out, "--- a/{name}\n+++ b/{name}\n");
        }
        print(hunk, &mut out);
    }
    out
}

/// A line with its number, from 0, in the old and in the new text.
#[derive(Clone, Copy, Debug)]
struct Edit<'t> {
    sign: char,
    line: &'t str,
    old: usize,
    new: usize,
}

fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Edit<'t>> {
    let mut edits = Vec::with_capacity(old.len().max(new.len()));
    let (mut at, mut to) = (0, 0);
    let mut looks = MAX_LOOKS;
    while at < old.len() || to < new.len() {
        let rest = (old.get(at..).unwrap_or_default(), new.get(to..).unwrap_or_default());
        let (dropped, added) = agreement(rest.0, rest.1, &mut looks);
        for line in rest.0.iter().take(dropped) {
            edits.push(Edit { sign: '-', line, old: at, new: to });
            at += 1;
        }
        for line in rest.1.iter().take(added) {
            edits.push(Edit { sign: '+', line, old: at, new: to });
            to += 1;
        }
        if let Some(line) = old.get(at).filter(|line| new.get(to) == Some(*line)) {
            edits.push(Edit { sign: ' ', line, old: at, new: to });
            at += 1;
            to += 1;
        }
    }
    edits
}

/// Returns how many lines come before the next that agree, or before the end.
fn agreement(old: &[&str], new: &[&str], looks: &mut usize) -> (usize, usize) {
    for distance in 0..=WINDOW {
        for dropped in 0..=distance {
            let added = distance - dropped;
            *looks = looks.saturating_sub(1);
            match (old.get(dropped), new.get(added)) {
                (Some(one), Some(other)) if one == other && (distance == 0 || one.len() > 1) => {
                    return (dropped, added);
                }
                (None, None) => return (old.len(), new.len()),
                _ if *looks == 0 => return (old.len(), new.len()),
                _ => {}
            }
        }
    }
    // Nothing near agrees: these lines go, and looking goes on after them.
    (old.len().min(WINDOW), new.len().min(WINDOW))
}

/// Splits the edits into those that change something, each with the lines around them.
fn hunks<'e, 't>(edits: &'e [Edit<'t>]) -> Vec<&'e [Edit<'t>]> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in edits.iter().enumerate().filter(|(_, edit)| edit.sign != ' ') {
        let (start, end) = (at.saturating_sub(CONTEXT), at + CONTEXT + 1);
        match ranges.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    let slice = |(start, end): (usize, usize)| edits.get(start..end.min(edits.len()));
    ranges.into_iter().filter_map(slice).collect()
}

fn print(hunk: &[Edit<'_>], out: &mut String) {
    let Some(first) = hunk.first() else { return };
    let old = hunk.iter().filter(|edit| edit.sign != '+').count();
    let new = hunk.iter().filter(|edit| edit.sign != '-').count();
    // A side without lines is named by the line before it.
    let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
    let (from, to) = (start(first.old, old), start(first.new, new));
    let _ = writeln!(out, "@@ -{from},{old} +{to},{new} @@");
    for Edit { sign, line, .. } in hunk {
        out.push(*sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Lines around a change.
const CONTEXT: usize = 3;
/// How many lines ahead may differ.
const WINDOW: usize = 100;
/// How many lines are compared in all before the rest counts as one change.
const MAX_LOOKS: usize = 20_000_000;

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
    fn what_is_far_apart_is_two_changes() {
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

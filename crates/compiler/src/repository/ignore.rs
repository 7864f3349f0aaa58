//! The files of a directory that `.wardgateignore` leaves out on purpose.
//!
//! The file lies at the root, and is a part of git's format: a pattern on each line, `#` before
//! remarks, `!` to take a pattern back, `/` at the end for directories only, and `/` anywhere else
//! for paths from the root. `*` and `?` match characters of one name, and `**` matches any names.
//! The last pattern that fits decides. Anything else is refused, since a pattern that is misread
//! leaves out too much or too little.

use std::path::Path;

use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{MAX_IGNORE_BYTES, MAX_IGNORE_PATTERNS};
use crate::reading::{self, unreadable};
use crate::source::{Position, SourceFile};

/// The patterns of a `.wardgateignore`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignore {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    takes_back: bool,
    only_directories: bool,
    names: Vec<String>,
}

impl Ignore {
    /// Reads the patterns of a directory; without the file there are none.
    pub fn below(root: &Path, errors: &mut Vec<Diagnostic>) -> Self {
        let location = root.join(FILE);
        if !reading::exists(&location) {
            return Self::default();
        }
        match reading::file_within(root, &location) {
            Ok(bytes) => Self::read(&bytes, errors),
            Err(error) => {
                errors.push(unreadable(FILE, &error));
                Self::default()
            }
        }
    }

    /// Reads the patterns among files in memory.
    pub fn among<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        errors: &mut Vec<Diagnostic>,
    ) -> Self {
        let found = files.into_iter().find(|(path, _)| *path == FILE);
        found.map(|(_, bytes)| Self::read(bytes, errors)).unwrap_or_default()
    }

    fn read(bytes: &[u8], errors: &mut Vec<Diagnostic>) -> Self {
        let file = match SourceFile::new(FILE, bytes) {
            Ok(file) => file,
            Err(error) => {
                errors.push(Diagnostic::refused_source(FILE, error));
                return Self::default();
            }
        };
        let lines = file.text.lines().map(str::trim_end);
        let is_pattern = |line: &&str| !line.is_empty() && !line.starts_with('#');
        if bytes.len() > MAX_IGNORE_BYTES
            || lines.clone().filter(is_pattern).count() > MAX_IGNORE_PATTERNS
        {
            let error = Diagnostic::in_file(Code::Limit, FILE, "there are too many patterns");
            let bound =
                format!("at most {MAX_IGNORE_PATTERNS} patterns in {MAX_IGNORE_BYTES} bytes");
            errors.push(error.expected(bound));
            return Self::default();
        }
        let mut ignore = Self::default();
        for (line, number) in lines.zip(1..).filter(|(line, _)| is_pattern(line)) {
            match Pattern::read(line) {
                Some(pattern) => ignore.patterns.push(pattern),
                None => {
                    let message = format!("the pattern `{line}` is malformed");
                    let error = Diagnostic::in_file(Code::Syntax, FILE, message);
                    let error = error.at(Position { line: number, column: 1 });
                    errors.push(error.expected("names with `*`, `?` and `**`, between `/`"));
                }
            }
        }
        ignore
    }

    /// Returns true if an entry is left out, where none of the directories above it is.
    pub fn leaves_out(&self, path: &str, is_directory: bool) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        let last = self.patterns.iter().rev().find(|pattern| pattern.fits(&names, is_directory));
        last.is_some_and(|pattern| !pattern.takes_back)
    }

    /// Returns true if a file is left out, itself or with a directory above it.
    pub fn leaves_out_file(&self, path: &str) -> bool {
        let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        !self.patterns.is_empty()
            && (above.into_iter().any(|directory| self.leaves_out(directory, true))
                || self.leaves_out(path, false))
    }
}

impl Pattern {
    fn read(line: &str) -> Option<Self> {
        let (takes_back, rest) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (only_directories, rest) = match rest.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let is_anchored = rest.contains('/');
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let anywhere = (!is_anchored).then_some("**");
        let names: Vec<String> =
            anywhere.into_iter().chain(rest.split('/')).map(str::to_owned).collect();
        let is_known = |name: &String| {
            let is_plain =
                !name.contains(['[', ']', '\\', '\0']) && !matches!(name.as_str(), "." | "..");
            is_plain && !name.is_empty() && (name == "**" || !name.contains("**"))
        };
        names.iter().all(is_known).then_some(Self { takes_back, only_directories, names })
    }

    fn fits(&self, path: &[&str], is_directory: bool) -> bool {
        let star = |name: &String| name == "**";
        let same = |pattern: &String, name: &&str| {
            let (pattern, name): (Vec<char>, Vec<char>) =
                (pattern.chars().collect(), name.chars().collect());
            matches(&pattern, &name, |c| *c == '*', |c, other| *c == '?' || c == other)
        };
        (is_directory || !self.only_directories) && matches(&self.names, path, star, same)
    }
}

/// Returns true if a pattern fits all of a sequence; a star matches any part of it. Only the last
/// star is tried again, so that it takes no longer than the product of both lengths.
fn matches<P, T>(
    pattern: &[P],
    sequence: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut from) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    while let Some(item) = sequence.get(from) {
        match (pattern.get(at), star) {
            (Some(wanted), _) if is_star(wanted) => {
                at = at.saturating_add(1);
                star = Some((at, from));
            }
            (Some(wanted), _) if fits(wanted, item) => {
                (at, from) = (at.saturating_add(1), from.saturating_add(1));
            }
            (_, Some((after, begin))) => {
                (at, from) = (after, begin.saturating_add(1));
                star = Some((after, from));
            }
            (_, None) => return false,
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(is_star)
}

/// The name of the file.
pub const FILE: &str = ".wardgateignore";

#[cfg(test)]
mod tests {
    use super::*;

    fn ignore(text: &str) -> Ignore {
        let mut errors = Vec::new();
        let ignore = Ignore::read(text.as_bytes(), &mut errors);
        assert_eq!(errors, []);
        ignore
    }

    #[test]
    fn patterns_leave_out_what_git_would() {
        let check = |text: &str, path: &str, expected: bool| {
            assert_eq!(ignore(text).leaves_out_file(path), expected, "{text:?} {path}");
        };
        check("", "a.yaml", false);
        check("# a.yaml\n\n", "a.yaml", false);
        check("a.yaml", "a.yaml", true);
        check("a.yaml", "x/y/a.yaml", true);
        check("/a.yaml", "x/a.yaml", false);
        check("/a.yaml  \r\n", "a.yaml", true);
        check("x/a.yaml", "x/a.yaml", true);
        check("x/a.yaml", "y/x/a.yaml", false);
        check("x/", "x/a.yaml", true);
        check("x/", "y/x/z/a.yaml", true);
        check("x/", "x", false);
        check("x", "x/a.yaml", true);
        check("*.yml", "x/a.yml", true);
        check("*.yml", "x/a.yaml", false);
        check("a?c", "abc", true);
        check("a?c", "a/c", false);
        check("a*c", "a/c", false);
        check("**/x/a", "x/a", true);
        check("x/**/a", "x/y/z/a", true);
        check("x/**/a", "x/a", true);
        check("x/**", "x/y", true);
        check("x/**", "xy/y", false);
        check("*\n!a.yaml", "a.yaml", false);
        check("*\n!a.yaml", "b.yaml", true);
        check("!a.yaml\na.yaml", "a.yaml", true);
        check("x/\n!x/a.yaml", "x/a.yaml", true);
        check("é*", "éa", true);
        check("*a*a*a*b", &"a".repeat(200), false);
    }

    #[test]
    fn a_pattern_that_is_not_understood_is_refused() {
        for text in ["[ab].yaml", "a\\ b", "a**b", "/", "!", "a//b", "../a", "**x/a", "a\0"] {
            let mut errors = Vec::new();
            let ignore = Ignore::read(text.as_bytes(), &mut errors);
            assert_eq!((ignore, errors.len()), (Ignore::default(), 1), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_pattern() {
        assert!(ignore("\u{feff}a.yaml\n").leaves_out_file("a.yaml"));
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_at_its_line() {
        let mut errors = Vec::new();
        let ignore = Ignore::read(b"a\nb\n\xffc\n", &mut errors);
        let found: Vec<_> = errors.iter().map(Diagnostic::to_string).collect();
        assert_eq!(ignore, Ignore::default());
        assert_eq!(found, [".wardgateignore:3:1: error[syntax]: the file is not UTF-8"]);
    }

    #[test]
    fn too_many_patterns_are_refused() {
        let mut errors = Vec::new();
        let text = "a\n".repeat(MAX_IGNORE_PATTERNS + 1);
        assert_eq!(Ignore::read(text.as_bytes(), &mut errors), Ignore::default());
        assert_eq!(errors.len(), 1);
    }
}

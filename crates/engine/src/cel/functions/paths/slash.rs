//! Paths with `/` between their elements: cleaning, splitting, relating and matching.
//!
//! Purely lexical: `..` cancels the element before it, and no file system is read.

use alloc::string::String;

use crate::text::{cut_last, has, joined};

/// Returns the shortest path that means the same: no `.`, no empty element, `..` only at the front.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut clean = String::with_capacity(path.len());
    clean.push_str(if rooted { "/" } else { "" });
    // `..` removes no byte before `fixed`: the root, or the `..` at the front.
    let (root, mut fixed) = (clean.len(), clean.len());
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if clean.len() > fixed => {
                let last = clean.get(fixed..).and_then(|undone| cut_last(undone, b'/'));
                clean.truncate(fixed.saturating_add(last.map_or(0, |(kept, _)| kept.len())));
            }
            ".." if rooted => {}
            _ => {
                if clean.len() > root {
                    clean.push('/');
                }
                clean.push_str(element);
                if element == ".." {
                    fixed = clean.len();
                }
            }
        }
    }
    if clean.is_empty() { String::from(".") } else { clean }
}

/// Returns the last element of a clean path.
pub(super) fn base(path: &str) -> &str {
    match cut_last(path, b'/') {
        Some(("", "")) => "/",
        Some((_, last)) => last,
        None => path,
    }
}

/// Returns all but the last element of a clean path.
pub(super) fn dir(path: &str) -> &str {
    match cut_last(path, b'/') {
        Some(("", _)) => "/",
        Some((head, _)) => head,
        None => ".",
    }
}

fn base_of(path: &str) -> &str {
    cut_last(path, b'/').map_or(path, |(_, name)| name)
}

/// Returns the last element from its last dot on.
pub(super) fn ext(path: &str) -> &str {
    let name = base_of(path);
    cut_last(name, b'.').and_then(|(stem, _)| name.get(stem.len()..)).unwrap_or_default()
}

/// Returns the relative path from the clean path `from` to the clean path `to`. There is none
/// between an absolute and a relative path, nor out of a directory whose name is not known.
pub(super) fn relate(from: &str, to: &str) -> Option<String> {
    if from == to {
        return Some(String::from("."));
    }
    if from.starts_with('/') != to.starts_with('/') {
        return None;
    }
    let common = elements(from).zip(elements(to)).take_while(|(a, b)| a == b).count();
    if elements(from).nth(common) == Some("..") {
        return None;
    }
    let up = elements(from).skip(common).map(|_| "..");
    let down = elements(to).skip(common);
    Some(joined(&mut up.chain(down), "/"))
}

fn elements(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|element| !element.is_empty() && *element != ".")
}

/// A malformed pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadPattern;

/// Returns true if the shell pattern matches the whole of `path`: `*` is a run of characters but
/// `/`, `?` is one, `[a-z]` and `[^a-z]` are classes.
///
/// The part between two stars is matched at the first position where it fits: a later one could not
/// help, because the next star could have taken the difference.
pub(super) fn matches(pattern: &str, path: &str) -> Result<bool, BadPattern> {
    let mut path = path;
    let mut pattern = pattern;
    while !pattern.is_empty() {
        let rest = pattern.trim_start_matches('*');
        let after_star = rest.len() < pattern.len();
        let (chunk, next) = split_chunk(rest);
        if after_star && chunk.is_empty() {
            return Ok(!has(path, '/'));
        }
        match position(chunk, path, after_star, next.is_empty())? {
            Some(tail) => path = tail,
            None => return Ok(false),
        }
        pattern = next;
    }
    Ok(path.is_empty())
}

/// Returns the rest of the path behind the first position where `chunk` fits.
fn position<'p>(
    chunk: &str,
    path: &'p str,
    slides: bool,
    is_last: bool,
) -> Result<Option<&'p str>, BadPattern> {
    let mut start = path;
    loop {
        let tail = match_chunk(chunk, start)?.filter(|tail| tail.is_empty() || !is_last);
        if tail.is_some() || !slides {
            return Ok(tail);
        }
        match split_char(start) {
            Some((c, rest)) if c != '/' => start = rest,
            _ => return Ok(None),
        }
    }
}

/// Splits before the next star that is not in a class.
fn split_chunk(pattern: &str) -> (&str, &str) {
    let mut in_class = false;
    let end = pattern.find(|c| {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        c == '*' && !in_class
    });
    pattern.split_at_checked(end.unwrap_or(pattern.len())).unwrap_or((pattern, ""))
}

/// Matches a pattern without stars at the front of `path`. Continues after a mismatch, to check
/// that the pattern is well-formed.
fn match_chunk<'p>(chunk: &str, path: &'p str) -> Result<Option<&'p str>, BadPattern> {
    let mut chunk = chunk;
    let mut path = Some(path);
    while let Some((special, rest)) = split_char(chunk) {
        let next = path.and_then(split_char);
        let (fits, rest) = match special {
            '[' => class_contains(rest, next.map(|(c, _)| c))?,
            '?' => (next.is_some_and(|(c, _)| c != '/'), rest),
            literal => (next.is_some_and(|(c, _)| c == literal), rest),
        };
        path = next.filter(|_| fits).map(|(_, tail)| tail);
        chunk = rest;
    }
    Ok(path)
}

/// Reads a class up to its `]`; returns true if `c` is in it, and the rest of the pattern.
fn class_contains(class: &str, c: Option<char>) -> Result<(bool, &str), BadPattern> {
    let (negated, mut rest) = match class.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, class),
    };
    let mut found = false;
    let mut is_first = true;
    loop {
        if let Some(after) = rest.strip_prefix(']').filter(|_| !is_first) {
            return Ok((found != negated, after));
        }
        let (low, after) = class_char(rest)?;
        let (high, after) = match after.strip_prefix('-') {
            Some(after) => class_char(after)?,
            None => (low, after),
        };
        found |= c.is_some_and(|c| (low..=high).contains(&c));
        rest = after;
        is_first = false;
    }
}

fn class_char(class: &str) -> Result<(char, &str), BadPattern> {
    match split_char(class) {
        None | Some(('-' | ']', _) | (_, "")) => Err(BadPattern),
        Some(read) => Ok(read),
    }
}

fn split_char(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    Some((chars.next()?, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{BadPattern, base, clean, dir, ext, matches, relate};

    #[test]
    fn cleaning_removes_elements_without_a_meaning() {
        let cases = [
            ("", "."),
            (".", "."),
            ("/", "/"),
            ("//a//b/", "/a/b"),
            ("a/./b/../c", "a/c"),
            ("../../a", "../../a"),
            ("/../a", "/a"),
            ("a/..", "."),
            ("a/../../b", "../b"),
        ];
        for (path, expected) in cases {
            assert_eq!(clean(path), expected, "`{path}`");
        }
    }

    #[test]
    fn parts_are_taken_from_the_end() {
        assert_eq!((base("/a/b"), dir("/a/b")), ("b", "/a"));
        assert_eq!((base("/a"), dir("/a")), ("a", "/"));
        assert_eq!((base("/"), dir("/")), ("/", "/"));
        assert_eq!((base("a"), dir("a")), ("a", "."));
        assert_eq!((ext("a.b/c"), ext("a/b.tar.gz"), ext(".rc")), ("", ".gz", ".rc"));
    }

    #[test]
    fn relative_paths_lead_from_one_path_to_the_other() {
        let cases = [
            ("/a/b", "/a/c", Some("../c")),
            ("/a", "/a/b/c", Some("b/c")),
            ("/a/b/c", "/a", Some("../..")),
            ("/a", "/a", Some(".")),
            (".", "a", Some("a")),
            ("a", ".", Some("..")),
            ("/", "/a", Some("a")),
            ("/a", "/", Some("..")),
            ("a", "/a", None),
            ("..", "a", None),
            ("../a", "../b", Some("../b")),
            ("a", "..", Some("../..")),
        ];
        for (from, to, expected) in cases {
            assert_eq!(relate(from, to).as_deref(), expected, "`{from}` to `{to}`");
        }
    }

    #[test]
    fn patterns_match_whole_paths() {
        let cases = [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*", "a/c", Ok(false)),
            ("*c", "abc", Ok(true)),
            ("a*", "a/c", Ok(false)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/f", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[e-g]", "abc", Ok(false)),
            ("ab[^e-g]", "abc", Ok(true)),
            ("a?b", "aéb", Ok(true)),
            ("a[^x]b", "a/b", Ok(true)),
            ("[a-", "a", Err(BadPattern)),
            ("[]a]", "]", Err(BadPattern)),
            ("[x-]", "x", Err(BadPattern)),
            ("a[", "a", Err(BadPattern)),
            ("b[", "a", Err(BadPattern)),
            ("a/b[", "x", Err(BadPattern)),
            ("b*[", "a", Ok(false)),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches(pattern, path), expected, "`{pattern}` on `{path}`");
        }
    }
}

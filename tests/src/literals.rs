//! The messages in the sources of a crate.
//!
//! A message is every string literal with a blank in it, outside of tests, comments and attributes.
//! It takes no parser of Rust to find them, and a message that is added can hardly escape.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::conformance::yaml;

/// Returns the messages in the Rust files below `folder`, but for the files and folders `without`.
///
/// # Errors
/// If a file cannot be read.
pub fn messages(folder: &Path, without: &[&str]) -> Result<BTreeSet<String>, String> {
    let sources = sources(folder, without)?;
    let all = sources.iter().flat_map(|source| literals(source));
    Ok(all.filter(|text| is_message(text)).collect())
}

/// Returns the texts of the Rust files below `folder`, but for the files and folders `without`.
///
/// # Errors
/// If a file cannot be read.
pub fn sources(folder: &Path, without: &[&str]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let below = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_test || without.iter().any(|name| below == Path::new(name)) {
            continue;
        }
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(failed)? {
                pending.push(entry.map_err(failed)?.path());
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(fs::read_to_string(&path).map_err(failed)?);
        }
    }
    Ok(found)
}

/// Checks that each of `messages` can come to one of the texts `shown`, but for those that the file
/// `known` lists with the reason why nothing shows them.
///
/// # Errors
/// If a message is neither shown nor listed, or a listed one is shown or gone.
pub fn check_shown(
    messages: &BTreeSet<String>,
    shown: &[String],
    known: &Path,
) -> Result<(), String> {
    let is_shown = |template: &&String| shown.iter().any(|text| comes_to(template, text));
    let uncovered: BTreeSet<&String> = messages.iter().filter(|text| !is_shown(text)).collect();
    let listed: BTreeMap<String, String> = serde_json::from_value(yaml(known)?)
        .map_err(|error| format!("{}: {error}", known.display()))?;
    let missing: Vec<_> = uncovered.iter().filter(|text| !listed.contains_key(**text)).collect();
    let stale: Vec<_> = listed.keys().filter(|text| !uncovered.contains(text)).collect();
    if missing.is_empty() && stale.is_empty() {
        return Ok(());
    }
    let known = known.display();
    Err(format!(
        "no case beside {known} has\n{missing:#?}\nit lists texts that a case has, or that are gone\n{stale:#?}"
    ))
}

/// Returns true if `text` can be the result of `template`, a literal with `{}` in it.
#[must_use]
pub fn comes_to(template: &str, text: &str) -> bool {
    let parts = parts(template);
    let mut rest = text;
    parts.iter().filter(|part| !part.trim().is_empty()).all(|part| {
        rest.find(part.as_str()).is_some_and(|at| {
            rest = rest.get(at.saturating_add(part.len())..).unwrap_or_default();
            true
        })
    })
}

/// Cuts a template at its holes; `{{` is a brace.
fn parts(template: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' if rest.peek() != Some(&'{') => {
                rest.by_ref().find(|c| *c == '}');
                parts.push(String::new());
            }
            '{' | '}' => {
                rest.next();
                parts.iter_mut().last().into_iter().for_each(|part| part.push(c));
            }
            _ => parts.iter_mut().last().into_iter().for_each(|part| part.push(c)),
        }
    }
    parts
}

fn is_message(text: &str) -> bool {
    let words = text.split(' ').filter(|word| word.contains(|c: char| c.is_ascii_lowercase()));
    text.contains(' ') && words.count() > 0 && parts(text).iter().any(|part| part.trim().len() > 2)
}

/// Returns the string literals of a source text, decoded.
#[must_use]
pub fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            '/' if after.starts_with('/') => {
                after.find('\n').and_then(|at| after.get(at..)).unwrap_or_default()
            }
            '#' if after.starts_with(['[', '!']) => attribute(after.trim_start_matches('!')),
            '\'' => character(after),
            'r' if after.starts_with(['"', '#']) => raw(after, &mut found),
            '"' => plain(after, &mut found),
            _ if is_of_word(c) => after.trim_start_matches(is_of_word),
            _ => after,
        };
    }
    found
}

/// Skips an attribute, whose reasons are for the compiler of Rust.
fn attribute(rest: &str) -> &str {
    let mut depth = 0_usize;
    let mut quoted = false;
    for (at, c) in rest.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth = depth.saturating_add(1),
            ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return rest.get(at..).unwrap_or_default();
        }
    }
    ""
}

/// Skips a character literal; a lifetime has no closing quote.
fn character(rest: &str) -> &str {
    let mut chars = rest.char_indices();
    let first = chars.next().map(|(_, c)| c);
    let end = match first {
        Some('\\') => rest.get(2..).and_then(|rest| rest.find('\'')).map(|at| at.saturating_add(3)),
        _ => chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at.saturating_add(1)),
    };
    end.and_then(|end| rest.get(end..)).unwrap_or(rest)
}

fn raw<'s>(rest: &'s str, found: &mut Vec<String>) -> &'s str {
    let marks = rest.len().saturating_sub(rest.trim_start_matches('#').len());
    let Some(body) = rest.trim_start_matches('#').strip_prefix('"') else { return rest };
    let close = format!("\"{}", "#".repeat(marks));
    let end = body.find(&close).unwrap_or(body.len());
    found.push(body.get(..end).unwrap_or_default().to_owned());
    body.get(end.saturating_add(close.len())..).unwrap_or_default()
}

fn plain<'s>(rest: &'s str, found: &mut Vec<String>) -> &'s str {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                found.push(text);
                return rest.get(at.saturating_add(1)..).unwrap_or_default();
            }
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('\n') => {
                    while chars.clone().next().is_some_and(|(_, c)| c.is_whitespace()) {
                        chars.next();
                    }
                }
                Some(c) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    ""
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_and_nothing_else() {
        let source = r###"
            // "a comment"
            #![expect(x, reason = "an attribute of the file")]
            #[expect(x, reason = "an attribute")]
            fn f<'a>(c: &'a str) { g('"', "one \"1\" \
                line"); h(r#"raw "text""#, '\'', "two") }
            const R: &str = "three";
            "###;
        let expected = ["one \"1\" line", "raw \"text\"", "two", "three"];
        assert_eq!(literals(source), expected);
        let tests = format!("{source}#[cfg(test)]\nmod tests {{ \"four\" }}");
        assert_eq!(literals(&tests), expected);
    }

    #[test]
    fn templates_come_to_texts() {
        assert!(comes_to("no {what} `{name}` is here", "no dog `Rex` is here"));
        assert!(comes_to("{{}} {x:?} end", "{} 5 end"));
        assert!(!comes_to("no {what} is here", "no dog was here"));
    }
}

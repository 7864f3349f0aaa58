//! Patterns of actions, roles and kinds as types: a text is a string literal, a glob a template
//! literal, and `*` is `string`.
//!
//! A type accepts every text that its pattern matches. It may accept more: `?` and `[a-z]` stand for
//! any text, since TypeScript has no type of one character.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

use wardgate_engine::glob::is_glob;

use super::text::{in_template, quoted};

/// Returns the type of the texts that one of `patterns` matches.
///
/// Beside `string` the literals have no meaning, but editors suggest them: `string & {}` keeps them.
pub(super) fn union(patterns: &BTreeSet<String>) -> String {
    let Names { literals, templates, is_any } = Names::of(patterns);
    let mut parts: Vec<String> = literals.iter().map(|text| quoted(text)).collect();
    parts.extend(templates);
    match (is_any, parts.is_empty()) {
        (false, true) => "never".to_owned(),
        (true, true) => "string".to_owned(),
        (true, false) => format!("{} | (string & {{}})", parts.join(" | ")),
        (false, false) => parts.join(" | "),
    }
}

/// The types of a set of patterns.
pub(super) struct Names {
    literals: BTreeSet<String>,
    templates: BTreeSet<String>,
    is_any: bool,
}

impl Names {
    /// Reads patterns.
    pub(super) fn of(patterns: &BTreeSet<String>) -> Self {
        let mut names =
            Self { literals: BTreeSet::new(), templates: BTreeSet::new(), is_any: false };
        for pattern in patterns {
            if !is_glob(pattern) {
                names.literals.insert(pattern.clone());
                continue;
            }
            for pieces in Reader::alternatives(pattern) {
                names.add(&pieces);
            }
        }
        names
    }

    fn add(&mut self, pieces: &[Piece]) {
        match pieces {
            [Piece::Any] => self.is_any = true,
            [Piece::Text(text)] => {
                self.literals.insert(text.clone());
            }
            [] => {
                self.literals.insert(String::new());
            }
            pieces => {
                let written: String = pieces.iter().map(Piece::written).collect();
                self.templates.insert(format!("`{written}`"));
            }
        }
    }

    /// Returns the types of patterns alone, each of which can be an index.
    pub(super) fn written(&self) -> Vec<String> {
        if self.is_any {
            return vec!["string".to_owned()];
        }
        let literals = self.literals.iter().map(|text| quoted(text));
        literals.chain(self.templates.iter().cloned()).collect()
    }
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Any,
}

impl Piece {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => in_template(text),
            Self::Any => "${string}".to_owned(),
        }
    }
}

type Pieces = Vec<Piece>;

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
}

impl<'p> Reader<'p> {
    /// Returns the sequences of pieces that a glob stands for.
    fn alternatives(pattern: &'p str) -> Vec<Pieces> {
        Self { rest: pattern.chars().peekable() }.sequence(0)
    }

    /// Reads up to the end of the pattern, or of an alternative of a group.
    fn sequence(&mut self, depth: usize) -> Vec<Pieces> {
        let mut found: Vec<Pieces> = vec![Vec::new()];
        while let Some(c) = self.rest.peek().copied() {
            if depth > 0 && matches!(c, ',' | '}') {
                break;
            }
            self.rest.next();
            match c {
                '*' | '?' => append(&mut found, &[vec![Piece::Any]]),
                '[' => {
                    self.class();
                    append(&mut found, &[vec![Piece::Any]]);
                }
                '{' => {
                    let group = self.group(depth.saturating_add(1));
                    append(&mut found, &group);
                }
                '\\' => {
                    let next = self.rest.next().map(String::from).unwrap_or_default();
                    append(&mut found, &[vec![Piece::Text(next)]]);
                }
                c => append(&mut found, &[vec![Piece::Text(c.to_string())]]),
            }
        }
        found
    }

    /// Reads the alternatives of a group, up to and with its `}`.
    fn group(&mut self, depth: usize) -> Vec<Pieces> {
        let mut found = Vec::new();
        loop {
            found.extend(self.sequence(depth));
            match self.rest.next() {
                Some(',') => {}
                _ => return found,
            }
        }
    }

    /// Passes over a class, up to and with its `]`.
    fn class(&mut self) {
        let mut is_first = true;
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                ']' if !is_first => return,
                '!' | '^' if is_first => continue,
                _ => {}
            }
            is_first = false;
        }
    }
}

/// Appends each of `tails` to each of `heads`; any text stands for too many of them.
fn append(heads: &mut Vec<Pieces>, tails: &[Pieces]) {
    if heads.len().saturating_mul(tails.len()) > MAX_ALTERNATIVES {
        return append(heads, &[vec![Piece::Any]]);
    }
    let joined = heads.iter().flat_map(|head| tails.iter().map(|tail| join(head, tail)));
    *heads = joined.collect();
}

fn join(head: &[Piece], tail: &[Piece]) -> Pieces {
    let mut joined = head.to_vec();
    for piece in tail {
        match (joined.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Any), Piece::Any) => {}
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(more),
            _ => joined.push(piece.clone()),
        }
    }
    joined
}

/// The alternatives of one pattern that are written out.
const MAX_ALTERNATIVES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], expected: &str) {
        let patterns: BTreeSet<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(union(&patterns), expected, "{patterns:?}");
    }

    #[test]
    fn texts_are_literals() {
        check(&[], "never");
        check(&["view", "edit"], r#""edit" | "view""#);
        check(&["a{b,c}", "d?"], r#""a{b,c}" | "d?""#);
        check(&["\"", "\\", "\u{e4}\n"], r#""\"" | "\\" | "ä\n""#);
    }

    #[test]
    fn globs_are_templates_and_a_star_is_any_text() {
        check(&["*"], "string");
        check(&["**", "view"], r#""view" | (string & {})"#);
        check(&["download:*"], "`download:${string}`");
        check(&["a:*:b:**"], "`a:${string}:b:${string}`");
        check(&["*?[a-z][!]]x"], "`${string}x`");
    }

    #[test]
    fn alternatives_are_written_out_up_to_a_limit() {
        check(&["{a,b}:*"], "`a:${string}` | `b:${string}`");
        check(&["{a,*}"], r#""a" | (string & {})"#);
        check(&["{a,{b,c}*}x"], r#""ax" | `b${string}x` | `c${string}x`"#);
        check(&["{a,b}{c,d}{e,f}{g,h}{i,j}*"], &{
            let heads = ["ac", "ad", "bc", "bd"];
            let parts = heads.iter().flat_map(|head| {
                ["eg", "eh", "fg", "fh"].map(|tail| format!("`{head}{tail}${{string}}`"))
            });
            parts.collect::<Vec<_>>().join(" | ")
        });
    }

    #[test]
    fn characters_with_a_meaning_in_templates_are_escaped() {
        check(&["`$\\{x\\}\\*\"*"], "`\\`\\${x}*\"${string}`");
        check(&["\\\\*"], "`\\\\${string}`");
    }
}

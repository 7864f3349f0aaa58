//! The layout of policies, test suites and fixtures: YAML, and the expressions in it.
//!
//! A law that every call obeys: the returned text reads as the same values, holds the same comments
//! in the same order, and would come back unchanged. Where a layout cannot be shown to do so, the
//! text stays as it is. Lines are moved and respaced, never joined, split or reordered, except
//! inside an expression. JSON is left alone: it has one meaning and many good formatters.

mod cel;
mod events;
mod expressions;
mod frame;
mod layout;
mod scan;
mod text;
mod token;

use std::sync::Arc;

use cel::{Parentheses, Width};
use events::Leaf;
use expressions::Expressions;
use token::Token;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::{self, Node};

/// A file as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formatted {
    /// The text of the file.
    pub text: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it is laid out.
    Whole,
    /// The YAML is laid out, and its expressions are as they were.
    WithoutExpressions,
    /// It is JSON, which is left alone.
    Json,
    /// No layout is sure to preserve it, so it is as it was.
    Unchanged,
}

/// Lays out the contents of a file; `path` is its name in diagnostics.
///
/// ```
/// use wardgate_tooling::format::{Outcome, format};
///
/// let formatted = format("a.yaml", b"list:   [ 1,2 ] # two\n").unwrap();
/// assert_eq!(formatted.text, "list: [1, 2] # two\n");
/// assert_eq!(formatted.outcome, Outcome::Whole);
/// ```
///
/// # Errors
/// The errors of a file that cannot be read.
pub fn format(path: &str, bytes: &[u8]) -> Result<Formatted, Vec<Diagnostic>> {
    let file = SourceFile::new(path, bytes)
        .map_err(|error| vec![Diagnostic::refused_source(path, error)])?;
    let documents = whole(&file)?;
    let as_it_is =
        |outcome| Formatted { text: String::from_utf8_lossy(bytes).into_owned(), outcome };
    if yaml::is_json(&file) {
        return Ok(as_it_is(Outcome::Json));
    }
    let text = file.text.replace("\r\n", "\n");
    let job = Job { path, documents: &documents };
    if let Some(text) = job.sound(&text, Extent::Whole) {
        return Ok(Formatted { text, outcome: Outcome::Whole });
    }
    let stays = |new: &String| job.sound(new, Extent::Yaml).is_some() && job.whole_keeps(new);
    match job.sound(&text, Extent::Yaml).filter(stays) {
        Some(text) => Ok(Formatted { text, outcome: Outcome::WithoutExpressions }),
        None => Ok(as_it_is(Outcome::Unchanged)),
    }
}

/// Lays out a single expression, on lines of at most `width` characters if possible, or on one
/// line. Returns `None` if it has a flaw, or if no layout is sure to preserve it.
#[must_use]
pub fn expression(source: &str, width: Option<usize>) -> Option<String> {
    cel::layout(source, width.map_or(Width::Line, Width::Lines), Parentheses::Needed)
}

/// The part of a file that is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// All but the expressions.
    Yaml,
}

/// A file and its documents.
struct Job<'j> {
    path: &'j str,
    documents: &'j [Node],
}

impl Job<'_> {
    /// Returns the layout of `text`, if it holds the same and would come back unchanged.
    fn sound(&self, text: &str, extent: Extent) -> Option<String> {
        let new = attempt(self.path, text, extent)?;
        let read = whole(&source(self.path, &new)?).ok()?;
        let again =
            expressions::same(self.documents, &read).then(|| attempt(self.path, &new, extent));
        (again.flatten()? == new).then_some(new)
    }

    /// Returns true if the next call, which tries the whole first, leaves `text` as it is.
    fn whole_keeps(&self, text: &str) -> bool {
        self.sound(text, Extent::Whole).is_none_or(|new| new == text)
    }
}

/// Lays a text out, as far as it is understood.
fn attempt(path: &str, text: &str, extent: Extent) -> Option<String> {
    let strict = yaml::strict(text)?;
    let file = source(path, &strict)?;
    let leaves = events::leaves(&file.text)?;
    let tokens = scan::tokens(&file.text, &leaves)?;
    let found = match extent {
        Extent::Whole => Expressions::find(&whole(&file).ok()?),
        Extent::Yaml => Expressions::default(),
    };
    let sheet = Sheet { text: &file.text, leaves: &leaves, tokens: &tokens };
    let out = layout::text(&sheet, &found);
    (comments(&out)? == sheet.comments()).then_some(out)
}

/// A text and its tokens, leaves and expressions.
struct Sheet<'s> {
    text: &'s str,
    leaves: &'s [Leaf],
    tokens: &'s [Token],
}

impl Sheet<'_> {
    fn of(&self, token: &Token) -> &str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// Returns the comments, in order.
    fn comments(&self) -> Vec<String> {
        let comment = |token: &Token| match token.kind {
            token::Kind::Comment => Some(self.of(token)),
            token::Kind::Block(..) => token::header(self.of(token).lines().next()?).1,
            _ => None,
        };
        self.tokens.iter().filter_map(comment).map(|text| text.trim_end().to_owned()).collect()
    }
}

fn comments(text: &str) -> Option<Vec<String>> {
    let leaves = events::leaves(text)?;
    let tokens = scan::tokens(text, &leaves)?;
    Some(Sheet { text, leaves: &leaves, tokens: &tokens }.comments())
}

fn source(path: &str, text: &str) -> Option<Arc<SourceFile>> {
    SourceFile::new(path, text.as_bytes()).ok()
}

fn whole(file: &Arc<SourceFile>) -> Result<Vec<Node>, Vec<Diagnostic>> {
    let read = yaml::read(file);
    if read.errors.is_empty() { Ok(read.documents) } else { Err(read.errors) }
}

#[cfg(test)]
mod tests;

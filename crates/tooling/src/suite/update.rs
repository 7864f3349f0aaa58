//! Updates the expectations in the text of a suite to the actual decisions.
//!
//! Only the values are replaced; comments and layout stay. The new text is then read again: if that
//! is not the old suite with the new values and nothing else, nothing is changed. An expectation
//! about tests with different decisions is divided, and a decision without an expectation gets one
//! of its own. A change without a safe position is reported, and the text stays as it is.

mod edit;
mod expectation;
mod placement;
mod revise;
mod revision;
mod uncovered;
mod view;

use std::sync::Arc;

use wardgate_engine::decision::Effect;
use wardgate_engine::wire::attr_json;

pub use self::edit::Change;
use self::edit::changes;
use self::expectation::NewExpectation;
use self::placement::Comments;
use self::revise::revise;
use self::revision::{Addition, MissingAction, Replacement, Rewrite, Value};
use super::files::Loaded;
use super::model::Suite;
use super::parse;
use super::results::{SuiteResult, effect_word};
use crate::edit::{Edit, apply};
use crate::lint::comments::comments;
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::expression::Style;
use wardgate_compiler::source::{Location, Position, SourceFile};
use wardgate_compiler::yaml;
use wardgate_compiler::yaml::{Kind, Node};

/// The update of one suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// The new text of the file, without a byte order mark, if anything changes.
    pub text: Option<String>,
    /// The changes, line by line.
    pub changes: Vec<Change>,
    /// The decisions whose expectations cannot be changed, and the reasons.
    pub refused: Vec<Diagnostic>,
}

/// Returns the changes of the text after which a suite expects its actual decisions.
#[must_use]
pub fn update(loaded: &Loaded, result: &SuiteResult) -> Update {
    let (Some(suite), Some(source)) = (&loaded.suite, &loaded.source) else {
        return Update::default();
    };
    let comments = comments(source).into_iter().map(|it| (it.line, it.column));
    let comments = Comments::new(&source.text, comments);
    let (wanted, edits, refused) = (suite.clone(), Vec::new(), Vec::new());
    let mut updater = Updater { source, comments, wanted, edits, refused };
    let revision = revise(loaded, suite, result);
    for replacement in revision.replacements.values() {
        updater.replace(replacement);
    }
    for missing in &revision.missing {
        updater.insert(missing);
    }
    // From the last to the first, so that the others keep their numbers.
    for rewrite in revision.rewrites.iter().rev() {
        updater.rewrite(rewrite);
    }
    for addition in &revision.additions {
        updater.add(addition);
    }
    updater.refused.extend(revision.refused);
    updater.finish()
}

struct Updater<'u> {
    source: &'u Arc<SourceFile>,
    comments: Comments<'u>,
    /// The suite as it is to be read afterwards.
    wanted: Suite,
    edits: Vec<Edit>,
    refused: Vec<Diagnostic>,
}

impl Updater<'_> {
    fn replace(&mut self, replacement: &Replacement<'_>) {
        let [value] = replacement.values.as_slice() else {
            let message =
                "this expectation covers tests with different decisions: give each an expectation";
            return self.refuse(replacement.location, message);
        };
        if *value == replacement.current {
            return;
        }
        let offset = replacement.node.offset;
        let wanted = with(&self.wanted, offset, value);
        if !self.takes(self.candidates(replacement, value), wanted) {
            self.refuse(replacement.location, "the value cannot be replaced here");
        }
    }

    /// Takes the first of several edits after which the text reads as `wanted`.
    fn takes(&mut self, candidates: Vec<Edit>, wanted: Suite) -> bool {
        let found = candidates.into_iter().find(|edit| {
            self.reads_as(&[self.edits.as_slice(), std::slice::from_ref(edit)].concat(), &wanted)
        });
        let is_found = found.is_some();
        if let Some(edit) = found {
            self.edits.push(edit);
            self.wanted = wanted;
        }
        is_found
    }

    /// Replaces an expectation that cannot be right for all of its tests by several.
    fn rewrite(&mut self, rewrite: &Rewrite<'_>) {
        let Rewrite { table, expectation, old, expectations } = rewrite;
        let mut wanted = self.wanted.clone();
        if let Some(table) = wanted.tables.get_mut(*table) {
            let new = expectations.iter().map(|it| it.expectation(&old.location));
            table.expected.splice(*expectation..=*expectation, new);
        }
        let candidates =
            placement::replace_item(&self.source.text, old.offset, expectations, &self.comments);
        if !self.takes(candidates, wanted) {
            let message = "this expectation covers tests with different decisions and cannot be divided here: \
                           give each an expectation";
            self.refuse(&old.location, message);
        }
    }

    /// Writes expectations that there are none of.
    fn add(&mut self, addition: &Addition<'_>) {
        let Addition { number, table, expectations } = addition;
        let mut wanted = self.wanted.clone();
        if let Some(wanted) = wanted.tables.get_mut(*number) {
            wanted.expected.extend(expectations.iter().map(|it| it.expectation(&table.location)));
        }
        let text = &self.source.text;
        let candidates = match table.list {
            Some(list) => placement::append_items(text, list, expectations),
            None => placement::add_list(text, table.offset, expectations),
        };
        if !self.takes(candidates, wanted) {
            let items: Vec<String> = expectations.iter().map(NewExpectation::flow).collect();
            let message = format!(
                "an expectation is missing and cannot be added here: expect {}",
                items.join(", ")
            );
            self.refuse(&table.location, &message);
        }
    }

    /// Returns the ways in which a value may be written in the place of the old one.
    fn candidates(&self, replacement: &Replacement<'_>, value: &Value) -> Vec<Edit> {
        let text = self.source.text.as_str();
        let start = replacement.node.offset;
        let new = match (value, &replacement.node.kind) {
            (Value::Effect(Effect::Allow), Kind::Integer(_)) => "1".to_owned(),
            (Value::Effect(Effect::Deny), Kind::Integer(_)) => "2".to_owned(),
            (Value::Effect(effect), kind) => quoted(effect_word(*effect), kind),
            (Value::Output(value), _) => attr_json(value),
        };
        let mut edits: Vec<Edit> = crate::edit::ends(text, replacement.node)
            .into_iter()
            .map(|end| Edit { range: start..end, text: new.clone() })
            .collect();
        if let Some((key, Kind::Map(_) | Kind::Seq(_))) =
            replacement.key.zip(Some(&replacement.node.kind))
        {
            let block = edit::block(text, key);
            edits.extend(block.map(|range| Edit { range, text: format!(" {new}") }));
        }
        edits
    }

    /// Adds an effect without an expectation so far.
    fn insert(&mut self, missing: &MissingAction<'_>) {
        let last = missing.after;
        let entry = format!("{}: {}", crate::edit::key(missing.action), effect_word(Effect::Allow));
        let wanted = added(&self.wanted, missing);
        let text = self.source.text.as_str();
        let json_entry = format!(
            "{}: \"{}\"",
            crate::edit::json_key(missing.action),
            effect_word(Effect::Allow)
        );
        let indent = " ".repeat(usize::try_from(missing.column).unwrap_or(1).saturating_sub(1));
        let in_json = text.trim_start().starts_with('{');
        let inline =
            if in_json { [json_entry, entry.clone()] } else { [entry.clone(), json_entry] };
        let found = crate::edit::ends(text, last).into_iter().flat_map(|end| {
            let line_end = crate::edit::line_end(text, end);
            let has_return = text.get(..line_end).is_some_and(|text| text.ends_with('\r'));
            let (newline, at) = if has_return { ("\r\n", line_end - 1) } else { ("\n", line_end) };
            let [first, second] = inline.each_ref().map(|it| (end, format!(", {it}")));
            let below = (at, format!("{newline}{indent}{entry}"));
            [first, second, below].map(|(at, text)| Edit { range: at..at, text })
        });
        if !self.takes(found.collect(), wanted) {
            self.refuse(missing.location, "another action cannot be added here");
        }
    }

    fn refuse(&mut self, location: &Location, message: &str) {
        self.refused.push(Diagnostic::error(Code::ContradictoryExpectation, location, message));
    }

    /// Returns true if the text with these edits reads as `wanted`.
    fn reads_as(&self, edits: &[Edit], wanted: &Suite) -> bool {
        let Some(text) = apply(&self.source.text, edits) else { return false };
        let Ok(source) = SourceFile::new(&self.source.path, text.as_bytes()) else { return false };
        let read = yaml::read(&source);
        let ([document], true) = (read.documents.as_slice(), read.errors.is_empty()) else {
            return false;
        };
        parse::draft(&source, document).is_ok_and(|found| bare(&found) == bare(wanted))
    }

    fn finish(mut self) -> Update {
        wardgate_engine::order::sort_by(&mut self.refused, |a, b| a.position.cmp(&b.position));
        self.refused.dedup();
        let Some(text) = apply(&self.source.text, &self.edits).filter(|_| !self.edits.is_empty())
        else {
            return Update { refused: self.refused, ..Update::default() };
        };
        let changes = changes(&self.source.text, &self.edits);
        Update { text: Some(text), changes, refused: self.refused }
    }
}

/// Writes a word as the old one was written.
fn quoted(word: &str, old: &Kind) -> String {
    match old {
        Kind::String(_, Style::SingleQuoted) => format!("'{word}'"),
        Kind::String(_, Style::DoubleQuoted) => format!("\"{word}\""),
        _ => word.to_owned(),
    }
}

/// Returns the suite with another value at `offset`: several expectations share it through an
/// anchor.
fn with(suite: &Suite, offset: usize, value: &Value) -> Suite {
    let mut suite = suite.clone();
    for expectation in suite.tables.iter_mut().flat_map(|table| &mut table.expected) {
        for effect in expectation.effects.iter_mut().filter(|it| it.node.offset == offset) {
            if let Value::Effect(wanted) = value {
                effect.effect = *wanted;
            }
        }
        let entries = expectation.outputs.iter_mut().flat_map(|output| &mut output.entries);
        let is_here = |node: &Option<Node>| node.as_ref().is_some_and(|it| it.offset == offset);
        for entry in entries.filter(|entry| is_here(&entry.node)) {
            if let Value::Output(wanted) = value {
                entry.value = Some(wanted.clone());
            }
        }
    }
    suite
}

/// Returns the suite with another effect, wherever the same map of actions is read.
fn added(suite: &Suite, missing: &MissingAction<'_>) -> Suite {
    let mut suite = suite.clone();
    let last = missing.after.offset;
    for expectation in suite.tables.iter_mut().flat_map(|table| &mut table.expected) {
        let Some(copied) = expectation.effects.last().cloned() else { continue };
        if copied.node.offset == last {
            let action = missing.action.to_owned();
            let effect = Effect::Allow;
            expectation.effects.push(super::model::ExpectedEffect { action, effect, ..copied });
        }
    }
    suite
}

/// Returns the contents of a suite without its locations.
fn bare(suite: &Suite) -> String {
    let mut suite = suite.clone();
    let nowhere =
        Location { file: SourceFile::of("", ""), position: Position::START, path: Arc::from("") };
    edit::forget_locations(&mut suite, &nowhere);
    format!("{suite:?}")
}

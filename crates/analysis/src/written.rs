//! The rules of a policy as they stand in its file, and edits of them.
//!
//! What surrounds an edit stays byte for byte. No comment goes: where one stands beside a rule that would,
//! there is no edit. A caller compares the tree of the edited text with the one it has to be.

mod members;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use wardgate_compiler::expression::Style;
use wardgate_compiler::source::SourceFile;
use wardgate_compiler::yaml::{self, Kind, Node};
use wardgate_tooling::edit::{
    Edit, bracket, closed, item, json_key, key, line_end, line_start, newline,
};

use crate::proof::Refusal;
use members::{carry, import};

/// A change of the rules of one policy.
#[derive(Default)]
pub(crate) struct Change {
    /// The rules that go.
    pub(crate) removed: Vec<usize>,
    /// Rules, the keys of lists, and the names that are appended to them.
    pub(crate) extended: Vec<(usize, &'static str, Vec<String>)>,
    /// Rules whose roles and condition become a derived role.
    pub(crate) carried: Vec<(usize, String)>,
    /// The set of derived roles that is imported.
    pub(crate) import: Option<String>,
    pub(crate) edits: Vec<Edit>,
}

/// The rules of one policy in its file.
pub(crate) struct Written<'t> {
    text: &'t str,
    is_json: bool,
    document: Node,
    /// The keys that lead to the rules.
    keys: [&'static str; 2],
}

impl<'t> Written<'t> {
    /// Reads the list below two keys: `rules` of a policy, or `definitions` of a set.
    pub(crate) fn read(
        file: &'t Arc<SourceFile>,
        keys: [&'static str; 2],
    ) -> Result<Self, Refusal> {
        let contents = yaml::read(file);
        let Ok([document]) = <[Node; 1]>::try_from(contents.documents) else {
            return Err(Refusal::Layout);
        };
        let is_json = yaml::is_json(file);
        Ok(Self { text: &file.text, is_json, document, keys })
    }

    fn rules(&self) -> &[Node] {
        self.rules_node().map_or(&[], items)
    }

    fn rules_node(&self) -> Option<&Node> {
        self.keys.iter().try_fold(&self.document, |node, key| member(node, key))
    }

    /// Returns true if the author gave a rule this member.
    pub(crate) fn has(&self, rule: usize, key: &str) -> bool {
        self.list(rule, key).is_some()
    }

    fn list(&self, rule: usize, key: &str) -> Option<&Node> {
        member(self.rules().get(rule)?, key)
    }

    /// Returns the edit that removes a rule, which is not the first.
    pub(crate) fn removal(&self, rule: usize) -> Result<Edit, Refusal> {
        let rules = self.rules();
        let before = rule.checked_sub(1).and_then(|before| rules.get(before));
        let (Some(node), Some(before)) = (rules.get(rule), before) else {
            return Err(Refusal::Layout);
        };
        let end = |node: &Node| {
            let length = self.text.get(node.offset..).and_then(closed)?;
            node.offset.checked_add(length)
        };
        let range = match item(self.text, node.offset) {
            Some((range, column)) => self.lines(range.start, range.end, column)?,
            None => {
                let ends = end(before).zip(end(node)).filter(|(start, end)| start < end);
                let (start, end) = ends.ok_or(Refusal::Layout)?;
                start..end
            }
        };
        let removed = self.text.get(range.clone()).ok_or(Refusal::Layout)?;
        if has_comment(removed) {
            return Err(Refusal::Comment);
        }
        Ok(Edit { range, text: String::new() })
    }

    /// Returns the lines of an item, from the line end before them, with the blank lines before it unless another
    /// item follows at once.
    fn lines(&self, start: usize, end: usize, column: usize) -> Result<Range<usize>, Refusal> {
        let text = self.text;
        let (start, end) = (line_start(text, start), line_end(text, end));
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        let after = after.strip_prefix('\n').unwrap_or(after);
        let above = before.lines().next_back().unwrap_or_default();
        let below = after.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if is_comment(above) || is_comment(below) && indent(below) > column {
            return Err(Refusal::Comment);
        }
        let next = after.lines().next().unwrap_or_default();
        let item_follows = !next.trim().is_empty() && indent(next) >= column;
        let start = match item_follows {
            true => start.saturating_sub(1),
            false => line_end(text, before.trim_end().len()),
        };
        Ok(self.without_return(start)..self.without_return(end))
    }

    /// Returns the end of a line before a carriage return that ends it.
    fn without_return(&self, end: usize) -> usize {
        let before = self.text.get(..end).unwrap_or_default();
        before.strip_suffix('\r').map_or(end, str::len)
    }

    /// Returns the edit that appends names to a list of a rule.
    pub(crate) fn extension(
        &self,
        rule: usize,
        key: &str,
        names: &[String],
    ) -> Result<Edit, Refusal> {
        self.extended(self.list(rule, key).ok_or(Refusal::Layout)?, names)
    }

    fn extended(&self, list: &Node, names: &[String]) -> Result<Edit, Refusal> {
        let last = items(list).last().ok_or(Refusal::Layout)?;
        let names = names.iter().map(|name| self.written(name, last));
        // A list of lines without indentation begins with its first value, which may be quoted.
        let is_flow = self.text.get(list.offset..).is_some_and(|text| text.starts_with('['));
        if let Some((at, gap)) = bracket(self.text, list.offset).filter(|_| is_flow) {
            let before = self.text.get(list.offset..at).unwrap_or_default();
            if has_comment(before) {
                return Err(Refusal::Comment);
            }
            let ends_open = before.ends_with(',');
            let mut text = String::new();
            for (number, name) in names.enumerate() {
                text.push_str(if number == 0 && ends_open { "" } else { "," });
                text.push_str(&gap);
                text.push_str(&name);
            }
            return Ok(Edit { range: at..at, text });
        }
        let (range, column) = item(self.text, last.offset).ok_or(Refusal::Layout)?;
        let before = format!("{}{}- ", newline(self.text), " ".repeat(column));
        let text = names.map(|name| format!("{before}{name}")).collect();
        Ok(Edit { range: range.end..range.end, text })
    }

    /// Writes a name in the style of another one.
    fn written(&self, name: &str, like: &Node) -> String {
        let is_simple = !name.contains(|c: char| c.is_control());
        match like.kind {
            _ if self.is_json => json_key(name),
            Kind::String(_, Style::DoubleQuoted) => json_key(name),
            Kind::String(_, Style::SingleQuoted) if is_simple => {
                format!("'{}'", name.replace('\'', "''"))
            }
            _ => key(name),
        }
    }

    /// Returns the document as it has to be with some changes.
    pub(crate) fn expected(&self, changes: &[&Change]) -> Option<Node> {
        let mut document = self.document.clone();
        let rules = self.keys.iter().try_fold(&mut document, |node, key| member_mut(node, key))?;
        let Kind::Seq(rules) = &mut rules.kind else { return None };
        for (rule, key, names) in changes.iter().flat_map(|change| &change.extended) {
            let list = member_mut(rules.get_mut(*rule)?, key)?;
            let (position, offset) = (list.position, list.offset);
            let Kind::Seq(items) = &mut list.kind else { return None };
            items.extend(names.iter().map(|name| {
                let kind = Kind::String(name.as_str().into(), Style::Plain);
                Node { position, offset, kind }
            }));
        }
        for (rule, role) in changes.iter().flat_map(|change| &change.carried) {
            carry(rules.get_mut(*rule)?, role)?;
        }
        let removed: BTreeSet<usize> =
            changes.iter().flat_map(|change| &change.removed).copied().collect();
        let mut number = 0..;
        rules.retain(|_| number.next().is_none_or(|number: usize| !removed.contains(&number)));
        let body = member_mut(&mut document, self.keys[0])?;
        changes
            .iter()
            .filter_map(|change| change.import.as_ref())
            .try_for_each(|set| import(body, set))?;
        Some(document)
    }
}

/// Returns true if a text reads as one document that says the same as another.
pub(crate) fn reads_as(path: &str, text: &str, expected: &Node) -> bool {
    let Ok(file) = SourceFile::new(path, text.as_bytes()) else { return false };
    let contents = yaml::read(&file);
    let [document] = contents.documents.as_slice() else { return false };
    contents.errors.is_empty() && says_the_same(document, expected)
}

/// Returns true if two values differ in their places and styles only.
fn says_the_same(one: &Node, other: &Node) -> bool {
    match (&one.kind, &other.kind) {
        (Kind::String(one, _), Kind::String(other, _)) => one == other,
        (Kind::Seq(ours), Kind::Seq(theirs)) => {
            let pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len() && pairs.into_iter().all(|(a, b)| says_the_same(a, b))
        }
        (Kind::Map(ours), Kind::Map(theirs)) => {
            let mut pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len()
                && pairs.all(|(a, b)| {
                    says_the_same(&a.key, &b.key) && says_the_same(&a.value, &b.value)
                })
        }
        (one, other) => one == other,
    }
}

fn items(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::Seq(items) => items,
        _ => &[],
    }
}

fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &node.kind else { return None };
    let is_key = |kind: &Kind| matches!(kind, Kind::String(text, _) if **text == *key);
    entries.iter().find(|entry| is_key(&entry.key.kind)).map(|entry| &entry.value)
}

fn member_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Kind::Map(entries) = &mut node.kind else { return None };
    let is_key = |kind: &Kind| matches!(kind, Kind::String(text, _) if **text == *key);
    entries.iter_mut().find(|entry| is_key(&entry.key.kind)).map(|entry| &mut entry.value)
}

/// Returns true if a `#` in a text may begin a comment.
fn has_comment(text: &str) -> bool {
    let begins = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.is_empty() || before.ends_with([' ', '\t', '\n'])
    };
    text.match_indices('#').any(|(at, _)| begins(at))
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start_matches(' ').len())
}

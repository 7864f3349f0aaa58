//! Edits of the members of a rule and of a policy.

use std::ops::Range;

use wardgate_compiler::expression::Style;
use wardgate_compiler::yaml::{Entry, Kind, Node};
use wardgate_tooling::edit::{
    Edit, block_end, closed, item, json_key, key, line_end, line_start, newline,
};

use super::{Written, has_comment, is_comment, items, member, member_mut};
use crate::proof::Refusal;

impl Written<'_> {
    /// Returns the edits that give a rule a derived role in place of its roles and its condition.
    pub(crate) fn carriage(&self, rule: usize, role: &str) -> Result<[Edit; 2], Refusal> {
        let rule = self.rules().get(rule).ok_or(Refusal::Layout)?;
        let (roles, _) = entry(rule, "roles").ok_or(Refusal::Layout)?;
        let range = self.range(rule, roles)?;
        if self.text.get(range.clone()).is_none_or(has_comment) {
            return Err(Refusal::Comment);
        }
        let text = self.list_member("derivedRoles", role);
        Ok([Edit { range, text }, self.member_removal(rule, "condition")?])
    }

    /// Returns the edit that imports a set of derived roles; nothing if it is imported.
    pub(crate) fn import(&self, set: &str) -> Result<Option<Edit>, Refusal> {
        let body = member(&self.document, self.keys[0]).ok_or(Refusal::Layout)?;
        if let Some(imports) = member(body, IMPORT) {
            let is_set =
                |node: &Node| matches!(&node.kind, Kind::String(text, _) if **text == *set);
            if items(imports).iter().any(is_set) {
                return Ok(None);
            }
            return self.extended(imports, &[set.to_owned()]).map(Some);
        }
        let (resource, _) = entry(body, "resource").ok_or(Refusal::Layout)?;
        let start = line_start(self.text, resource.key.offset);
        let before = self.text.get(start..resource.key.offset).unwrap_or_default();
        let begins_line = before.trim().is_empty();
        let gap = format!("{}{before}", newline(self.text));
        let text = self.list_member(IMPORT, set);
        if self.is_flow(body) {
            let end = self.flow_end(&resource.value).ok_or(Refusal::Layout)?;
            let gap = if begins_line { gap.as_str() } else { " " };
            return Ok(Some(Edit { range: end..end, text: format!(",{gap}{text}") }));
        }
        if !begins_line {
            return Err(Refusal::Layout);
        }
        let end = self.without_return(line_end(self.text, resource.value.offset));
        Ok(Some(Edit { range: end..end, text: format!("{gap}{text}") }))
    }

    /// Returns the edit that appends an item to the list: its lines, or the same as JSON between brackets.
    pub(crate) fn appended(&self, lines: &[String], json: &str) -> Result<Edit, Refusal> {
        let list = self.rules_node().ok_or(Refusal::Layout)?;
        if self.text.get(list.offset..).is_some_and(|text| text.starts_with('[')) {
            let (at, gap) =
                wardgate_tooling::edit::bracket(self.text, list.offset).ok_or(Refusal::Layout)?;
            return Ok(Edit { range: at..at, text: format!(",{gap}{json}") });
        }
        let last = items(list).last().ok_or(Refusal::Layout)?;
        let (range, column) = item(self.text, last.offset).ok_or(Refusal::Layout)?;
        let indent = format!("{}{}", newline(self.text), " ".repeat(column));
        let text = lines.iter().map(|line| format!("{indent}{line}")).collect();
        Ok(Edit { range: range.end..range.end, text })
    }

    fn list_member(&self, name: &str, value: &str) -> String {
        match self.is_json {
            true => format!("{}: [{}]", json_key(name), json_key(value)),
            false => format!("{name}: [{}]", key(value)),
        }
    }

    fn is_flow(&self, node: &Node) -> bool {
        self.text.get(node.offset..).is_some_and(|text| text.starts_with(['{', '[']))
    }

    /// Returns the end of a value between brackets.
    fn flow_end(&self, value: &Node) -> Option<usize> {
        let rest = self.text.get(value.offset..)?;
        let length = match closed(rest) {
            Some(length) => length,
            None => rest.find([',', '}', '\n'])?,
        };
        let text = rest.get(..length)?.trim_end();
        value.offset.checked_add(text.len())
    }

    /// Returns the range of a member of a map, from its key to the end of its value.
    fn range(&self, map: &Node, entry: &Entry) -> Result<Range<usize>, Refusal> {
        let start = entry.key.offset;
        let end = match self.is_flow(map) {
            true => self.flow_end(&entry.value),
            false => self.block_end(entry),
        };
        end.filter(|end| *end > start).map(|end| start..end).ok_or(Refusal::Layout)
    }

    fn block_end(&self, entry: &Entry) -> Option<usize> {
        let start = entry.key.offset;
        match items(&entry.value).last() {
            // A list may begin in the column of its key.
            Some(last) if !self.is_flow(&entry.value) => {
                item(self.text, last.offset).map(|(range, _)| range.end)
            }
            _ => {
                let column = start.checked_sub(line_start(self.text, start))?;
                Some(block_end(self.text, start, Some(column)))
            }
        }
    }

    fn member_removal(&self, map: &Node, name: &str) -> Result<Edit, Refusal> {
        let (found, at) = entry(map, name).ok_or(Refusal::Layout)?;
        let range = self.range(map, found)?;
        let next = entries(map).get(at.saturating_add(1));
        let before = self.text.get(..range.start).unwrap_or_default();
        let range = match (at, next, self.is_flow(map)) {
            (0, Some(next), _) => range.start..next.key.offset,
            (0, None, _) => return Err(Refusal::Layout),
            (_, _, true) => {
                let before = before.trim_end();
                let comma = before.strip_suffix(',').ok_or(Refusal::Layout)?;
                comma.len()..range.end
            }
            (_, _, false) => {
                let start = line_start(self.text, range.start);
                let above = self.text.get(..start).unwrap_or_default();
                if above.lines().next_back().is_some_and(is_comment) {
                    return Err(Refusal::Comment);
                }
                let indent = self.text.get(start..range.start).unwrap_or_default();
                if !indent.trim().is_empty() || start == 0 {
                    return Err(Refusal::Layout);
                }
                self.without_return(start.saturating_sub(1))..range.end
            }
        };
        match self.text.get(range.clone()) {
            Some(removed) if !has_comment(removed) => Ok(Edit { range, text: String::new() }),
            _ => Err(Refusal::Comment),
        }
    }
}

/// Gives a rule a derived role in place of its roles and its condition.
pub(super) fn carry(rule: &mut Node, role: &str) -> Option<()> {
    let Kind::Map(entries) = &mut rule.kind else { return None };
    let name = |entry: &Entry| match &entry.key.kind {
        Kind::String(name, _) => name.to_string(),
        _ => String::new(),
    };
    entries.retain(|entry| name(entry) != "condition");
    let roles = entries.iter_mut().find(|entry| name(entry) == "roles")?;
    *roles = list_entry("derivedRoles", role, &roles.key);
    Some(())
}

/// Imports a set of derived roles.
pub(super) fn import(body: &mut Node, set: &str) -> Option<()> {
    if let Some(imports) = member_mut(body, IMPORT) {
        let like = Node { kind: Kind::Null, ..imports.clone() };
        let Kind::Seq(items) = &mut imports.kind else { return None };
        let is_set = |node: &Node| matches!(&node.kind, Kind::String(text, _) if **text == *set);
        if !items.iter().any(is_set) {
            items.push(Node { kind: Kind::String(set.into(), Style::Plain), ..like });
        }
        return Some(());
    }
    let (resource, at) = entry(body, "resource")?;
    let new = list_entry(IMPORT, set, &resource.key);
    let Kind::Map(entries) = &mut body.kind else { return None };
    entries.insert(at.saturating_add(1), new);
    Some(())
}

fn list_entry(name: &str, value: &str, like: &Node) -> Entry {
    let node = |kind| Node { kind, ..like.clone() };
    let text = |text: &str| node(Kind::String(text.into(), Style::Plain));
    Entry { key: text(name), value: node(Kind::Seq(vec![text(value)])) }
}

fn entries(map: &Node) -> &[Entry] {
    match &map.kind {
        Kind::Map(entries) => entries,
        _ => &[],
    }
}

/// Returns a member of a map, and its number.
fn entry<'n>(map: &'n Node, name: &str) -> Option<(&'n Entry, usize)> {
    let is_key =
        |entry: &Entry| matches!(&entry.key.kind, Kind::String(text, _) if **text == *name);
    let at = entries(map).iter().position(is_key)?;
    entries(map).get(at).map(|entry| (entry, at))
}

const IMPORT: &str = "importDerivedRoles";

//! Schemas in words that both tables share: equal words accept the same attributes.

use std::collections::BTreeMap;

use wardgate_engine::schema::{Keyword, NO_NODE, Node};
use wardgate_engine::table::layout::Key;
use wardgate_engine::table::{PolicyTable, Section, at, list, word};

use super::side::Shared;
use crate::logic::terms::number;

/// Returns all that the schemas of a kind and version say, by their string ids; `None` if there are none.
pub(super) fn describe(
    table: &PolicyTable,
    shared: &mut Shared,
    [kind, version]: [u32; 2],
) -> Option<Vec<u64>> {
    let record = table.find(Key::Schema, [kind, version, 0])?;
    let blocks = table.section(Section::Blocks);
    let record = blocks.get(at(record)..)?;
    let mut reader = Reader { table, shared, seen: BTreeMap::new(), out: Vec::new() };
    for part in [0, 2] {
        match word(record, part).checked_sub(1) {
            Some(node) => reader.node(node)?,
            None => reader.out.push(0),
        }
        let ignored = word(record, part + 1).checked_sub(1);
        for action in ignored.map_or(&[][..], |at| list(blocks, at)) {
            reader.text(*action);
        }
    }
    Some(reader.out)
}

struct Reader<'r> {
    table: &'r PolicyTable,
    shared: &'r mut Shared,
    /// The numbers of the nodes that were read, in their order.
    seen: BTreeMap<u32, u32>,
    out: Vec<u64>,
}

impl Reader<'_> {
    /// Describes a node, once. `None` if it cannot be read.
    fn node(&mut self, node: u32) -> Option<()> {
        if node == NO_NODE {
            self.out.push(1);
            return Some(());
        }
        let next = number(self.seen.len());
        if let Some(known) = self.seen.get(&node) {
            self.out.push(1 << 32 | u64::from(*known));
            return Some(());
        }
        self.seen.insert(node, next);
        self.out.push(2);
        let table = self.table;
        for (keyword, words) in Node::at(table.section(Section::Schemas), node)?.keywords() {
            let keyword = keyword?;
            self.out.extend([3 << 32 | u64::from(keyword.code()), length(words)]);
            let (first, rest) = shape(keyword);
            let shape = first.chars().chain(rest.chars().cycle());
            for (word, what) in words.iter().zip(shape) {
                match what {
                    'n' => self.node(*word)?,
                    't' => self.text(*word),
                    'c' => self.constant(*word)?,
                    _ => self.out.push(u64::from(*word)),
                }
            }
        }
        Some(())
    }

    fn text(&mut self, id: u32) {
        let text = self.shared.terms.text(self.table.string(id));
        self.out.push(4 << 32 | u64::from(text));
    }

    fn constant(&mut self, id: u32) -> Option<()> {
        let term = self.shared.terms.constant(&self.table.pool(), id)?;
        self.out.push(5 << 32 | u64::from(term));
        Some(())
    }
}

/// Returns what the words of a keyword are, and those that repeat behind them: a node, a text, a
/// constant, or a plain word.
const fn shape(keyword: Keyword) -> (&'static str, &'static str) {
    match keyword {
        Keyword::Type => ("wt", "w"),
        Keyword::Const | Keyword::Enum => ("t", "c"),
        Keyword::Format | Keyword::Required | Keyword::DependentRequired => ("", "t"),
        Keyword::Properties | Keyword::DependentSchemas => ("", "tn"),
        Keyword::PatternProperties => ("", "cn"),
        Keyword::Items | Keyword::Contains => ("n", "w"),
        Keyword::Pattern => ("ct", "w"),
        Keyword::PropertyNames
        | Keyword::AdditionalProperties
        | Keyword::PrefixItems
        | Keyword::Ref
        | Keyword::Not
        | Keyword::AllOf
        | Keyword::AnyOf
        | Keyword::OneOf
        | Keyword::If
        | Keyword::UnevaluatedProperties
        | Keyword::UnevaluatedItems => ("", "n"),
        _ => ("", "w"),
    }
}

fn length(words: &[u32]) -> u64 {
    u64::from(number(words.len()))
}

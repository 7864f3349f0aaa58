//! Keywords about a value of any type: which types it may have, and which constants it may be.

use wardgate_engine::cel::pool::ConstTag;
use wardgate_engine::schema::{Keyword, keyword, quoted};

use super::super::{SchemaFile, text};
use super::read::{double, list, word, wrong};
use super::{Answer, Clauses, KeywordEntry, Reader, one};
use crate::pool::PoolBuilder;
use crate::words::index;
use crate::yaml::{Kind, Node};

impl Reader<'_, '_> {
    pub(super) fn of_values(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let value = keyword.value;
        match keyword.name {
            "type" => one(Keyword::Type, self.types(value)?),
            "const" if keyword.draft >= 6 => {
                one(Keyword::Const, self.constants(std::slice::from_ref(value), "const failed")?)
            }
            "enum" => one(Keyword::Enum, self.constants(list(value)?, "enum failed")?),
            "format" => one(Keyword::Format, vec![self.pool.string(word(value)?)]),
            _ => Ok(None),
        }
    }

    fn types(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let items = match &value.kind {
            Kind::String(..) => std::slice::from_ref(value),
            Kind::Seq(items) => items.as_slice(),
            _ => return Err(wrong(value, "a type, or a list of types")),
        };
        let mut mask = 0;
        let mut names = Vec::new();
        for item in items {
            let name = word(item)?;
            let known = TYPES.iter().find(|(known, _)| *known == name);
            let expected =
                "one of `null`, `boolean`, `number`, `integer`, `string`, `array` and `object`";
            mask |= known.ok_or_else(|| wrong(item, expected))?.1;
            names.push(name);
        }
        Ok(vec![mask, self.pool.string(&names.join(" or "))])
    }

    /// Returns the message and the constants. The message lists the values unless one of them is a
    /// list or an object.
    fn constants(&mut self, items: &[Node], otherwise: &str) -> Answer<Vec<u32>> {
        let shown: Option<Vec<String>> = items.iter().map(|item| shown(self.file, item)).collect();
        let message = match shown.as_deref() {
            None => otherwise.to_owned(),
            Some([one]) => format!("value must be {one}"),
            Some(many) => format!("value must be one of {}", many.join(", ")),
        };
        let mut words = vec![self.pool.string(&message)];
        words.extend(items.iter().map(|item| constant(self.pool, item)));
        Ok(words)
    }
}

/// Interns a JSON value; the entries of objects are sorted, as those of attributes are.
fn constant(pool: &mut PoolBuilder, node: &Node) -> u32 {
    match &node.kind {
        Kind::Null => pool.constant(ConstTag::Null, &[]),
        Kind::Bool(false) => pool.constant(ConstTag::False, &[]),
        Kind::Bool(true) => pool.constant(ConstTag::True, &[]),
        Kind::Integer(_) | Kind::Float(_) => {
            let words = double(node).unwrap_or_default();
            pool.constant(ConstTag::Double, &words)
        }
        Kind::String(text, _) => {
            let id = pool.string(text);
            pool.constant(ConstTag::String, &[id])
        }
        Kind::Seq(items) => {
            let mut words = vec![index(items.len())];
            words.extend(items.iter().map(|item| constant(pool, item)).collect::<Vec<_>>());
            pool.constant(ConstTag::List, &words)
        }
        Kind::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            wardgate_engine::order::sort_by(&mut entries, |a, b| text(&a.key).cmp(&text(&b.key)));
            let mut words = vec![index(entries.len())];
            for entry in entries {
                words.extend([constant(pool, &entry.key), constant(pool, &entry.value)]);
            }
            pool.constant(ConstTag::Map, &words)
        }
    }
}

/// Returns a value of `const` or `enum` as a message shows it: in Go's notation, numbers as they
/// are written.
fn shown(file: &SchemaFile, node: &Node) -> Option<String> {
    Some(match &node.kind {
        Kind::Null => "<nil>".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::String(text, _) => quoted(text, '"'),
        Kind::Integer(_) | Kind::Float(_) => {
            let written = file.source.text.get(node.offset..).unwrap_or_default();
            let end = written
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
            quoted(written.get(..end.unwrap_or(written.len())).unwrap_or_default(), '"')
        }
        Kind::Seq(_) | Kind::Map(_) => return None,
    })
}

const TYPES: [(&str, u32); 7] = [
    ("null", keyword::NULL),
    ("boolean", keyword::BOOLEAN),
    ("number", keyword::NUMBER),
    ("integer", keyword::INTEGER),
    ("string", keyword::STRING),
    ("array", keyword::ARRAY),
    ("object", keyword::OBJECT),
];

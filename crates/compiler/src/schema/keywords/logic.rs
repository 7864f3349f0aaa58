//! Keywords that lead to other schemas: references, and combinations of schemas.

use wardgate_engine::schema::{Keyword, NO_NODE};

use super::super::{Fault, Target, Unavailable, field, location, missing, text};
use super::read::{unsupported, word};
use super::{Answer, Clauses, KeywordEntry, Reader, one};
use crate::yaml::{Kind, Node};

impl Reader<'_, '_> {
    pub(super) fn of_logic(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { draft, schema, name, .. } = *keyword;
        match name {
            "not" => one(Keyword::Not, vec![self.child(&[name])]),
            "allOf" => one(Keyword::AllOf, self.schema_list(name, keyword.value)?),
            "anyOf" => one(Keyword::AnyOf, self.schema_list(name, keyword.value)?),
            "oneOf" => one(Keyword::OneOf, self.schema_list(name, keyword.value)?),
            "if" if draft >= 7 => {
                let condition = self.child(&[name]);
                let branches = ["then", "else"].map(|name| self.optional(schema, name));
                one(Keyword::If, [condition].into_iter().chain(branches).collect())
            }
            _ => Ok(None),
        }
    }

    pub(super) fn of_references(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { draft, name, value, .. } = *keyword;
        match name {
            "$ref" => {
                let target = self.reference(value)?;
                one(Keyword::Ref, vec![self.writer.node(target)])
            }
            "$dynamicRef" if draft >= 2020 => {
                one(Keyword::Ref, vec![self.dynamic_reference(value)?])
            }
            "$recursiveRef" if draft == 2019 => {
                one(Keyword::Ref, vec![self.dynamic_reference(value)?])
            }
            "$vocabulary" if draft >= 2019 => Err(unsupported(value, name)),
            _ => Ok(None),
        }
    }

    fn optional(&mut self, node: &Node, name: &str) -> u32 {
        field(node, name).map_or(NO_NODE, |_| self.child(&[name]))
    }

    fn reference(&mut self, value: &Node) -> Answer<Target> {
        let there = |fault| Fault { at: value.position, ..fault };
        let found = self.target.follow(self.file, word(value)?).map_err(there)?;
        match self.writer.file(found.file()) {
            Ok(file) => found.find(&file).map_err(there),
            Err(Unavailable::Missing) => Err(there(missing(found.file()))),
            // Errors in the file are reported where its schemas are written.
            Err(Unavailable::Broken(_)) => Ok(found.root()),
        }
    }

    /// Returns the node of a dynamic reference, which a schema on the way to it may lead elsewhere,
    /// if it declares the same name.
    fn dynamic_reference(&mut self, value: &Node) -> Answer<u32> {
        let target = self.reference(value)?;
        let name = word(value)?.split_once('#').map_or("", |(_, fragment)| fragment);
        if let Ok(file) = self.writer.file(&target.file) {
            let schema = target.find(&file.root);
            let declares = |keyword| schema.and_then(|schema| field(schema, keyword));
            let is_dynamic = declares("$dynamicAnchor").and_then(text) == Some(name);
            let is_recursive = declares("$recursiveAnchor")
                .is_some_and(|flag| flag.kind == Kind::Bool(true) && name.is_empty());
            if is_dynamic || is_recursive {
                let location = location(self.file, self.target, value.position);
                if self.writer.dynamic.iter().all(|(known, _)| known != name) {
                    self.writer.dynamic.push((name.to_owned(), location));
                }
            }
        }
        Ok(self.writer.node(target))
    }
}

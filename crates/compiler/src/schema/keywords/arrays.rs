//! Keywords about arrays.

use wardgate_engine::schema::Keyword;

use super::super::field;
use super::read::{count, flag, list, wrong};
use super::{Answer, Clauses, KeywordEntry, Reader, one};
use crate::words::index;
use crate::yaml::{Kind, Node};

impl Reader<'_, '_> {
    pub(super) fn of_arrays(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { draft, schema, name, value } = *keyword;
        match name {
            "minItems" => one(Keyword::MinItems, vec![count(value)?]),
            "maxItems" => one(Keyword::MaxItems, vec![count(value)?]),
            "uniqueItems" => {
                let unique = flag(value)?.then(|| (Keyword::UniqueItems, Vec::new()));
                Ok(Some(unique.into_iter().collect()))
            }
            "prefixItems" if draft >= 2020 => {
                one(Keyword::PrefixItems, self.schema_list(name, value)?)
            }
            "items" => self.items(draft, schema, value).map(Some),
            "contains" if draft >= 6 => one(Keyword::Contains, self.contains(draft, schema)?),
            "unevaluatedItems" if draft >= 2019 => {
                one(Keyword::UnevaluatedItems, vec![self.child(&[name])])
            }
            _ => Ok(None),
        }
    }

    fn items(&mut self, draft: u32, node: &Node, value: &Node) -> Answer<Clauses> {
        let Kind::Seq(items) = &value.kind else {
            let prefix = field(node, "prefixItems").filter(|_| draft >= 2020);
            let skipped = prefix.map_or(Ok(0), |prefix| list(prefix).map(<[Node]>::len))?;
            return Ok(vec![(Keyword::Items, vec![self.child(&["items"]), index(skipped)])]);
        };
        if draft >= 2020 {
            return Err(wrong(value, "a schema; a list of them is `prefixItems` in this draft"));
        }
        let mut clauses = vec![(Keyword::PrefixItems, self.schema_list("items", value)?)];
        match field(node, "additionalItems").map(|more| &more.kind) {
            None => {}
            Some(Kind::Bool(true)) if draft < 2019 => {}
            Some(Kind::Bool(false)) => {
                clauses.push((Keyword::NoMoreItems, vec![index(items.len())]))
            }
            Some(_) => clauses
                .push((Keyword::Items, vec![self.child(&["additionalItems"]), index(items.len())])),
        }
        Ok(clauses)
    }

    fn contains(&mut self, draft: u32, node: &Node) -> Answer<Vec<u32>> {
        let limit = |name, default| match field(node, name) {
            Some(value) if draft >= 2019 => count(value),
            _ => Ok(default),
        };
        let (least, most) = (limit("minContains", 1)?, limit("maxContains", u32::MAX)?);
        // Before, an item that `contains` looked at was not evaluated by that.
        let evaluates = (draft >= 2020).then_some(1);
        Ok([self.child(&["contains"]), least, most].into_iter().chain(evaluates).collect())
    }
}

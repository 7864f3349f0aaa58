//! Keywords about objects.

use wardgate_engine::schema::{Keyword, NO_NODE};

use super::read::{count, entries, word};
use super::{Answer, Clauses, KeywordEntry, Reader, one};
use crate::yaml::{Kind, Node};

impl Reader<'_, '_> {
    pub(super) fn of_objects(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { draft, name, value, .. } = *keyword;
        match name {
            "minProperties" => one(Keyword::MinProperties, vec![count(value)?]),
            "maxProperties" => one(Keyword::MaxProperties, vec![count(value)?]),
            "required" => one(Keyword::Required, self.words(value)?),
            "properties" => one(Keyword::Properties, self.named(name, value)?),
            "propertyNames" if draft >= 6 => one(Keyword::PropertyNames, vec![self.child(&[name])]),
            "patternProperties" => one(Keyword::PatternProperties, self.pattern_properties(value)?),
            "additionalProperties" => one(
                Keyword::AdditionalProperties,
                vec![match value.kind {
                    Kind::Bool(false) => NO_NODE,
                    _ => self.child(&[name]),
                }],
            ),
            "unevaluatedProperties" if draft >= 2019 => {
                one(Keyword::UnevaluatedProperties, vec![self.child(&[name])])
            }
            "dependentRequired" if draft >= 2019 => {
                one(Keyword::DependentRequired, self.dependent_required(value)?)
            }
            "dependentSchemas" if draft >= 2019 => {
                one(Keyword::DependentSchemas, self.named(name, value)?)
            }
            "dependencies" => self.dependencies(value).map(Some),
            _ => Ok(None),
        }
    }

    fn named(&mut self, keyword: &str, value: &Node) -> Answer<Vec<u32>> {
        let mut names =
            entries(value)?.iter().map(|entry| word(&entry.key)).collect::<Answer<Vec<_>>>()?;
        wardgate_engine::order::sort_by(&mut names, Ord::cmp);
        Ok(names
            .iter()
            .flat_map(|name| [self.pool.string(name), self.child(&[keyword, name])])
            .collect())
    }

    fn pattern_properties(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let mut words = Vec::new();
        for entry in entries(value)? {
            let pattern = self.pattern(&entry.key)?;
            words.extend([pattern, self.child(&["patternProperties", word(&entry.key)?])]);
        }
        Ok(words)
    }

    fn dependent_required(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let mut words = Vec::new();
        for entry in entries(value)? {
            let name = self.pool.string(word(&entry.key)?);
            words.extend(self.words(&entry.value)?.into_iter().flat_map(|wanted| [name, wanted]));
        }
        Ok(words)
    }

    /// Reads `dependencies` of the older drafts, which is both keywords that replaced it.
    fn dependencies(&mut self, value: &Node) -> Answer<Clauses> {
        let (mut required, mut schemas) = (Vec::new(), Vec::new());
        for entry in entries(value)? {
            let key = word(&entry.key)?;
            let name = self.pool.string(key);
            if matches!(entry.value.kind, Kind::Seq(_)) {
                required.extend(
                    self.words(&entry.value)?.into_iter().flat_map(|wanted| [name, wanted]),
                );
            } else {
                schemas.extend([name, self.child(&["dependencies", key])]);
            }
        }
        Ok(vec![(Keyword::DependentRequired, required), (Keyword::DependentSchemas, schemas)])
    }
}

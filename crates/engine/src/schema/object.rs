//! The keywords for objects.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NO_NODE;
use super::keyword::Keyword;
use super::text::quoted;
use super::value::Json;
use super::walk::{Clause, Done, EVERYTHING, Walk};
use crate::attr::AttrMap;
use crate::text::joined;

impl<'a> Walk<'a> {
    pub(super) fn object(
        &mut self,
        clause: Clause<'a, '_>,
        keyword: Keyword,
        map: &AttrMap,
    ) -> Done {
        let count = map.entries().len();
        match keyword {
            Keyword::MinProperties => self.at_least(clause, count, |limit| {
                format!("minimum {limit} properties allowed, but found {count} properties")
            }),
            Keyword::MaxProperties => self.at_most(clause, count, |limit| {
                format!("maximum {limit} properties allowed, but found {count} properties")
            }),
            Keyword::Required => self.required(clause, map),
            Keyword::Properties => self.properties(clause, map),
            Keyword::PropertyNames => map.entries().iter().try_for_each(|(name, _)| {
                self.inside(name, |walk| {
                    walk.node(clause.first()?, Json::String(name), clause.depth + 1)
                })
            }),
            Keyword::PatternProperties => self.pattern_properties(clause, map),
            Keyword::AdditionalProperties | Keyword::UnevaluatedProperties => {
                self.other_properties(clause, map)
            }
            Keyword::DependentRequired => self.dependent_required(clause, map),
            Keyword::DependentSchemas => clause.pairs().try_for_each(|(name, id)| {
                match map.get(self.schemas.pool.string(name)?) {
                    Some(_) => self.in_place(id, clause).map(drop),
                    None => Some(()),
                }
            }),
            _ => Some(()),
        }
    }

    fn required(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        let mut missing = Vec::new();
        for id in clause.words {
            self.step()?;
            let name = self.schemas.pool.string(*id)?;
            if map.get(name).is_none() {
                missing.push(quoted(name, '\''));
            }
        }
        self.report_if(!missing.is_empty(), || {
            format!("missing properties: {}", joined(&mut missing.iter().map(String::as_str), ", "))
        })
    }

    fn properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        clause.pairs().try_for_each(|(name, id)| {
            self.step()?;
            let name = self.schemas.pool.string(name)?;
            let Some(at) = map.position(name) else { return Some(()) };
            let (_, value) = map.entries().get(at)?;
            self.evaluated.push(u32::try_from(at).ok()?);
            self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))
        })
    }

    fn pattern_properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        for (pattern, id) in clause.pairs() {
            for (at, (name, value)) in map.entries().iter().enumerate() {
                if self.matches(pattern, name)? {
                    self.evaluated.push(u32::try_from(at).ok()?);
                    self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))?;
                }
            }
        }
        Some(())
    }

    /// Checks the properties that are not evaluated so far: at `additionalProperties`, only
    /// `properties` and `patternProperties` were.
    fn other_properties(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        let id = clause.first()?;
        let mut refused = Vec::new();
        for (at, (name, value)) in map.entries().iter().enumerate() {
            self.step()?;
            if self.is_evaluated(clause, u32::try_from(at).ok()?)? {
                continue;
            }
            if id == NO_NODE {
                refused.push(quoted(name, '\''));
            } else {
                self.inside(name, |walk| walk.node(id, value.into(), clause.depth + 1))?;
            }
        }
        self.evaluated.push(EVERYTHING);
        self.report_if(!refused.is_empty(), || {
            format!(
                "additionalProperties {} not allowed",
                joined(&mut refused.iter().map(String::as_str), ", ")
            )
        })
    }

    fn dependent_required(&mut self, clause: Clause<'a, '_>, map: &AttrMap) -> Done {
        clause.pairs().try_for_each(|(name, wanted)| {
            self.step()?;
            let (name, wanted) =
                (self.schemas.pool.string(name)?, self.schemas.pool.string(wanted)?);
            self.report_if(map.get(name).is_some() && map.get(wanted).is_none(), || {
                let (name, wanted) = (quoted(name, '\''), quoted(wanted, '\''));
                format!("property {wanted} is required, if {name} property exists")
            })
        })
    }
}

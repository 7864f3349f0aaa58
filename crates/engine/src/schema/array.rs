//! The keywords for arrays.

use alloc::format;
use alloc::string::ToString;

use super::keyword::Keyword;
use super::walk::{Clause, Done, EVERYTHING, Walk};
use crate::attr::Attr;

impl<'a> Walk<'a> {
    pub(super) fn array(
        &mut self,
        clause: Clause<'a, '_>,
        keyword: Keyword,
        items: &[Attr],
    ) -> Done {
        let count = items.len();
        match keyword {
            Keyword::MinItems => self.at_least(clause, count, |limit| {
                format!("minimum {limit} items required, but found {count} items")
            }),
            Keyword::MaxItems => self.at_most(clause, count, |limit| {
                format!("maximum {limit} items required, but found {count} items")
            }),
            Keyword::UniqueItems => self.unique(items),
            Keyword::PrefixItems => {
                clause.words.iter().zip(items).enumerate().try_for_each(|(at, (id, item))| {
                    self.evaluated.push(u32::try_from(at).ok()?);
                    self.inside(&at.to_string(), |walk| {
                        walk.node(*id, item.into(), clause.depth + 1)
                    })
                })
            }
            Keyword::Items => {
                let [id, skipped] = clause.words else { return None };
                let skipped = usize::try_from(*skipped).ok()?;
                items.iter().enumerate().skip(skipped).try_for_each(|(at, item)| {
                    self.inside(&at.to_string(), |walk| {
                        walk.node(*id, item.into(), clause.depth + 1)
                    })
                })?;
                self.evaluated.push(EVERYTHING);
                Some(())
            }
            Keyword::UnevaluatedItems => self.other_items(clause, items),
            Keyword::NoMoreItems => self.at_most(clause, count, |limit| {
                format!("only {limit} items are allowed, but found {count} items")
            }),
            Keyword::Contains => self.contains(clause, items),
            _ => Some(()),
        }
    }

    fn unique(&mut self, items: &[Attr]) -> Done {
        for (second, b) in items.iter().enumerate() {
            for (first, a) in items.iter().take(second).enumerate() {
                if self.is_same(a, b, 0)? {
                    return self.report(format!("items at index {first} and {second} are equal"));
                }
            }
        }
        Some(())
    }

    fn other_items(&mut self, clause: Clause<'a, '_>, items: &[Attr]) -> Done {
        let id = clause.first()?;
        for (at, item) in items.iter().enumerate() {
            if !self.is_evaluated(clause, u32::try_from(at).ok()?)? {
                self.inside(&at.to_string(), |walk| walk.node(id, item.into(), clause.depth + 1))?;
            }
        }
        self.evaluated.push(EVERYTHING);
        Some(())
    }

    fn contains(&mut self, clause: Clause<'a, '_>, items: &[Attr]) -> Done {
        let [id, least, most, evaluates @ ..] = clause.words else { return None };
        let before = self.found.len();
        let mut matched = 0_u32;
        for (at, item) in items.iter().enumerate() {
            let errors = self.found.len();
            self.inside(&at.to_string(), |walk| walk.node(*id, item.into(), clause.depth + 1))?;
            let matches = self.found.len() == errors;
            matched = matched.saturating_add(matches.into());
            if matches && !evaluates.is_empty() {
                self.evaluated.push(u32::try_from(at).ok()?);
            }
        }
        if matched >= *least {
            self.found.truncate(before);
        } else if self.found.len() == before {
            self.report(format!("valid must be >= {least}, but got {matched}"))?;
        }
        self.report_if(matched > *most, || format!("valid must be <= {most}, but got {matched}"))
    }
}

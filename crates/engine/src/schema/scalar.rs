//! The keywords for strings and numbers.

use alloc::format;

use super::keyword::Keyword;
use super::text::quoted;
use super::walk::{Clause, Done, Walk};
use super::{format, number};

impl<'a> Walk<'a> {
    pub(super) fn format(&mut self, clause: Clause<'a, '_>, text: &str) -> Done {
        let name = self.schemas.pool.string(clause.first()?)?;
        self.spend(text.len())?;
        self.report_if(!format::is_valid(name, text), || {
            format!("{} is not valid {}", quoted(text, '\''), quoted(name, '\''))
        })
    }

    pub(super) fn string(&mut self, clause: Clause<'a, '_>, keyword: Keyword, text: &str) -> Done {
        let length = text.chars().count();
        self.spend(text.len())?;
        match keyword {
            Keyword::MinLength => self.at_least(clause, length, |limit| {
                format!("length must be >= {limit}, but got {length}")
            }),
            Keyword::MaxLength => self.at_most(clause, length, |limit| {
                format!("length must be <= {limit}, but got {length}")
            }),
            Keyword::Pattern => {
                let [pattern, source] = clause.words else { return None };
                let matches = self.matches(*pattern, text)?;
                let source = self.schemas.pool.string(*source)?;
                self.report_if(!matches, || {
                    format!("does not match pattern {}", quoted(source, '\''))
                })
            }
            _ => Some(()),
        }
    }

    pub(super) fn number(&mut self, clause: Clause<'a, '_>, keyword: Keyword, value: f64) -> Done {
        let bound = || number::from_words(clause.words);
        let (relation, broken) = match keyword {
            Keyword::Minimum => (">=", value < bound()?),
            Keyword::ExclusiveMinimum => (">", value <= bound()?),
            Keyword::Maximum => ("<=", value > bound()?),
            Keyword::ExclusiveMaximum => ("<", value >= bound()?),
            Keyword::MultipleOf => {
                let factor = bound()?;
                return self.report_if(!number::is_multiple(value, factor), || {
                    format!("{} not multipleOf {}", number::text(value), number::text(factor))
                });
            }
            _ => return Some(()),
        };
        let limit = bound()?;
        self.report_if(broken, || {
            format!("must be {relation} {} but found {}", number::text(limit), number::text(value))
        })
    }
}

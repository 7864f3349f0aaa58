//! The keywords for strings and numbers.

use alloc::format;
use alloc::string::ToString;

use super::keyword::Keyword;
use super::text::quoted;
use super::walk::{Clause, Done, Walk};
use super::{format, number};
use crate::cel::functions::encoders::is_base64;
use crate::regex::{Ascii, ErrorKind, compile_paying};

impl<'a> Walk<'a> {
    pub(super) fn format(&mut self, clause: Clause<'a, '_>, text: &str) -> Done {
        let name = self.schemas.pool.string(clause.first()?)?;
        self.spend(text.len())?;
        let valid = match name {
            "regex" => self.is_regex(text)?,
            _ => format::is_valid(name, text),
        };
        self.report_if(!valid, || {
            format!("{} is not valid {}", quoted(text, '\''), quoted(name, '\''))
        })
    }

    /// Returns true if `text` is a regular expression. One that needs tables of Unicode, which only
    /// the compiler has, counts as valid.
    fn is_regex(&mut self, text: &str) -> Option<bool> {
        let fault = compile_paying(text, &Ascii, &mut self.steps).err();
        self.step()?;
        Some(fault.is_none_or(|fault| fault.kind == ErrorKind::NotAtRunTime))
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
            Keyword::Base64 => {
                self.report_if(!is_base64(text), || "value is not base64 encoded".to_string())
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

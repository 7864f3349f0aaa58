//! Keywords about texts, their encoded content, and numbers.

use wardgate_engine::schema::Keyword;

use super::super::{field, text};
use super::read::{count, double, is_flag, unsupported, word};
use super::{Answer, Clauses, KeywordEntry, Reader, one};
use crate::yaml::{Kind, Node};

impl Reader<'_, '_> {
    pub(super) fn of_texts(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { draft, schema, name, value } = *keyword;
        match name {
            "minLength" => one(Keyword::MinLength, vec![count(value)?]),
            "maxLength" => one(Keyword::MaxLength, vec![count(value)?]),
            "pattern" => {
                one(Keyword::Pattern, vec![self.pattern(value)?, self.pool.string(word(value)?)])
            }
            "contentEncoding" if draft >= 7 && word(value)? == BASE64 => {
                one(Keyword::Base64, Vec::new())
            }
            "contentMediaType" if draft >= 7 && word(value)? == JSON && is_decoded(schema) => {
                Err(unsupported(value, name))
            }
            "contentSchema" if draft >= 7 && is_decoded(schema) && has_content(schema) => {
                Err(unsupported(value, name))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn of_numbers(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Option<Clauses>> {
        let KeywordEntry { schema, value, .. } = *keyword;
        match keyword.name {
            "minimum" => one(
                bound(schema, "exclusiveMinimum", Keyword::Minimum, Keyword::ExclusiveMinimum),
                double(value)?,
            ),
            "maximum" => one(
                bound(schema, "exclusiveMaximum", Keyword::Maximum, Keyword::ExclusiveMaximum),
                double(value)?,
            ),
            "exclusiveMinimum" if !is_flag(value) => one(Keyword::ExclusiveMinimum, double(value)?),
            "exclusiveMaximum" if !is_flag(value) => one(Keyword::ExclusiveMaximum, double(value)?),
            "multipleOf" => one(Keyword::MultipleOf, double(value)?),
            _ => Ok(None),
        }
    }
}

/// Returns a bound. `minimum` means the exclusive bound if draft 4's flag is set.
fn bound(node: &Node, flag: &str, inclusive: Keyword, exclusive: Keyword) -> Keyword {
    match field(node, flag).map(|flag| &flag.kind) {
        Some(Kind::Bool(true)) => exclusive,
        _ => inclusive,
    }
}

/// Returns true if Cerbos can read the content of a text: it knows one encoding, and ignores any
/// other.
fn is_decoded(node: &Node) -> bool {
    field(node, "contentEncoding").and_then(text).is_none_or(|encoding| encoding == BASE64)
}

/// Returns true if a text has content that Cerbos checks.
fn has_content(node: &Node) -> bool {
    let named = |name| field(node, name).and_then(text);
    let media_type = named("contentMediaType");
    media_type == Some(JSON) || (media_type.is_some() && named("contentEncoding").is_some())
}

const BASE64: &str = "base64";
const JSON: &str = "application/json";

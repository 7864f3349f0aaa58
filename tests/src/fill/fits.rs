//! Flat schemas, by the plain meaning of their terms.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::layout::test::MAX_TEXT;
use wardgate_fastpath::{Term, schema, word};

/// Returns true if attributes have all terms of a schema for certain.
pub(super) fn fits(table: &PolicyTable, terms: &[Term], attributes: &AttrMap) -> bool {
    let name = |term: &Term| table.string(term[0].saturating_sub(1));
    let is_value = |term: &Term, value: &Attr| match (schema::form(term[1])[0], value) {
        (schema::EQUAL, value) => *value == constant(table, term[2]),
        (_, value) => *value == Attr::Number(schema::signed(term[2]).into()),
    };
    let is_choice = |term: &&Term| {
        matches!(schema::form(term[1])[0], schema::EQUAL | schema::EQUAL_NUMBER)
    };
    terms.iter().all(|term| {
        let [form, bits] = schema::form(term[1]);
        let names = || attributes.entries().iter().map(|(name, _)| &**name);
        let value = attributes.get(name(term));
        match (form, value) {
            (schema::CLOSED, _) => {
                names().all(|known| terms.iter().any(|term| term[0] != 0 && name(term) == known))
            }
            (schema::COUNTED, _) => {
                names().count() <= schema::MAX_ATTRIBUTES
                    && names().all(|name| name.len() <= schema::MAX_NAME)
            }
            (schema::TYPES, None) => bits & schema::REQUIRED == 0,
            (_, None) => true,
            (schema::TYPES, Some(value)) => bits & types(value) != 0,
            (schema::EQUAL | schema::EQUAL_NUMBER, Some(value)) => {
                let choices = terms.iter().filter(|other| other[0] == term[0]).filter(is_choice);
                choices.into_iter().any(|other| is_value(other, value))
            }
            (form, Some(value)) => is_within(form, schema::signed(term[2]), value),
        }
    })
}

fn constant(table: &PolicyTable, word: u32) -> Attr {
    match word {
        word::NULL => Attr::Null,
        word::FALSE | word::TRUE => Attr::Bool(word == word::TRUE),
        word => Attr::String(table.string(word - word::FIRST_STRING).into()),
    }
}

fn types(value: &Attr) -> u32 {
    match value {
        Attr::Null => 1,
        Attr::Bool(_) => 2,
        Attr::Number(number) if !number.is_finite() => 0,
        Attr::Number(number) if number.fract() == 0.0 => 12,
        Attr::Number(_) => 4,
        Attr::String(text) if text.len() <= MAX_TEXT => 16,
        Attr::String(_) | Attr::List(_) | Attr::Map(_) => 0,
    }
}

fn is_within(form: u32, bound: i32, value: &Attr) -> bool {
    let length = |text: &str| i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    match (form, value) {
        (schema::MINIMUM, Attr::Number(number)) => *number >= bound.into(),
        (schema::MAXIMUM, Attr::Number(number)) => *number <= bound.into(),
        (schema::MIN_LENGTH, Attr::String(text)) => length(text) >= bound,
        (schema::MAX_LENGTH, Attr::String(text)) => length(text) <= bound,
        _ => true,
    }
}

//! Charges in words, for a host that has the words of the limits and computes with the values itself.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::session::Session;
use super::super::verdict::Verdict;
use crate::cel::Value;
use crate::codes::codes;
use crate::decision::Effect;

/// The limits that the actions of a decision meet, in words.
///
/// For each distinct action, in its order: for each limit its number plus one and the string id of its
/// name, then four words for each value: a [`Kind`], the program, and two of the value; the last value
/// is followed by 0. The limits of an action are followed by 0 too, or by [`UNKNOWN`] if the steps did
/// not suffice to find them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodedCharges {
    /// The words.
    pub words: Vec<u32>,
    /// The texts, one after the other.
    pub text: String,
}

/// The word behind an action whose limits are unknown.
pub const UNKNOWN: u32 = u32::MAX;

codes! {
    /// The kind of a value, and its own two words.
    pub enum Kind {
        /// Text: its length in bytes, and 0.
        Text = 1,
        /// `true` or `false`: 1 or 0, and 0.
        Bool = 2,
        /// `int`, low word first.
        Int = 3,
        /// `uint`, low word first.
        Uint = 4,
        /// `double`, low word first.
        Double = 5,
        /// Another value.
        Other = 6,
        /// An error: the length of its message in bytes, and 0.
        Failed = 7,
        /// The steps of the request are spent.
        Exhausted = 8,
    }
}

impl Session<'_> {
    /// Returns the limits that each action meets: see [`PolicyTable::charges`](crate::table::PolicyTable::charges).
    pub(in crate::decide) fn charges_coded(
        &self,
        verdicts: &[(usize, Verdict<'_>)],
    ) -> CodedCharges {
        let mut charges = CodedCharges::default();
        let CodedCharges { words, text } = &mut charges;
        let Some(block) = self.table.limit_block() else { return charges };
        for (index, verdict) in verdicts {
            let action = self.request.actions.get(*index).map_or("", String::as_str);
            let of = (action, verdict.effect == Some(Effect::Allow));
            let is_found = self.meet(block, of, &mut |limit, values| {
                words.extend([limit.number().saturating_add(1), limit.name_id()]);
                values.iter().for_each(|value| words.extend(coded(value, text)));
                words.push(0);
            });
            words.push(if is_found { 0 } else { UNKNOWN });
        }
        charges
    }
}

/// Returns the words of a value, and adds its text.
fn coded((program, value): &(u32, Value<'_>), texts: &mut String) -> [u32; 4] {
    let (kind, bits) = match value {
        Value::String(text) => (Kind::Text, add(text, texts)),
        Value::Bool(value) => (Kind::Bool, u64::from(*value)),
        Value::Int(number) => (Kind::Int, number.cast_unsigned()),
        Value::Uint(number) => (Kind::Uint, *number),
        Value::Double(number) => (Kind::Double, number.to_bits()),
        Value::Error(error) if error.is_incomplete() => (Kind::Exhausted, 0),
        Value::Error(error) => (Kind::Failed, add(&error.to_string(), texts)),
        _ => (Kind::Other, 0),
    };
    let [low, high] =
        [bits & u64::from(u32::MAX), bits >> 32].map(|word| u32::try_from(word).unwrap_or(0));
    [kind.code(), *program, low, high]
}

/// Adds a text and returns its length.
fn add(text: &str, texts: &mut String) -> u64 {
    texts.push_str(text);
    u64::try_from(text.len()).unwrap_or(0)
}

//! A set of rules as bytes, the form in a bundle.
//!
//! Each rule is its length, 4 bytes with the low one first, and its canonical form. The rules are
//! in the order of their numbers, in normal form, and distinct: a set has one encoding, and other
//! bytes are refused. Numbers are not written: the rules that are read count from 0. Reading makes
//! the index.

use alloc::vec::Vec;

use crate::{Normal, RuleSet};

/// Writes the rules of a set.
#[must_use]
pub fn pack(rules: &RuleSet) -> Vec<u8> {
    let mut out = Vec::new();
    for (_, rule) in rules.iter() {
        let text = rule.expression().to_canonical();
        out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&text);
    }
    out
}

/// Reads the encoding of [`pack`]; returns `None` for all other bytes.
///
/// # Examples
/// ```
/// use wardgate_spocp::packed::{pack, unpack};
/// use wardgate_spocp::{Normal, RuleSet};
///
/// let mut rules = RuleSet::new();
/// rules.insert(&Normal::from_advanced(b"(http (action GET))").unwrap()).unwrap();
/// let bytes = pack(&rules);
/// assert_eq!(unpack(&bytes), Some(rules));
/// assert_eq!(unpack(&bytes[1..]), None);
/// ```
#[must_use]
pub fn unpack(mut bytes: &[u8]) -> Option<RuleSet> {
    let mut rules = RuleSet::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        let rule = Normal::from_canonical(text).ok()?;
        let is_one = rule.expression().to_canonical() == text;
        let inserted = rules.insert(&rule).ok().filter(|inserted| is_one && inserted.is_new());
        inserted?;
        bytes = rest;
    }
    Some(rules)
}

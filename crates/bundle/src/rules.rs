//! Rules of SPOCP in a bundle, beside the table.
//!
//! Each rule is its length, 4 bytes, and its canonical form. They stand in the order of their numbers, in
//! normal form, and none twice: a set has one encoding, and what is no encoding is refused. The index is
//! made when the bundle is opened.

use alloc::vec::Vec;

use wardgate_engine::table::Parts;
use wardgate_spocp::{Normal, RuleSet};

use crate::conditions::Conditions;
use crate::container::Container;
use crate::error::OpenError;
use crate::header::Label;
use crate::opening::{Opened, opened};
use crate::pack::{PackError, labelled};
use crate::trust::Trust;

/// Writes a table and rules of SPOCP as an unsigned bundle with this label.
///
/// The numbers of the rules are not written: those of the bundle count from 0, in the same order.
///
/// # Errors
/// The label, the table or the rules cannot be written.
pub fn pack_with_rules(
    parts: &Parts,
    rules: &RuleSet,
    label: &Label,
) -> Result<Vec<u8>, PackError> {
    labelled(parts, &written(rules), label)
}

/// Opens a bundle with the rules of SPOCP in it, which may be none.
///
/// # Errors
/// The first reason found to refuse it.
pub fn open_with_rules(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
) -> Result<(Opened, RuleSet), OpenError> {
    let (opened, container) = opened(bytes, trust, conditions)?;
    let rules = read(section(&container)).ok_or(OpenError::MalformedRules)?;
    Ok((opened, rules))
}

fn section<'b>(container: &Container<'b>) -> &'b [u8] {
    let [words, text, blob, _] = container.index.lengths();
    let before = words.saturating_add(text).saturating_add(blob);
    container.content.get(before..).unwrap_or_default()
}

fn written(rules: &RuleSet) -> Vec<u8> {
    let mut out = Vec::new();
    for (_, rule) in rules.iter() {
        let text = rule.expression().to_canonical();
        out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&text);
    }
    out
}

/// Reads what `written` writes, and nothing else.
fn read(mut bytes: &[u8]) -> Option<RuleSet> {
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

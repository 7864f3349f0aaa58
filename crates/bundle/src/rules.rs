//! Rules of SPOCP in a bundle, beside the table: as `wardgate_spocp::packed` writes them.

use alloc::vec::Vec;

use wardgate_engine::table::Parts;
use wardgate_spocp::RuleSet;
use wardgate_spocp::packed::{pack, unpack};

use crate::conditions::Conditions;
use crate::error::OpenError;
use crate::header::Label;
use crate::opening::{Opened, open};
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
    labelled(parts, &pack(rules), label)
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
    let opened = open(bytes, trust, conditions)?;
    let packed = bytes.get(opened.rules..).unwrap_or_default();
    let rules = unpack(packed).ok_or(OpenError::MalformedRules)?;
    Ok((opened, rules))
}

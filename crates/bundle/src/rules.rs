//! Rules of SPOCP in a bundle, beside the table, in the encoding of `wardgate_spocp::packed`.

use alloc::vec::Vec;

use wardgate_engine::table::Parts;
use wardgate_spocp::RuleSet;
use wardgate_spocp::packed::{pack, unpack};

use crate::conditions::Conditions;
use crate::error::OpenError;
use crate::header::Label;
#[cfg(feature = "ratelimit")]
use crate::opening::open_with_limits;
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

/// Opens a bundle and parses its rules of SPOCP; a bundle without rules has an empty set.
///
/// # Errors
/// The first reason found to refuse it.
///
/// # Examples
/// ```
/// use wardgate_bundle::{Conditions, Label, Trust, open_with_rules, pack_with_rules};
/// use wardgate_engine::table::Parts;
/// use wardgate_spocp::{Normal, RuleSet};
///
/// let mut rules = RuleSet::new();
/// rules.insert(&Normal::from_advanced(b"(http (action GET))")?)?;
/// let parts = Parts { words: vec![], text: "".into(), blob: [].into(), explanations: "".into() };
/// let bundle = pack_with_rules(&parts, &rules, &Label::default())?;
/// // An empty table is refused, and its rules with it.
/// let refused = open_with_rules(&bundle, Trust::Unsigned, &Conditions::default());
/// assert_eq!(refused.unwrap_err().code(), "malformed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_with_rules(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
) -> Result<(Opened, RuleSet), OpenError> {
    with_rules(bytes, open(bytes, trust, conditions)?)
}

/// Opens a bundle like [`open_with_rules`], which may have rate limits: the law of
/// [`open_with_limits`] holds.
///
/// # Errors
/// The first reason found to refuse it.
#[cfg(feature = "ratelimit")]
pub fn open_with_rules_and_limits(
    bytes: &[u8],
    trust: Trust<'_>,
    conditions: &Conditions<'_>,
) -> Result<(Opened, RuleSet), OpenError> {
    with_rules(bytes, open_with_limits(bytes, trust, conditions)?)
}

fn with_rules(bytes: &[u8], opened: Opened) -> Result<(Opened, RuleSet), OpenError> {
    let packed = bytes.get(opened.rules..).unwrap_or_default();
    let rules = unpack(packed).ok_or(OpenError::MalformedRules)?;
    Ok((opened, rules))
}

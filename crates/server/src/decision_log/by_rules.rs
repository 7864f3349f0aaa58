//! Decisions of rules of SPOCP, as the log records them.
//!
//! The resource of such a decision is the S-expression that was asked about, and the kind is its tag. There is no evidence:
//! policies cannot decide it again.

use std::borrow::Cow;

use wardgate_crypto::blake3;
use wardgate_native::decision_log::{Effect, Entry};
use wardgate_spocp::{Element, Normal};

use super::recorder::{Recorder, now_micros};

/// A decision of rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleDecision<'d> {
    /// The number of the rules.
    pub(crate) rules: u32,
    /// Who asked, or about whom; empty if that is not known.
    pub(crate) principal: &'d str,
    /// The action.
    pub(crate) action: &'d str,
    /// The canonical text of the query.
    pub(crate) text: &'d [u8],
    /// The query.
    pub(crate) query: &'d Normal,
    /// True if a rule allows it.
    pub(crate) is_allowed: bool,
}

impl RuleDecision<'_> {
    /// Records the decision. Returns false if its answer must be none.
    pub(crate) fn record(&self, recorder: &Recorder) -> bool {
        let (kind, resource) = (self.kind(), self.resource());
        let entry = Entry {
            micros: now_micros(),
            policies: self.rules,
            is_general: true,
            principal: self.principal,
            resource: &resource,
            kind: &kind,
            ..Entry::default()
        };
        recorder.record(&entry, &[(self.action, self.effect())])
    }

    /// Returns the tag of the query; nothing if it is no list.
    pub(super) fn kind(&self) -> Cow<'_, str> {
        let Some(Element::List(mut elements)) = self.query.expression().root() else {
            return Cow::default();
        };
        match elements.next() {
            Some(Element::Atom(tag)) => String::from_utf8_lossy(tag),
            _ => Cow::default(),
        }
    }

    /// Returns the canonical text, or the advanced form where that has bytes that are no text.
    pub(super) fn resource(&self) -> Cow<'_, str> {
        match str::from_utf8(self.text) {
            Ok(text) => text.into(),
            Err(_) => {
                let advanced = self.query.expression().to_advanced();
                String::from_utf8_lossy(&advanced).into_owned().into()
            }
        }
    }

    pub(super) const fn effect(&self) -> Effect {
        if self.is_allowed { Effect::Allowed } else { Effect::Denied }
    }
}

/// Returns the digest of base rules: that of their canonical texts in order, each once, one behind the other.
pub(crate) fn root(rules: &[Normal]) -> [u8; 32] {
    let mut texts: Vec<_> = rules.iter().map(|rule| rule.expression().to_canonical()).collect();
    texts.sort_unstable();
    texts.dedup();
    blake3::hash(&texts.concat())
}

/// The name of rules in the log.
pub(super) const NAME: &str = "spocp rules";

/// The lowest number of rules: those below are of policies.
pub(super) const FIRST: u32 = 1 << 31;

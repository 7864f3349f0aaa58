//! Decisions whose texts are ids of strings of the table, for a host that holds those strings.

use alloc::vec::Vec;

use super::session::Session;
use super::verdict::{Policy, Verdict, Why};
use crate::budget::Budget;
use crate::cel::Timestamp;
use crate::decide::record::Record;
use crate::decision::{Decision, Effect};
use crate::request::Request;
use crate::table::PolicyTable;

/// A decision in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodedDecision {
    /// The number of derived roles and their names; then [`ACTION_WORDS`] words for each distinct
    /// action. Empty if a text is not in the table or a reason is an error: then `rest` is the
    /// whole decision.
    pub words: Vec<u32>,
    /// The outputs and errors.
    pub rest: Decision,
    /// The limits that the actions meet.
    #[cfg(feature = "ratelimit")]
    pub charges: super::charges::coded::CodedCharges,
}

/// The number of words of an action: its index in the request; effect and reason, as
/// `allowed | reason << 1`; policy; scope; the name of the rule plus one, 0 for none; and the policy
/// of the rule. Texts are string ids, and the policy `NO_MATCH` is [`NO_POLICY`]. Reasons are 0 for a rule, 1 for an action that a role
/// policy does not list, 2 for no rule and 3 for no policy.
pub const ACTION_WORDS: usize = 6;

/// The policy of an action that no policy matched.
pub const NO_POLICY: u32 = u32::MAX;

impl PolicyTable {
    /// Decides like [`PolicyTable::check_within`], and returns ids instead of the table's texts.
    #[must_use]
    pub fn check_coded(&self, request: &Request, now: Timestamp, budget: &Budget) -> CodedDecision {
        let pool = self.pool();
        let record = Some(Record::default());
        Session::new(self, &pool, (request, now), record, budget).conclude_coded(budget)
    }
}

impl<'a> Session<'a> {
    fn conclude_coded(&self, budget: &Budget) -> CodedDecision {
        let (verdicts, validation_errors) = self.verdicts();
        #[cfg(feature = "ratelimit")]
        let charges = self.charges_coded(&verdicts);
        self.settle(budget);
        let Some(words) = self.coded(&verdicts) else {
            return CodedDecision {
                words: Vec::new(),
                rest: self.decision(&verdicts, validation_errors).0,
                #[cfg(feature = "ratelimit")]
                charges,
            };
        };
        let record = self.take_record();
        let rest = Decision {
            outputs: record.outputs,
            evaluation_errors: record.errors,
            validation_errors,
            ..Decision::default()
        };
        CodedDecision {
            words,
            rest,
            #[cfg(feature = "ratelimit")]
            charges,
        }
    }

    /// Returns the words of a decision; `None` if a text is not in the table.
    fn coded(&self, verdicts: &[(usize, Verdict<'a>)]) -> Option<Vec<u32>> {
        let mut words = Vec::with_capacity(verdicts.len().saturating_mul(ACTION_WORDS) + 1);
        words.push(0);
        if let Some(record) = &self.record {
            let record = record.borrow();
            for role in &record.derived_roles {
                words.push(self.table.string_id(role)?);
            }
        }
        let roles = u32::try_from(words.len()).ok()?.checked_sub(1)?;
        *words.first_mut()? = roles;
        for (index, verdict) in verdicts {
            words.push(u32::try_from(*index).ok()?);
            words.extend(verdict.codes(self)?);
        }
        Some(words)
    }
}

impl<'a> Verdict<'a> {
    fn codes(&self, session: &Session<'a>) -> Option<[u32; ACTION_WORDS - 1]> {
        let policy = match self.policy {
            Policy::Open | Policy::None => NO_POLICY,
            Policy::Principal => session.principal_policy_id()?,
            Policy::Resource => session.visited_scopes.first()?.rules?.policy_id(),
            Policy::Key(key) => session.table.string_id(key)?,
        };
        let [reason, rule, of] = self.why.code()?;
        let allowed = u32::from(self.effect == Some(Effect::Allow));
        Some([allowed | reason << 1, policy, session.table.string_id(self.scope)?, rule, of])
    }
}

impl Why<'_> {
    /// Returns the number of the reason, the name of its rule plus one, and the policy of the rule;
    /// `None` for reasons that come with errors.
    fn code(&self) -> Option<[u32; 3]> {
        match self {
            Self::Rule(rule) => Some([0, rule.name_id().checked_add(1)?, rule.policy_id()]),
            Self::NotListed => Some([1, 0, 0]),
            Self::NoRule => Some([2, 0, 0]),
            Self::NoPolicy => Some([3, 0, 0]),
            Self::Failed(..) | Self::Exhausted | Self::Schema | Self::Expired => None,
        }
    }
}

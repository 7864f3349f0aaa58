//! Decisions about some of the MQTT topics that a request asks about.
//!
//! The walk is the one of every decision. An allow that is met for a part counts, as long as its
//! scope denies nothing as a whole and needs no consent; so does an allow as a whole behind a deny for
//! a part. A failure counts for nothing.

use super::session::Session;
use super::verdict::Verdict;
use super::walk::Walk;
use crate::budget::Budget;
use crate::cel::Timestamp;
use crate::decision::Effect;
use crate::request::Request;
use crate::table::PolicyTable;

impl PolicyTable {
    /// Returns true if `action` may be allowed for some of the MQTT topics that `request` asks about,
    /// and takes the steps from `budget`. A request about one topic gets the answer of
    /// [`PolicyTable::is_allowed_within`].
    ///
    /// False means that it is allowed for none of them. True does not mean that it is for any: an allow and a
    /// deny may be met for the same part. A host that acts on it decides on each topic later. What could not be
    /// evaluated counts as denied, in lenient tables too.
    #[must_use]
    pub fn is_allowed_in_part_within(
        &self,
        request: &Request,
        action: &str,
        now: Timestamp,
        budget: &Budget,
    ) -> bool {
        let pool = self.pool();
        let session = Session::new(self, &pool, (request, now), None, budget);
        session.answer(action, budget, Session::allows_part)
    }
}

impl<'a> Session<'a> {
    /// Returns true if one action may be allowed for some of the topics that the request asks about.
    ///
    /// It is false if the action is allowed for none of them, and true if it is for all. Where an allow and a
    /// deny are met for parts, they may be one and the same part: then it is true, too.
    pub(crate) fn allows_part(&self, action: &'a str) -> bool {
        let action = self.table.name(action);
        let by_principal = self.walk_principal_policies(action);
        if by_principal.allows_part() {
            return true;
        }
        if by_principal.verdict.is_some_and(|verdict| verdict.effect.is_some()) {
            return false;
        }
        for (index, role) in self.request.principal.roles.iter().enumerate() {
            let Ok(role) = self.lineage(index, role) else { return false };
            let walk = self.walk_role(role, action);
            if walk.allows_part() {
                return true;
            }
            if walk.has_failed() {
                return false;
            }
        }
        false
    }
}

impl<'a> Walk<'a> {
    /// Returns true if some of the topics may be allowed.
    fn allows_part(&self) -> bool {
        let allows_others = |verdict: Verdict<'a>| verdict.effect == Some(Effect::Allow);
        !self.has_failed() && (self.partly_allowed || self.verdict.is_some_and(allows_others))
    }
}

//! The rules that a request meets, with their conditions evaluated in full.
//!
//! A rule is met once for each role and scope; of those meetings the one stays that went furthest.

use std::cell::RefCell;
use std::collections::BTreeMap;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::Outcome;
use wardgate_engine::decide::observe::{Considered, Finding, Granting, Observer, Truth};
use wardgate_engine::decision::Effect;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

/// A rule that names an action of the request.
#[derive(Debug)]
pub(crate) struct Met {
    /// Its number in the table: the order of the rules of one policy.
    number: u64,
    pub(crate) scope: String,
    pub(crate) policy: String,
    pub(crate) name: String,
    pub(crate) derived_role: Option<String>,
    pub(crate) effect: Option<Effect>,
    pub(crate) is_from_role_policy: bool,
    /// True if the rule denies where its condition is not met.
    pub(crate) is_opposite: bool,
    pub(crate) needs_consent: bool,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) outcome: Outcome,
    /// The roles that it is for, or that its derived role is for.
    pub(crate) roles: Vec<String>,
    pub(crate) condition: Option<Finding>,
    pub(crate) role_condition: Option<Finding>,
}

/// The rules that a request meets, by action.
#[derive(Default)]
pub(crate) struct Meetings {
    met: RefCell<BTreeMap<String, BTreeMap<u64, Met>>>,
}

impl Meetings {
    /// Decides `request` once more, and watches.
    pub(crate) fn of(table: &PolicyTable, request: &Request, now: Timestamp) -> Self {
        let meetings = Self::default();
        // The shown decision is the one that was made without an observer.
        let _ = table.observe(request, now, &meetings);
        meetings
    }

    /// Returns the rules that name `action`: those that came close first, then in the order of the
    /// table.
    pub(crate) fn take(&self, action: &str) -> Vec<Met> {
        let met = self.met.borrow_mut().remove(action).unwrap_or_default();
        let mut met: Vec<Met> = met.into_values().collect();
        met.sort_by_key(|met| (std::cmp::Reverse(progress(&met.outcome)), met.number));
        met
    }
}

impl Observer for Meetings {
    fn wants_excluded(&self) -> bool {
        true
    }

    fn expression(&self, _: Truth, _: bool) {}

    fn derived_role(&self, _: &Granting<'_>) {}

    fn rule(&self, rule: &Considered<'_, '_>) {
        let reached = progress(rule.outcome);
        let is_news = |met: &Self| {
            let met = met.met.borrow();
            let known = met.get(rule.action()).and_then(|rules| rules.get(&rule.number()));
            known.is_none_or(|known| progress(&known.outcome) < reached)
        };
        if reached == 0 || !is_news(self) || !rule.names_the_action() {
            return;
        }
        let met = Met::new(rule);
        let mut all = self.met.borrow_mut();
        all.entry(rule.action().to_owned()).or_default().insert(met.number, met);
    }
}

impl Met {
    fn new(rule: &Considered<'_, '_>) -> Self {
        let (file, line) = rule.source();
        Self {
            number: rule.number(),
            scope: rule.scope().to_owned(),
            policy: rule.policy().to_owned(),
            name: rule.name().to_owned(),
            derived_role: rule.derived_role().map(str::to_owned),
            effect: rule.effect(),
            is_from_role_policy: rule.is_from_role_policy(),
            is_opposite: rule.is_opposite(),
            needs_consent: rule.needs_consent(),
            file: file.to_owned(),
            line,
            outcome: rule.outcome.clone(),
            roles: rule.roles().into_iter().map(str::to_owned).collect(),
            condition: rule.condition(),
            role_condition: rule.role_condition(),
        }
    }

    /// Returns `policy#rule`, as decisions name it.
    pub(crate) fn source(&self) -> String {
        format!("{}#{}", self.policy, self.name)
    }
}

/// Ranks outcomes by the progress of a rule; zero is none.
const fn progress(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Applied => 5,
        Outcome::Failed | Outcome::PartlyMet => 4,
        Outcome::ConditionNotMet => 3,
        Outcome::DerivedRoleNotMet => 2,
        Outcome::OtherRole => 1,
        Outcome::OtherAction | Outcome::OtherResource => 0,
    }
}

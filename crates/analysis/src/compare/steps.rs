//! The rules that a role meets on its walk, for one action.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::rows::{Match, NameOrOther, Row, Rows, Says};
use super::side::{Family, Shared, Side, Stop};
use crate::logic::conditions::ConditionId;
use crate::logic::reader::View;
use crate::logic::terms::{Terms, TextId};

/// What a role meets in one scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    pub(super) needs_consent: bool,
    /// The role policies in their order, each with its rules for the action.
    pub(super) role_policies: Vec<Vec<Step>>,
    pub(super) rules: Vec<Step>,
}

/// A rule that may apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) says: Says,
    /// The conditions of the derived role and of the rule.
    pub(super) conditions: [Option<ConditionId>; 2],
    pub(super) action: Match,
    pub(super) kind: Match,
    pub(super) role: Match,
}

/// The rules for one action.
pub(super) struct Candidates {
    stops: Vec<Narrowed>,
}

struct Narrowed {
    needs_consent: bool,
    rules: Vec<Candidate>,
    role_policies: Vec<TextId>,
    role_rules: Vec<Candidate>,
}

/// A rule that fits the action; its roles are looked at later.
struct Candidate {
    step: Step,
    rows: Rc<Rows>,
    number: usize,
}

/// The question of which rules fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow {
    pub(super) kind: NameOrOther,
    pub(super) action: NameOrOther,
    /// True if the policies are those of a principal itself.
    pub(super) is_own: bool,
}

impl Candidates {
    pub(super) fn new(
        (side, shared): (&mut Side<'_>, &mut Shared),
        stops: &[Stop],
        narrow: Narrow,
    ) -> Self {
        let stops = stops
            .iter()
            .map(|stop| {
                let rules = stop.rules.as_ref();
                let roles = stop.roles.as_ref();
                let mut of = |part: Option<&(Rc<Rows>, u32, u32)>, with_kind| match part {
                    Some((rows, seen, _)) => {
                        candidates((side, shared), rows, View::Rule(*seen), (narrow, with_kind))
                    }
                    None => Vec::new(),
                };
                Narrowed {
                    needs_consent: stop.needs_consent,
                    rules: of(rules, narrow.is_own),
                    role_rules: of(roles, true),
                    role_policies: roles
                        .map(|(rows, ..)| rows.role_policies.clone())
                        .unwrap_or_default(),
                }
            })
            .collect();
        Self { stops }
    }

    /// Returns the number of rules.
    pub(super) fn len(&self) -> usize {
        self.stops.iter().map(|stop| 1 + stop.rules.len() + stop.role_rules.len()).sum()
    }

    /// Returns what a role meets; `lineage` is the role and those that it inherits from.
    pub(super) fn stages(&self, terms: &Terms, lineage: &[NameOrOther]) -> Vec<Stage> {
        let stages = self.stops.iter().map(|stop| stop.stage(terms, lineage));
        stages.filter(|stage| !stage.rules.is_empty() || !stage.role_policies.is_empty()).collect()
    }

    /// Returns what a principal meets in policies of its own.
    pub(super) fn own_stages(&self) -> Vec<Stage> {
        let stages = self.stops.iter().map(|stop| Stage {
            needs_consent: stop.needs_consent,
            role_policies: Vec::new(),
            rules: stop.rules.iter().map(|candidate| candidate.step.clone()).collect(),
        });
        stages.filter(|stage: &Stage| !stage.rules.is_empty()).collect()
    }

    /// Appends every role that a rule or a policy names.
    pub(super) fn roles(&self, roles: &mut BTreeSet<NameOrOther>) {
        for stop in &self.stops {
            roles.extend(stop.role_policies.iter().map(|role| NameOrOther::Name(*role)));
            for candidate in stop.rules.iter().chain(&stop.role_rules) {
                let named = candidate.row().map(|row| row.roles.texts.iter());
                roles.extend(named.into_iter().flatten().map(|role| NameOrOther::Name(*role)));
            }
        }
    }
}

fn candidates(
    (side, shared): (&mut Side<'_>, &mut Shared),
    rows: &Rc<Rows>,
    view: View,
    (narrow, with_kind): (Narrow, bool),
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (number, row) in rows.rules.iter().enumerate() {
        let action = row.actions.matches(&shared.terms, &[narrow.action]);
        let kind = match with_kind {
            true => row.kinds.matches(&shared.terms, &[narrow.kind]),
            false => Match::Always,
        };
        if action == Match::Never || kind == Match::Never {
            continue;
        }
        let conditions = row.conditions.map(|at| at.map(|at| side.condition(shared, at, view)));
        let step = Step { says: row.says, conditions, action, kind, role: Match::Always };
        found.push(Candidate { step, rows: Rc::clone(rows), number });
    }
    found
}

impl Candidate {
    fn row(&self) -> Option<&Row> {
        self.rows.rules.get(self.number)
    }

    /// Returns the step of the rule for one of these roles, if it names one.
    fn step_for(&self, terms: &Terms, roles: &[NameOrOther]) -> Option<Step> {
        let role = self.row()?.roles.matches(terms, roles);
        (role != Match::Never).then(|| Step { role, ..self.step.clone() })
    }
}

impl Narrowed {
    fn stage(&self, terms: &Terms, lineage: &[NameOrOther]) -> Stage {
        let has_policy = |role: &&NameOrOther| match role {
            NameOrOther::Name(role) => self.role_policies.contains(role),
            NameOrOther::Other => false,
        };
        let of = |candidates: &[Candidate], roles: &[NameOrOther]| -> Vec<Step> {
            candidates.iter().filter_map(|candidate| candidate.step_for(terms, roles)).collect()
        };
        let policies = lineage.iter().filter(has_policy);
        Stage {
            needs_consent: self.needs_consent,
            role_policies: policies.map(|role| of(&self.role_rules, &[*role])).collect(),
            rules: of(&self.rules, lineage),
        }
    }
}

/// Returns a role and those that it inherits from.
pub(super) fn lineage(family: &Family, role: NameOrOther) -> Vec<NameOrOther> {
    let parents = match role {
        NameOrOther::Name(role) => family.parents.get(&role).map_or(&[][..], Vec::as_slice),
        NameOrOther::Other => &[],
    };
    [role].into_iter().chain(parents.iter().map(|parent| NameOrOther::Name(*parent))).collect()
}

impl Stage {
    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.role_policies.iter().flatten().chain(&self.rules)
    }
}

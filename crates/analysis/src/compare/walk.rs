//! The diagram of a walk: where a role is allowed, where its search ends without that, and where it finds
//! nothing that another role could not turn.
//!
//! The walk is built from its end: what a rule leads to depends on what comes behind it, and on whether
//! a rule of the scope has allowed before.

use super::rows::{Match, Says};
use super::steps::{Stage, Step};
use crate::logic::conditions::Conditions;
use crate::logic::diagram::{ALLOW, Diagram, END, Exhausted, FAILS, FALSE, NOTHING, TRUE};
use crate::logic::partition::Test;
use crate::logic::terms::TextId;
use crate::logic::truth::{Subject, Survey, Truths};

/// Whose walk it is, and how its table takes failures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    pub(super) is_lenient: bool,
    /// True if a denial ends the search: in policies of a principal itself.
    pub(super) denials_end: bool,
}

/// Notes the variables of a walk.
pub(super) fn survey(survey: &mut Survey<'_>, conditions: &Conditions, stages: &[Stage]) {
    let mut terms = Vec::new();
    for step in stages.iter().flat_map(Stage::steps) {
        for (subject, matched) in step.guards() {
            let Match::Any(patterns) = matched else { continue };
            patterns.iter().for_each(|pattern| survey.note(subject(*pattern), &Test::Truth));
        }
        for condition in step.conditions.into_iter().flatten() {
            conditions.terms(condition, &mut terms);
            terms.drain(..).for_each(|term| survey.truth(term));
        }
    }
}

/// Returns the diagram of a walk, whose search ends with `after`.
pub(super) fn outcome(
    truths: &mut Truths<'_>,
    stages: &[Stage],
    mode: Mode,
    after: Diagram,
) -> Result<Diagram, Exhausted> {
    let mut after = after;
    for stage in stages.iter().rev() {
        let mut entry = rules(truths, stage, mode, after)?;
        for policy in stage.role_policies.iter().rev() {
            entry = role_policy(truths, policy, mode, entry)?;
        }
        after = entry;
    }
    Ok(after)
}

/// Returns the outcome of the rules of a scope.
fn rules(
    truths: &mut Truths<'_>,
    stage: &Stage,
    mode: Mode,
    after: Diagram,
) -> Result<Diagram, Exhausted> {
    let denied = if mode.denials_end { END } else { NOTHING };
    // Without an allow before, and with one.
    let mut states = [after, if stage.needs_consent { after } else { ALLOW }];
    for step in stage.rules.iter().rev() {
        let truth = conditions(truths, step, mode)?;
        let guard = guard(truths, step)?;
        let truth = truths.diagrams.select(guard, [truth, FALSE, FALSE, FALSE])?;
        let allowed = states[1];
        for state in &mut states {
            let met = match step.says {
                Says::Allow => allowed,
                Says::Deny => denied,
                Says::Nothing => *state,
            };
            *state = truths.diagrams.select(truth, [met, *state, END, *state])?;
        }
    }
    Ok(states[0])
}

/// Returns the outcome of a role policy: an action that it does not list is denied.
fn role_policy(
    truths: &mut Truths<'_>,
    steps: &[Step],
    mode: Mode,
    after: Diagram,
) -> Result<Diagram, Exhausted> {
    // Without a rule that lists the action before, and with one.
    let mut states = [NOTHING, after];
    for step in steps.iter().rev() {
        let truth = conditions(truths, step, mode)?;
        let guard = guard(truths, step)?;
        let listed = states[1];
        let met = if step.says == Says::Deny { NOTHING } else { listed };
        let met = truths.diagrams.select(truth, [met, listed, END, listed])?;
        for state in &mut states {
            *state = truths.diagrams.select(guard, [met, *state, *state, *state])?;
        }
    }
    Ok(states[0])
}

/// Returns the truth of the conditions of a rule: that of its derived role is tested first.
fn conditions(truths: &mut Truths<'_>, step: &Step, mode: Mode) -> Result<Diagram, Exhausted> {
    let mut truth = TRUE;
    for condition in step.conditions.iter().rev().flatten() {
        let found = truths.condition(*condition, mode.is_lenient)?;
        truth = truths.diagrams.select(found, [truth, FALSE, FAILS, FALSE])?;
    }
    Ok(truth)
}

/// Returns where the names that are left open fit the rule.
fn guard(truths: &mut Truths<'_>, step: &Step) -> Result<Diagram, Exhausted> {
    let mut fits = TRUE;
    for (subject, matched) in step.guards() {
        let Match::Any(patterns) = matched else { continue };
        let mut any = FALSE;
        for pattern in patterns.iter() {
            let found = truths.test(subject(*pattern), &Test::Truth)?;
            any = truths.diagrams.select(found, [TRUE, any, any, any])?;
        }
        fits = truths.diagrams.both(any, fits)?;
    }
    Ok(fits)
}

/// The subject of patterns, and how a rule names it.
type Guard<'s> = (fn(TextId) -> Subject, &'s Match);

impl Step {
    /// Returns the names that may be left open, and the subjects of their patterns.
    fn guards(&self) -> [Guard<'_>; 3] {
        [(Subject::Action, &self.action), (Subject::Kind, &self.kind), (Subject::Role, &self.role)]
    }
}

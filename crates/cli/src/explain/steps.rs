//! `wardgate explain`: decides requests and tells the way to each decision.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::decide::{Explanation, Outcome, Step};
use wardgate_engine::decision::{ActionDecision, Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::wire;

use crate::arguments::Explain;
use crate::check::{clock, effect, title};
use crate::failure::{Failure, Status};
use crate::output::{Output, Tone, shown};
use crate::policies::{self, Source};
use crate::{answer, requests};

pub(crate) fn run(explain: &Explain, out: &mut Output) -> Result<Status, Failure> {
    let Explain { policies: path, options, opening, .. } = explain;
    let now = explain.asking.now.unwrap_or_else(clock);
    let table = policies::table(Source { path, options, opening }, now)?;
    requests::each(&explain.asking.request, |mut call| {
        let now = explain.asking.now.unwrap_or_else(clock);
        call.each(|request| {
            let explanation = table.explain(request, now);
            if explain.asking.json {
                return out.line(wire::explanation_json(&explanation));
            }
            print(request, &explanation, out)
        })?;
        out.flush()
    })
}

fn print(request: &Request, explanation: &Explanation, out: &mut Output) -> Result<(), Failure> {
    out.line(title(request, out))?;
    let decision = &explanation.decision;
    if !decision.effective_derived_roles.is_empty() {
        let roles = decision.effective_derived_roles.join(", ");
        out.line(format_args!("  derived roles: {}", shown(&roles)))?;
    }
    for action in &decision.actions {
        let steps: Vec<_> =
            explanation.steps.iter().filter(|step| step.action == action.action).collect();
        print_action(action, &steps, out)?;
    }
    for line in answer::extras(decision) {
        out.line(format_args!("  {}", shown(&line)))?;
    }
    Ok(())
}

fn print_action(action: &ActionDecision, steps: &[&Step], out: &mut Output) -> Result<(), Failure> {
    let name = shown(&action.action);
    let reason = answer::reason(&action.reason);
    let place = deciding(action, steps).map(|step| format!(", {}", place(step)));
    let why = format!("{reason}{}", place.unwrap_or_default());
    out.line(format_args!("  {}  {name}: {}", effect(action.effect, out), shown(&why)))?;
    if steps.is_empty() {
        return out.line("      no rule was considered");
    }
    let (considered, passed_over): (Vec<&Step>, Vec<&Step>) =
        steps.iter().partition(|step| passed_over(&step.outcome).is_none());
    for step in considered {
        print_step(step, out)?;
    }
    print_passed_over(&passed_over, out)
}

fn print_step(step: &Step, out: &mut Output) -> Result<(), Failure> {
    let tone = if step.outcome == Outcome::Applied { Tone::Title } else { Tone::Aside };
    let about = about(step);
    out.line(format_args!("      {}: {}", shown(&about), out.paint(tone, outcome(step))))?;
    out.line(format_args!("        {}", out.paint(Tone::Aside, &shown(&place(step)))))?;
    for leaf in &step.leaves {
        let leaf = format!("{}  ->  {}", one_line(&leaf.expression), leaf.value);
        out.line(format_args!("        {}", shown(&leaf)))?;
    }
    Ok(())
}

/// Names the rules that are about something else, together for each policy: there are many of them.
fn print_passed_over(steps: &[&Step], out: &mut Output) -> Result<(), Failure> {
    let mut groups: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for step in steps {
        let Some(why) = passed_over(&step.outcome) else { continue };
        groups.entry((&step.policy, why)).or_default().insert(&step.rule);
    }
    for ((policy, why), rules) in groups {
        let rules: Vec<_> = rules.into_iter().collect();
        let line = format!("{policy}, {why}: {}", rules.join(", "));
        out.line(format_args!("      {}", out.paint(Tone::Aside, &shown(&line))))?;
    }
    Ok(())
}

/// Returns a rule, what it says, and for whom it was considered.
fn about(step: &Step) -> String {
    let says = match step.effect {
        Some(Effect::Allow) => "allow",
        _ if step.narrows => "role policy",
        Some(Effect::Deny) => "deny",
        None => "no effect",
    };
    let role = (!step.role.is_empty()).then(|| format!(", role {}", step.role));
    let derived = step.derived_role.as_ref().map(|role| format!(", derived role {role}"));
    let scope = (!step.scope.is_empty()).then(|| format!(", scope {}", step.scope));
    let rest: String = [role, derived, scope].into_iter().flatten().collect();
    format!("{} ({says}){rest}", rule_name(step))
}

/// Returns the step of the rule that the decision names. It is considered for each role and scope;
/// the last time is the one that counted.
fn deciding<'s>(action: &ActionDecision, steps: &[&'s Step]) -> Option<&'s Step> {
    let (Reason::Rule(source) | Reason::ConditionError(source) | Reason::LimitReached(source)) =
        &action.reason
    else {
        return None;
    };
    let of_rule = |step: &&&Step| rule_name(step) == *source;
    let counted = |step: &&&Step| matches!(step.outcome, Outcome::Applied | Outcome::Failed);
    let last = steps.iter().rev().filter(of_rule).find(counted);
    last.or_else(|| steps.iter().rev().find(of_rule)).copied()
}

fn rule_name(step: &Step) -> String {
    format!("{}#{}", step.policy, step.rule)
}

fn place(step: &Step) -> String {
    format!("{}:{}", step.file, step.line)
}

/// A rule that narrows stands in the table as a denial under the opposite condition.
const fn outcome(step: &Step) -> &'static str {
    match (&step.outcome, step.narrows) {
        (Outcome::Applied, false) => "applied",
        (Outcome::Applied, true) if step.effect.is_none() => "it lists the action",
        (Outcome::Applied, true) => "its condition is not met, which denies",
        (Outcome::ConditionNotMet, false) => "its condition is not met",
        (Outcome::ConditionNotMet, true) => "its condition is met, so it denies nothing",
        (Outcome::DerivedRoleNotMet, _) => "the principal does not have the derived role",
        (Outcome::Failed, _) => "its condition failed, which denies",
        (Outcome::OtherAction | Outcome::OtherRole | Outcome::OtherResource, _) => "passed over",
    }
}

const fn passed_over(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::OtherAction => Some("about other actions"),
        Outcome::OtherRole => Some("about other roles"),
        Outcome::OtherResource => Some("about other kinds of resource"),
        _ => None,
    }
}

/// Expressions may be written over several lines.
fn one_line(expression: &str) -> String {
    expression.split_whitespace().collect::<Vec<_>>().join(" ")
}

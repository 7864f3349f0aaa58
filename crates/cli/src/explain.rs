//! `wardgate explain`: decides requests and tells the way to each decision.

use wardgate_engine::decide::{Explanation, Outcome, Step};
use wardgate_engine::decision::{ActionDecision, Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::wire;

use crate::arguments::Explain;
use crate::check::{clock, effect, title};
use crate::failure::{Failure, Status};
use crate::output::{Output, Tone, shown};
use crate::{answer, policies, requests};

pub(crate) fn run(explain: &Explain, out: &mut Output) -> Result<Status, Failure> {
    let (table, _) = policies::table(&explain.policies, &explain.options)?;
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
    for step in steps {
        print_step(step, out)?;
    }
    Ok(())
}

fn print_step(step: &Step, out: &mut Output) -> Result<(), Failure> {
    let says = match step.effect {
        Some(Effect::Allow) => "allow",
        Some(Effect::Deny) => "deny",
        None => "no effect",
    };
    let mut about = format!("{} ({says})", rule_name(step));
    if !step.role.is_empty() {
        about.push_str(&format!(", role {}", step.role));
    }
    if let Some(role) = &step.derived_role {
        about.push_str(&format!(", derived role {role}"));
    }
    if !step.scope.is_empty() {
        about.push_str(&format!(", scope {}", step.scope));
    }
    let outcome = outcome(step);
    let tone = if step.outcome == Outcome::Applied { Tone::Title } else { Tone::Aside };
    let what = shown(&about).into_owned();
    out.line(format_args!("      {what}: {}", out.paint(tone, outcome)))?;
    out.line(format_args!("        {}", out.paint(Tone::Aside, &shown(&place(step)))))?;
    for leaf in &step.leaves {
        let leaf = format!("{:5}  {}", leaf.value, one_line(&leaf.expression));
        out.line(format_args!("        {}", shown(&leaf)))?;
    }
    Ok(())
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

const fn outcome(step: &Step) -> &'static str {
    match (&step.outcome, step.narrows) {
        (Outcome::Applied, _) => "applied",
        (Outcome::ConditionNotMet, false) => "its condition is not met",
        (Outcome::ConditionNotMet, true) => "its condition is not met, and that denies",
        (Outcome::DerivedRoleNotMet, _) => "the principal does not have the derived role",
        (Outcome::Failed, _) => "its condition failed, and that denies",
        (Outcome::OtherAction, _) => "it is about other actions",
        (Outcome::OtherRole, _) => "it is about other roles",
        (Outcome::OtherResource, _) => "it is about another kind of resource",
    }
}

/// Expressions may be written over several lines.
fn one_line(expression: &str) -> String {
    expression.split_whitespace().collect::<Vec<_>>().join(" ")
}

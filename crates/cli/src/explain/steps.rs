//! The steps to a decision: every rule that was considered, and its outcome.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_engine::decide::{Outcome, Step};
use wardgate_engine::decision::Effect;

use crate::failure::Result;
use crate::output::{Output, Tone, shown};

/// Prints the rules that were considered for one action.
pub(crate) fn print(steps: &[&Step], out: &mut Output) -> Result<()> {
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

fn print_step(step: &Step, out: &mut Output) -> Result<()> {
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

/// The name of a rule, and its place.
type Named<'s> = (&'s str, &'s str, u32);

/// Names the rules that are about something else, together for each policy: there are many of them.
fn print_passed_over(steps: &[&Step], out: &mut Output) -> Result<()> {
    let mut groups: BTreeMap<(&str, &str), BTreeSet<Named<'_>>> = BTreeMap::new();
    for step in steps {
        let Some(why) = passed_over(&step.outcome) else { continue };
        let rule = (step.rule.as_str(), step.file.as_str(), step.line);
        groups.entry((&step.policy, why)).or_default().insert(rule);
    }
    for ((policy, why), rules) in groups {
        // A rule without a name is shown with its position.
        let named = |(rule, file, line): Named<'_>| match rule {
            "" => super::place(file, line),
            rule => rule.to_owned(),
        };
        let rules: Vec<String> = rules.into_iter().map(named).collect();
        let line = format!("{policy}, {why}: {}", rules.join(", "));
        out.line(format_args!("      {}", out.paint(Tone::Aside, &shown(&line))))?;
    }
    Ok(())
}

/// Returns a rule with its effect and its roles.
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

fn rule_name(step: &Step) -> String {
    format!("{}#{}", step.policy, step.rule)
}

fn place(step: &Step) -> String {
    super::place(&step.file, step.line)
}

/// A rule that narrows is a denial under the opposite condition in the table.
const fn outcome(step: &Step) -> &'static str {
    match (&step.outcome, step.narrows) {
        (Outcome::Applied, false) => "applied",
        (Outcome::Applied, true) if step.effect.is_none() => "it lists the action",
        (Outcome::Applied, true) => "its condition is not met, which denies",
        (Outcome::ConditionNotMet, false) => "its condition is not met",
        (Outcome::ConditionNotMet, true) => "its condition is met, so it does not deny",
        (Outcome::DerivedRoleNotMet, _) => "the principal does not have the derived role",
        (Outcome::PartlyMet, _) if matches!(step.effect, Some(Effect::Deny)) || step.narrows => {
            "its condition is met for a part of the topics, which denies"
        }
        (Outcome::PartlyMet, _) => "its condition is met for a part of the topics only",
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
pub(crate) fn one_line(expression: &str) -> String {
    expression.split_whitespace().collect::<Vec<_>>().join(" ")
}

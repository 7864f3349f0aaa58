//! An explanation in words.

use wardgate_engine::decide::Step;
use wardgate_engine::decide::observe::{Read, Truth};
use wardgate_engine::decision::{ActionDecision, Decision};
use wardgate_engine::request::Request;

use super::need::{Expression, Need};
use super::steps::{self, one_line};
use super::values::sight;
use super::verdict::{Answer, Rule, Verdict};
use crate::answer;
use crate::check::{effect, title};
use crate::failure::Result;
use crate::output::{Output, Tone, shown};

/// Prints the answers about one request; where `steps` are given, those too.
pub(crate) fn print(
    request: &Request,
    decision: &Decision,
    verdicts: &[Verdict],
    steps: Option<&[Step]>,
    out: &mut Output,
) -> Result<()> {
    out.line(title(request, out))?;
    if !decision.effective_derived_roles.is_empty() {
        let roles = decision.effective_derived_roles.join(", ");
        out.line(format_args!("  derived roles: {}", shown(&roles)))?;
    }
    for (action, verdict) in decision.actions.iter().zip(verdicts) {
        Printer { request, out }.action(action, verdict)?;
        if let Some(steps) = steps {
            let of_action = steps.iter().filter(|step| step.action == action.action);
            steps::print(&of_action.collect::<Vec<_>>(), out)?;
        }
    }
    for line in answer::extras(decision) {
        out.line(format_args!("  {}", shown(&line)))?;
    }
    Ok(())
}

struct Printer<'p> {
    request: &'p Request,
    out: &'p mut Output,
}

impl Printer<'_> {
    fn action(&mut self, action: &ActionDecision, verdict: &Verdict) -> Result<()> {
        let words = answer_words(action, verdict);
        let (effect, name) = (effect(action.effect, self.out), shown(&action.action));
        self.out.line(format_args!("  {effect}  {name}: {}", shown(&words)))?;
        if let Some(hint) = &verdict.hint {
            self.line(6, hint)?;
        }
        self.reasons(verdict)?;
        verdict.limits.iter().try_for_each(|limit| self.line(6, &limit.words()))
    }

    fn reasons(&mut self, verdict: &Verdict) -> Result<()> {
        match (&verdict.answer, &verdict.rule) {
            (Answer::Allowed | Answer::Forbidden, Some(rule)) => {
                rule.expressions.iter().try_for_each(|leaf| self.expression(leaf, 6, ""))
            }
            (Answer::Narrowed | Answer::Failed, _) => {
                let needs = verdict.could.iter().flat_map(|(_, needs)| needs);
                needs.into_iter().try_for_each(|need| self.need(need, 6))
            }
            _ => self.could(&verdict.could),
        }
    }

    fn could(&mut self, could: &[(Rule, Vec<Need>)]) -> Result<()> {
        for (rule, needs) in could.iter().take(MOST_RULES) {
            let line = format!("{} would allow it, if", titled(rule));
            self.line(6, &line)?;
            needs.iter().try_for_each(|need| self.need(need, 8))?;
        }
        match could.len().checked_sub(MOST_RULES) {
            None | Some(0) => Ok(()),
            Some(more) => self.line(6, &format!("and {more} more; --json lists them all")),
        }
    }

    fn need(&mut self, need: &Need, indent: usize) -> Result<()> {
        match need {
            Need::Role(roles) => {
                let own = self.request.principal.roles.join(", ");
                let line = format!("the principal had the role {}; it has {own}", one_of(roles));
                self.line(indent, &line)
            }
            Need::DerivedRole(name, needs) => {
                self.line(
                    indent,
                    &format!("the principal had the derived role {name}, for which"),
                )?;
                needs.iter().try_for_each(|need| self.need(need, indent + 2))
            }
            Need::Expression(leaf) => {
                self.expression(leaf, indent, if leaf.wanted { "" } else { "not: " })
            }
            Need::AnyOf(needs) => self.list("one of these held", needs, indent),
            Need::AllOf(needs) => self.list("all of these held", needs, indent),
            Need::Consent(scope) => {
                let line = format!("a scope above {scope} allowed it too, whose consent it needs");
                self.line(indent, &line)
            }
            Need::Never => self.line(indent, "an empty list of conditions held, and it never does"),
        }
    }

    fn list(&mut self, title: &str, needs: &[Need], indent: usize) -> Result<()> {
        self.line(indent, title)?;
        needs.iter().try_for_each(|need| self.need(need, indent + 2))
    }

    fn expression(&mut self, leaf: &Expression, indent: usize, before: &str) -> Result<()> {
        let came_to = truth_words(leaf);
        let text = one_line(&leaf.text);
        self.line(indent, &format!("{before}{text}  ->  {came_to}"))?;
        let (variables, slots): (Vec<&Read>, Vec<&Read>) =
            leaf.reads.iter().partition(|read| read.definition.is_some());
        for read in variables {
            let definition = read.definition.as_deref().map(one_line).unwrap_or_default();
            self.aside(indent + 4, &format!("{}, which is {definition}", sight(read)))?;
        }
        if slots.is_empty() {
            return Ok(());
        }
        let slots: Vec<String> = slots.into_iter().map(sight).collect();
        let joined = slots.join(", ");
        if joined.chars().count() <= MOST_IN_A_LINE {
            return self.aside(indent + 4, &joined);
        }
        slots.iter().try_for_each(|slot| self.aside(indent + 4, slot))
    }

    fn line(&mut self, indent: usize, text: &str) -> Result<()> {
        self.out.line(format_args!("{:indent$}{}", "", shown(text)))
    }

    fn aside(&mut self, indent: usize, text: &str) -> Result<()> {
        let text = shown(text);
        let painted = self.out.paint(Tone::Aside, &text).into_owned();
        self.out.line(format_args!("{:indent$}{painted}", ""))
    }
}

/// Returns the answer to the first question.
pub(super) fn answer_words(action: &ActionDecision, verdict: &Verdict) -> String {
    let rule = verdict.rule.as_ref();
    let by = rule.map(titled).unwrap_or_else(|| answer::reason(&action.reason));
    match &verdict.answer {
        Answer::Allowed => format!("allowed by {by}"),
        Answer::Forbidden => format!("forbidden by {by}"),
        Answer::Narrowed => format!("not permitted, because {by} permits it only if"),
        Answer::NotListed(policy) => {
            format!("not permitted, because the role policy {policy} does not list it")
        }
        Answer::NotPermitted if verdict.could.is_empty() => {
            "not permitted, because no rule could allow it".to_owned()
        }
        Answer::NotPermitted => "not permitted, because no rule allows it".to_owned(),
        Answer::NoPolicy => "not permitted, because there is no policy for it".to_owned(),
        Answer::Failed => format!("denied, because a condition failed in {by}"),
        Answer::LimitReached => format!("denied, because a limit was reached: {by}"),
        Answer::SchemaViolation => {
            "denied, because the attributes do not fit the schema".to_owned()
        }
        Answer::Expired => "denied, because the policies have expired".to_owned(),
    }
}

pub(super) fn titled(rule: &Rule) -> String {
    let derived = rule.derived_role.as_ref().map(|role| format!(" for the derived role {role}"));
    format!("{} ({}){}", rule.source, rule.location(), derived.unwrap_or_default())
}

pub(super) fn truth_words(leaf: &Expression) -> String {
    match (&leaf.truth, &leaf.trouble) {
        (Truth::True, _) => "true".to_owned(),
        (Truth::False, None) => "false".to_owned(),
        (Truth::False, Some(trouble)) => trouble.clone(),
        (Truth::Partly, trouble) => trouble.clone().unwrap_or_default(),
        (Truth::Error, trouble) => format!("error: {}", trouble.as_deref().unwrap_or_default()),
    }
}

fn one_of(roles: &[String]) -> String {
    match roles.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "of the rule".to_owned(),
    }
}

/// Characters of values in one line.
const MOST_IN_A_LINE: usize = 100;

/// The largest number of listed rules that could have allowed an action.
const MOST_RULES: usize = 10;

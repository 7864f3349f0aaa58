//! What rules, their roles and actions, and derived roles decided in a log.
//!
//! Each decision is made again by the policies; the rule that decides it is used at the time of the entry, with the
//! role, the derived role and the action for which it decided.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::rc::Rc;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::decide::observe::NamedRule;
use wardgate_engine::decide::{Explanation, Outcome};
use wardgate_engine::decision::{Effect, Reason};
use wardgate_engine::glob;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_native::Policies;
use wardgate_native::protocol::cerbos::logged::{Checks, Line, PlainEntry, read};

use crate::limits::MAX_USES;
use crate::lines::Block;
use crate::memo::Memo;
use crate::source::Source;
use crate::threads::{LogError, each_block};

/// The uses of the rules of some policies in a log.
#[derive(Debug, Default)]
pub struct Usage {
    /// The entries of checks.
    pub checks: u64,
    /// The decisions that were made again.
    pub decisions: u64,
    /// Those that the policies do not make as they were logged.
    pub not_reproduced: u64,
    /// The decisions and lines that could not be read.
    pub unreadable: u64,
    /// The times of the oldest and of the newest entry of checks.
    pub times: Option<(Timestamp, Timestamp)>,
    /// True if there were too many combinations to count.
    pub is_incomplete: bool,
    /// The time of the last use.
    uses: HashMap<Use, Timestamp>,
}

/// What a decision used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Use {
    policy: String,
    rule: String,
    role: String,
    derived_role: Option<String>,
    action: String,
}

/// A decision, and what it used.
struct Used {
    is_allowed: bool,
    used: Option<Use>,
}

/// Something that decided nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unused<'p> {
    /// The file of the rule; empty in a table without explanations.
    pub file: &'p str,
    /// The line of the rule.
    pub line: u32,
    /// The key of its policy.
    pub policy: &'p str,
    /// Its name.
    pub rule: &'p str,
    /// The part that decided nothing.
    pub what: What<'p>,
}

/// A rule, or a part of one that decided something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What<'p> {
    /// The whole rule.
    Rule,
    /// For this role, which it names.
    Role(&'p str),
    /// For this derived role, which it names.
    DerivedRole(&'p str),
    /// About this action, which it names.
    Action(&'p str),
}

/// Decides logs again, on at most `threads` threads, and returns what the policies used.
///
/// # Errors
/// A log cannot be read.
pub fn usage<'s>(
    policies: &Policies,
    logs: impl Iterator<Item = io::Result<Source<'s>>> + Send,
    threads: usize,
) -> Result<Usage, LogError> {
    let begin = || Worker { policies, memo: Memo::new(), usage: Usage::default() };
    let work = |worker: &mut Worker<'_>, _: usize, block: &Block| worker.block(block);
    let found = each_block(logs, threads, begin, work, |worker| worker.usage)?;
    let mut all = Usage::default();
    found.into_iter().for_each(|one| all.merge(one));
    Ok(all)
}

struct Worker<'p> {
    policies: &'p Policies,
    memo: Memo<Rc<Used>>,
    usage: Usage,
}

impl Worker<'_> {
    fn block(&mut self, block: &Block) {
        self.usage.unreadable += u64::from(block.is_too_long);
        for (_, text) in block.lines() {
            let read = read(text, |line| match line {
                Line::Noted(checks) => self.checks(&checks),
                Line::Plain(entry) => self.plain(&entry),
                Line::Other(_) => {}
            });
            self.usage.unreadable += u64::from(read.is_err());
        }
    }

    fn checks(&mut self, checks: &Checks<'_>) {
        let Self { policies, memo, usage } = self;
        let now = checks.time();
        usage.check(now);
        for input in checks.inputs() {
            let request = input.request();
            let [principal, resource, aux_data] = input.texts();
            for asked in input.asked() {
                let (Some(logged), Ok(request)) = (asked.was_allowed, &request) else {
                    usage.unreadable += 1;
                    continue;
                };
                let used = memo.answer(&[principal, resource, aux_data, asked.action()], || {
                    let (used, is_lasting) = used(policies, (request, asked.action()), now);
                    (Rc::new(used), is_lasting)
                });
                usage.decided(&used, logged, now);
            }
        }
    }

    fn plain(&mut self, entry: &PlainEntry) {
        self.usage.check(entry.time);
        for input in &entry.inputs {
            let Ok(request) = &input.request else {
                self.usage.unreadable += 1;
                continue;
            };
            for (action, logged) in request.actions.iter().zip(&input.was_allowed) {
                let Some(logged) = logged else {
                    self.usage.unreadable += 1;
                    continue;
                };
                let (used, _) = used(self.policies, (request, action), entry.time);
                self.usage.decided(&used, *logged, entry.time);
            }
        }
    }
}

/// Decides, and returns what decided. The second value is true if the answer is the same at every time.
fn used(policies: &Policies, (request, action): (&Request, &str), now: Timestamp) -> (Used, bool) {
    let alone = Request { actions: vec![action.to_owned()], ..request.clone() };
    let (explanation, is_timed) = policies.table().explain_timed(&alone, now);
    let mut actions = explanation.decision.actions.iter();
    let is_allowed = actions.any(|action| action.effect == Effect::Allow);
    (Used { is_allowed, used: use_of(&explanation) }, !is_timed)
}

fn use_of(explanation: &Explanation) -> Option<Use> {
    let action = explanation.decision.actions.first()?;
    let (Reason::Rule(source) | Reason::ConditionError(source)) = &action.reason else {
        return None;
    };
    let step = explanation.steps.iter().rev().find(|step| {
        let name = source.strip_prefix(&*step.policy).and_then(|rest| rest.strip_prefix('#'));
        matches!(step.outcome, Outcome::Applied | Outcome::Failed) && name == Some(&*step.rule)
    })?;
    Some(Use {
        policy: step.policy.clone(),
        rule: step.rule.clone(),
        role: step.role.clone(),
        derived_role: step.derived_role.clone(),
        action: step.action.clone(),
    })
}

impl Usage {
    /// Returns true if the log has `days` days, and all of it was counted: only then can anything be said about them.
    #[must_use]
    pub fn covers(&self, days: u32) -> bool {
        self.begin(days).is_some()
    }

    /// Returns what decided nothing in the last `days` days of the log, counted from its newest entry, in the order of
    /// files and lines; nothing unless the log covers them. `table` is that of the policies.
    #[must_use]
    pub fn unused<'p>(&self, table: &'p PolicyTable, days: u32) -> Vec<Unused<'p>> {
        let Some(begin) = self.begin(days) else { return Vec::new() };
        let mut uses: HashMap<(&str, &str), Vec<&Use>> = HashMap::new();
        for (used, _) in self.uses.iter().filter(|(_, last)| last.seconds() >= begin) {
            uses.entry((&*used.policy, &*used.rule)).or_default().push(used);
        }
        let mut rules: BTreeMap<(&str, &str), Vec<NamedRule<'p>>> = BTreeMap::new();
        for rule in table.named_rules().into_iter().filter(|rule| rule.effect.is_some()) {
            rules.entry((rule.location.policy, rule.location.name)).or_default().push(rule);
        }
        let inherited = table.inherited_roles();
        let mut found = BTreeSet::new();
        for (key, entries) in &rules {
            let uses = uses.get(key).map_or(&[][..], Vec::as_slice);
            found.extend(idle(entries, uses, &inherited));
        }
        found.into_iter().collect()
    }

    /// Returns the second at which the last `days` days begin, if the log has all of them.
    fn begin(&self, days: u32) -> Option<i64> {
        let (first, last) = self.times.filter(|_| !self.is_incomplete)?;
        let begin = last.seconds() - i64::from(days) * SECONDS_OF_A_DAY;
        (first.seconds() <= begin).then_some(begin)
    }

    fn check(&mut self, time: Timestamp) {
        self.checks += 1;
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
    }

    fn decided(&mut self, used: &Used, logged: bool, now: Timestamp) {
        self.decisions += 1;
        self.not_reproduced += u64::from(used.is_allowed != logged);
        used.used.iter().for_each(|used| self.note(used, now));
    }

    fn note(&mut self, used: &Use, time: Timestamp) {
        if let Some(last) = self.uses.get_mut(used) {
            *last = (*last).max(time);
        } else if self.uses.len() < MAX_USES {
            self.uses.insert(used.clone(), time);
        } else {
            self.is_incomplete = true;
        }
    }

    fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        self.decisions += other.decisions;
        self.not_reproduced += other.not_reproduced;
        self.unreadable += other.unreadable;
        self.is_incomplete |= other.is_incomplete;
        self.times = match (self.times, other.times) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (times, others) => times.or(others),
        };
        other.uses.iter().for_each(|(used, time)| self.note(used, *time));
    }
}

/// Returns a rule if it has no uses, and else its parts without any. `entries` are those of the rule.
fn idle<'p>(
    entries: &[NamedRule<'p>],
    uses: &[&Use],
    inherited: &BTreeSet<(&str, &str)>,
) -> Vec<Unused<'p>> {
    let Some(first) = entries.first() else { return Vec::new() };
    let mut whats = Vec::new();
    if uses.is_empty() {
        whats.push(What::Rule);
    } else {
        for entry in entries {
            whats.extend(idle_roles(entry, uses, inherited));
            let is_idle = |action: &&str| !uses.iter().any(|used| fits(action, &used.action));
            whats.extend(entry.actions.iter().copied().filter(is_idle).map(What::Action));
        }
    }
    let (file, at) = (first.file, first.location);
    let unused = |what| Unused { file, line: at.line, policy: at.policy, rule: at.name, what };
    whats.into_iter().map(unused).collect()
}

/// Returns the derived role of an entry, or its roles, for which the rule decided nothing.
fn idle_roles<'p>(
    entry: &NamedRule<'p>,
    uses: &[&Use],
    inherited: &BTreeSet<(&str, &str)>,
) -> Vec<What<'p>> {
    if let Some(name) = entry.location.derived_role {
        let is_used = uses.iter().any(|used| used.derived_role.as_deref() == Some(name));
        return if is_used { Vec::new() } else { vec![What::DerivedRole(name)] };
    }
    let by_role = || uses.iter().filter(|used| used.derived_role.is_none());
    let is_idle = |role: &&str| !by_role().any(|used| is_for(role, &used.role, inherited));
    entry.roles.iter().copied().filter(is_idle).map(What::Role).collect()
}

/// Returns true if a rule that names `named` can decide for `role`: by its name, by a pattern, or because the role
/// inherits. Policies of principals try no roles.
fn is_for(named: &str, role: &str, inherited: &BTreeSet<(&str, &str)>) -> bool {
    let inherits = |(heir, parent): &(&str, &str)| *heir == role && fits(named, parent);
    role.is_empty() || fits(named, role) || inherited.iter().any(inherits)
}

fn fits(pattern: &str, text: &str) -> bool {
    pattern == text || glob::is_glob(pattern) && glob::matches(pattern, text)
}

const SECONDS_OF_A_DAY: i64 = 86_400;

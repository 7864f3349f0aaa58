//! The walk: principal policies, then the roles of the principal, scope by scope, rule by rule.
//!
//! Scopes go from the most specific to the root. Within a scope a deny beats an allow; the first
//! role that is allowed wins; without a rule that applies, the action is denied.
//!
//! A request may ask about many MQTT topics. What it is allowed has to be allowed for each of them
//! alone, so its walk visits every rule that the walk for one of them would: a rule that is met for a
//! part of them does not end it, as for the topics of the other part it would go on, and perhaps
//! fail. If the rule denies, the walk ends with its denial, or with a failure.

use alloc::string::ToString;

use super::record::{Outcome, WalkPosition};
use super::roles::Lineage;
use super::session::{Failure, Session};
use super::verdict::{Policy, Verdict, Why};
use super::visited::{VisitedScope, needs_consent};
use crate::decision::{Effect, Output};
use crate::table::candidates::Candidates;
use crate::table::{Block, Name, Rule};

/// The result of one scope.
enum Scope<'a> {
    Decided(Verdict<'a>),
    Allows(Rule<'a>),
    Silent,
}

/// The result of a search through scopes.
#[derive(Default)]
pub(super) struct Walk<'a> {
    /// The verdict on the topics that are not decided apart.
    pub(super) verdict: Option<Verdict<'a>>,
    /// The denial of a part of the topics on the way to it.
    partly_denied: Option<Verdict<'a>>,
    /// True if a part of the topics is allowed on the way to it.
    pub(super) partly_allowed: bool,
}

/// The result of one block's rules so far.
#[derive(Default)]
struct Tried<'a> {
    /// The first rule that allows.
    allow: Option<Rule<'a>>,
    /// The last rule that had an output.
    emitted: Option<Rule<'a>>,
    /// True if a rule was tried.
    met: bool,
}

impl<'a> Session<'a> {
    /// Decides one action.
    pub(crate) fn decide(&self, action: &'a str) -> Verdict<'a> {
        let principal_exists = self.principal_policies_exist();
        let resource_exists = self.resource_policies_exist();
        if !principal_exists && !resource_exists {
            return Verdict::denied(Policy::None, Why::NoPolicy);
        }
        let action = self.table.name(action);
        let by_principal = self.try_principal_policies(action);
        if let Some(verdict) = by_principal.filter(|verdict| verdict.effect.is_some()) {
            return verdict.of(if principal_exists { Policy::Principal } else { Policy::None });
        }
        let fallback = if resource_exists { Policy::Resource } else { Policy::None };
        self.try_roles(action).of(fallback).or_denied()
    }

    /// Returns true if one action is allowed.
    pub(crate) fn allows(&self, action: &'a str) -> bool {
        self.decide(action).effect == Some(Effect::Allow)
    }

    fn try_principal_policies(&self, action: Name<'a>) -> Option<Verdict<'a>> {
        self.walk_principal_policies(action).of_all()
    }

    pub(super) fn walk_principal_policies(&self, action: Name<'a>) -> Walk<'a> {
        let mut walk = Walk::default();
        if self.request.principal.roles.is_empty() {
            return walk;
        }
        self.current.set(None);
        self.partly_denied.set(None);
        for scope in self.principal_scopes() {
            let Some(block) = self.principal_block(scope) else { continue };
            let text = self.table.string(scope);
            self.partly_allowed.set(false);
            let result = self.principal_scope(block, text, action);
            if self.note_scope(&mut walk, result, (text, needs_consent(self.table, scope))) {
                break;
            }
        }
        if walk.verdict.is_none() && self.partly_denied.get().is_some() {
            // Another topic might have gone on to the roles.
            self.doubt();
        }
        self.ended(walk)
    }

    /// Ends a walk with the denial of a part of the topics on the way, if there was one.
    fn ended(&self, mut walk: Walk<'a>) -> Walk<'a> {
        walk.partly_denied = self.partly_denied.take();
        if walk.partly_denied.is_some() && walk.verdict.is_some_and(|v| v.is_final()) {
            self.doubt();
        }
        walk
    }

    /// Notes the result of a scope; returns true if it ends the walk.
    fn note_scope(
        &self,
        walk: &mut Walk<'a>,
        result: Scope<'a>,
        (scope, needs_consent): (&'a str, bool),
    ) -> bool {
        let is_part = self.partly_allowed.get() && !needs_consent;
        walk.partly_allowed |= is_part && !matches!(result, Scope::Decided(_));
        walk.verdict = result.verdict(scope, needs_consent);
        walk.verdict.is_some()
    }

    fn principal_scope(&self, block: Block<'a>, scope: &'a str, action: Name<'a>) -> Scope<'a> {
        if self.charge_block(block, action, "", 1).is_err() {
            return Scope::Decided(Verdict::EXHAUSTED);
        }
        let position = WalkPosition { action: action.text, role: "", scope };
        let mut candidates = block.candidates();
        block.narrow_actions(&mut candidates, action);
        block.narrow_resources(&mut candidates, self.kind_name());
        self.try_block(block, &mut candidates, position, &Outcome::OtherResource)
    }

    /// Tries the candidates. `excluded` is the outcome of the rules that the other dimension
    /// excludes.
    fn try_block(
        &self,
        block: Block<'a>,
        candidates: &mut Candidates<'a>,
        position: WalkPosition<'a>,
        excluded: &Outcome,
    ) -> Scope<'a> {
        let mut tried = Tried::default();
        if let Some(verdict) =
            self.try_rules(block, candidates, position, (&mut tried, Some(excluded)))
        {
            return Scope::Decided(verdict);
        }
        tried.allow.map_or(Scope::Silent, Scope::Allows)
    }

    /// Tries each role of the principal; the first that is allowed wins, else the first result
    /// counts.
    fn try_roles(&self, action: Name<'a>) -> Verdict<'a> {
        let mut answer: Option<Verdict<'a>> = None;
        for (index, role) in self.request.principal.roles.iter().enumerate() {
            let Ok(role) = self.lineage(index, role) else { return Verdict::EXHAUSTED };
            let Some(verdict) = self.try_role(role, action) else { continue };
            if verdict.is_final() {
                return verdict;
            }
            answer = answer.or(Some(verdict));
        }
        answer.unwrap_or(Verdict::NOTHING)
    }

    fn try_role(&self, role: Lineage<'a>, action: Name<'a>) -> Option<Verdict<'a>> {
        self.walk_role(role, action).of_all()
    }

    /// Visits scopes until one decides.
    pub(super) fn walk_role(&self, role: Lineage<'a>, action: Name<'a>) -> Walk<'a> {
        let mut walk = Walk::default();
        self.partly_denied.set(None);
        for visit in self.visited_scopes() {
            self.partly_allowed.set(false);
            let result = self.resource_scope_for(&visit, role, action);
            if self.note_scope(&mut walk, result, (visit.text, visit.needs_consent)) {
                break;
            }
        }
        self.ended(walk)
    }

    fn resource_scope_for(
        &self,
        visit: &VisitedScope<'a>,
        role: Lineage<'a>,
        action: Name<'a>,
    ) -> Scope<'a> {
        for block in visit.rules.into_iter().chain(visit.roles) {
            let roles = role.names().count();
            if self.charge_block(block, action, role.role.text, roles).is_err() {
                return Scope::Decided(Verdict::EXHAUSTED);
            }
        }
        self.current.set(visit.rules.map(|block| (visit.scope, block)));
        if self.record.is_some() {
            self.current_effective_roles();
        }
        let position =
            WalkPosition { action: action.text, role: role.role.text, scope: visit.text };
        if let Some(roles) = visit.roles
            && let Some(verdict) = self.try_role_policies(roles, role, position, action)
        {
            return Scope::Decided(verdict);
        }
        let Some(block) = visit.rules else { return Scope::Silent };
        let mut candidates = block.candidates();
        block.narrow_actions(&mut candidates, action);
        block.narrow_roles(&mut candidates, role.names());
        self.try_block(block, &mut candidates, position, &Outcome::OtherRole)
    }

    /// Pays for narrowing `block` by the action, the kind and so many roles.
    pub(super) fn charge_block(
        &self,
        block: Block<'_>,
        action: Name<'_>,
        role: &str,
        roles: usize,
    ) -> Result<(), Failure> {
        self.charge(1)?;
        self.charge(block.chunk_count().saturating_mul(roles))?;
        let globs = block.glob_steps(action.text.len(), role.len(), self.kind_name().text.len());
        self.charge(globs.saturating_mul(roles))
    }

    /// Tries the role policies. They narrow: an action that they do not list is denied.
    fn try_role_policies(
        &self,
        block: Block<'a>,
        role: Lineage<'a>,
        position: WalkPosition<'a>,
        action: Name<'a>,
    ) -> Option<Verdict<'a>> {
        for role in role.names() {
            let Some(policy) = role.id.and_then(|id| block.role_policy(id)) else { continue };
            let mut candidates = block.candidates();
            block.narrow_actions(&mut candidates, action);
            block.narrow_roles(&mut candidates, core::iter::once(role));
            block.narrow_resources(&mut candidates, self.kind_name());
            let mut tried = Tried::default();
            if let Some(verdict) =
                self.try_rules(block, &mut candidates, position, (&mut tried, None))
            {
                return Some(verdict);
            }
            if !tried.met {
                return Some(Verdict::not_listed(policy, position.scope));
            }
        }
        None
    }

    /// Tries the candidates in order until one decides.
    fn try_rules(
        &self,
        block: Block<'a>,
        candidates: &mut Candidates<'a>,
        position: WalkPosition<'a>,
        (tried, excluded): (&mut Tried<'a>, Option<&Outcome>),
    ) -> Option<Verdict<'a>> {
        if self.is_traced {
            return self.trace_rules(block, candidates, position, (tried, excluded));
        }
        for rule in candidates {
            if let Some(verdict) = self.try_rule(block, rule, position, tried) {
                return Some(verdict);
            }
        }
        None
    }

    /// Tries the candidates, and traces the other rules of each chunk before them.
    fn trace_rules(
        &self,
        block: Block<'a>,
        candidates: &mut Candidates<'a>,
        position: WalkPosition<'a>,
        (tried, excluded): (&mut Tried<'a>, Option<&Outcome>),
    ) -> Option<Verdict<'a>> {
        for chunk in candidates.chunks() {
            let excluded = excluded.map(|outcome| (chunk.excluded(), outcome));
            let others = (chunk.of_other_actions(), &Outcome::OtherAction);
            for (rules, outcome) in excluded.into_iter().chain([others]) {
                rules.for_each(|rule| self.trace(block, position, rule, outcome));
            }
            for rule in chunk.candidates() {
                if let Some(verdict) = self.try_rule(block, rule, position, tried) {
                    return Some(verdict);
                }
            }
        }
        None
    }

    /// Tries a rule. A deny or a failure decides; the first allow is noted.
    fn try_rule(
        &self,
        block: Block<'a>,
        index: usize,
        position: WalkPosition<'a>,
        tried: &mut Tried<'a>,
    ) -> Option<Verdict<'a>> {
        tried.met = true;
        let rule = block.rule(index);
        self.may_have_failed.set(false);
        let mut outcome = self.consider(&rule);
        if !tried.has_emitted(&rule) {
            match self.emit_output(&rule, &outcome, position) {
                Ok(false) => {}
                Ok(true) => tried.emitted = Some(rule),
                Err(failure) => outcome = Err(failure),
            }
        }
        if self.is_traced || cfg!(feature = "observe") {
            self.trace(block, position, index, outcome.as_ref().unwrap_or(&Outcome::Failed));
        }
        match (outcome, rule.effect()) {
            (Err(failure), _) => Some(Verdict::failed(failure, &rule, position.scope)),
            (Ok(Outcome::Applied), Some(Effect::Deny)) => {
                Some(Verdict::by_rule(Effect::Deny, &rule, position.scope))
            }
            (Ok(Outcome::Applied), Some(Effect::Allow)) => {
                tried.allow = tried.allow.or(Some(rule));
                None
            }
            (Ok(Outcome::PartlyMet), Some(Effect::Allow)) => {
                self.doubt();
                if !self.may_have_failed.get() {
                    self.partly_allowed.set(true);
                }
                None
            }
            (Ok(Outcome::PartlyMet), Some(Effect::Deny)) => {
                let denial = Verdict::by_rule(Effect::Deny, &rule, position.scope);
                self.partly_denied.set(self.partly_denied.take().or(Some(denial)));
                None
            }
            _ => None,
        }
    }

    fn consider(&self, rule: &Rule<'a>) -> Result<Outcome, Failure> {
        self.touch_variables(rule.variables());
        let mut met = Outcome::Applied;
        if let Some(condition) = rule.role_condition() {
            self.touch_variables(rule.role_variables());
            match self.satisfies(condition) {
                Ok(true) => {}
                Ok(false) => return Ok(Outcome::DerivedRoleNotMet),
                // The condition of the rule may fail for the topics of the other part.
                Err(Failure::Partly) => met = Outcome::PartlyMet,
                Err(failure) => return Err(failure),
            }
        }
        match rule.condition().map_or(Ok(true), |at| self.satisfies(at)) {
            Ok(true) => Ok(met),
            Ok(false) => Ok(Outcome::ConditionNotMet),
            Err(Failure::Partly) => Ok(Outcome::PartlyMet),
            Err(failure) => {
                if met == Outcome::PartlyMet {
                    self.doubt();
                }
                Err(failure)
            }
        }
    }

    fn trace(&self, block: Block<'a>, position: WalkPosition<'a>, rule: usize, outcome: &Outcome) {
        let rule = block.rule(rule);
        #[cfg(feature = "observe")]
        self.observe_rule(block, position, &rule, outcome);
        if let Some(record) = &self.record
            && let Some(trace) = &mut record.borrow_mut().trace
        {
            trace.step(position, &rule, outcome.clone());
        }
    }

    /// Evaluates the output of the rule for `outcome`, and returns true if it has one.
    fn emit_output(
        &self,
        rule: &Rule<'a>,
        outcome: &Result<Outcome, Failure>,
        position: WalkPosition<'a>,
    ) -> Result<bool, Failure> {
        let activated = match outcome {
            Ok(Outcome::Applied) => true,
            Ok(Outcome::ConditionNotMet) => false,
            _ => return Ok(false),
        };
        let Some(record) = &self.record else { return Ok(false) };
        let Some(program) = rule.output(activated) else { return Ok(false) };
        self.charge_text(rule.source_len().saturating_add(position.action.len()))?;
        let value = self.evaluate(program);
        let value = self.limited(|steps| value.to_attr(steps)).map_err(|error| error.to_string());
        // An allow without all its obligations, because the request's budget is spent, would be
        // incomplete.
        self.charge(1)?;
        let output = Output { source: rule.source(), action: position.action.to_string(), value };
        record.borrow_mut().outputs.push(output);
        Ok(true)
    }
}

impl<'a> Walk<'a> {
    /// Returns the verdict on all topics: that of the walk if it failed, else the denial of a part.
    fn of_all(self) -> Option<Verdict<'a>> {
        self.partly_denied.filter(|_| !self.has_failed()).or(self.verdict)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict.has_failed())
    }
}

impl<'a> Scope<'a> {
    /// Returns the verdict, unless the search continues in the next scope.
    fn verdict(self, scope: &'a str, needs_consent: bool) -> Option<Verdict<'a>> {
        match self {
            Self::Decided(verdict) => Some(verdict),
            Self::Allows(rule) if !needs_consent => {
                Some(Verdict::by_rule(Effect::Allow, &rule, scope))
            }
            Self::Allows(_) | Self::Silent => None,
        }
    }
}

impl Tried<'_> {
    /// Returns true if `rule` has had its output already, and is met again by one of its derived
    /// roles.
    fn has_emitted(&self, rule: &Rule<'_>) -> bool {
        let same = |emitted: &Rule<'_>| {
            (emitted.policy_id(), emitted.name_id()) == (rule.policy_id(), rule.name_id())
        };
        rule.derived_role().is_some() && self.emitted.as_ref().is_some_and(same)
    }
}

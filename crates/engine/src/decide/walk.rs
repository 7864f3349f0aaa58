//! The walk: principal policies, then the roles of the principal, scope by scope, rule by rule.
//!
//! Scopes go from the most specific to the root. Within a scope a deny beats an allow; the first
//! role that is allowed wins; without a rule that applies, the action is denied.

use alloc::string::ToString;

use super::record::{Outcome, WalkPosition};
use super::roles::Lineage;
use super::session::{Failure, Session};
use super::verdict::{Policy, Verdict, Why};
use crate::decision::{Effect, Output};
use crate::table::{Block, Chunk, Name, Rule};

/// The result of one scope.
enum Scope<'a> {
    Decided(Verdict<'a>),
    Allows(Rule<'a>),
    Silent,
}

/// The result of one block's rules so far.
#[derive(Default)]
struct Tried<'a> {
    /// The first rule that allows.
    allow: Option<Rule<'a>>,
    /// The last rule that had an output.
    emitted: Option<Rule<'a>>,
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

    fn try_principal_policies(&self, action: Name<'a>) -> Option<Verdict<'a>> {
        self.request.principal.roles.first()?;
        self.current.set(None);
        let scopes = self.principal_scopes();
        self.search(scopes, |scope| match self.principal_block(scope) {
            Some(block) => self.principal_scope(block, scope, action),
            None => Scope::Silent,
        })
    }

    fn principal_scope(&self, block: Block<'a>, scope: u32, action: Name<'a>) -> Scope<'a> {
        if self.charge_block(block, action, "", 1).is_err() {
            return Scope::Decided(Verdict::EXHAUSTED);
        }
        let position =
            WalkPosition { action: action.text, role: "", scope: self.table.string(scope) };
        let narrow = |chunk: &mut Chunk| block.narrow_resources(chunk, self.kind_name());
        self.try_block(block, position, action, narrow, &Outcome::OtherResource)
    }

    /// Tries the rules that `narrow` leaves and that name the action.
    fn try_block(
        &self,
        block: Block<'a>,
        position: WalkPosition<'a>,
        action: Name<'a>,
        narrow: impl Fn(&mut Chunk),
        excluded: &Outcome,
    ) -> Scope<'a> {
        let mut tried = Tried::default();
        for mut chunk in block.chunks() {
            let all = chunk;
            narrow(&mut chunk);
            self.trace_excluded(block, all.without(&chunk), position, excluded);
            let listed = chunk;
            block.narrow_actions(&mut chunk, action);
            self.trace_excluded(block, listed.without(&chunk), position, &Outcome::OtherAction);
            if let Some(verdict) = self.try_rules(block, chunk, position, &mut tried) {
                return Scope::Decided(verdict);
            }
        }
        tried.allow.map_or(Scope::Silent, Scope::Allows)
    }

    /// Tries each role of the principal; the first that is allowed wins, else the first result
    /// counts.
    fn try_roles(&self, action: Name<'a>) -> Verdict<'a> {
        let mut answer: Option<Verdict<'a>> = None;
        for role in &self.request.principal.roles {
            let Ok(role) = self.lineage(role) else { return Verdict::EXHAUSTED };
            let scopes = self.resource_scopes();
            let found = self.search(scopes, |scope| self.resource_scope_for(scope, role, action));
            let Some(verdict) = found else { continue };
            if verdict.is_final() {
                return verdict;
            }
            answer = answer.or(Some(verdict));
        }
        answer.unwrap_or(Verdict::NOTHING)
    }

    /// Visits scopes until one decides.
    fn search(
        &self,
        scopes: impl Iterator<Item = u32>,
        mut visit: impl FnMut(u32) -> Scope<'a>,
    ) -> Option<Verdict<'a>> {
        for scope in scopes {
            match visit(scope) {
                Scope::Decided(verdict) => return Some(verdict),
                Scope::Allows(rule) if !self.needs_consent(scope) => {
                    let scope = self.table.string(scope);
                    return Some(Verdict::by_rule(Effect::Allow, &rule, scope));
                }
                Scope::Allows(_) | Scope::Silent => {}
            }
        }
        None
    }

    fn resource_scope_for(&self, scope: u32, role: Lineage<'a>, action: Name<'a>) -> Scope<'a> {
        let block = self.resource_block(scope);
        let roles_block = self.roles_block(scope);
        for block in block.into_iter().chain(roles_block) {
            let roles = role.names().count();
            if self.charge_block(block, action, role.role.text, roles).is_err() {
                return Scope::Decided(Verdict::EXHAUSTED);
            }
        }
        self.current.set(block.map(|block| (scope, block)));
        if self.record.is_some() {
            self.current_effective_roles();
        }
        let position = WalkPosition {
            action: action.text,
            role: role.role.text,
            scope: self.table.string(scope),
        };
        if let Some(roles) = roles_block
            && let Some(verdict) = self.try_role_policies(roles, role, position, action)
        {
            return Scope::Decided(verdict);
        }
        let Some(block) = block else { return Scope::Silent };
        let narrow = |chunk: &mut Chunk| block.narrow_roles(chunk, role.names());
        self.try_block(block, position, action, narrow, &Outcome::OtherRole)
    }

    /// Pays for narrowing `block` by the action, the kind and so many roles.
    fn charge_block(
        &self,
        block: Block<'a>,
        action: Name<'a>,
        role: &str,
        roles: usize,
    ) -> Result<(), Failure> {
        self.charge(1)?;
        self.charge(block.chunks().count().saturating_mul(roles))?;
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
            let mut listed = false;
            for mut chunk in block.chunks() {
                block.narrow_roles(&mut chunk, core::iter::once(role));
                block.narrow_resources(&mut chunk, self.kind_name());
                let relevant = chunk;
                block.narrow_actions(&mut chunk, action);
                self.trace_excluded(
                    block,
                    relevant.without(&chunk),
                    position,
                    &Outcome::OtherAction,
                );
                listed |= !chunk.is_empty();
                let mut tried = Tried::default();
                if let Some(verdict) = self.try_rules(block, chunk, position, &mut tried) {
                    return Some(verdict);
                }
            }
            if !listed {
                return Some(Verdict::not_listed(policy, position.scope));
            }
        }
        None
    }

    /// Tries the candidates in order. A deny or a failure decides; the first allow is noted.
    fn try_rules(
        &self,
        block: Block<'a>,
        candidates: Chunk,
        position: WalkPosition<'a>,
        tried: &mut Tried<'a>,
    ) -> Option<Verdict<'a>> {
        for rule in block.rules(candidates) {
            let mut outcome = self.consider(&rule);
            if !tried.has_emitted(&rule) {
                match self.emit_output(&rule, &outcome, position) {
                    Ok(false) => {}
                    Ok(true) => tried.emitted = Some(rule),
                    Err(failure) => outcome = Err(failure),
                }
            }
            self.trace(block, position, &rule, outcome.as_ref().unwrap_or(&Outcome::Failed));
            match (outcome, rule.effect()) {
                (Err(failure), _) => return Some(Verdict::failed(failure, &rule, position.scope)),
                (Ok(Outcome::Applied), Some(Effect::Deny)) => {
                    return Some(Verdict::by_rule(Effect::Deny, &rule, position.scope));
                }
                (Ok(Outcome::Applied), Some(Effect::Allow)) => {
                    tried.allow = tried.allow.or(Some(rule));
                }
                _ => {}
            }
        }
        None
    }

    fn consider(&self, rule: &Rule<'a>) -> Result<Outcome, Failure> {
        self.touch_variables(rule.variables());
        if let Some(condition) = rule.role_condition() {
            self.touch_variables(rule.role_variables());
            if !self.satisfies(condition)? {
                return Ok(Outcome::DerivedRoleNotMet);
            }
        }
        let satisfied = rule.condition().map_or(Ok(true), |at| self.satisfies(at))?;
        Ok(if satisfied { Outcome::Applied } else { Outcome::ConditionNotMet })
    }

    fn trace(
        &self,
        block: Block<'a>,
        position: WalkPosition<'a>,
        rule: &Rule<'a>,
        outcome: &Outcome,
    ) {
        #[cfg(feature = "observe")]
        self.observe_rule(block, position, rule, outcome);
        #[cfg(not(feature = "observe"))]
        let _ = block;
        if let Some(record) = &self.record
            && let Some(trace) = &mut record.borrow_mut().trace
        {
            trace.step(position, rule, outcome.clone());
        }
    }

    fn trace_excluded(
        &self,
        block: Block<'a>,
        rules: Chunk,
        position: WalkPosition<'a>,
        why: &Outcome,
    ) {
        if self.is_traced {
            block.rules(rules).for_each(|rule| self.trace(block, position, &rule, why));
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
        self.charge_text(rule.source().len().saturating_add(position.action.len()))?;
        let value = self.evaluate(program);
        let value = self.limited(|steps| value.to_attr(steps)).map_err(|error| error.to_string());
        // An allow without all its obligations, because the request's budget is spent, would be
        // incomplete.
        self.charge(1)?;
        let output = Output {
            source: rule.source().to_string(),
            action: position.action.to_string(),
            value,
        };
        record.borrow_mut().outputs.push(output);
        Ok(true)
    }
}

impl Tried<'_> {
    /// Returns true if `rule` has had its output already, and is met again by one of its derived
    /// roles.
    fn has_emitted(&self, rule: &Rule<'_>) -> bool {
        let same = |emitted: &Rule<'_>| emitted.source() == rule.source();
        rule.derived_role().is_some() && self.emitted.as_ref().is_some_and(same)
    }
}

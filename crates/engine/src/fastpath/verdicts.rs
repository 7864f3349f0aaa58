//! Verdicts of fast paths: which rule decides, and the texts of the decision on an action.
//!
//! A fast path names rules in relation to a kind: by scope and number. The texts are those that a
//! check of the general path writes.

use alloc::string::String;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{EMITS, PROGRAMS, origin};
use wardgate_fastpath::{FastPath, Frame, NoPrograms, Searched, Verdict};

use super::{Contents, Running};
use crate::cel::Timestamp;
use crate::decide::scopes::Search;
use crate::decision::{ActionDecision, Effect, Output, Reason};
use crate::limits::{MAX_FAST_PATH_ACTION_BYTES, MAX_VERDICT_STEPS};
use crate::names::{policy_key, sanitized, trimmed_scope};
use crate::order;
use crate::table::layout::Key;
use crate::table::{Block, Name, PolicyTable, Rule};

/// The kind of a resource, with the version and scope of policies, as a request names them; an
/// empty version is the default one.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The kind of the resource.
    pub kind: &'a str,
    /// The version of the policies.
    pub version: &'a str,
    /// The scope at which the search for policies starts.
    pub scope: &'a str,
    /// The id of the principal; only texts about policies of its own need it.
    pub principal: &'a str,
}

impl PolicyTable {
    /// Decides by a fast path with verdicts, for roles with these masks in their order. Returns
    /// `None` if only the general path can decide.
    #[must_use]
    pub fn verdict_with(
        &self,
        id: u32,
        roles: &[u32],
        (frame, contents): (&Frame, &dyn Contents),
        now: Timestamp,
    ) -> Option<Searched> {
        let fast_path = self.fast_path(id)?;
        if fast_path.flags() & PROGRAMS == 0 {
            return fast_path.verdict(roles, frame, &NoPrograms);
        }
        let decide = |fast_path: FastPath<'_>, running: Running<'_, Frame>| {
            fast_path.verdict(roles, frame, &running.within(MAX_VERDICT_STEPS))
        };
        self.running(id, (frame, contents), now, decide)?
    }

    /// Returns the outputs that the rules emit on the way to the verdict of
    /// [`PolicyTable::verdict_with`], in the order of the general path; their action, one that fast
    /// paths match, is left empty. Returns `None` if only the general path can make them, or report
    /// why they fail.
    #[must_use]
    pub fn outputs_with(
        &self,
        subject: Subject<'_>,
        (id, roles): (u32, &[u32]),
        (frame, contents): (&Frame, &dyn Contents),
        now: Timestamp,
    ) -> Option<Vec<Output>> {
        let route = Route::of(self, subject)?;
        let (fast_path, pool) = (self.fast_path(id)?, self.pool());
        let running =
            Running::new(&pool, (fast_path, frame, contents), now).within(MAX_VERDICT_STEPS);
        fast_path.verdict(roles, frame, &running)?;
        let mut outputs = Vec::new();
        let mut last = None;
        for (role, number) in running.emitted.take() {
            let (entry, origin) = fast_path.entry_with_origin(number)?;
            let [kind, scope, number] = origin::parts(origin);
            // The policies of the principal itself are searched once, before the roles.
            if scope == origin::OWN && role > 0 {
                continue;
            }
            let rule = route.rule([kind, scope], number, subject.principal)?;
            // A rule that is met again by another of its derived roles has had its output.
            let this = Some((role, rule.policy_id(), rule.name_id()));
            if rule.derived_role().is_some() && last == this {
                continue;
            }
            last = this;
            let program = rule.output(entry[0] >> 24 == EMITS)?;
            let texts = rule.source_len().checked_add(MAX_FAST_PATH_ACTION_BYTES)?;
            let value = Ok(running.output(program, texts)?);
            outputs.push(Output { source: rule.source(), action: String::new(), value });
        }
        Some(outputs)
    }

    /// Returns the derived roles that a fast path grants in the first `scopes` scopes of a kind: a
    /// bit for each. `roles` unites the masks of the principal's roles. Returns `None` if only the general path can tell.
    #[must_use]
    pub fn grants_with(
        &self,
        fast_path: u32,
        (roles, scopes): (u32, u32),
        (frame, contents): (&Frame, &dyn Contents),
        now: Timestamp,
    ) -> Option<u32> {
        let decide = |fast_path: FastPath<'_>, running: Running<'_, Frame>| {
            fast_path.grants(roles, scopes, frame, &running.within(MAX_VERDICT_STEPS))
        };
        self.running(fast_path, (frame, contents), now, decide)?
    }

    /// Returns the decision on an action that a verdict stands for; its action is left empty.
    /// Returns `None` if the fast path has no such entry, or is not one of the kind.
    #[must_use]
    pub fn decision_of(
        &self,
        subject: Subject<'_>,
        fast_path: u32,
        verdict: Verdict,
    ) -> Option<ActionDecision> {
        let route = Route::of(self, subject)?;
        let (entry, effect) = match verdict {
            Verdict::Allow(entry) => (entry, Effect::Allow),
            Verdict::Deny(entry) => (entry, Effect::Deny),
            Verdict::Nothing => {
                let reason = Reason::NoRuleApplied;
                return Some(route.decision(Effect::Deny, None, String::new(), reason));
            }
        };
        let (entry, fast_path) = (usize::try_from(entry).ok()?, self.fast_path(fast_path)?);
        let [kind, scope, number] = origin::parts(*fast_path.origins().get(entry)?);
        let text = || Some(String::from(self.string(route.scope(scope)?)));
        if kind == origin::NOT_LISTED {
            let policy = route.roles_block(route.scope(scope)?)?.role_policy(number)?;
            return Some(route.decision(effect, Some(policy), text()?, Reason::NotInRolePolicy));
        }
        let rule = route.rule([kind, scope], number, subject.principal)?;
        let reason = Reason::Rule(rule.source());
        if scope == origin::OWN {
            let version = self.string(route.version);
            let policy = policy_key("principal", subject.principal, version, "");
            return Some(route.decision(effect, Some(&policy), String::new(), reason));
        }
        let policy = if kind == origin::ROLE_RULE { Some(rule.policy()) } else { None };
        Some(route.decision(effect, policy, text()?, reason))
    }

    /// Returns the names of granted derived roles, sorted, each once.
    #[must_use]
    pub fn granted_names(&self, subject: Subject<'_>, granted: u32) -> Vec<&str> {
        let Some(route) = Route::of(self, subject) else { return Vec::new() };
        let blocks = route.scopes().filter_map(|scope| route.resource_block(scope));
        let roles = blocks.flat_map(|block| block.derived_roles());
        let mut names: Vec<&str> = roles
            .zip(0_u32..u32::BITS)
            .filter(|(_, bit)| granted >> bit & 1 == 1)
            .map(|(role, _)| role.name())
            .collect();
        order::sort_by(&mut names, |a, b| a.cmp(b));
        names.dedup();
        names
    }
}

/// The scopes that a search for the policies of a kind visits.
struct Route<'a> {
    table: &'a PolicyTable,
    search: Search<'a>,
    /// The number of scopes before the first one with a policy about the kind, whose fast paths
    /// decide.
    before: usize,
    kind: u32,
    version: u32,
}

impl<'a> Route<'a> {
    fn of(table: &'a PolicyTable, subject: Subject<'_>) -> Option<Self> {
        let default = table.default_version();
        let version = if subject.version.is_empty() { default } else { subject.version };
        let scope = table.string_id(trimmed_scope(subject.scope))?;
        let name = Name { text: table.string(scope), id: Some(scope) };
        let search = Search::new(table, Key::ResourceScope, name);
        let kind = table.string_id(&sanitized(subject.kind))?;
        let version = table.string_id(version)?;
        let is_about = |scope: u32| table.find(Key::FastPaths, [kind, version, scope]).is_some();
        let before = search.visited().position(is_about)?;
        Some(Self { table, search, before, kind, version })
    }

    /// Returns the scopes that the fast paths count, from the most specific one.
    fn scopes(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.search.visited().skip(self.before)
    }

    /// Returns the string id of a scope, counted from the most specific one.
    fn scope(&self, number: u32) -> Option<u32> {
        self.scopes().nth(usize::try_from(number).ok()?)
    }

    fn resource_block(&self, scope: u32) -> Option<Block<'a>> {
        let offset = self.table.find(Key::Resource, [self.kind, self.version, scope])?;
        Some(Block::new(self.table, offset))
    }

    fn roles_block(&self, scope: u32) -> Option<Block<'a>> {
        let offset = self.table.find(Key::Roles, [self.version, scope, 0])?;
        Some(Block::new(self.table, offset))
    }

    /// Returns the rule that an origin names; those of the principal itself are of the policy that
    /// it has in the root scope.
    fn rule(&self, [kind, scope]: [u32; 2], number: u32, principal: &str) -> Option<Rule<'a>> {
        let table = self.table;
        let block = match kind {
            origin::RESOURCE_RULE if scope == origin::OWN => {
                let key = [table.string_id(principal)?, self.version, table.string_id("")?];
                Block::new(table, table.find(Key::Principal, key)?)
            }
            origin::RESOURCE_RULE => self.resource_block(self.scope(scope)?)?,
            origin::ROLE_RULE => self.roles_block(self.scope(scope)?)?,
            _ => return None,
        };
        Some(block.rule(usize::try_from(number).ok()?))
    }

    /// Returns a decision of a policy; `None` is the most specific one of the kind.
    fn decision(
        &self,
        effect: Effect,
        policy: Option<&str>,
        scope: String,
        reason: Reason,
    ) -> ActionDecision {
        let text = |id| self.table.string(id);
        let first = self.search.visited().next().map_or("", text);
        let own = || policy_key("resource", text(self.kind), text(self.version), first);
        let policy = policy.map_or_else(own, String::from);
        ActionDecision { action: String::new(), effect, policy, scope, reason }
    }
}

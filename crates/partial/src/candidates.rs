//! Candidates: the rules that may apply to one action, scope by scope.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::vec::Vec;

use wardgate_fastpath::layout::{ALLOW, DENY};

use super::classes::Purpose;
use super::predicates::{Emission, PredicateId, Predicates};
use super::rows::{Action, Bits, Rows};
use super::schemas::Guards;
use wardgate_engine::decision::Effect;
use wardgate_engine::glob;
use wardgate_engine::limits::{MAX_FAST_PATH_ROLE_BYTES, MAX_FAST_PATH_ROLES};
use wardgate_engine::order::{in_order, sort_by};
use wardgate_engine::table::PolicyTable;

/// The scopes that a search visits, from the most specific one. They do not depend on the action.
pub(super) struct Route<'a> {
    pub(super) table: &'a PolicyTable,
    pub(super) stops: Vec<Stop<'a>>,
    /// True if the first stop is the policy of a principal itself.
    pub(super) is_own: bool,
    /// The roles that each role inherits from.
    pub(super) inherited: Rc<BTreeMap<u32, &'a [u32]>>,
    /// The tests for the schemas of the kind; `None` if they are only reported, and are not flat.
    pub(super) guards: Option<Guards>,
}

/// One scope of a route.
pub(super) struct Stop<'a> {
    pub(super) needs_consent: bool,
    /// The rows of the resource policy or principal policy, and the set of their rules that are
    /// about the kind.
    pub(super) rules: Option<(Rc<Rows<'a>>, Bits)>,
    /// The rows of the role policies, and the set of their rules that are about the kind.
    pub(super) roles: Option<(Rc<Rows<'a>>, Bits)>,
}

/// The rules that may apply to one action.
pub(super) struct Candidates<'a> {
    route: &'a Route<'a>,
    stages: Vec<Stage<'a>>,
}

/// The candidates of one scope.
pub(super) struct Stage<'a> {
    pub(super) needs_consent: bool,
    table: &'a PolicyTable,
    rules: Vec<Candidate>,
    /// Positions in `rules` of the rules for everyone, ascending.
    anyone: Vec<usize>,
    /// Positions in `rules` of the rules that name a role, ascending.
    by_role: BTreeMap<u32, Vec<usize>>,
    role_rules: Vec<RoleRule>,
    role_policies: BTreeSet<u32>,
}

/// A rule that may apply.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The number of the rule in its block.
    pub(super) number: usize,
    /// [`ALLOW`], [`DENY`] or 0.
    pub(super) effect: u32,
    pub(super) predicate: PredicateId,
    /// The outputs of the rule when it is activated, and when it is not.
    pub(super) emissions: [Option<Emission>; 2],
    /// The variables whose errors a check reports when it considers the rule; `None` if a check of
    /// it reports more than that, or no fast path can hold them.
    pub(super) reported: Option<Rc<[PredicateId]>>,
}

/// One rule of a role policy, and the roles that it names.
struct RoleRule {
    candidate: Candidate,
    anyone: bool,
    roles: Vec<u32>,
    patterns: Vec<u32>,
}

impl<'a> Route<'a> {
    /// Returns the string ids of the actions that rules about the kind name literally.
    pub(super) fn actions(&self) -> BTreeSet<u32> {
        let mut actions = BTreeSet::new();
        for stop in &self.stops {
            for (rows, about) in stop.rules.iter().chain(&stop.roles) {
                actions.extend(rows.actions(about));
            }
        }
        actions
    }

    /// Returns the string ids of the patterns that rules about the kind have for actions.
    pub(super) fn patterns(&self) -> BTreeSet<u32> {
        let mut patterns = BTreeSet::new();
        for stop in &self.stops {
            for (rows, about) in stop.rules.iter().chain(&stop.roles) {
                patterns.extend(rows.patterns(about));
            }
        }
        patterns
    }

    /// Returns an upper bound of the steps that the general path charges for finding the rules of a
    /// request.
    pub(super) fn cost(&self) -> usize {
        let lineage = 1 + self.inherited.values().map(|roles| roles.len()).max().unwrap_or(0);
        let blocks = self.stops.iter().flat_map(|stop| stop.rules.iter().chain(&stop.roles));
        let block = |(rows, _): &(Rc<Rows<'_>>, Bits)| {
            // Texts of 64 bytes are long for an action or a kind.
            let globs = rows.block.glob_steps(64, MAX_FAST_PATH_ROLE_BYTES, 64);
            let narrowing = rows.block.chunk_count().saturating_add(globs);
            narrowing.saturating_mul(lineage).saturating_add(1)
        };
        let all = blocks.map(block).fold(lineage, usize::saturating_add);
        all.saturating_mul(MAX_FAST_PATH_ROLES)
    }
}

impl<'a> Candidates<'a> {
    /// Collects the rules for an action. Returns `None` if only the general path can decide it.
    pub(super) fn new(
        route: &'a Route<'a>,
        action: Action<'_>,
        predicates: &mut Predicates<'_>,
    ) -> Option<Self> {
        let stage = |stop| Stage::new(route.table, stop, action, predicates);
        let stages = route.stops.iter().map(stage).collect::<Option<_>>()?;
        Some(Self { route, stages })
    }

    /// Returns the slots of the tests that effects need for an action, and those that verdicts do.
    pub(super) fn guards(&self, action: Action<'_>) -> [Vec<u32>; 2] {
        let Some(guards) = &self.route.guards else { return Default::default() };
        [Purpose::Effect, Purpose::Verdict]
            .map(|purpose| guards.of(self.route.table, action, purpose))
    }

    /// Returns an upper bound of the steps that the general path takes to check the attributes.
    pub(super) fn schema_cost(&self) -> usize {
        self.route.guards.as_ref().map_or(0, |guards| guards.cost)
    }

    /// Returns true if the first stage is the policy of a principal itself.
    pub(super) const fn is_own(&self) -> bool {
        self.route.is_own
    }

    pub(super) fn stages(&self) -> impl Iterator<Item = &Stage<'a>> {
        self.stages.iter()
    }

    /// Returns every role that any candidate may treat differently from others.
    pub(super) fn roles(&self) -> BTreeSet<u32> {
        let mut roles: BTreeSet<u32> = in_order(self.route.inherited.keys().copied());
        for stage in &self.stages {
            roles.extend(stage.by_role.keys());
            roles.extend(&stage.role_policies);
        }
        roles
    }

    /// Returns a role and the roles that it inherits from.
    pub(super) fn lineage(&self, role: u32) -> Vec<u32> {
        let inherited = self.route.inherited.get(&role).copied().unwrap_or(&[]);
        core::iter::once(role).chain(inherited.iter().copied()).collect()
    }

    /// Returns an upper bound of the steps that the general path charges for the conditions.
    pub(super) fn cost(&self, predicates: &Predicates<'_>) -> usize {
        self.all().fold(0, |cost, rule| cost.saturating_add(predicates.cost(rule.predicate)))
    }

    /// Returns true if a rule has an output.
    pub(super) fn emit(&self) -> bool {
        self.all().any(|rule| rule.emissions.iter().any(Option::is_some))
    }

    /// Returns the rules of all scopes.
    fn all(&self) -> impl Iterator<Item = &Candidate> {
        self.stages.iter().flat_map(|stage| {
            stage.rules.iter().chain(stage.role_rules.iter().map(|rule| &rule.candidate))
        })
    }

    /// Returns an upper bound of the steps that a check charges for the variables beside the
    /// conditions; `None` if a rule is such that only the general path can check it.
    pub(super) fn reported_cost(&self, predicates: &Predicates<'_>) -> Option<usize> {
        self.all().try_fold(0_usize, |cost, rule| {
            let reported = rule.reported.as_ref()?.iter();
            Some(reported.fold(cost, |cost, id| cost.saturating_add(predicates.cost(*id))))
        })
    }
}

impl<'a> Stage<'a> {
    fn new(
        table: &'a PolicyTable,
        stop: &Stop<'a>,
        action: Action<'_>,
        predicates: &mut Predicates<'_>,
    ) -> Option<Self> {
        let mut stage = Self {
            needs_consent: stop.needs_consent,
            table,
            rules: Vec::new(),
            anyone: Vec::new(),
            by_role: BTreeMap::new(),
            role_rules: Vec::new(),
            role_policies: BTreeSet::new(),
        };
        if let Some((rows, about)) = &stop.roles {
            stage.role_policies = in_order(rows.block.role_policies());
            stage.add_role_rules(rows, &rows.for_action(action, about)?, predicates)?;
        }
        if let Some((rows, about)) = &stop.rules {
            stage.add_rules(rows, &rows.for_action(action, about)?, predicates)?;
        }
        Some(stage)
    }

    fn add_rules(
        &mut self,
        rows: &Rows<'_>,
        numbers: &[usize],
        predicates: &mut Predicates<'_>,
    ) -> Option<()> {
        for number in numbers {
            let named = rows.named(*number)?;
            if !named.anyone && !named.patterns.is_empty() {
                // A role outside the table may match.
                return None;
            }
            let position = self.rules.len();
            self.rules.push(Candidate::new(rows, *number, predicates)?);
            if named.anyone {
                self.anyone.push(position);
                continue;
            }
            for role in &named.roles {
                self.by_role.entry(*role).or_default().push(position);
            }
        }
        Some(())
    }

    fn add_role_rules(
        &mut self,
        rows: &Rows<'_>,
        numbers: &[usize],
        predicates: &mut Predicates<'_>,
    ) -> Option<()> {
        for number in numbers {
            let named = rows.named(*number)?.clone();
            let candidate = Candidate::new(rows, *number, predicates)?;
            let (anyone, roles, patterns) = (named.anyone, named.roles, named.patterns);
            self.role_rules.push(RoleRule { candidate, anyone, roles, patterns });
        }
        Some(())
    }

    /// Returns the positions of the resource policy's rules that apply to one of these roles,
    /// ascending.
    pub(super) fn rules_for(&self, lineage: &[u32]) -> Vec<usize> {
        let named = lineage.iter().filter_map(|role| self.by_role.get(role));
        let mut rules: Vec<usize> = named.flatten().chain(&self.anyone).copied().collect();
        sort_by(&mut rules, usize::cmp);
        rules.dedup();
        rules
    }

    pub(super) fn candidate(&self, position: usize) -> Option<&Candidate> {
        self.rules.get(position)
    }

    pub(super) fn has_role_policy(&self, role: u32) -> bool {
        self.role_policies.contains(&role)
    }

    /// Returns the rules of the policy of a role, in their order.
    pub(super) fn role_rules(&self, role: u32) -> Vec<Candidate> {
        let matches =
            |pattern: &u32| glob::matches(self.table.string(*pattern), self.table.string(role));
        let applies = |rule: &&RoleRule| {
            rule.anyone || rule.roles.contains(&role) || rule.patterns.iter().any(matches)
        };
        self.role_rules.iter().filter(applies).map(|rule| rule.candidate.clone()).collect()
    }
}

impl Candidate {
    fn new(rows: &Rows<'_>, number: usize, predicates: &mut Predicates<'_>) -> Option<Self> {
        let rule = rows.block.rule(number);
        let effect = match rule.effect() {
            Some(Effect::Allow) => ALLOW,
            Some(Effect::Deny) => DENY,
            None => 0,
        };
        let predicate = predicates.of(&rule)?;
        let emissions = predicates.emissions(&rule)?;
        let reported = predicates.reported(&rule);
        Some(Self { number, effect, predicate, emissions, reported })
    }
}

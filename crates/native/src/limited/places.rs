//! Where limits are charged: the store, leases of it, or the memory of this process.

use std::sync::Arc;

use wardgate_bundle::Conditions;
use wardgate_engine::table::limit::Consistency;
use wardgate_ratelimit::{Outcome, WhenFull};
use wardgate_ratelimit_store::{
    Action, Answer, Away, Demand, DemandError, Demands, Few, Guarded, Leased, Memory, Print, Share,
    Standing, Store,
};

use super::standing::{LimitState, MetLimit};
use super::uncharged::ActionLimits;
use crate::plain_limits::PlainLimit;

/// The settings of a PDP with rate limits.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// The conditions for the bundle.
    pub conditions: Conditions<'c>,
    /// The keys that the memory of this process has places for, at 24 bytes each: for limits with
    /// `consistency: local`, and for others while their store is away. Unused if the store is a
    /// [`Memory`], which then has the states of all limits.
    pub keys: usize,
    /// The treatment of a new key when that memory is full.
    pub when_full: WhenFull,
    /// The keys that have leases at once, for limits with `consistency: leased`.
    pub leases: usize,
    /// The part of each quota that this process admits while the store is away.
    pub share: Share,
}

impl Default for Settings<'_> {
    /// Returns no conditions, 65,536 keys that are refused when full, 1,024 leases, the whole share.
    fn default() -> Self {
        Self {
            conditions: Conditions::default(),
            keys: 1 << 16,
            when_full: WhenFull::Deny,
            leases: 1 << 10,
            share: Share::WHOLE,
        }
    }
}

/// The demand of a limit, and the place in which it is charged.
#[derive(Clone, Debug)]
pub(super) struct Demanded {
    /// The number of the limit among those that the action meets.
    pub(super) at: usize,
    pub(super) demand: Demand,
    pub(super) consistency: Consistency,
}

/// The places in which limits are charged.
#[derive(Debug)]
pub(super) struct Places<S> {
    store: Arc<S>,
    exact: Guarded<Arc<S>>,
    leased: Guarded<Leased<Arc<S>>>,
    /// The memory of this process; the states of all limits are in that of the store if it has one.
    own: Arc<Memory>,
}

/// Demands of one place that were charged, and may have to be taken back.
struct Group<'d> {
    place: Consistency,
    all: Vec<&'d Demanded>,
    demands: Demands,
    answer: Answer,
    /// The time at which the charge began, by the clock of the memory.
    begun: u64,
}

impl<S: Store> Places<S> {
    pub(super) fn new(store: S, settings: &Settings<'_>) -> Self {
        let store = Arc::new(store);
        let keys = if store.memory().is_some() { 0 } else { settings.keys };
        let own = Arc::new(Memory::new(keys, settings.when_full));
        let leased = Leased::new(Arc::clone(&store), settings.leases);
        Self {
            exact: Guarded::new(Arc::clone(&store), Arc::clone(&own), settings.share),
            leased: Guarded::new(leased, Arc::clone(&own), settings.share),
            store,
            own,
        }
    }

    pub(super) fn store(&self) -> &S {
        &self.store
    }

    /// Returns the memory of this process in which there are states.
    pub(super) fn memory(&self) -> &Memory {
        self.store.memory().unwrap_or(&self.own)
    }

    pub(super) async fn close(&self) -> Result<(), Away> {
        self.leased.store().close().await
    }

    /// Charges all demands or none, and notes what became of each.
    ///
    /// Each place charges its demands together. Where one denies, those before it are taken back and
    /// those behind it are not asked: never too much is admitted, and for a moment other checks may
    /// find too little. The memory of the process is first, since it costs nothing to ask.
    pub(super) async fn charge(&self, all: &[Demanded], met: &mut [MetLimit]) {
        if let [one] = all {
            self.run_one(Action::Charge, one, met).await;
            return;
        }
        let mut charged: Vec<Group<'_>> = Vec::new();
        for place in [Consistency::Local, Consistency::Leased, Consistency::Exact] {
            let group: Vec<&Demanded> =
                all.iter().filter(|demanded| self.place(demanded) == place).collect();
            if group.is_empty() {
                continue;
            }
            let demands = match demands(&group) {
                Ok(demands) => demands,
                Err(error) => {
                    fail(&group, &error, met);
                    return self.undo(charged, met).await;
                }
            };
            let begun = self.memory().now();
            let answer = self.run_at(begun, place, Action::Charge, &demands).await;
            let is_allowed = answer.is_allowed();
            note(&group, &answer, is_allowed, met);
            if !is_allowed {
                return self.undo(charged, met).await;
            }
            charged.push(Group { place, all: group, demands, answer, begun });
        }
    }

    /// Charges the enforced limits of each action, as if one followed the other. Those of which all are exact
    /// are one call, which ends before an action that also has limits elsewhere: these may be taken back.
    pub(super) async fn charge_each(&self, actions: &mut [ActionLimits]) {
        let mut together: Vec<(&mut ActionLimits, Demands)> = Vec::new();
        for limits in actions.iter_mut().filter(|limits| limits.denied.is_none()) {
            let is_exact = |one: &Demanded| self.place(one) == Consistency::Exact;
            if limits.enforced.iter().any(is_exact) {
                let group: Few<&Demanded> = limits.enforced.iter().collect();
                if group.iter().all(|one| is_exact(one))
                    && let Ok(demands) = demands(&group)
                {
                    together.push((limits, demands));
                    continue;
                }
                self.charge_together(core::mem::take(&mut together)).await;
            }
            self.charge(&limits.enforced, &mut limits.met).await;
        }
        self.charge_together(together).await;
    }

    async fn charge_together(&self, all: Vec<(&mut ActionLimits, Demands)>) {
        let (actions, checks): (Vec<_>, Vec<_>) =
            all.into_iter().map(|(limits, demands)| (limits, (Action::Charge, demands))).unzip();
        if checks.is_empty() {
            return;
        }
        for (limits, answer) in actions.into_iter().zip(self.exact.run_each(&checks).await) {
            let group: Few<&Demanded> = limits.enforced.iter().collect();
            note(&group, &answer, answer.is_allowed(), &mut limits.met);
        }
    }

    /// Does one thing for each shadow of each action; those that are exact are one call.
    pub(super) async fn run_shadows(&self, actions: Vec<(Action, &mut ActionLimits)>) {
        let (mut places, mut checks) = (Vec::new(), Vec::new());
        for (action, limits) in actions {
            let ActionLimits { shadows, met, .. } = limits;
            let mut exact = Vec::new();
            for shadow in shadows.iter() {
                match demands(&[shadow]) {
                    Ok(demands) if self.place(shadow) == Consistency::Exact => {
                        exact.push(shadow);
                        checks.push((action, demands));
                    }
                    _ => drop(self.run_one(action, shadow, met).await),
                }
            }
            places.push((action, exact, met));
        }
        if checks.is_empty() {
            return;
        }
        let mut answers = self.exact.run_each(&checks).await.into_iter();
        for (action, exact, met) in places {
            for (shadow, answer) in exact.into_iter().zip(answers.by_ref()) {
                note(&[shadow], &answer, action == Action::Charge, met);
            }
        }
    }

    /// Charges a limit alone, if its states are in the memory of this process.
    #[inline]
    pub(super) fn charge_at_once(&self, plain: &PlainLimit, key: Print) -> Option<Outcome> {
        let memory = match self.store.memory() {
            Some(memory) => memory,
            None if plain.consistency == Consistency::Local => &self.own,
            None => return None,
        };
        Some(memory.charge_at(memory.now(), (plain.print, &plain.terms), key, plain.cost))
    }

    /// Returns the place of a demand, which is the memory of the process if the store is there.
    fn place(&self, demanded: &Demanded) -> Consistency {
        if self.store.memory().is_some() { Consistency::Local } else { demanded.consistency }
    }

    async fn undo(&self, charged: Vec<Group<'_>>, met: &mut [MetLimit]) {
        for Group { place, all, demands, answer, begun } in charged {
            let micros = self.memory().now().saturating_sub(begun);
            let undone = match place {
                Consistency::Exact => self.exact.undo(&demands, &answer, micros).await,
                Consistency::Leased => self.leased.undo(&demands, &answer, micros).await,
                Consistency::Local => known(self.memory().undo(begun, &demands)),
            };
            for (position, demanded) in all.iter().enumerate() {
                let standing = undone.standings.get(position);
                let is_undone = standing != answer.standings.get(position);
                if let Some(limit) = met.get_mut(demanded.at).filter(|_| is_undone) {
                    limit.note_refund(standing);
                }
            }
        }
    }

    /// Does one thing for one limit. Returns true if its store is away.
    pub(super) async fn run_one(
        &self,
        action: Action,
        one: &Demanded,
        met: &mut [MetLimit],
    ) -> bool {
        if self.place(one) == Consistency::Local {
            let memory = self.memory();
            let outcome = memory.apply_one_at(memory.now(), action, &one.demand);
            let limit = met.get_mut(one.at);
            limit
                .into_iter()
                .for_each(|limit| limit.note_outcome(&outcome, action == Action::Charge));
            return false;
        }
        let group = [one];
        match demands(&group) {
            Ok(demands) => {
                let answer = self.run(self.place(one), action, &demands).await;
                note(&group, &answer, action == Action::Charge, met);
                answer.away.is_some()
            }
            Err(error) => {
                fail(&group, &error, met);
                false
            }
        }
    }

    async fn run(&self, place: Consistency, action: Action, demands: &Demands) -> Answer {
        self.run_at(self.memory().now(), place, action, demands).await
    }

    /// Does one thing in a place; `now` is the time for the memory of the process.
    async fn run_at(
        &self,
        now: u64,
        place: Consistency,
        action: Action,
        demands: &Demands,
    ) -> Answer {
        match place {
            Consistency::Exact => self.exact.run(action, demands).await,
            Consistency::Leased => self.leased.run(action, demands).await,
            Consistency::Local => known(self.memory().apply_at(now, action, demands)),
        }
    }
}

fn known(outcomes: Few<Outcome>) -> Answer {
    Answer { standings: outcomes.into_iter().map(Standing::Known).collect(), away: None }
}

/// Returns the demands of a group.
fn demands(group: &[&Demanded]) -> Result<Demands, DemandError> {
    let demands: Vec<Demand> = group.iter().map(|demanded| demanded.demand.clone()).collect();
    Demands::new(demands)
}

/// Notes that a group cannot be charged together. Limits of one table have names of their own, and
/// the engine bounds their number, so only a table that no compiler wrote comes here.
fn fail(group: &[&Demanded], error: &DemandError, met: &mut [MetLimit]) {
    for demanded in group {
        if let Some(limit) = met.get_mut(demanded.at) {
            limit.state = LimitState::Failed { message: error.to_string() };
        }
    }
}

fn note(group: &[&Demanded], answer: &Answer, is_charged: bool, met: &mut [MetLimit]) {
    for (demanded, standing) in group.iter().zip(&answer.standings) {
        if let Some(limit) = met.get_mut(demanded.at) {
            limit.note(standing, is_charged);
        }
    }
}

//! Where limits are charged: the store, leases of it, or the memory of this process.

use std::sync::Arc;

use wardgate_bundle::Conditions;
use wardgate_engine::table::limit::Consistency;
use wardgate_ratelimit::WhenFull;
use wardgate_ratelimit_store::{
    Action, Answer, Away, Demand, DemandError, Demands, Guarded, Leased, Memory, Share, Standing,
    Store,
};

use super::standing::{LimitState, MetLimit};

/// The settings of a PDP with rate limits.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    /// The conditions for the bundle.
    pub conditions: Conditions<'c>,
    /// The keys that the memory of this process has places for, at 24 bytes each: for limits with
    /// `consistency: local`, and for others while their store is away.
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
#[derive(Debug)]
pub(super) struct Demanded {
    /// The number of the limit among those that the action meets.
    pub(super) at: usize,
    pub(super) demand: Demand,
    pub(super) consistency: Consistency,
}

/// The places in which limits are charged.
#[derive(Debug)]
pub(super) struct Places<S> {
    exact: Guarded<Arc<S>>,
    leased: Guarded<Leased<Arc<S>>>,
    local: Memory,
}

impl<S: Store> Places<S> {
    pub(super) fn new(store: S, settings: &Settings<'_>) -> Self {
        let store = Arc::new(store);
        let memory = || Memory::new(settings.keys, settings.when_full);
        let leased = Leased::new(Arc::clone(&store), settings.leases);
        Self {
            exact: Guarded::new(store, memory(), settings.share),
            leased: Guarded::new(leased, memory(), settings.share),
            local: memory(),
        }
    }

    pub(super) async fn close(&self) -> Result<(), Away> {
        self.leased.store().close().await
    }

    /// Charges all demands or none, and notes what became of each.
    ///
    /// Each place charges its demands together. Where one denies, those before it are refunded and
    /// those behind it are not asked: never too much is admitted, and for a moment other checks may
    /// find too little. The memory of the process is first, since it costs nothing to ask.
    pub(super) async fn charge(&self, all: &[Demanded], met: &mut [MetLimit]) {
        let mut charged: Vec<(Consistency, Vec<&Demanded>, Demands)> = Vec::new();
        for place in [Consistency::Local, Consistency::Leased, Consistency::Exact] {
            let group: Vec<&Demanded> =
                all.iter().filter(|demanded| demanded.consistency == place).collect();
            if group.is_empty() {
                continue;
            }
            let demands = match demands(&group) {
                Ok(demands) => demands,
                Err(error) => {
                    fail(&group, &error, met);
                    return self.refund(charged, met).await;
                }
            };
            let answer = self.run(place, Action::Charge, &demands).await;
            let is_allowed = answer.is_allowed();
            note(&group, &answer, is_allowed, met);
            if !is_allowed {
                return self.refund(charged, met).await;
            }
            charged.push((place, group, demands));
        }
    }

    async fn refund(
        &self,
        charged: Vec<(Consistency, Vec<&Demanded>, Demands)>,
        met: &mut [MetLimit],
    ) {
        for (place, group, demands) in charged {
            let answer = self.run(place, Action::Refund, &demands).await;
            for (position, demanded) in group.iter().enumerate() {
                if let Some(limit) = met.get_mut(demanded.at) {
                    limit.note_refund(answer.standings.get(position));
                }
            }
        }
    }

    /// Charges a limit that never denies, or looks at it.
    pub(super) async fn shadow(&self, action: Action, one: &Demanded, met: &mut [MetLimit]) {
        let group = [one];
        match demands(&group) {
            Ok(demands) => {
                let answer = self.run(one.consistency, action, &demands).await;
                note(&group, &answer, action == Action::Charge, met);
            }
            Err(error) => fail(&group, &error, met),
        }
    }

    async fn run(&self, place: Consistency, action: Action, demands: &Demands) -> Answer {
        match place {
            Consistency::Exact => self.exact.run(action, demands).await,
            Consistency::Leased => self.leased.run(action, demands).await,
            Consistency::Local => {
                let outcomes = self.local.apply(action, demands);
                let standings = outcomes.into_iter().map(Standing::Known).collect();
                Answer { standings, away: None }
            }
        }
    }
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

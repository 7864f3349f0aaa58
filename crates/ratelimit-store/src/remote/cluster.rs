//! The store on a cluster: each node is a store of its own, and each key is on the node of its slot.
//!
//! Limits whose keys are made of the same parts are on one slot, and charged by one call. **A check
//! with keys on several slots** charges them at once; where one refuses, those that were charged are
//! refunded in a second call. So never too much is admitted, and for a moment too little may be. A
//! charge without a reply is not refunded: it may never have been done.
//!
//! A refund names the time at which the tokens of its charge are back, or its window ends: from then on
//! it does nothing.
//!
//! A node that says that a slot has moved did nothing: the slots are read anew, and the check is sent
//! to the node that it names. They are also read anew, once a second, while a node fails. While a slot is on its way, its
//! new keys are on the other node, which is asked for them (`ASK`); a check of which some keys are here
//! and some there (`TRYAGAIN`) is sent again by itself.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;
use wardgate_ratelimit::{Admission, Algorithm, Outcome, Window};

use super::address::Address;
use super::connection::{Commands, Connection};
use super::fault::Fault;
#[cfg(feature = "tls")]
use super::roots::Roots;
use super::slots::{self, SLOTS};
use super::{Answer, Check, ConnectError, Options, Redis, parts};
use crate::demand::{Demand, Demands};
use crate::few::Few;
use crate::limits::{ROUTE_ATTEMPTS, TRY_MICROS};
use crate::memory::{Clock, is_done};
use crate::store::{Action, Away, Store};

/// A store on Redis Cluster or a cluster of Valkey.
#[derive(Debug)]
pub struct RedisCluster {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Its user and password hold for all nodes.
    seed: Address,
    seeds: Vec<Address>,
    options: Options,
    routes: RwLock<Arc<Routes>>,
    /// The time of the last reading, held while the slots are read.
    reading: Mutex<u64>,
    clock: Clock,
}

/// The nodes by their addresses, and the one of each slot.
#[derive(Debug, Default)]
struct Routes {
    nodes: HashMap<(String, u16), Arc<Redis>>,
    slots: Vec<Option<Arc<Redis>>>,
    version: u64,
}

/// The demands of a check on one slot, and their places in it.
struct Group {
    slot: u16,
    places: Vec<usize>,
    demands: Demands,
}

/// Checks on one slot, with their places among all checks.
struct OfSlot {
    slot: u16,
    checks: Vec<(usize, Check)>,
}

/// The answer to a group.
type Found = Result<Answer, Away>;

impl RedisCluster {
    /// Makes a store of the addresses of some nodes; they know the others. User and password of the
    /// first one hold for all.
    ///
    /// # Errors
    /// Returns an error if there is no address, one of another form, or no runtime.
    pub fn new(addresses: &[impl AsRef<str>], options: Options) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let seeds = addresses.iter().map(|one| Address::read(one.as_ref()));
        Self::of(seeds.collect::<Result<_, _>>()?, options)
    }

    /// Makes a store of the addresses of some nodes with `rediss://`, for which one of these authorities
    /// must vouch: for the names or addresses that the nodes have for each other.
    ///
    /// # Errors
    /// Returns an error if there is no address, one of another form, or no runtime.
    #[cfg(feature = "tls")]
    pub fn with_roots(
        addresses: &[impl AsRef<str>],
        roots: &Roots,
        options: Options,
    ) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let seeds = addresses.iter().map(|one| Address::read_with(one.as_ref(), roots.clone()));
        Self::of(seeds.collect::<Result<_, _>>()?, options)
    }

    fn of(seeds: Vec<Address>, options: Options) -> Result<Self, ConnectError> {
        let seed = seeds.first().cloned().ok_or(ConnectError::Address)?;
        let (routes, reading) = (RwLock::default(), Mutex::new(0));
        let shared = Shared { seed, seeds, options, routes, reading, clock: Clock::new() };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn run_on_slots(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let groups = groups(demands);
        let runs = groups.iter().map(|group| self.run_group(group.check(action, Vec::new())));
        let mut found = join_all(runs).await;
        let is_charged = |found: &Found| found.as_ref().is_ok_and(|one| is_done(&one.outcomes));
        if action == Action::Charge && !found.iter().all(is_charged) {
            let charged = groups.iter().zip(&mut found).filter(|(_, found)| is_charged(found));
            join_all(charged.map(|(group, found)| self.refund(group, found))).await;
            refuse(&groups, &mut found);
        }
        let mut outcomes = vec![None; demands.each().len()];
        for (group, found) in groups.iter().zip(found) {
            for (place, outcome) in group.places.iter().zip(found?.outcomes) {
                outcomes.get_mut(*place).map(|slot| slot.replace(outcome));
            }
        }
        outcomes.into_iter().map(|outcome| outcome.ok_or(Away::Garbled)).collect()
    }

    /// Does checks one after another, those of one slot in one call. A check with keys on several slots
    /// waits for those before it, and those behind it wait: it may be refunded.
    async fn run_in_order(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        let mut all: Vec<Result<Vec<Outcome>, Away>> = vec![Err(Away::Garbled); checks.len()];
        let mut slots: Vec<OfSlot> = Vec::new();
        for (place, (action, demands)) in checks.iter().enumerate() {
            let [group] = &groups(demands)[..] else {
                self.run_slots(core::mem::take(&mut slots), &mut all).await;
                let found = self.run_on_slots(*action, demands).await;
                all.get_mut(place).into_iter().for_each(|slot| slot.clone_from(&found));
                continue;
            };
            let check = group.check(*action, Vec::new());
            match slots.iter_mut().find(|of| of.slot == group.slot) {
                Some(of) => of.checks.push((place, check)),
                None => slots.push(OfSlot { slot: group.slot, checks: vec![(place, check)] }),
            }
        }
        self.run_slots(slots, &mut all).await;
        all
    }

    /// Does the checks of each slot in order, all slots at once.
    async fn run_slots(&self, slots: Vec<OfSlot>, all: &mut [Result<Vec<Outcome>, Away>]) {
        let each = slots.iter().map(|of| self.run_slot(&of.checks));
        for (of, found) in slots.iter().zip(join_all(each).await) {
            for ((place, _), found) in of.checks.iter().zip(found) {
                if let Some(slot) = all.get_mut(*place) {
                    *slot = found.map(|answer| answer.outcomes);
                }
            }
        }
    }

    /// Does checks of one slot in order: in few calls, or each in its own while the slot is elsewhere.
    async fn run_slot(&self, checks: &[(usize, Check)]) -> Vec<Found> {
        let mut all = Vec::with_capacity(checks.len());
        for part in parts(checks, |(_, check)| check.demands.each().len()) {
            let found = match part {
                [_] => Err(Fault::Away(Away::Lost)),
                several => self.run_together(several).await,
            };
            match found {
                Ok(answers) => all.extend(answers.into_iter().map(Ok)),
                // Nothing was done: an error about a slot comes before anything else.
                Err(fault) if part.len() == 1 || fault.is_of_slot() => {
                    for (_, check) in part {
                        all.push(self.run_group(check.clone()).await);
                    }
                }
                Err(fault) => all.extend(part.iter().map(|_| Err(Away::from(fault.clone())))),
            }
        }
        all
    }

    /// Does checks of one slot in one call.
    async fn run_together(&self, checks: &[(usize, Check)]) -> Result<Few<Answer>, Fault> {
        let routes = self.shared.routes(0).await;
        let slot = checks.first().and_then(|(_, check)| check.slot);
        let Some(node) = routes.of(slot) else { return Err(Away::Lost.into()) };
        let found = node.run_checks(checks.iter().map(|(_, check)| check.clone()).collect()).await;
        if found.as_ref().is_err_and(|fault| !fault.is_of_slot()) {
            self.read_routes();
        }
        found
    }

    /// Reads the slots anew, if that was not done within a second: a replica may have taken over.
    fn read_routes(&self) {
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { shared.read_again().await });
    }

    /// Returns the tokens of a group that was charged. If that fails, they are lost.
    async fn refund(&self, group: &Group, found: &mut Found) {
        let Ok(charged) = &*found else { return };
        let ends = group.demands.each().iter().zip(&charged.outcomes);
        let ends = ends.map(|(demand, outcome)| end(demand, outcome, charged.time)).collect();
        if let Ok(refunded) = self.run_group(group.check(Action::Refund, ends)).await {
            *found = Ok(refunded);
        }
    }

    async fn run_group(&self, check: Check) -> Found {
        let mut found = Err(Fault::Away(Away::Lost));
        for _ in 0..ROUTE_ATTEMPTS {
            found = match &found {
                Err(Fault::Moved { host, port }) => {
                    self.shared.node(host, *port).run_alone(&check, false).await
                }
                Err(Fault::Ask { host, port }) => {
                    self.shared.node(host, *port).run_alone(&check, true).await
                }
                before => {
                    let is_split = before.as_ref().is_err_and(Fault::is_split);
                    self.run_on_owner(&check, is_split).await
                }
            };
            if !found.as_ref().is_err_and(Fault::is_of_slot) {
                break;
            }
        }
        if found.is_err() {
            self.read_routes();
        }
        found.map_err(Away::from)
    }

    /// Does a check on the node that is known to have its slot, if `alone` apart from all others.
    async fn run_on_owner(&self, check: &Check, alone: bool) -> Result<Answer, Fault> {
        let routes = self.shared.routes(0).await;
        let Some(node) = routes.of(check.slot) else { return Err(Away::Lost.into()) };
        let found = if alone {
            node.run_alone(check, false).await
        } else {
            node.run_check(check.clone()).await
        };
        if let Err(Fault::Moved { .. }) = found {
            self.shared.routes(routes.version.saturating_add(1)).await;
        }
        found
    }
}

impl Store for RedisCluster {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let run = self.run_on_slots(action, demands);
        timeout(self.shared.options.deadline, run).await.unwrap_or(Err(Away::Late))
    }

    async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        let run = self.run_in_order(checks);
        let late = || vec![Err(Away::Late); checks.len()];
        timeout(self.shared.options.deadline, run).await.unwrap_or_else(|_| late())
    }
}

impl Shared {
    /// Returns routes of that version or a later one; reads them if there are none.
    async fn routes(&self, version: u64) -> Arc<Routes> {
        let routes = self.known();
        if routes.version >= version.max(1) {
            return routes;
        }
        let mut last = self.reading.lock().await;
        if self.known().version < version.max(1) {
            self.read(&mut last).await;
        }
        self.known()
    }

    /// Reads the slots if that was not done within a second.
    async fn read_again(&self) {
        let Ok(mut last) = self.reading.try_lock() else { return };
        if self.clock.now() >= last.saturating_add(TRY_MICROS) {
            self.read(&mut last).await;
        }
    }

    fn known(&self) -> Arc<Routes> {
        Arc::clone(&self.routes.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the slots of the first node that answers.
    async fn read(&self, last: &mut u64) {
        *last = self.clock.now();
        let known = self.known();
        let nodes = known.nodes.keys().map(|(host, port)| self.address(host, *port));
        let addresses: Vec<Address> = nodes.chain(self.seeds.iter().cloned()).collect();
        for address in addresses {
            let asked = timeout(self.options.deadline, slots_of(&address)).await;
            let Some(ranges) = asked.ok().flatten() else { continue };
            let routes = Arc::new(self.routed(&known, ranges));
            *self.routes.write().unwrap_or_else(PoisonError::into_inner) = routes;
            return;
        }
    }

    /// Returns routes over these ranges, with the nodes that are known already.
    fn routed(&self, known: &Routes, ranges: Vec<slots::Range>) -> Routes {
        let mut routes = Routes { version: known.version.saturating_add(1), ..Routes::default() };
        routes.slots.resize(SLOTS.into(), None);
        for range in ranges {
            let address = (range.host, range.port);
            let node = known.nodes.get(&address).or(routes.nodes.get(&address)).cloned();
            let node = node.unwrap_or_else(|| self.node(&address.0, address.1));
            let slots = usize::from(range.first)..=usize::from(range.last);
            if let Some(slots) = routes.slots.get_mut(slots) {
                slots.fill(Some(Arc::clone(&node)));
            }
            routes.nodes.insert(address, node);
        }
        routes
    }

    /// Returns the node at an address. One that does not know its own name is where the first seed is.
    fn node(&self, host: &str, port: u16) -> Arc<Redis> {
        let host = if host.is_empty() { self.seed.host() } else { host };
        let key = (host.to_owned(), port);
        let known = self.known().nodes.get(&key).cloned();
        known.unwrap_or_else(|| Arc::new(Redis::of(self.address(host, port), self.options)))
    }

    /// Returns the address of a node, with user and password of the first seed.
    fn address(&self, host: &str, port: u16) -> Address {
        self.seed.of_node(host, port)
    }
}

impl Routes {
    /// Returns the node of a slot.
    fn of(&self, slot: Option<u16>) -> Option<Arc<Redis>> {
        self.slots.get(usize::from(slot?)).cloned().flatten()
    }
}

impl Group {
    fn check(&self, action: Action, ends: Vec<u64>) -> Check {
        Check { action, slot: Some(self.slot), demands: self.demands.clone(), ends }
    }
}

/// Returns the time from which a refund of a charge at `time` must do nothing: when its tokens are back,
/// or its window is over.
fn end(demand: &Demand, outcome: &Outcome, time: u64) -> u64 {
    match (demand.terms.algorithm(), demand.terms.window()) {
        (Algorithm::Sliding, Window::Micros(window @ 1..)) => {
            time.saturating_sub(time % window).saturating_add(window)
        }
        _ => time.saturating_add(outcome.reset),
    }
}

async fn slots_of(address: &Address) -> Option<Vec<slots::Range>> {
    let mut connection = Connection::open(address).await.ok()?;
    let ask = Commands::of(&[b"CLUSTER", b"SLOTS"]);
    let reply = connection.send(&ask).await.ok()?.pop()?;
    slots::ranges(&reply, address.host()).filter(|ranges| !ranges.is_empty())
}

/// Makes a check that a limit refuses one that is refused, also if the store of another limit is away:
/// no treatment of that one may admit it.
fn refuse(groups: &[Group], found: &mut [Found]) {
    let is_refused = |one: &Outcome| !one.is_allowed();
    if found.iter().any(|found| found.as_ref().is_ok_and(|all| all.outcomes.iter().any(is_refused)))
    {
        let away = groups.iter().zip(found).filter(|(_, found)| found.is_err());
        away.for_each(|(group, found)| {
            *found = Ok(Answer { outcomes: vec![UNKNOWN; group.places.len()], time: 0 });
        });
    }
}

/// Returns the demands of each slot.
fn groups(demands: &Demands) -> Vec<Group> {
    let each = demands.each();
    let mut slots: Vec<(u16, Vec<usize>)> = Vec::with_capacity(each.len());
    for (place, demand) in each.iter().enumerate() {
        let slot = slots::slot(&demand.key);
        match slots.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, places)) => places.push(place),
            None => slots.push((slot, vec![place])),
        }
    }
    if let [(slot, _)] = slots[..] {
        let places = (0..each.len()).collect();
        return vec![Group { slot, places, demands: demands.clone() }];
    }
    let group = |(slot, places): (u16, Vec<usize>)| {
        let own: Vec<Demand> = places.iter().filter_map(|at| each.get(*at)).cloned().collect();
        Some(Group { slot, places, demands: Demands::new(own).ok()? })
    };
    slots.into_iter().filter_map(group).collect()
}

/// The outcome of a limit whose node is away, in a check that another limit refuses: its node is
/// tried again in a second.
const UNKNOWN: Outcome =
    Outcome { admission: Admission::After { micros: TRY_MICROS }, remaining: 0, reset: TRY_MICROS };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::{Failure, Key, Limit, Terms};
    use wardgate_ratelimit::{Algorithm, Window};

    #[test]
    fn a_refusal_stays_one_while_another_node_is_away() {
        let groups = groups(&demands(3));
        assert_eq!(groups.len(), 3);
        let allowed = Outcome { admission: Admission::Allowed, remaining: 1, reset: 1 };
        let refused = Outcome { admission: Admission::Never, ..allowed };
        let answer = |outcome| Ok(Answer { outcomes: vec![outcome], time: 1 });
        let mut found = [answer(allowed), Err(Away::Late), answer(allowed)];
        refuse(&groups, &mut found);
        assert_eq!(found[1].as_ref().err(), Some(&Away::Late));
        found[0] = answer(refused);
        refuse(&groups, &mut found);
        let outcomes = found.map(|found| found.unwrap().outcomes);
        assert_eq!(outcomes, [vec![refused], vec![UNKNOWN], vec![allowed]]);
    }

    #[test]
    fn a_refund_ends_with_what_it_gives_back() {
        let outcome = Outcome { admission: Admission::Allowed, remaining: 1, reset: 7 };
        let end = |algorithm| {
            let terms = Terms::new(algorithm, 5, Window::Micros(1000)).unwrap();
            super::end(&Demand { terms, ..demands(1).each()[0].clone() }, &outcome, 10_100)
        };
        let all = [Algorithm::Gcra { burst: None }, Algorithm::Fixed, Algorithm::Sliding];
        assert_eq!(all.map(end), [10_107, 10_107, 11_000]);
    }

    #[test]
    fn limits_of_equal_parts_are_one_group() {
        let one = demands(1).each()[0].clone();
        let other = Demand { limit: Limit::new("b", Failure::Deny).unwrap(), ..one.clone() };
        let all = groups(&Demands::new([one, other]).unwrap());
        assert_eq!(all.iter().map(|group| group.places.clone()).collect::<Vec<_>>(), [[0, 1]]);
    }

    /// Returns demands of so many keys.
    fn demands(keys: u64) -> Demands {
        let demand = |key: u64| Demand {
            limit: Limit::new("a", Failure::Deny).unwrap(),
            key: Key::new([key.to_le_bytes().as_slice()]),
            terms: Terms::new(Algorithm::Fixed, 5, Window::MINUTE).unwrap(),
            cost: 1,
        };
        Demands::new((0..keys).map(demand).collect::<Vec<_>>()).unwrap()
    }
}

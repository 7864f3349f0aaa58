//! The store on a cluster: each node is a store of its own, and each key is on the node of its slot.
//!
//! Limits whose keys are made of the same parts are on one slot, and charged by one call. **A check
//! with keys on several slots** charges them at once; where one refuses, those that were charged are
//! refunded in a second call. So never too much is admitted, and for a moment too little may be. A
//! charge without a reply is not refunded: it may never have been done.
//!
//! A node that says that a slot has moved did nothing: the slots are read anew, and the check is sent
//! again. They are also read anew, once a second, while a node fails.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use redis::{Client, ConnectionAddr, Value};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;
use wardgate_ratelimit::{Admission, Outcome};

use super::slots::{self, SLOTS};
use super::{ConnectError, Options, Redis};
use crate::demand::{Demand, Demands};
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
    seeds: Vec<Client>,
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

/// The outcomes of a group.
type Found = Result<Vec<Outcome>, Away>;

impl RedisCluster {
    /// Makes a store of the addresses of some nodes; they know the others. User and password of the
    /// first one hold for all.
    ///
    /// # Errors
    /// Returns an error if there is no address, one of another form, or no runtime.
    pub fn new(addresses: &[impl AsRef<str>], options: Options) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let seeds = addresses.iter().map(|one| Client::open(one.as_ref()));
        let seeds = seeds.map(|seed| seed.map_err(|_| ConnectError::Address));
        let seeds: Vec<Client> = seeds.collect::<Result<_, _>>()?;
        if seeds.is_empty() {
            return Err(ConnectError::Address);
        }
        let (routes, reading) = (RwLock::default(), Mutex::new(0));
        let shared = Shared { seeds, options, routes, reading, clock: Clock::new() };
        Ok(Self { shared: Arc::new(shared) })
    }

    async fn run_on_slots(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let groups = groups(demands);
        let runs = groups.iter().map(|group| self.run_group(action, group));
        let mut found = join_all(runs).await;
        let is_charged = |found: &Found| found.as_ref().is_ok_and(|one| is_done(one));
        if action == Action::Charge && !found.iter().all(is_charged) {
            let charged = groups.iter().zip(&mut found).filter(|(_, found)| is_charged(found));
            join_all(charged.map(|(group, found)| self.refund(group, found))).await;
            refuse(&groups, &mut found);
        }
        let mut outcomes = vec![None; demands.each().len()];
        for (group, found) in groups.iter().zip(found) {
            for (place, outcome) in group.places.iter().zip(found?) {
                outcomes.get_mut(*place).map(|slot| slot.replace(outcome));
            }
        }
        outcomes.into_iter().map(|outcome| outcome.ok_or(Away::Garbled)).collect()
    }

    /// Returns the tokens of a group that was charged. If that fails, they are lost.
    async fn refund(&self, group: &Group, found: &mut Found) {
        let refunded = self.run_group(Action::Refund, group).await;
        *found = refunded.or_else(|_| core::mem::replace(found, Err(Away::Lost)));
    }

    async fn run_group(&self, action: Action, group: &Group) -> Result<Vec<Outcome>, Away> {
        let mut found = Err(Away::Lost);
        for _ in 0..ROUTE_ATTEMPTS {
            let routes = self.shared.routes(0).await;
            let node = routes.slots.get(usize::from(group.slot)).cloned().flatten();
            let Some(node) = node else { break };
            found = node.run_in(Some(group.slot), action, &group.demands).await;
            match &found {
                Err(away) if away.is_moved() => self.shared.routes(routes.version + 1).await,
                _ => break,
            };
        }
        if found.is_err() {
            // A replica may have taken over.
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move { shared.read_again().await });
        }
        found
    }
}

impl Store for RedisCluster {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let run = self.run_on_slots(action, demands);
        timeout(self.shared.options.deadline, run).await.unwrap_or(Err(Away::Late))
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
        let nodes = known.nodes.keys().map(|(host, port)| self.client(host, *port));
        let clients: Vec<Client> = nodes.flatten().chain(self.seeds.iter().cloned()).collect();
        for client in clients {
            let asked = timeout(self.options.deadline, slots_of(&client)).await;
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
            let new =
                || Some(Arc::new(Redis::of(self.client(&address.0, address.1)?, self.options)));
            let Some(node) = node.or_else(new) else { continue };
            let slots = usize::from(range.first)..=usize::from(range.last);
            if let Some(slots) = routes.slots.get_mut(slots) {
                slots.fill(Some(Arc::clone(&node)));
            }
            routes.nodes.insert(address, node);
        }
        routes
    }

    /// Returns a client of a node, with user and password of the first seed.
    fn client(&self, host: &str, port: u16) -> Option<Client> {
        let info = self.seeds.first()?.get_connection_info().clone();
        Client::open(info.set_addr(ConnectionAddr::Tcp(host.to_owned(), port))).ok()
    }
}

async fn slots_of(client: &Client) -> Option<Vec<slots::Range>> {
    let mut connection = client.get_multiplexed_async_connection().await.ok()?;
    let reply: Value =
        redis::cmd("CLUSTER").arg("SLOTS").query_async(&mut connection).await.ok()?;
    let asked = match client.get_connection_info().addr() {
        ConnectionAddr::Tcp(host, _) => host,
        _ => "",
    };
    slots::ranges(&reply, asked).filter(|ranges| !ranges.is_empty())
}

/// Makes a check that a limit refuses one that is refused, also if the store of another limit is away:
/// no treatment of that one may admit it.
fn refuse(groups: &[Group], found: &mut [Found]) {
    let is_refused = |one: &Outcome| !one.is_allowed();
    if found.iter().any(|found| found.as_ref().is_ok_and(|all| all.iter().any(is_refused))) {
        let away = groups.iter().zip(found).filter(|(_, found)| found.is_err());
        away.for_each(|(group, found)| *found = Ok(vec![UNKNOWN; group.places.len()]));
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
        let mut found = [Ok(vec![allowed]), Err(Away::Late), Ok(vec![allowed])];
        refuse(&groups, &mut found);
        assert_eq!(found[1], Err(Away::Late));
        found[0] = Ok(vec![refused]);
        refuse(&groups, &mut found);
        assert_eq!(found, [Ok(vec![refused]), Ok(vec![UNKNOWN]), Ok(vec![allowed])]);
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

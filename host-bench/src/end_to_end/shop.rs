//! The shop: its callers, its orders, the rules by hand, and the requests.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value as Json, json};

use super::DATABASE;
use crate::http::Server;
use crate::workload::Random;

/// Callers, orders, and who asks for which.
pub(super) struct Shop {
    users: Vec<User>,
    orders: Vec<Order>,
    /// User and order of each request, and whether the rules allow it.
    requests: Vec<(usize, usize, bool)>,
}

/// A caller.
pub(super) struct User {
    pub(super) id: String,
    pub(super) role: &'static str,
    pub(super) region: &'static str,
}

/// A row of the table of orders.
struct Order {
    owner: usize,
    region: &'static str,
    status: &'static str,
    total: i64,
    sealed: bool,
}

impl Shop {
    pub(super) fn new() -> Self {
        let mut random = Random::of_part(23);
        let users: Vec<User> = (0..USERS)
            .map(|at| User {
                id: format!("user_{at}"),
                role: random.pick(ROLES),
                region: random.pick(REGIONS),
            })
            .collect();
        let orders: Vec<Order> = (0..ORDERS)
            .map(|_| Order {
                owner: random.below(USERS),
                region: random.pick(REGIONS),
                status: random.pick(STATES),
                total: i64::try_from(random.below(100_000)).unwrap_or(0),
                sealed: random.one_in(10),
            })
            .collect();
        let request = |_| {
            let order = random.below(ORDERS);
            let owner = orders.get(order).map_or(0, |order| order.owner);
            let user = if random.one_in(3) { owner } else { random.below(USERS) };
            let pair = users.get(user).zip(orders.get(order));
            (user, order, pair.is_some_and(|(one, order)| allows(user, one, order)))
        };
        let requests = (0..REQUESTS).map(request).collect();
        Self { users, orders, requests }
    }

    /// Returns the decisions about all requests.
    pub(super) fn decisions(&self) -> Vec<bool> {
        self.requests.iter().map(|(.., allowed)| *allowed).collect()
    }

    /// Returns the requests that are allowed, or those that are not: the id of the caller, the number of the order, and
    /// the answer that shows it.
    pub(super) fn requests(&self, wanted: bool) -> impl Iterator<Item = (&str, usize, Json)> {
        let requests = self.requests.iter().filter(move |(.., allowed)| *allowed == wanted);
        requests.filter_map(|(user, number, _)| {
            let (user, order) = (self.users.get(*user)?, self.orders.get(*number)?);
            let owner = &self.users.get(order.owner)?.id;
            let Order { region, status, total, .. } = order;
            let shown = json!({
                "id": number.to_string(), "owner": owner, "region": region, "status": status, "total": total,
            });
            Some((user.id.as_str(), *number, shown))
        })
    }

    /// Writes the orders into a new database.
    pub(super) fn write_database(&self, path: &Path) -> Result<(), String> {
        let mut database = Connection::open(path).map_err(message)?;
        let all = database.transaction().map_err(message)?;
        all.execute(TABLE, []).map_err(message)?;
        for (number, order) in self.orders.iter().enumerate() {
            let owner = self.users.get(order.owner).map_or("", |user| user.id.as_str());
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            let values = (number, owner, order.region, order.status, order.total, order.sealed);
            all.execute(INSERT, values).map_err(message)?;
        }
        all.commit().map_err(message)
    }

    /// Returns what a shop has to know: where to listen, its database, policies and callers, and the servers to ask.
    pub(super) fn job(
        &self,
        folder: &Path,
        listen: std::net::SocketAddr,
        [ours, cerbos]: [Option<&Server>; 2],
    ) -> Json {
        let users = self.users.iter().map(|user| {
            json!({ "id": user.id, "roles": [user.role], "attr": { "region": user.region } })
        });
        let address = |server: Option<&Server>| server.map(|server| server.address().to_string());
        json!({
            "host": listen.ip().to_string(),
            "port": listen.port(),
            "database": folder.join(DATABASE),
            "bundle": folder.join("policies.wgb"),
            "users": users.collect::<Vec<_>>(),
            "wardgate": address(ours),
            "cerbos": address(cerbos),
        })
    }
}

/// Decides as the policies do.
fn allows(number: usize, user: &User, order: &Order) -> bool {
    let may_view = match user.role {
        "manager" => true,
        "clerk" => order.region == user.region || order.owner == number,
        _ => order.owner == number,
    };
    may_view && !order.sealed
}

pub(super) fn message(error: rusqlite::Error) -> String {
    format!("sqlite: {error}")
}

const USERS: usize = 60;
pub(super) const ORDERS: usize = 10_000;
const REQUESTS: usize = 600;
const ROLES: &[&str] = &["customer", "customer", "customer", "clerk", "manager"];
const REGIONS: &[&str] = &["north", "east", "south", "west"];
const STATES: &[&str] = &["open", "paid", "sent", "returned"];

const TABLE: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, region TEXT NOT NULL, status TEXT NOT NULL, \
    total INTEGER NOT NULL, sealed INTEGER NOT NULL) STRICT";
const INSERT: &str = "INSERT INTO orders VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const POLICY: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: order
  version: default
  rules:
    - { actions: [view], roles: [customer, clerk], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } } }
    - { actions: [view], roles: [clerk], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.region == P.attr.region } } }
    - { actions: [view], roles: [manager], effect: EFFECT_ALLOW }
    - { actions: [view], roles: ['*'], effect: EFFECT_DENY, condition: { match: { expr: R.attr.sealed } } }
";

#[cfg(test)]
mod tests {
    use super::Shop;

    #[test]
    fn neither_answer_is_rare() {
        let allowed = Shop::new().decisions().into_iter().filter(|allowed| *allowed).count();
        assert!((200..450).contains(&allowed), "{allowed} of 600 are allowed");
    }
}

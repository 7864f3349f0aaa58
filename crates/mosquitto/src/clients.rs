//! The clients that have proven who they are by a token.
//!
//! A client is found by its user name, which the plugin set to the subject of the token, and its
//! client id. So the publisher of a retained message and the owner of a session are found too, when
//! mosquitto has no connection of them. A client whose token has expired is of no use and makes
//! room for others.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::time::Duration;

use wardgate_jwt::{TokenTime, timely};
use wardgate_native::{AttrMap, Request, Timestamp};

use crate::limits::MAX_CLIENTS;

/// A client that has proven who it is.
#[derive(Debug)]
pub(crate) struct Known {
    /// The principal and its claims; each question replaces the resource.
    pub(crate) request: Request,
    /// The claims of the token, whose times must hold.
    pub(crate) claims: AttrMap,
}

impl Known {
    /// Returns true if the token is valid at a time.
    pub(crate) fn is_timely(&self, now: Timestamp) -> bool {
        timely(&self.claims, TokenTime { now, skew: Duration::ZERO }).is_ok()
    }
}

/// Clients by name and client id.
#[derive(Debug)]
pub(crate) struct Clients {
    by_name: HashMap<Box<str>, HashMap<Box<str>, Entry>>,
    count: usize,
    /// The number of insertions.
    turn: u64,
    most: usize,
}

#[derive(Debug)]
struct Entry {
    known: Known,
    /// The turn in which it was inserted.
    turn: u64,
}

impl Default for Clients {
    fn default() -> Self {
        Self::bounded(MAX_CLIENTS)
    }
}

impl Clients {
    fn bounded(most: usize) -> Self {
        Self { by_name: HashMap::new(), count: 0, turn: 0, most }
    }

    pub(crate) fn get_mut(&mut self, name: &str, id: &str) -> Option<&mut Known> {
        self.by_name.get_mut(name)?.get_mut(id).map(|entry| &mut entry.known)
    }

    /// Adds a client, in the place of an earlier one with this name and id. Returns false if there
    /// is no room.
    ///
    /// If all places are taken, first the expired ones are freed, then the oldest quarter of the
    /// name that has most: one token under many client ids displaces its own clients.
    pub(crate) fn insert(&mut self, name: &str, id: &str, known: Known, now: Timestamp) -> bool {
        if self.get_mut(name, id).is_none() && self.count >= self.most {
            self.free_expired(now);
            if self.count >= self.most && !self.free_largest() {
                return false;
            }
        }
        self.turn = self.turn.wrapping_add(1);
        let entry = Entry { known, turn: self.turn };
        let of_name = self.by_name.entry(name.into()).or_default();
        if of_name.insert(id.into(), entry).is_none() {
            self.count = self.count.saturating_add(1);
        }
        true
    }

    fn free_expired(&mut self, now: Timestamp) {
        self.by_name.retain(|_, of_name| {
            of_name.retain(|_, entry| entry.known.is_timely(now));
            !of_name.is_empty()
        });
        self.count = self.by_name.values().map(HashMap::len).sum();
    }

    /// Frees places of the name with most clients. Returns false if each name has one client.
    fn free_largest(&mut self) -> bool {
        let largest = self.by_name.values_mut().max_by_key(|of_name| of_name.len());
        let Some(of_name) = largest.filter(|of_name| of_name.len() > 1) else { return false };
        let mut turns: Vec<u64> = of_name.values().map(|entry| entry.turn).collect();
        turns.sort_unstable();
        let last = turns.get(turns.len() / 4).copied().unwrap_or_default();
        let before = of_name.len();
        of_name.retain(|_, entry| entry.turn > last);
        self.count = self.count.saturating_sub(before.saturating_sub(of_name.len()));
        true
    }
}

#[cfg(test)]
mod tests {
    use wardgate_native::Attr;

    use super::*;

    fn known(expires: f64) -> Known {
        let claims = [("exp".into(), Attr::Number(expires))].into_iter().collect();
        Known { request: Request::default(), claims }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0).unwrap()
    }

    #[test]
    fn a_client_is_found_by_name_and_id() {
        let mut clients = Clients::default();
        assert!(clients.insert("ada", "1", known(9.0), at(0)));
        assert!(clients.get_mut("ada", "1").is_some());
        assert!(clients.get_mut("ada", "2").is_none());
        assert!(clients.get_mut("bob", "1").is_none());
        assert!(clients.insert("ada", "1", known(99.0), at(0)));
        assert_eq!(clients.count, 1);
        assert!(clients.get_mut("ada", "1").unwrap().is_timely(at(50)));
        assert!(!clients.get_mut("ada", "1").unwrap().is_timely(at(99)));
    }

    #[test]
    fn expired_clients_make_room() {
        let mut clients = Clients::bounded(2);
        assert!(clients.insert("ada", "1", known(9.0), at(0)));
        assert!(clients.insert("bob", "1", known(99.0), at(0)));
        assert!(clients.insert("cyd", "1", known(99.0), at(10)));
        assert!(clients.get_mut("ada", "1").is_none());
        assert!(clients.get_mut("bob", "1").is_some());
        assert_eq!((clients.count, clients.by_name.len()), (2, 2));
    }

    #[test]
    fn one_token_under_many_ids_displaces_itself() {
        let mut clients = Clients::bounded(9);
        assert!(clients.insert("bob", "1", known(99.0), at(0)));
        for id in 0..100 {
            assert!(clients.insert("eve", &id.to_string(), known(99.0), at(0)));
            assert!(clients.count <= 9);
        }
        assert!(clients.get_mut("bob", "1").is_some());
        assert!(clients.get_mut("eve", "0").is_none());
        assert!(clients.get_mut("eve", "99").is_some());
        assert_eq!(clients.count, clients.by_name.values().map(HashMap::len).sum::<usize>());
    }

    #[test]
    fn a_table_full_of_single_clients_refuses_others() {
        let mut clients = Clients::bounded(2);
        assert!(clients.insert("ada", "1", known(99.0), at(0)));
        assert!(clients.insert("bob", "1", known(99.0), at(0)));
        assert!(!clients.insert("eve", "1", known(99.0), at(0)));
        assert!(clients.insert("bob", "1", known(99.0), at(0)));
        assert!(clients.get_mut("ada", "1").is_some());
    }
}

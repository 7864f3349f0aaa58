//! The scopes that a search visits: from the requested one up to the root.
//!
//! A scope in a request may be long. It is read once for the whole request; the scopes that are
//! then visited are those of the table.

use crate::names::ancestors;
use crate::table::layout::Key;
use crate::table::{Name, PolicyTable};

/// A search, which every role and every action repeats: its constant parts are looked up once.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The scope at which it starts.
    pub scope: Name<'a>,
    /// The kind of policies that must exist in a scope.
    key: Key,
    table: &'a PolicyTable,
    /// The first scope to visit: the requested one if it has such policies; otherwise, if the table
    /// is lenient about that, its nearest ancestor that has.
    first: Option<u32>,
}

impl<'a> Search<'a> {
    /// Starts a search at `scope` for scopes that have an entry of `key`.
    pub fn new(table: &'a PolicyTable, key: Key, scope: Name<'a>) -> Self {
        let exists = |id: &u32| table.find(key, [*id, 0, 0]).is_some();
        let own = scope.id.filter(exists);
        let first = match own {
            None if table.lenient_scope_search() => table.longest_scope(scope.text, exists),
            own => own,
        };
        Self { scope, key, table, first }
    }

    /// Returns the string ids of the scopes to visit, most specific first.
    pub fn visited(self) -> impl Iterator<Item = u32> + use<'a> {
        core::iter::successors(self.first, move |scope| self.above(*scope))
    }

    /// Returns the nearest ancestor of `scope` that is visited.
    fn above(&self, scope: u32) -> Option<u32> {
        let known = |scope: &str| {
            let id = self.table.string_id(scope)?;
            self.table.find(self.key, [id, 0, 0]).map(|_| id)
        };
        ancestors(self.table.string(scope)).find_map(known)
    }
}

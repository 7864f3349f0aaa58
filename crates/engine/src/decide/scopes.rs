//! The scopes that a search visits: from the requested one up to the root.

use crate::names::ancestors;
use crate::table::layout::Key;
use crate::table::{Name, PolicyTable};

/// A search, which every role and every action repeats: what does not change is looked up once.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// Where it starts.
    pub(crate) scope: Name<'a>,
    /// Which kind of policies must exist in a scope.
    key: Key,
    table: &'a PolicyTable,
    /// The scope where it starts, if that scope has such policies.
    own: Option<u32>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(table: &'a PolicyTable, key: Key, scope: Name<'a>) -> Self {
        let own = scope.id.filter(|id| table.find(key, [*id, 0, 0]).is_some());
        Self { scope, key, table, own }
    }

    /// Returns the string ids of the scopes to visit, most specific first.
    ///
    /// If the requested scope has no policies, there is nothing to visit, unless the table is lenient
    /// about that.
    pub(crate) fn visited(self) -> impl Iterator<Item = u32> + use<'a> {
        let Self { table, key, .. } = self;
        let known = move |scope: &str| {
            table.string_id(scope).filter(|id| table.find(key, [*id, 0, 0]).is_some())
        };
        let goes_on = self.own.is_some() || table.lenient_scope_search();
        let above = goes_on.then(|| ancestors(self.scope.text).filter_map(known));
        self.own.into_iter().chain(above.into_iter().flatten())
    }
}

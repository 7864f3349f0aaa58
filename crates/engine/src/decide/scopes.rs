//! The scopes that a search visits: from the requested one up to the root.

use crate::names::ancestors;
use crate::table::PolicyTable;
use crate::table::layout::Key;

/// Returns the string ids of the scopes to visit, most specific first.
///
/// `key` says which kind of policies must exist in a scope. If the requested scope has none, there
/// is nothing to visit, unless the table is lenient about that.
pub(crate) fn visited<'s>(
    table: &'s PolicyTable,
    key: Key,
    scope: &'s str,
) -> impl Iterator<Item = u32> + use<'s> {
    let known = move |scope: &str| {
        table.string_id(scope).filter(|id| table.find(key, [*id, 0, 0]).is_some())
    };
    let own = known(scope);
    let search = own.is_some() || table.lenient_scope_search();
    let above = search.then(|| ancestors(scope).filter_map(known));
    own.into_iter().chain(above.into_iter().flatten())
}

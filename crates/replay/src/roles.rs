//! Classes of roles: roles that no policy of either side names are one.

use std::collections::BTreeSet;

use wardgate_engine::table::PolicyTable;

/// The roles that policies name.
pub(crate) struct NamedRoles(BTreeSet<String>);

impl NamedRoles {
    pub(crate) fn of<'t>(tables: impl IntoIterator<Item = &'t PolicyTable>) -> Self {
        let named = |table: &'t PolicyTable| table.inspect().roles.into_iter().map(str::to_owned);
        Self(tables.into_iter().flat_map(named).collect())
    }

    /// Returns the class of some roles, sorted; `None` stands for the roles that no policy names.
    pub(crate) fn class(&self, roles: &[String]) -> Vec<Option<String>> {
        let class = |role: &String| self.0.contains(role).then(|| role.clone());
        let classes: BTreeSet<_> = roles.iter().map(class).collect();
        classes.into_iter().collect()
    }
}

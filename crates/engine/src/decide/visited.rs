//! The scopes that the walk visits, each with its policies: looked up once for a request, although
//! every role and every action visits them.

use core::cell::Cell;

use super::roles::Lineage;
use super::scopes::Search;
use super::session::{Failure, Session};
use crate::table::layout::Key;
use crate::table::{Block, PolicyTable};

/// A scope that the walk visits.
#[derive(Clone, Copy)]
pub(crate) struct VisitedScope<'a> {
    /// The string id of the scope, and its text.
    pub(crate) scope: u32,
    pub(crate) text: &'a str,
    /// The resource policy there.
    pub(crate) rules: Option<Block<'a>>,
    /// The role policies there.
    pub(crate) roles: Option<Block<'a>>,
    /// True if an allow counts only if the parent scope allows too.
    pub(crate) needs_consent: bool,
}

/// The first visits of a search; more are looked up each time, so that none allocates.
pub(crate) struct VisitedScopes<'a> {
    first: [Option<VisitedScope<'a>>; INLINE],
    search: Search<'a>,
    /// Kind and version of the resource policies.
    policies: [Option<u32>; 2],
}

impl<'a> VisitedScopes<'a> {
    /// Looks up the first scopes of `search`, with their policies of this kind and version.
    pub(crate) fn new(
        table: &'a PolicyTable,
        search: Search<'a>,
        policies: [Option<u32>; 2],
    ) -> Self {
        let mut first = [None; INLINE];
        for (slot, scope) in first.iter_mut().zip(search.visited()) {
            *slot = Some(VisitedScope::new(table, scope, policies));
        }
        Self { first, search, policies }
    }

    /// Returns the scope that is visited after so many others.
    pub(crate) fn at(&self, table: &'a PolicyTable, index: usize) -> Option<VisitedScope<'a>> {
        match self.first.get(index) {
            Some(known) => *known,
            None => {
                let scope = self.search.visited().nth(index)?;
                Some(VisitedScope::new(table, scope, self.policies))
            }
        }
    }

    /// Returns the most specific visit.
    pub(crate) const fn first(&self) -> Option<VisitedScope<'a>> {
        self.first[0]
    }
}

impl<'a> VisitedScope<'a> {
    fn new(table: &'a PolicyTable, scope: u32, [kind, version]: [Option<u32>; 2]) -> Self {
        let block = |offset| Block::new(table, offset);
        let rules = || table.find(Key::Resource, [kind?, version?, scope]);
        let roles = || table.find(Key::Roles, [version?, scope, 0]);
        Self {
            scope,
            text: table.string(scope),
            rules: rules().map(block),
            roles: roles().map(block),
            needs_consent: needs_consent(table, scope),
        }
    }
}

/// Returns true if an allow in `scope` counts only if the parent scope allows too.
pub(crate) fn needs_consent(table: &PolicyTable, scope: u32) -> bool {
    table.find(Key::ScopePermissions, [scope, 0, 0]) == Some(1)
}

/// The lineages of the first roles of the principal.
pub(crate) type Lineages<'a> = [Cell<Option<Lineage<'a>>>; INLINE];

impl<'a> Session<'a> {
    /// Returns the role at `index` of the principal and the roles that it inherits from in the
    /// requested scope, and charges the same each time.
    pub(crate) fn lineage(&self, index: usize, role: &'a str) -> Result<Lineage<'a>, Failure> {
        self.charge_text(role.len())?;
        let known = self.lineages.get(index);
        let lineage = match known.and_then(Cell::get) {
            Some(lineage) => lineage,
            None => self.look_up_lineage(role),
        };
        if let Some(known) = known {
            known.set(Some(lineage));
        }
        self.charge(lineage.inherited.len())?;
        Ok(lineage)
    }
}

const INLINE: usize = 4;

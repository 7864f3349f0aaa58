//! What an author may not have meant, in policies that compile.
//!
//! Nothing here changes a table. A finding is certain: a rule that is called unreachable decides no
//! request, whatever it holds, and a condition that is called always false is never true. What is merely
//! likely is left unsaid.

mod allow;
mod code;
pub(crate) mod comments;
mod conditions;
mod lenient;
mod logic;
mod missing;
mod pattern;
mod roles;
mod rules;
mod schemas;
mod strict;
mod unused;

use crate::Options;
use crate::diagnostics::{self, Diagnostic};
use crate::repository::Repository;
use crate::resolve::model::{DerivedRole, Head, Resolved};
use crate::schema::Load;
pub use code::Lint;
use logic::{Logic, Parsed};
pub(crate) use missing::missing_schemas;

/// Returns what there is to say of policies that compile, but for what comments in them allow.
pub(crate) fn findings(
    repository: &Repository,
    resolved: &Resolved,
    options: &Options,
    load: &Load<'_>,
) -> Vec<Diagnostic> {
    let parsed = Parsed::new();
    let linter = Linter { repository, resolved, options, parsed: &parsed };
    let mut found = linter.unused();
    found.extend(linter.rules());
    found.extend(linter.conditions());
    found.extend(linter.strict(load, &found));
    found.extend(linter.lenient());
    found.extend(missing_schemas(resolved, load));
    found.extend(linter.roles());
    found.extend(linter.schemas(load));
    let mut found = allow::without_allowed(repository, found);
    diagnostics::sort(&mut found);
    found
}

/// The policies, and what was worked out about them.
struct Linter<'p> {
    repository: &'p Repository,
    resolved: &'p Resolved,
    options: &'p Options,
    parsed: &'p Parsed,
}

impl<'p> Linter<'p> {
    /// Returns what judges the expressions of a policy.
    fn logic(&self, head: &'p Head) -> Logic<'p> {
        Logic::new(self.parsed, &head.constants, &head.variables, self.options)
    }

    /// Returns what judges the condition of a derived role.
    fn role_logic(&self, role: &'p DerivedRole) -> Logic<'p> {
        Logic::new(self.parsed, &role.constants, &role.variables, self.options)
    }
}

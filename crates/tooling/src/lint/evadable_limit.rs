//! Rate limits whose keys callers choose: under another value, each of them has a full key.
//!
//! No token covers the context of an AuthZEN request and the properties of its action.

use std::collections::BTreeSet;

use wardgate_compiler::cel::references;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::expression::ExprSource;
use wardgate_compiler::resolve::model::Limit;

use super::{Lint, Linter};

impl Linter<'_> {
    pub(super) fn evadable_limits(&self) -> Vec<Diagnostic> {
        self.resolved.limit.iter().flat_map(|limit| self.chosen_parts(limit)).collect()
    }

    /// Returns a finding for each part of the key that callers choose.
    fn chosen_parts(&self, limit: &Limit) -> Vec<Diagnostic> {
        let mut chosen = BTreeSet::new();
        for variable in &limit.variables {
            if self.is_chosen(&variable.expr, &chosen) {
                chosen.insert(variable.name.as_str());
            }
        }
        let parts = limit.body.key.iter().filter(|part| self.is_chosen(part, &chosen));
        parts.map(|part| finding(limit, part)).collect()
    }

    /// Returns true if an expression reads what callers choose, itself or by one of the variables in `chosen`.
    fn is_chosen(&self, expr: &ExprSource, chosen: &BTreeSet<&str>) -> bool {
        let Some(tree) = self.parsed.tree(&expr.text) else { return false };
        let found = references(&tree);
        let names = found.variables.iter();
        found.reads_unsigned_claims || names.map(String::as_str).any(|name| chosen.contains(name))
    }
}

fn finding(limit: &Limit, part: &ExprSource) -> Diagnostic {
    let name = &limit.body.name;
    let message = format!(
        "callers choose this part of the key of the limit `{name}`, and have a full key under each value"
    );
    Diagnostic::lint(Lint::EvadableLimit, &part.at, message)
        .expected("the id of the principal, or claims of a signed token")
}

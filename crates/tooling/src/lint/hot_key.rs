//! Rate limits with one key for all requests, each of which asks the store for it.
//!
//! Such a key is charged by every process at once, and each charge is a call. A lease pays for many
//! of them in one call.

use wardgate_compiler::cel;
use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::resolve::model::Limit;
use wardgate_engine::table::limit::Consistency;

use super::{Lint, Linter};

impl Linter<'_> {
    pub(super) fn hot_keys(&self) -> Vec<Diagnostic> {
        let limits = self.resolved.limit.iter();
        let exact = limits.filter(|limit| limit.body.consistency == Consistency::Exact);
        exact.filter(|limit| has_one_key(limit)).map(finding).collect()
    }
}

/// Returns true if no part of the key reads anything of a request.
fn has_one_key(limit: &Limit) -> bool {
    let is_constant = |text: &str| {
        let parsed = cel::parse(text).ok();
        let found = parsed.and_then(|parsed| {
            cel::constant(&parsed, &limit.constants, |value| value.error().is_none())
        });
        found == Some(true)
    };
    limit.body.key.iter().all(|part| is_constant(&part.text))
}

fn finding(limit: &Limit) -> Diagnostic {
    let name = &limit.body.name;
    let message = format!(
        "all requests of the limit `{name}` ask the store for one key; leases take fewer calls"
    );
    let location = limit.body.key.first().map_or(&limit.location, |part| &part.at);
    Diagnostic::lint(Lint::HotKey, location, message).expected("`consistency: leased`")
}

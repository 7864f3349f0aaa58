//! All suggestions as JSON.

use serde_json::Value as Json;

use super::{FileName, derivations, findings, groups, merges};
use crate::index::Index;
use crate::suggestions::Suggestions;

/// Returns suggestions as an array: merges, derived roles, findings about rules, groups.
#[must_use]
pub fn suggestions(index: &Index, found: &Suggestions, file: FileName<'_>) -> Json {
    merges(index, &found.merges, file)
        .chain(derivations(index, &found.derivations, file))
        .chain(findings(index, &found.findings, file))
        .chain(groups(index, &found.groups, file))
        .collect()
}

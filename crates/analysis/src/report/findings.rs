//! Derived roles that would carry conditions, and findings about rules, as JSON.

use serde_json::{Value as Json, json};

use super::{FileName, edits, place};
use crate::derived::{Derivation, Derivations};
use crate::findings::Finding;
use crate::index::{Index, RuleId};

/// Returns derived roles, in their order.
pub(super) fn derivations<'r>(
    index: &'r Index,
    found: &'r Derivations,
    file: FileName<'r>,
) -> impl Iterator<Item = Json> + 'r {
    found.found.iter().map(move |one| derivation(index, one, file))
}

/// Returns findings, in their order.
pub(super) fn findings<'r>(
    index: &'r Index,
    found: &'r [Finding],
    file: FileName<'r>,
) -> impl Iterator<Item = Json> + 'r {
    found.iter().map(move |one| finding(index, one, file))
}

fn derivation(index: &Index, one: &Derivation, file: FileName<'_>) -> Json {
    json!({
        "kind": "derived-role",
        "name": one.name,
        "set": one.set,
        "file": file(&one.file),
        "known": one.is_known,
        "parentRoles": one.parents,
        "condition": one.condition,
        "saves": one.rules.len().saturating_sub(1),
        "rules": places(index, one.rules.iter().copied(), file),
        "edits": edits(one.edits.as_deref().unwrap_or_default(), file),
        "refused": one.edits.as_ref().err().map(|refusal| refusal.words()),
    })
}

fn finding(index: &Index, one: &Finding, file: FileName<'_>) -> Json {
    let rules = [Some(one.rule), one.other].into_iter().flatten();
    json!({
        "kind": one.kind.name(),
        "saves": usize::from(one.kind.is_idle()),
        "rules": places(index, rules, file),
    })
}

fn places(index: &Index, rules: impl Iterator<Item = RuleId>, file: FileName<'_>) -> Vec<Json> {
    rules.filter_map(|rule| index.place(rule)).map(|one| place(one, file).into()).collect()
}

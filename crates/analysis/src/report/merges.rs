//! Merges of rules as JSON.

use serde_json::{Value as Json, json};

use super::{FileName, edits, place};
use crate::index::Index;
use crate::merges::{Merge, Merges};

/// Returns merges, in their order.
pub(super) fn merges<'r>(
    index: &'r Index,
    merges: &'r Merges,
    file: FileName<'r>,
) -> impl Iterator<Item = Json> + 'r {
    merges.found.iter().map(move |merge| one(index, merge, file))
}

fn one(index: &Index, merge: &Merge, file: FileName<'_>) -> Json {
    let places = merge.rules.iter().filter_map(|rule| index.place(*rule));
    let rules: Vec<Json> = places.map(|one| place(one, file).into()).collect();
    json!({
        "kind": "merge",
        "parts": merge.parts.iter().map(|part| part.name()).collect::<Vec<_>>(),
        "saves": merge.rules.len().saturating_sub(1),
        "rules": rules,
        "edits": edits(merge.edits.as_deref().unwrap_or_default(), file),
        "refused": merge.edits.as_ref().err().map(|refusal| refusal.words()),
    })
}

//! Groups of rules as JSON.

use serde_json::{Value as Json, json};

use super::{FileName, place};
use crate::groups::{Group, Kind};
use crate::index::Index;
use crate::similar::Part;

/// Returns groups, in their order.
pub fn groups<'r>(
    index: &'r Index,
    groups: &'r [Group],
    file: FileName<'r>,
) -> impl Iterator<Item = Json> + 'r {
    groups.iter().map(move |group| one(index, group, file))
}

fn one(index: &Index, group: &Group, file: FileName<'_>) -> Json {
    let mut values = index.values(group).into_iter();
    let rules = group.rules.iter().filter_map(|rule| {
        let mut one = place(index.place(*rule)?, file);
        if let Some(value) = values.next() {
            one.extend([("value".to_owned(), json!(value))]);
        }
        Some(one)
    });
    json!({
        "kind": group.kind.name(),
        "part": part(group.kind).map(Part::name),
        "across": group.across.iter().map(|part| part.name()).collect::<Vec<_>>(),
        "saves": group.saves,
        "rules": rules.collect::<Vec<_>>(),
    })
}

/// Returns the part in which the rules of a group differ.
const fn part(kind: Kind) -> Option<Part> {
    match kind {
        Kind::SameRule => None,
        Kind::DiffersIn(part) => Some(part),
        Kind::SameShape => Some(Part::Constants),
    }
}

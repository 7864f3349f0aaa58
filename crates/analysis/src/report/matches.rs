//! Similar rules as JSON.

use serde_json::{Value as Json, json};

use super::{FileName, place};
use crate::index::Index;
use crate::similar::{Match, Query};

/// Returns a rule, and the rules that are most like it.
#[must_use]
pub fn matches(index: &Index, query: &Query, found: &[Match<'_>], file: FileName<'_>) -> Json {
    let matches = found.iter().filter_map(|found| one(index, found, file));
    json!({
        "policy": &*query.place().policy,
        "rule": &*query.place().rule,
        "matches": matches.collect::<Vec<_>>(),
    })
}

fn one(index: &Index, found: &Match<'_>, file: FileName<'_>) -> Option<Json> {
    let mut one = place(index.place(found.rule)?, file);
    let parts = found.parts();
    let differs = parts.differs.iter().map(|differs| {
        json!({
            "part": differs.part.name(),
            "query": differs.query,
            "other": differs.other,
        })
    });
    let members: [(&str, Json); 5] = [
        ("rules", json!(found.rules)),
        ("score", json!(f64::from(found.score) / 1e6)),
        ("relation", json!(found.relation().name())),
        ("same", parts.same.iter().map(|part| part.name()).collect()),
        ("differs", differs.collect()),
    ];
    one.extend(members.map(|(name, value)| (name.to_owned(), value)));
    Some(Json::Object(one))
}

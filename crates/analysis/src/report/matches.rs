//! Similar policies and rules as JSON.

use serde_json::{Value as Json, json};

use super::{FileName, place};
use crate::index::Index;
use crate::similar::{Match, PolicyMatch, Query};

/// Returns the policies that are most like one, and for each rule the rules that are most like it.
#[must_use]
pub fn similar(
    index: &Index,
    policies: &[PolicyMatch<'_>],
    rules: &[(&Query, Vec<Match<'_>>)],
    file: FileName<'_>,
) -> Json {
    let rules = rules.iter().map(|(query, found)| matches(index, query, found, file));
    json!({
        "policies": policies.iter().map(|found| policy(found, file)).collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn policy(found: &PolicyMatch<'_>, file: FileName<'_>) -> Json {
    json!({
        "policy": &*found.place.policy,
        "file": file(&found.place.location.file.path),
        "score": f64::from(found.score) / 1e6,
        "rules": found.rules,
        "equal": found.equal,
    })
}

fn matches(index: &Index, query: &Query, found: &[Match<'_>], file: FileName<'_>) -> Json {
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

//! Similar policies and rules as JSON.
//!
//! An editor asks with every pause of its user, so the text is written without a tree of values before it. Members stand
//! in the order of their names, as everywhere.

use serde::Serialize;

use super::FileName;
use crate::index::Index;
use crate::similar::{Difference, Match, PolicyMatch, Query};

/// Returns the policies that are most like one, and for each rule the rules that are most like it, as the text of an object.
#[must_use]
pub fn similar(
    index: &Index,
    policies: &[PolicyMatch<'_>],
    rules: &[(&Query, Vec<Match<'_>>)],
    file: FileName<'_>,
) -> String {
    let answer = Answer {
        policies: policies.iter().map(|found| LikePolicy::new(found, file)).collect(),
        rules: rules
            .iter()
            .map(|(query, found)| LikeRules::new(index, query, found, file))
            .collect(),
    };
    // Serialization cannot fail: all keys are strings, and all numbers are finite.
    serde_json::to_string(&answer).unwrap_or_default()
}

#[derive(Serialize)]
struct Answer<'i> {
    policies: Vec<LikePolicy<'i>>,
    rules: Vec<LikeRules<'i>>,
}

#[derive(Serialize)]
struct LikePolicy<'i> {
    equal: usize,
    file: String,
    policy: &'i str,
    rules: usize,
    score: f64,
}

impl<'i> LikePolicy<'i> {
    fn new(found: &PolicyMatch<'i>, file: FileName<'_>) -> Self {
        Self {
            equal: found.equal,
            file: file(&found.place.location.file.path),
            policy: &found.place.policy,
            rules: found.rules,
            score: share(found.score),
        }
    }
}

#[derive(Serialize)]
struct LikeRules<'i> {
    matches: Vec<LikeRule<'i>>,
    policy: &'i str,
    rule: &'i str,
}

impl<'i> LikeRules<'i> {
    fn new(index: &'i Index, query: &'i Query, found: &[Match<'i>], file: FileName<'_>) -> Self {
        Self {
            matches: found.iter().filter_map(|found| LikeRule::new(index, found, file)).collect(),
            policy: &query.place().policy,
            rule: &query.place().rule,
        }
    }
}

#[derive(Serialize)]
struct LikeRule<'i> {
    column: u32,
    differs: Vec<Differs<'i>>,
    file: String,
    line: u32,
    policy: &'i str,
    relation: &'static str,
    rule: &'i str,
    rules: usize,
    same: Vec<&'static str>,
    score: f64,
}

impl<'i> LikeRule<'i> {
    fn new(index: &'i Index, found: &Match<'i>, file: FileName<'_>) -> Option<Self> {
        let place = index.place(found.rule)?;
        let parts = found.parts();
        Some(Self {
            column: place.location.position.column,
            differs: parts.differs.into_iter().map(Differs::new).collect(),
            file: file(&place.location.file.path),
            line: place.location.position.line,
            policy: &place.policy,
            relation: found.relation().name(),
            rule: &place.rule,
            rules: found.rules,
            same: parts.same.iter().map(|part| part.name()).collect(),
            score: share(found.score),
        })
    }
}

#[derive(Serialize)]
struct Differs<'i> {
    other: Vec<&'i str>,
    part: &'static str,
    query: Vec<&'i str>,
}

impl<'i> Differs<'i> {
    fn new(found: Difference<'i>) -> Self {
        let Difference { part, query, other } = found;
        Self { other, part: part.name(), query }
    }
}

/// Returns millionths as a number from 0 to 1.
fn share(millionths: u32) -> f64 {
    f64::from(millionths) / 1e6
}

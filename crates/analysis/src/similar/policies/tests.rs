//! Small sets of policies, and which are most like one.

use wardgate_compiler::compile::FilesByPath;
use wardgate_compiler::resolve::resolve;

use crate::index::{Index, RuleId};
use crate::similar::Query;

/// Returns the index of policies: each a kind and rules.
fn index(policies: &[(&str, &[&str])]) -> Index {
    let file = |(kind, rules): &(&str, &[&str])| {
        let rules: String = rules.iter().map(|rule| format!("    - {{ {rule} }}\n")).collect();
        let head = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n";
        let text = format!("{head}  resource: {kind}\n  rules:\n{rules}");
        (format!("{kind}.yaml"), text.into_bytes())
    };
    let files: Vec<_> = policies.iter().map(file).collect();
    Index::new(&resolve(&FilesByPath::of(&files).repository()).0)
}

fn queries(index: &Index, policy: &str) -> Vec<Query> {
    index.find(policy, None).into_iter().filter_map(|rule| index.query(rule)).collect()
}

/// Returns the likeness of two rules in millionths, from their features alone.
fn likeness(index: &Index, query: &Query, rule: RuleId) -> u64 {
    let features = index.features();
    let theirs = features.of(index.class_number(rule).unwrap());
    let weigh = |of: &dyn Fn(&u32) -> bool, all: &[u32]| -> u64 {
        all.iter().filter(|one| of(one)).map(|one| u64::from(features.weight(*one))).sum()
    };
    let shared = weigh(&|one| theirs.contains(one), &query.features);
    let either = weigh(&|_| true, &query.features) + weigh(&|_| true, theirs) - shared;
    shared * 1_000_000 / either
}

const VIEW: &str = "actions: [view], roles: [user], effect: EFFECT_ALLOW";
const EDIT: &str = "actions: [edit], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } }";
const MEND: &str = "actions: [edit], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: P.id == R.attr.owner } }";
const DROP: &str = "actions: [drop], roles: [admin], effect: EFFECT_DENY";

#[test]
fn the_likeness_is_the_mean_over_the_rules_of_both() {
    let all: [(&str, &[&str]); 5] = [
        ("album", &[VIEW, EDIT]),
        ("photo", &[MEND, VIEW]),
        ("film", &[VIEW]),
        ("book", &[EDIT, VIEW, DROP, DROP]),
        ("list", &[DROP]),
    ];
    let index = index(&all);
    let ours = queries(&index, "resource.album.vdefault");
    let mut expected: Vec<(u64, String, usize, usize)> = Vec::new();
    for (kind, rules) in &all[1..] {
        let key = format!("resource.{kind}.vdefault");
        let ids = index.find(&key, None);
        let best_of = |query: &Query| ids.iter().map(|rule| likeness(&index, query, *rule)).max();
        let best_for = |rule: RuleId| ours.iter().map(|query| likeness(&index, query, rule)).max();
        let sum: u64 = ours.iter().filter_map(best_of).sum::<u64>()
            + ids.iter().copied().filter_map(best_for).sum::<u64>();
        let equal = rules.iter().filter(|rule| **rule != DROP).count();
        expected.push((
            sum / u64::try_from(ours.len() + ids.len()).unwrap(),
            key,
            rules.len(),
            equal,
        ));
    }
    expected.retain(|one| one.0 > 0);
    expected.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let found = index.similar_policies(&ours, 10);
    let found: Vec<_> = found
        .iter()
        .map(|one| (u64::from(one.score), one.place.policy.to_string(), one.rules, one.equal))
        .collect();
    assert_eq!(found, expected);
    // The same rules in another order and in other words.
    assert_eq!((found[0].0, found[0].1.as_str()), (1_000_000, "resource.photo.vdefault"));
    assert_eq!(index.similar_policies(&ours, 1).len(), 1);
    assert_eq!(index.similar_policies(&[], 10).len(), 0);
}

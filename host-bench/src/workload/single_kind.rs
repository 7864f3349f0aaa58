//! One kind with many rules, of which few are about any one action.
//!
//! Each action has five rules, so that a request has the same few candidates among any number of
//! rules.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::{Objects, REQUESTS, Random, Rivals, RuleSet, Workload, pick, policies, user};

/// Returns the workload with this many rules.
pub(super) fn workload(rules: usize) -> Workload {
    let mut random = Random::new();
    let actions = rules / RULES_OF_AN_ACTION;
    Workload {
        name: format!("single-kind-{rules}"),
        title: format!("One kind with {rules} rules, five for each action"),
        rules: RuleSet::SingleKind,
        kinds: vec![KIND.to_owned()],
        actions,
        policies: policies(&[KIND.to_owned()], &rules_of(actions)),
        requests: (0..REQUESTS).map(|at| request(&mut random, at, actions)).collect(),
        expected: Vec::new(),
        objects: Objects::Reused,
        rivals: Rivals::None,
    }
}

fn request(random: &mut Random, at: usize, actions: usize) -> Json {
    let principal = random.below(PRINCIPALS);
    let owner = if random.one_in(4) { principal } else { random.below(PRINCIPALS) };
    json!({
        "principal": { "id": user(principal), "roles": pick(ROLES, principal), "attr": {} },
        "action": format!("action_{}", random.below(actions)),
        "resource": {
            "kind": KIND,
            "id": format!("resource_{at}"),
            "attr": { "owner": user(owner), "public": random.one_in(4), "locked": random.one_in(4) },
        },
    })
}

fn rules_of(actions: usize) -> String {
    let mut text = String::new();
    for number in 0..actions {
        for (effect, role, condition) in RULES {
            let condition = condition
                .map(|expr| format!(", condition: {{ match: {{ expr: {expr} }} }}"))
                .unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "    - {{ actions: [action_{number}], effect: EFFECT_{effect}, \
                 roles: [\"{role}\"]{condition} }}"
            );
        }
    }
    text
}

/// The rules of every action.
const RULES: &[(&str, &str, Option<&str>)] = &[
    ("ALLOW", "viewer", None),
    ("ALLOW", "*", Some("R.attr.public == true")),
    ("ALLOW", "*", Some("R.attr.owner == P.id")),
    ("ALLOW", "admin", None),
    ("DENY", "*", Some("R.attr.locked == true")),
];

const RULES_OF_AN_ACTION: usize = 5;
const KIND: &str = "document";
const ROLES: &[&[&str]] = &[&["viewer"], &["member"], &["member", "guest"], &["admin", "member"]];
const PRINCIPALS: usize = 100;

//! Conditions that cost more than a comparison: regular expressions, lists, ranges of addresses.

use serde_json::{Value as Json, json};

use super::{Objects, REQUESTS, Random, Rivals, RuleSet, Workload, policies, user};

/// Returns the workload.
pub(super) fn workload() -> Workload {
    let mut random = Random::new();
    let kinds: Vec<String> = (0..KINDS).map(|number| format!("service_{number}")).collect();
    let requests = (0..REQUESTS).map(|at| request(&mut random, at)).collect();
    Workload {
        name: "conditions".to_owned(),
        title: format!("Regular expressions, lists and address ranges, {KINDS} kinds"),
        rules: RuleSet::Conditions,
        policies: policies(&kinds, &rules()),
        kinds,
        actions: ACTIONS.len(),
        requests,
        expected: Vec::new(),
        objects: Objects::Reused,
        rivals: Rivals::Rego,
    }
}

fn request(random: &mut Random, at: usize) -> Json {
    let principal = random.below(100);
    let folder = random.pick(&["data", "www", "Logs"]);
    let end = random.pick(&["json", "json", "yaml"]);
    let domain = random.pick(&["example.com", "sample.org", "elsewhere.net"]);
    let network = random.pick(&["10.20", "192.168", "172.16"]);
    let third = random.pick(&[0, 30, 77]);
    json!({
        "principal": {
            "id": user(principal),
            "roles": ["employee"],
            "attr": { "address": format!("{network}.{third}.{principal}"), "teams": teams(random, 3) },
        },
        "action": random.pick(ACTIONS),
        "resource": {
            "kind": format!("service_{}", random.below(KINDS)),
            "id": format!("resource_{at}"),
            "attr": {
                "path": format!("/srv/{folder}/v{}/report-{at}.{end}", at % 12),
                "mail": format!("someone-{}@{domain}", at % 50),
                "teams": teams(random, 4),
            },
        },
    })
}

fn teams(random: &mut Random, most: usize) -> Vec<String> {
    (0..=random.below(most)).map(|_| format!("team_{}", random.below(8))).collect()
}

fn rules() -> String {
    let rule = |(action, expr): &(&str, &str)| {
        format!(
            "    - actions: [{action}]\n      effect: EFFECT_ALLOW\n      roles: [employee]\n      \
             condition:\n        match:\n          expr: |-\n            {expr}\n"
        )
    };
    EXPRESSIONS.iter().map(rule).collect()
}

/// The expression of each action.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("read", r#"R.attr.path.matches("^/srv/[a-z]+/v[0-9]+/.*\\.json$")"#),
    (
        "mail",
        r#"R.attr.mail.matches("^[a-z][a-z0-9-]{2,30}@(example|sample)\\.(com|org)$") && !P.attr.address.inIPAddrRange("10.20.30.0/24")"#,
    ),
    (
        "connect",
        r#"P.attr.address.inIPAddrRange("10.20.0.0/16") || P.attr.address.inIPAddrRange("192.168.0.0/24")"#,
    ),
    ("join", r#"R.attr.teams.exists(team, team in P.attr.teams)"#),
    (
        "deploy",
        r#"P.attr.address.inIPAddrRange("10.20.0.0/16") && R.attr.path.matches("^/srv/[a-z]+/v[0-9]+/.*\\.json$") && R.attr.teams.all(team, team in ["team_0", "team_1", "team_2", "team_3", "team_4", "team_5"])"#,
    ),
];

const ACTIONS: &[&str] = &["read", "mail", "connect", "join", "deploy"];
const KINDS: usize = 20;

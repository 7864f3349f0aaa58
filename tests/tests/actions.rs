//! The actions of a kind, compared with those in the policies.

use wardgate_engine::table::PolicyTable;
use wardgate_tests::compiled::Compiled;

#[test]
fn the_actions_of_a_kind_are_those_that_its_rules_name() {
    let table = table(&[
        resource("album", &rule("view, 'edit:*'")).as_str(),
        // Another scope and another version of the same kind.
        &resource("album\n  scope: acme", &rule("share").replace("ALLOW", "DENY")),
        &resource("album", &rule("archive")).replace("default", "v2"),
        &resource("photo", &rule("view, crop")),
        ADA,
        GUEST,
    ]);
    let table = table.unwrap();
    let check = |kind, expected: &[&str]| {
        assert_eq!(table.actions(kind), expected, "{kind}");
    };
    check("album", &["archive", "audit", "burn", "share", "view"]);
    check("photo", &["burn", "crop", "look", "view"]);
    check("nothing", &["burn"]);
    check("", &["burn"]);
}

#[test]
fn rules_beyond_the_first_chunk_count_too() {
    let rules: String = (0..300).map(|at| rule(&format!("do{at:03}"))).collect();
    let policy = resource("many", &rules);
    let table = table(&[&policy]).unwrap();
    let actions = table.actions("many");
    let expected: Vec<String> = (0..300).map(|at| format!("do{at:03}")).collect();
    assert_eq!(actions, expected);
}

fn table(policies: &[&str]) -> Result<PolicyTable, String> {
    let names: Vec<String> = (0..policies.len()).map(|at| format!("{at}.yaml")).collect();
    let names = names.iter().map(String::as_str);
    let texts: Vec<_> = names.zip(policies.iter().copied()).collect();
    Compiled::of_texts(&texts).map(|compiled| compiled.table)
}

fn resource(kind: &str, rules: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: {kind}\n  rules:\n{rules}"
    )
}

fn rule(actions: &str) -> String {
    format!("    - {{ actions: [{actions}], effect: EFFECT_ALLOW, roles: [user] }}\n")
}

/// One resource by name, all of them by a pattern.
const ADA: &str = "
apiVersion: api.cerbos.dev/v1
principalPolicy:
  version: default
  principal: ada
  rules:
    - resource: album
      actions: [{ action: audit, effect: EFFECT_ALLOW }]
    - resource: '*'
      actions: [{ action: burn, effect: EFFECT_DENY }]
";

const GUEST: &str = "
apiVersion: api.cerbos.dev/v1
rolePolicy:
  role: guest
  rules:
    - { resource: photo, allowActions: [look] }
";

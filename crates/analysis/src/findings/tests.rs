//! Small sets of policies and what is found in them.

use wardgate_compiler::Options;

use super::{contradictions, idle};
use crate::proof::tests::with_basis;

/// Checks what is found: each kind with the names of the rule and of the other one.
fn check(files: &[(&str, String)], expected: &[&str]) {
    let words: Vec<String> = with_basis(files, &Options::default(), |index, resolved, basis| {
        let mut all = idle(index, resolved, basis).found;
        all.extend(contradictions(index));
        let name = |rule| {
            let place = index.place(rule).unwrap();
            format!("{}#{}", place.policy, place.rule)
        };
        all.iter()
            .map(|found| {
                let other = found.other.map(|other| format!(" {}", name(other)));
                format!("{} {}{}", found.kind.name(), name(found.rule), other.unwrap_or_default())
            })
            .collect()
    });
    assert_eq!(words, expected);
}

/// Returns a policy about documents in a scope with these rules.
fn policy(scope: &str, rules: &[&str]) -> String {
    let rules: String = rules.iter().map(|rule| format!("    - {{ {rule} }}\n")).collect();
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: doc\n  version: default\n  scope: '{scope}'\n  rules:\n{rules}"
    )
}

const ALLOW: &str = "actions: [view], roles: [user], effect: EFFECT_ALLOW";
const DENY: &str = "actions: [view], roles: [user], effect: EFFECT_DENY";

#[test]
fn a_rule_that_its_parent_scope_says_too_decides_nothing() {
    let root = policy("", &[ALLOW]);
    let files =
        |rules: &[&str]| [("root.yaml", root.clone()), ("acme.yaml", policy("acme", rules))];
    let same =
        "same-in-parent-scope resource.doc.vdefault/acme#rule-001 resource.doc.vdefault#rule-001";
    check(&files(&[ALLOW]), &[same]);
    // A condition of the scope may fail first, and a denial is none of the root.
    check(&files(&["actions: [edit], roles: [user], effect: EFFECT_ALLOW"]), &[]);
    check(&files(&[DENY]), &[]);
}

#[test]
fn a_rule_that_role_policies_or_other_rules_overrule_decides_nothing() {
    let role = "apiVersion: api.cerbos.dev/v1\nrolePolicy:\n  role: user\n  version: default\n  rules:\n    - { resource: doc, allowActions: [print] }\n";
    let print = "actions: [print], roles: [user], effect: EFFECT_ALLOW";
    check(
        &[("doc.yaml", policy("", &[ALLOW, print])), ("user.yaml", role.to_owned())],
        &["shadowed-across resource.doc.vdefault#rule-001"],
    );
    let all = "actions: ['*'], roles: ['*'], effect: EFFECT_ALLOW";
    check(
        &[("doc.yaml", policy("", &[all, ALLOW]))],
        &["never-decides resource.doc.vdefault#rule-002"],
    );
}

#[test]
fn both_effects_under_one_condition_contradict() {
    let under =
        |rule: &str, text: &str| format!("{rule}, condition: {{ match: {{ expr: '{text}' }} }}");
    let (allow, deny) = (under(ALLOW, "R.attr.a == P.id"), under(DENY, "P.id == R.attr.a"));
    check(
        &[("doc.yaml", policy("", &[&allow, &deny]))],
        &["contradiction resource.doc.vdefault#rule-002 resource.doc.vdefault#rule-001"],
    );
    check(&[("doc.yaml", policy("", &[&allow, &under(DENY, "R.attr.b == P.id")]))], &[]);
}

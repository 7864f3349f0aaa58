//! Policies before and after their merges, byte for byte, and what is not merged.

use wardgate_compiler::Options;

use super::{Merges, merges};
use crate::proof::tests::with_basis;

/// Returns the merges of one policy, and its text with them.
fn merged(path: &str, text: &str) -> (Merges, String) {
    let files = [(path, text.to_owned())];
    with_basis(&files, &Options::default(), |index, resolved, basis| {
        let merges = merges(index, resolved, basis);
        let texts = basis.texts(merges.edits()).unwrap();
        let new = texts.get(path).cloned().unwrap_or_else(|| text.to_owned());
        (merges, new)
    })
}

/// Returns a policy about documents; its rules are written as lines behind `rules:`.
fn policy(rules: &str) -> String {
    format!(
        "# head\napiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: doc # kind\n  version: default\n  rules:\n{rules}"
    )
}

fn check(rules: &str, expected: &str) {
    let (merges, new) = merged("doc.yaml", &policy(rules));
    let refused: Vec<_> =
        merges.found.iter().filter_map(|merge| merge.edits.clone().err()).collect();
    assert_eq!((refused, merges.unproved), (Vec::new(), 0));
    assert!(new == policy(expected), "{}", new.chars().take(2_000).collect::<String>());
    let crlf = |text: &str| policy(text).replace('\n', "\r\n");
    assert_eq!(merged("doc.yaml", &crlf(rules)).1, crlf(expected));
}

/// Checks that a policy stays as it is, for this reason; empty if there is nothing to merge.
fn refused(text: &str, reason: &str) {
    let (merges, new) = merged("doc.yaml", text);
    assert_eq!(new, text);
    let words = merges.found.iter().filter_map(|merge| merge.edits.as_ref().err());
    let words: Vec<&str> = words.map(|refusal| refusal.words()).collect();
    assert_eq!(words.join("; "), reason, "{text}");
}

#[test]
fn roles_of_lists_in_every_layout_are_joined() {
    check(
        "    - { actions: [view], roles: [a], effect: EFFECT_ALLOW } # first\n    - { actions: [view], roles: [b, a, c], effect: EFFECT_ALLOW }\n",
        "    - { actions: [view], roles: [a, b, c], effect: EFFECT_ALLOW } # first\n",
    );
    check(
        "    - actions: [view]\n      effect: EFFECT_ALLOW\n      roles:\n        - a # one\n        - b\n\n    - actions: ['view']\n      effect: EFFECT_ALLOW\n      roles: [\"c\", d]\n  # end\n  variables: {local: {x: P.id}}\n",
        "    - actions: [view]\n      effect: EFFECT_ALLOW\n      roles:\n        - a # one\n        - b\n        - c\n        - d\n  # end\n  variables: {local: {x: P.id}}\n",
    );
    check(
        "  - roles: ['a']\n    actions: [view]\n    effect: EFFECT_DENY\n  - effect: EFFECT_DENY\n    actions: [view]\n    roles: [\"it's\", 'no']",
        "  - roles: ['a', 'it''s', 'no']\n    actions: [view]\n    effect: EFFECT_DENY",
    );
    check(
        "    - actions: [view]\n      effect: EFFECT_ALLOW\n      roles: [\n        a,\n        b,\n      ]\n    - actions: [view]\n      effect: EFFECT_ALLOW\n      roles: [true1, \"yes\"]\n",
        "    - actions: [view]\n      effect: EFFECT_ALLOW\n      roles: [\n        a,\n        b,\n        true1,\n        \"yes\",\n      ]\n".replace("\"yes\",\n", "\"yes\"\n").as_str(),
    );
}

#[test]
fn lists_without_indentation_are_extended() {
    check(
        "  - actions:\n    - view\n    effect: EFFECT_ALLOW\n    roles:\n    - 'a'\n  - actions:\n    - view\n    effect: EFFECT_ALLOW\n    roles:\n    - b\n",
        "  - actions:\n    - view\n    effect: EFFECT_ALLOW\n    roles:\n    - 'a'\n    - 'b'\n",
    );
}

#[test]
fn actions_are_joined_and_both_are() {
    check(
        "    - { actions: [view], roles: [a], effect: EFFECT_ALLOW }\n\n    # Between.\n\n    - { actions: ['edit:*'], roles: [a], effect: EFFECT_ALLOW }\n",
        "    - { actions: [view, \"edit:*\"], roles: [a], effect: EFFECT_ALLOW }\n\n    # Between.\n",
    );
    check(
        "    - { actions: [view], roles: [a], effect: EFFECT_ALLOW }\n    - { actions: [edit], roles: [a], effect: EFFECT_ALLOW }\n    - { actions: [sell], roles: [c], effect: EFFECT_ALLOW }\n    - { actions: [view, edit], roles: [b], effect: EFFECT_ALLOW }\n",
        "    - { actions: [view, edit], roles: [a, b], effect: EFFECT_ALLOW }\n    - { actions: [sell], roles: [c], effect: EFFECT_ALLOW }\n",
    );
}

#[test]
fn rules_between_brackets_and_in_json_are_joined() {
    let head = "{\"apiVersion\": \"api.cerbos.dev/v1\",\n \"resourcePolicy\": {\"resource\": \"doc\", \"version\": \"default\", \"rules\": ";
    let check = |path: &str, rules: &str, expected: &str| {
        let [text, expected] = [rules, expected].map(|rules| format!("{head}{rules}}}}}\n"));
        assert_eq!(merged(path, &text).1, expected);
    };
    check(
        "doc.json",
        "[\n  {\"actions\": [\"view\"], \"roles\": [\"a\"], \"effect\": \"EFFECT_ALLOW\"},\n  {\"actions\": [\"view\"], \"roles\": [\"b\"], \"effect\": \"EFFECT_ALLOW\"},\n  {\"actions\": [\"edit\"], \"roles\": [\"b\"], \"effect\": \"EFFECT_DENY\"}\n]",
        "[\n  {\"actions\": [\"view\"], \"roles\": [\"a\", \"b\"], \"effect\": \"EFFECT_ALLOW\"},\n  {\"actions\": [\"edit\"], \"roles\": [\"b\"], \"effect\": \"EFFECT_DENY\"}\n]",
    );
    check(
        "doc.yaml",
        "[{actions: [view], roles: [a], effect: EFFECT_ALLOW}, {actions: [view], roles: [b], effect: EFFECT_ALLOW}]",
        "[{actions: [view], roles: [a, b], effect: EFFECT_ALLOW}]",
    );
}

#[test]
fn conditions_are_equal_in_their_normal_form() {
    check(
        "    - actions: [view]\n      roles: [a]\n      effect: EFFECT_ALLOW\n      condition:\n        match:\n          expr: |\n            R.attr.owner == P.id\n            && true == R.attr.open\n    - actions: [view]\n      roles: [b]\n      effect: EFFECT_ALLOW\n      condition:\n        match: { expr: 'R.attr.open == true && P.id == request.resource.attr.owner' }\n",
        "    - actions: [view]\n      roles: [a, b]\n      effect: EFFECT_ALLOW\n      condition:\n        match:\n          expr: |\n            R.attr.owner == P.id\n            && true == R.attr.open\n",
    );
}

#[test]
fn rules_of_role_policies_list_their_actions_together() {
    let text =
        "apiVersion: api.cerbos.dev/v1\nrolePolicy:\n  role: guest\n  version: default\n  rules:\n";
    let rules = "    - { resource: doc, allowActions: [view] }\n    - { resource: doc, allowActions: [print, view] }\n    - { resource: film, allowActions: [view] }\n";
    let expected = "    - { resource: doc, allowActions: [view, print] }\n    - { resource: film, allowActions: [view] }\n";
    assert_eq!(merged("guest.yaml", &format!("{text}{rules}")).1, format!("{text}{expected}"));
}

#[test]
fn an_edit_that_is_not_safe_is_not_made() {
    let two = |first: &str, second: &str| {
        policy(&format!(
            "    - {first}actions: [view]\n      roles: [a]\n      effect: EFFECT_ALLOW\n    - {second}actions: [view]\n      roles: [b]\n      effect: EFFECT_ALLOW\n"
        ))
    };
    let name = "a rule that would go has a name";
    let comment = "a comment stands beside what would go";
    let layout = "the text cannot be edited safely";
    refused(&two("", "name: x\n      "), name);
    refused(&two("", "# why\n      "), layout);
    refused(&two("", "").replace("[b]", "[b] # why"), comment);
    refused(
        &two("", "").replace(
            "    - actions: [view]\n      roles: [b]",
            "    # why\n    - actions: [view]\n      roles: [b]",
        ),
        comment,
    );
    refused(&format!("{}      # why\n", two("", "")), comment);
    refused(&two("", "").replace("[a]", "&r [a]").replace("[b]", "[b]\n      name: &n x"), name);
    // The list of the first rule is that of another one too.
    let shared = "    - { actions: [view], roles: &r [a], effect: EFFECT_ALLOW }\n    - { actions: [view], roles: [b], effect: EFFECT_ALLOW }\n    - { actions: [edit], roles: *r, effect: EFFECT_DENY }\n";
    refused(&policy(shared), layout);
    // What goes is named further down.
    let named = "    - { actions: [view], roles: [a], effect: EFFECT_ALLOW }\n    - { actions: [view], roles: &r [b], effect: EFFECT_ALLOW }\n    - { actions: [edit], roles: *r, effect: EFFECT_DENY }\n";
    refused(&policy(named), layout);
    let output = "      output: { when: { ruleActivated: P.id } }\n";
    refused(&format!("{}{output}", two("", "")), "outputs name the rules");
    let behind = "    - actions: [edit]\n      roles: [c]\n      effect: EFFECT_ALLOW\n";
    refused(&format!("{}{behind}{output}", two("", "")), "outputs name the rules");
}

#[test]
fn order_counts_where_a_condition_can_fail() {
    let rule = |action: &str, role: &str, effect: &str, condition: &str| {
        format!(
            "    - {{ actions: [{action}], roles: [{role}], effect: EFFECT_{effect}, condition: {{ match: {{ expr: '{condition}' }} }} }}\n"
        )
    };
    // Behind the deny of the second rule the third one was not reached: now its condition may fail first, and
    // the principal's other role is not asked any more.
    let first = rule("view", "a", "ALLOW", "R.attr.x == 1");
    let deny = "    - { actions: [view], roles: [b], effect: EFFECT_DENY }\n";
    let other = "    - { actions: [view], roles: [c], effect: EFFECT_ALLOW, condition: { match: { expr: 'P.id != \"\"' } } }\n";
    let last = format!("{}{other}", rule("view", "b", "ALLOW", "R.attr.x == 1"));
    let (merges, new) = merged("doc.yaml", &policy(&format!("{first}{deny}{last}")));
    assert_eq!((merges.found.len(), merges.unproved), (0, 1));
    assert_eq!(new, policy(&format!("{first}{deny}{last}")));
    // A condition that cannot fail makes no difference.
    let safe = |role: &str| rule("view", role, "ALLOW", "R.kind == \"doc\"");
    check(
        &format!("{}{deny}{}", safe("a"), safe("b")),
        &format!("{}{deny}", safe("a").replace("[a]", "[a, b]")),
    );
}

#[test]
fn many_rules_are_one_in_bounded_work() {
    let rule = |role: usize| {
        format!("    - {{ actions: [view], roles: [r{role}], effect: EFFECT_ALLOW }}\n")
    };
    let same: String = (0..10_000).map(|_| rule(0)).collect();
    check(&same, &rule(0));
    let many: String = (0..5_000).map(rule).collect();
    let (merges, new) = merged("doc.yaml", &policy(&many));
    assert_eq!((merges.found.len(), merges.unproved), (1, 0));
    assert_eq!(new.lines().count(), policy("x").lines().count());
}

#[test]
fn large_conditions_are_merged_or_counted() {
    let parts: Vec<String> = (0..40)
        .map(|number| format!("(R.attr.a{number} == \"{}\" || P.attr.b{number})", "x".repeat(80)))
        .collect();
    let condition = parts.join(" && ");
    assert!(condition.len() > 4_000);
    let rule = |role: &str| {
        format!(
            "    - actions: [view]\n      roles: [{role}]\n      effect: EFFECT_ALLOW\n      condition: {{ match: {{ expr: '{condition}' }} }}\n"
        )
    };
    let text = policy(&format!("{}{}", rule("a"), rule("b")));
    let (merges, new) = merged("doc.yaml", &text);
    assert_eq!(merges.found.len() + merges.unproved, 1);
    let is_merged = new == policy(&rule("a, b"));
    assert_eq!(is_merged, merges.unproved == 0);
}

#[test]
fn two_runs_find_the_same() {
    let rule = |number: usize| {
        let (action, role) = (number % 7, number % 5);
        format!(
            "    - {{ actions: [a{action}], roles: [r{role}], effect: EFFECT_ALLOW, condition: {{ match: {{ expr: 'R.attr.x == {}' }} }} }}\n",
            number % 3
        )
    };
    let text = policy(&(0..100).map(rule).collect::<String>());
    assert_eq!(merged("doc.yaml", &text), merged("doc.yaml", &text));
}

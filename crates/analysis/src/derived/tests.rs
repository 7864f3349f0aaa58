//! Policies before and after their conditions became derived roles, and what does not become one.

use std::collections::BTreeMap;

use wardgate_compiler::Options;
use wardgate_engine::table::Evaluation;

use super::{Derivations, derivations};
use crate::proof::tests::with_basis;

/// Returns the derived roles for some policies, and the texts of the files that change.
fn derived(
    files: &[(&str, String)],
    evaluation: Evaluation,
) -> (Derivations, BTreeMap<String, String>) {
    let options = Options { evaluation, ..Options::default() };
    with_basis(files, &options, |index, resolved, basis| {
        let found = derivations(index, resolved, basis);
        let texts = basis.texts(found.edits()).unwrap();
        let texts = texts.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
        (found, texts)
    })
}

fn policy(kind: &str, rest: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: {kind} # kind\n  version: default\n{rest}"
    )
}

const RULES: &str = "  rules:
    # Owners.
    - actions: [edit]
      roles: [user]
      effect: EFFECT_ALLOW
      condition:
        match:
          expr: R.attr.owner == P.id
    - actions: [view]
      roles: [\"*\"]
      effect: EFFECT_ALLOW
";

const VARIABLES: &str = "  variables:
    local: { mine: request.principal.id == R.attr.owner }
  rules:
    - condition: { match: { expr: V.mine } }
      effect: EFFECT_DENY
      actions: [sell]
      roles:
      - user
";

const JSON: &str = "{\"apiVersion\": \"api.cerbos.dev/v1\", \"resourcePolicy\": {\n  \"resource\": \"film\",\n  \"version\": \"default\",\n  \"rules\": [\n    {\"actions\": [\"edit\"], \"roles\": [\"user\"], \"effect\": \"EFFECT_ALLOW\", \"condition\": {\"match\": {\"expr\": \"P.id == R.attr.owner\"}}}\n  ]\n}}\n";

#[test]
fn a_condition_of_many_policies_becomes_a_derived_role() {
    let files = [
        ("album.yaml", policy("album", RULES)),
        ("film.json", JSON.to_owned()),
        ("photo.yaml", policy("photo", VARIABLES)),
    ];
    for evaluation in [Evaluation::Strict, Evaluation::Lenient] {
        let (found, texts) = derived(&files, evaluation);
        assert_eq!((found.found.len(), found.unproved), (1, 0), "{found:?}");
        assert_eq!(found.found[0].policies, 3);
        let set = "apiVersion: api.cerbos.dev/v1\nderivedRoles:\n  name: common_roles\n  definitions:\n    - name: user_by_owner\n      parentRoles: [\"user\"]\n      condition:\n        match:\n          expr: R.attr.owner == P.id\n";
        assert_eq!(texts["common_roles.yaml"], set);
        let import = "kind\n  importDerivedRoles: [common_roles]\n";
        let album = policy("album", RULES)
            .replace("kind\n", import)
            .replace("roles: [user]", "derivedRoles: [user_by_owner]")
            .replace(
                "      condition:\n        match:\n          expr: R.attr.owner == P.id\n",
                "",
            );
        assert_eq!(texts["album.yaml"], album);
        let photo = policy("photo", VARIABLES)
            .replace("kind\n", import)
            .replace("condition: { match: { expr: V.mine } }\n      ", "")
            .replace("roles:\n      - user\n", "derivedRoles: [user_by_owner]\n");
        assert_eq!(texts["photo.yaml"], photo);
        let film = JSON
            .replace("\"film\",", "\"film\",\n  \"importDerivedRoles\": [\"common_roles\"],")
            .replace("\"roles\": [\"user\"]", "\"derivedRoles\": [\"user_by_owner\"]")
            .replace(", \"condition\": {\"match\": {\"expr\": \"P.id == R.attr.owner\"}}", "");
        assert_eq!(texts["film.json"], film);
        // What is a derived role by now is none again.
        let edited: Vec<(&str, String)> =
            texts.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        assert_eq!(derived(&edited, evaluation).0, Derivations::default());
    }
}

#[test]
fn a_role_that_is_defined_is_used_and_a_common_set_is_extended() {
    let set = "apiVersion: api.cerbos.dev/v1\nderivedRoles:\n  name: staff\n  definitions:\n    - name: owner # of it\n      parentRoles: [user]\n      condition: { match: { expr: P.id == R.attr.owner } }\n";
    let import = "  importDerivedRoles:\n    - staff\n";
    let uses = "  rules:\n    - { actions: [view], derivedRoles: [owner], effect: EFFECT_ALLOW }\n";
    let files = [
        ("a.yaml", policy("a", &format!("{import}{uses}"))),
        ("b.yaml", policy("b", RULES)),
        ("staff.yaml", set.to_owned()),
    ];
    let (found, texts) = derived(&files, Evaluation::Strict);
    assert_eq!(found.found.len(), 1, "{found:?}");
    assert!(found.found[0].is_known);
    assert_eq!(texts.keys().collect::<Vec<_>>(), ["b.yaml"]);
    assert!(texts["b.yaml"].contains("importDerivedRoles: [staff]\n"));
    assert!(texts["b.yaml"].contains("derivedRoles: [owner]\n"));
    let other = RULES.replace("R.attr.owner == P.id", "'!(R.kind in P.attr)'");
    let each = |kind: &str| policy(kind, &format!("{import}{other}"));
    let files = [
        ("a.yaml", each("a")),
        ("b.yaml", each("b")),
        ("c.yaml", each("c")),
        ("staff.yaml", set.to_owned()),
    ];
    let (found, texts) = derived(&files, Evaluation::Strict);
    assert_eq!((found.found.len(), texts.len()), (1, 4), "{found:?}");
    let added = "    - name: user_by_condition\n      parentRoles: [\"user\"]\n      condition:\n        match:\n          expr: \"!(R.kind in P.attr)\"\n";
    assert_eq!(texts["staff.yaml"], format!("{set}{added}"));
}

#[test]
fn what_would_change_more_than_rules_is_refused() {
    let of = |rules: &str| {
        let each = |kind: &str| policy(kind, rules);
        let files = [("a.yaml", each("a")), ("b.yaml", each("b")), ("c.yaml", each("c"))];
        let (found, texts) = derived(&files, Evaluation::Strict);
        assert!(texts.is_empty());
        found
    };
    let reason = |rules: &str| {
        let found = of(rules).found;
        found.first().map_or("", |found| found.edits.as_ref().unwrap_err().words())
    };
    assert_eq!(
        reason(&RULES.replace("      condition:\n", "      condition: # why\n")),
        "a comment stands beside what would go"
    );
    assert_eq!(
        reason(&RULES.replace("[user]\n", "[user] # and why\n")),
        "a comment stands beside what would go"
    );
    let reads = "    - actions: [print]\n      roles: [user]\n      effect: EFFECT_ALLOW\n      condition: { match: { expr: \"'x' in runtime.effectiveDerivedRoles\" } }\n";
    assert_eq!(reason(&format!("{RULES}{reads}")), "the effective derived roles are read");
    // A condition that is not met emits no output of a rule whose derived role is not gained.
    let output = RULES.replace(
        "    - actions: [view]",
        "      output: { when: { conditionNotMet: P.id } }\n    - actions: [view]",
    );
    assert_eq!(of(&output), Derivations::default());
    // Two policies are not many.
    let files = [("a.yaml", policy("a", RULES)), ("b.yaml", policy("b", RULES))];
    assert_eq!(derived(&files, Evaluation::Strict).0, Derivations::default());
}

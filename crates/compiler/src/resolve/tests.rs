use super::*;
use crate::policy::model::Condition;

const HEAD: &str = "apiVersion: api.cerbos.dev/v1\n";

fn load(files: &[(&str, &str)]) -> Result<Resolved, Vec<Diagnostic>> {
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, format!("{HEAD}{text}"))).collect();
    let repository =
        Repository::from_files(files.iter().map(|(path, text)| (*path, text.as_bytes())));
    let (resolved, mut errors) = resolve(&repository);
    errors.extend(repository.errors);
    crate::diagnostics::sort(&mut errors);
    if errors.is_empty() { Ok(resolved) } else { Err(errors) }
}

fn check(files: &[(&str, &str)], expected: &str) {
    let errors = load(files).err().unwrap_or_default();
    let line = |error: &Diagnostic| {
        let at = error.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        format!("{}{at} {} {}: {}", error.file, error.path, error.code.name(), error.message)
    };
    assert_eq!(errors.iter().map(line).collect::<Vec<_>>().join("\n"), expected);
}

/// Returns a policy with variables and one rule.
fn policy(variables: &str, expression: &str) -> String {
    format!(
        "resourcePolicy:\n  resource: album\n  version: v1\n  variables: {{{variables}}}\n  rules:\n    - actions: [a]\n      effect: EFFECT_ALLOW\n      roles: [r]\n      condition:\n        match:\n          expr: |\n            {expression}\n"
    )
}

#[test]
fn variables_stand_after_those_they_name() {
    let check = |variables: &str, expected: &[&str]| {
        let policy = policy(&format!("local: {{{variables}}}"), "V.z && variables.m");
        let resolved = load(&[("p.yaml", &policy)]).unwrap();
        let names: Vec<_> = resolved.resource[0].head.variables.iter().map(|v| &v.name).collect();
        assert_eq!(names, expected);
    };
    check("z: V.a, a: V.m, m: 'true', unused: 'true'", &["m", "a", "z"]);
    check("m: 'true', z: 'true'", &["m", "z"]);
}

#[test]
fn unused_variables_are_checked_too() {
    let policy = policy("local: {u: '1 +'}", "true");
    let resolved = load(&[("p.yaml", &policy)]).unwrap();
    assert_eq!(resolved.resource[0].head.variables, []);
    assert_eq!(resolved.unused.iter().map(|e| e.text.as_ref()).collect::<Vec<_>>(), ["1 +"]);
}

#[test]
fn variables_do_not_go_in_circles() {
    check(
        &[("p.yaml", &policy("local: {a: V.b, b: V.a, c: V.a, d: V.d}", "true"))],
        "p.yaml:5:26 $.resourcePolicy.variables.local.a cyclical-variables: variables refer to each other in a circle: `a` (p.yaml:5:26), `b` (p.yaml:5:34)\n\
         p.yaml:5:50 $.resourcePolicy.variables.local.d cyclical-variables: variable `d` names itself",
    );
}

#[test]
fn unknown_names_are_reported_at_their_position() {
    check(
        &[(
            "p.yaml",
            &policy("local: {a: 'true && C.x'}", "true &&\n            (C.y || has(V.z))"),
        )],
        "p.yaml:5:35 $.resourcePolicy.variables.local.a undefined-constant: variable `a` names the unknown constant `x`\n\
         p.yaml:14:14 $.resourcePolicy.rules[0].condition.match.expr undefined-constant: no constant `y` is defined or imported\n\
         p.yaml:14:21 $.resourcePolicy.rules[0].condition.match.expr undefined-variable: no variable `z` is defined or imported",
    );
}

#[test]
fn a_name_has_one_definition() {
    let exported = "exportVariables: {name: set, definitions: {a: 'true'}}";
    check(
        &[("e.yaml", exported), ("p.yaml", &policy("import: [set], local: {a: 'true'}", "V.a"))],
        "p.yaml:5:41 $.resourcePolicy.variables.local.a variable-redefined: variable `a` has several definitions: import `set` (e.yaml:2:47), `local` (p.yaml:5:41)",
    );
}

#[test]
fn names_are_identifiers() {
    check(
        &[("p.yaml", &policy("local: {a-b: 'true', in: 'true'}", "true"))],
        "p.yaml:5:23 $.resourcePolicy.variables.local.a-b invalid-variable-name: `a-b` cannot be named in an expression\n\
         p.yaml:5:36 $.resourcePolicy.variables.local.in invalid-variable-name: `in` cannot be named in an expression",
    );
}

fn with_roles(roles: &str) -> String {
    format!(
        "resourcePolicy:\n  resource: album\n  version: v1\n  importDerivedRoles: [s, t]\n  rules:\n    - {{actions: [a], effect: EFFECT_ALLOW, derivedRoles: [{roles}]}}\n"
    )
}

const SETS: [(&str, &str); 2] = [
    (
        "s.yaml",
        "derivedRoles:\n  name: s\n  constants: {local: {k: 1, l: 2}}\n  definitions:\n    - {name: own, parentRoles: [x, '*'], condition: {match: {expr: C.k == 1}}}\n    - {name: both, parentRoles: [x]}\n",
    ),
    ("t.yaml", "derivedRoles:\n  name: t\n  definitions:\n    - {name: both, parentRoles: [x]}\n"),
];

#[test]
fn derived_roles_bring_what_their_condition_uses() {
    let resolved = load(&[SETS[0], SETS[1], ("p.yaml", &with_roles("own"))]).unwrap();
    let role = &resolved.resource[0].derived_roles["own"];
    assert_eq!(role.origin, "derived_roles.s");
    assert_eq!(role.parent_roles, ["*"]);
    assert_eq!(role.constants.keys().collect::<Vec<_>>(), ["k"]);
    assert!(matches!(&role.condition, Some(Condition::Expr(e)) if e.text.as_ref() == "C.k == 1"));
}

#[test]
fn derived_roles_are_known_and_unambiguous() {
    check(
        &[SETS[0], SETS[1], ("p.yaml", &with_roles("none, both"))],
        "p.yaml:7:59 $.resourcePolicy.rules[0].derivedRoles[0] unknown-derived-role: no import defines the derived role `none`\n\
         p.yaml:7:65 $.resourcePolicy.rules[0].derivedRoles[1] ambiguous-derived-role: several imports define the derived role `both`: `s` in s.yaml (imported at 5:24), `t` in t.yaml (imported at 5:27)",
    );
}

#[test]
fn rules_without_a_name_are_numbered() {
    let principal = "principalPolicy:\n  principal: p\n  version: v1\n  rules:\n    - resource: album\n      actions:\n        - {action: a, effect: EFFECT_DENY}\n        - {action: b, effect: EFFECT_DENY, name: n}\n";
    let resolved = load(&[("p.yaml", principal)]).unwrap();
    let names: Vec<_> = resolved.principal[0].rules[0].actions.iter().map(|r| &r.name).collect();
    assert_eq!(names, ["album_rule-001", "n"]);
}

#[test]
fn expressions_know_where_each_character_stands() {
    let check = |scalar: &str, needle: &str, expected: (u32, u32)| {
        let text = policy("local: {}", "true").replace("|\n            true", scalar);
        let resolved = load(&[("p.yaml", &text)]).unwrap();
        let Some(Condition::Expr(expression)) = &resolved.resource[0].rules[0].condition else {
            panic!("no expression in {text}")
        };
        let at = expression.locate(expression.text.find(needle).unwrap());
        assert_eq!((at.line, at.column), expected, "{scalar}");
    };
    check("a == b", "b", (12, 22));
    check("'a == \"it''s\" + b'", "b", (12, 33));
    check("\"\\u0061 == \\\"é\\\" + b\"", "b", (12, 36));
    check(">-\n            a ==\n\n            b", "b", (15, 13));
    check("|\n\n            // note\n              a == b", "b", (15, 20));
    check("&x |\n            a == b", "b", (13, 18));
    check("!!str |2-\n            a == b", "b", (13, 18));
    check("a ==\n            b", "b", (13, 13));
}

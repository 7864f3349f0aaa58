use super::*;
use crate::limits;

/// Loads files and returns their errors, one line each.
fn errors(files: &[(&str, &str)]) -> String {
    let files = files.iter().map(|(path, text)| (*path, text.as_bytes()));
    let repository = Repository::from_files(files);
    let mut errors = crate::resolve::resolve(&repository).1;
    errors.extend(repository.errors);
    crate::diagnostics::sort(&mut errors);
    let line = |error: &Diagnostic| {
        let at = error.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        let path = if error.path.is_empty() { String::new() } else { format!(" {}", error.path) };
        format!("{}{at}{path} {}: {}", error.file, error.code.name(), error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn check(files: &[(&str, &str)], expected: &str) {
    assert_eq!(errors(files), expected);
}

fn one(text: &str, expected: &str) {
    check(&[("p.yaml", text)], expected);
}

/// Returns a resource policy without rules.
fn resource(scope: &str, more: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {{resource: album, version: v1, scope: '{scope}'{more}}}\n"
    )
}

fn rule(text: &str) -> String {
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: album\n  version: v1\n  rules:\n    - {}\n",
        text.replace('\n', "\n      ")
    )
}

#[test]
fn fields_go_by_two_names() {
    let text = "api_version: api.cerbos.dev/v1\nresource_policy: {resource: a, version: b, scope_permissions: SCOPE_PERMISSIONS_OVERRIDE_PARENT}";
    one(text, "");
    one(
        "apiVersion: api.cerbos.dev/v1\napi_version: api.cerbos.dev/v1\nresourcePolicy: {resource: a, version: b}",
        "p.yaml:2:1 $.api_version parse: field `apiVersion` is given twice, under two names",
    );
}

#[test]
fn a_file_holds_one_policy() {
    let other = resource("", "").replace("album", "song");
    one(
        &format!("{}---\n{other}", resource("", "")),
        "p.yaml:4:11 $ several-policies: the file holds a second policy: write it into a file of its own",
    );
    one(&format!("---\n# nothing\n---\n{other}...\n---\n"), "");
}

#[test]
fn exported_sets_have_no_variables_beside_them() {
    let set = "apiVersion: api.cerbos.dev/v1\nexportConstants: {name: a}\nvariables: ";
    let message = "an exported set cannot have `variables` at the top of the document";
    one(&format!("{set}{{b: c}}"), &format!("p.yaml:3:1 $.variables validation: {message}"));
    one(&format!("{set}{{}}"), "");
}

#[test]
fn a_misspelt_field_is_not_also_missing() {
    let files = [("p.yaml", "apiVersion: api.cerbos.dev/v1\nresorcePolicy: {}")];
    check(&files, "p.yaml:2:1 $.resorcePolicy parse: unknown field `resorcePolicy`");
    let loaded = Repository::from_files([("p.yaml", files[0].1.as_bytes())]);
    assert_eq!(loaded.errors[0].expected.as_deref(), Some("`resourcePolicy`"));
}

#[test]
fn every_error_of_a_document_is_reported() {
    one(
        "apiVersion: v2\nresourcePolicy:\n  resource: a*\n  version: 1.5\n  rules:\n    - actions: []\n      effect: ALLOW\n      roles: [a, a]",
        "p.yaml:1:1 $.apiVersion validation: unknown API version\n\
         p.yaml:3:3 $.resourcePolicy.resource validation: this is not a valid name\n\
         p.yaml:4:12 $.resourcePolicy.version parse: the value has the wrong type\n\
         p.yaml:6:7 $.resourcePolicy.rules[0].actions validation: `actions` must not be empty\n\
         p.yaml:7:15 $.resourcePolicy.rules[0].effect parse: unknown name\n\
         p.yaml:8:18 $.resourcePolicy.rules[0].roles[1] validation: `a` is in the list twice",
    );
}

#[test]
fn rules_need_a_role_and_a_name_of_their_own() {
    let allow = "actions: ['*']\neffect: EFFECT_ALLOW";
    one(
        &rule(allow),
        "p.yaml:6:14 $.resourcePolicy.rules[0] validation: rule `rule-001` names no role and no derived role",
    );
    let named = format!("{allow}\nroles: [a]\nname: n");
    let twice = format!("{}    - {}\n", rule(&named), named.replace('\n', "\n      "));
    one(
        &twice,
        "p.yaml:10:14 $.resourcePolicy.rules[1] duplicate-name: rule `n`, number 2 in the list, has the name of number 1 at 6:14",
    );
}

#[test]
fn conditions_have_one_operator() {
    let with = |condition: &str| {
        rule(&format!("actions: [a]\neffect: EFFECT_DENY\nroles: [r]\ncondition: {condition}"))
    };
    one(&with("{match: {expr: 'true'}}"), "");
    one(
        &with("{match: {expr: 'true', all: {of: []}}}"),
        "p.yaml:9:41 $.resourcePolicy.rules[0].condition.match.all parse: `all` cannot be combined with `expr`",
    );
    one(
        &with("{match: {none: {of: []}}}"),
        "p.yaml:9:34 $.resourcePolicy.rules[0].condition.match.none.of validation: `of` must not be empty",
    );
    one(
        &with("{match: {}}"),
        "p.yaml:9:26 $.resourcePolicy.rules[0].condition.match validation: one of `all`, `any`, `none`, `expr` is required",
    );
}

#[test]
fn a_scope_needs_all_scopes_above_it() {
    let (root, child, grandchild) =
        (resource("", ""), resource("acme", ""), resource("acme.hr", ""));
    let disabled = format!("disabled: true\n{child}");
    let message = "c.yaml:1:11 $ missing-ancestor: policy `resource.album.vv1/acme` is missing above `resource.album.vv1/acme.hr`";
    check(&[("a.yaml", &root), ("b.yaml", &child), ("c.yaml", &grandchild)], "");
    check(&[("a.yaml", &root), ("c.yaml", &grandchild)], message);
    check(&[("a.yaml", &root), ("b.yaml", &disabled), ("c.yaml", &grandchild)], message);
    let role = "apiVersion: api.cerbos.dev/v1\nrolePolicy: {role: r, version: v1, scope: acme, rules: [{resource: 'al*', allowActions: ['*']}]}";
    check(&[("a.yaml", &root), ("b.yaml", role), ("c.yaml", &grandchild)], "");
}

#[test]
fn a_policy_is_defined_once() {
    let policy = resource("", "");
    check(
        &[("b.yaml", &policy), ("a/z.yaml", &policy)],
        "b.yaml:1:11 $ duplicate-policy: policy `resource.album.vv1` is defined already, at a/z.yaml:1:11",
    );
}

#[test]
fn policies_of_a_scope_agree_on_its_permissions() {
    let consent = ", scopePermissions: SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS";
    let principal = "apiVersion: api.cerbos.dev/v1\nprincipalPolicy: {principal: p, version: v1}";
    check(
        &[("a.yaml", principal), ("b.yaml", &resource("", consent))],
        "b.yaml:2:59 $.resourcePolicy.scopePermissions scope-permissions-conflict: the policies of the root scope disagree on `scopePermissions`: a.yaml:2:1 says `SCOPE_PERMISSIONS_OVERRIDE_PARENT`",
    );
}

#[test]
fn imports_must_exist() {
    one(
        &resource(
            "",
            ", importDerivedRoles: [x], variables: {import: [y]}, constants: {import: [z]}",
        ),
        "p.yaml:2:80 $.resourcePolicy.importDerivedRoles[0] missing-import: no file defines the derived roles `x`\n\
         p.yaml:2:105 $.resourcePolicy.variables.import[0] missing-import: no file defines the variables `y`\n\
         p.yaml:2:131 $.resourcePolicy.constants.import[0] missing-import: no file defines the constants `z`",
    );
}

#[test]
fn files_beside_the_policies_are_passed_over() {
    let junk = "junk: [";
    check(
        &[
            ("a.txt", junk),
            (".hidden.yaml", junk),
            (".git/a.yaml", junk),
            ("testdata/a.yaml", junk),
            ("x/testdata/a.yaml", junk),
            ("_schemas/a.json", junk),
            ("a_test.YAML", junk),
            ("empty.yml", "# nothing"),
        ],
        "",
    );
    check(
        &[("x/_schemas/a.json", junk)],
        "x/_schemas unreadable: a directory `_schemas` must be at the root",
    );
    assert!(errors(&[("my_schemas/a.YML", junk)]).contains("syntax"));
}

#[test]
fn files_in_memory_have_the_bounds_of_a_directory() {
    let below = |depth: usize| format!("{}a.yaml", "x/".repeat(depth));
    let policy = resource("", "");
    check(&[(&below(limits::MAX_DIRECTORY_DEPTH), &policy)], "");
    let too_many =
        "unreadable: cannot be read: the directory holds too many files, or nests too deeply";
    let deep = below(limits::MAX_DIRECTORY_DEPTH + 1);
    let directory = deep.trim_end_matches("/a.yaml");
    check(&[(&deep, &policy)], &format!("{directory} {too_many}"));
    let many = || std::iter::repeat_n(("a.txt", b"".as_slice()), limits::MAX_ENTRIES);
    assert_eq!(Repository::from_files(many()).errors, []);
    let more = Repository::from_files(many().chain([("a.yaml", policy.as_bytes())]));
    assert_eq!(more.policies, []);
    assert_eq!(more.errors[0].to_string(), format!(".: error[unreadable]: {}", &too_many[12..]));
}

#[test]
fn values_that_are_no_maps_are_no_policies() {
    one("wat", "p.yaml:1:1 $ parse: the value has the wrong type");
    one("- a", "p.yaml:1:1 $ parse: the value has the wrong type");
}

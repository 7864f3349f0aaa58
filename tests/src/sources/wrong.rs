//! Policies with errors that no damage to a right one finds by chance.

use wardgate_compiler::{Enforcement, Options};

use super::Sources;

/// Returns one set of policies for each way.
#[must_use]
pub fn wrong() -> Vec<Sources> {
    let rule = |more: &str| format!("rules: [{{actions: [x], effect: EFFECT_ALLOW, {more}}}]");
    let roles = |name: &str| {
        format!(
            "{HEAD}derivedRoles: {{name: {name}, definitions: [{{name: d, parentRoles: [r]}}]}}\n"
        )
    };
    let resource =
        |more: &str| format!("{HEAD}resourcePolicy: {{resource: a, version: v, {more}}}\n");
    let principal =
        |more: &str| format!("{HEAD}principalPolicy: {{principal: p, version: v{more}}}\n");
    let consent = ", scopePermissions: SCOPE_PERMISSIONS_REQUIRE_PARENTAL_CONSENT_FOR_ALLOWS";
    let ambiguous = format!("importDerivedRoles: [one, two], {}", rule("derivedRoles: [d]"));
    let named = |times| vec!["{name: n, actions: [x], roles: [r], effect: EFFECT_ALLOW}"; times];
    let wide = "variables: {local: {a: V.b, b: V.a}}, constants: {local: {k: 1}}";
    let exported = format!("{HEAD}exportVariables: {{name: e, definitions: {{a: '1'}}}}\n");
    let constants = format!("{HEAD}exportConstants: {{name: e, definitions: {{k: 1}}}}\n");
    let importing =
        "variables: {import: [e], local: {a: '2'}}, constants: {import: [e], local: {k: 2}}";
    let topic = format!(
        "{HEAD}resourcePolicy: {{resource: 'mqtt:topic', version: v, {}}}\n",
        rule("roles: [r], condition: {match: {expr: R.attr.topic == 'a'}}")
    );
    let schemas = "schemas: {resourceSchema: {ref: 'cerbos:///s.json'}}";
    [
        ("ambiguous", vec![roles("one"), roles("two"), resource(&ambiguous)]),
        ("circles", vec![resource(&format!("{wide}, {}", rule("roles: [r]")))]),
        ("names", vec![resource(&format!("rules: [{}]", named(2).join(", ")))]),
        ("redefined", vec![exported, constants, resource(importing)]),
        ("output", vec![resource(&rule("roles: [r], output: {when: {}}"))]),
        ("script", vec![resource(&rule("roles: [r], condition: {script: 'true'}"))]),
        ("consent", vec![resource(""), principal(consent)]),
        ("topic", vec![topic]),
        ("no schema", vec![resource(schemas)]),
        ("several", vec![format!("{}---\n{}", roles("one"), roles("two"))]),
    ]
    .into_iter()
    .map(|(name, texts)| sources(name, &texts))
    .chain([elsewhere()])
    .collect()
}

fn sources(name: &str, texts: &[String]) -> Sources {
    let file = |(at, text): (usize, &String)| (format!("{at}.yaml"), text.as_bytes().to_vec());
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    let files = texts.iter().enumerate().map(file).collect();
    Sources { name: format!("wrong: {name}"), files, options }
}

/// Returns schemas at positions that allow none.
fn elsewhere() -> Sources {
    let mut wrong = sources("elsewhere", &[]);
    wrong.files.push(("x/_schemas/a.json".to_owned(), b"{}".to_vec()));
    wrong
}

const HEAD: &str = "apiVersion: api.cerbos.dev/v1\n";

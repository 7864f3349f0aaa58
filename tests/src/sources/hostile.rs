//! Policies that try to exhaust a compiler: deep, long or many.
//!
//! WebAssembly has a smaller stack than a native program, and must give the same result.

use wardgate_compiler::{Enforcement, Options};

use super::Sources;

/// Returns the policies, each with its description.
#[must_use]
pub fn hostile() -> Vec<Sources> {
    let around = |open: &str, inside: &str, close: &str, times: usize| {
        format!("{}{inside}{}", open.repeat(times), close.repeat(times))
    };
    let mut all = vec![
        alone("yaml brackets", &around("[", "", "]", 20_000)),
        alone("json brackets", &format!("{{\"a\":{}}}", around("[", "", "]", 20_000))),
        alone("yaml indentation", &nested_maps(500)),
        alone("aliases of aliases", &aliases(60)),
        alone("documents", &"---\na: 1\n".repeat(2000)),
        alone("a long line", &format!("{}!", "a".repeat(2_000_000))),
        alone("no text", &"\u{0}".repeat(1000)),
    ];
    let expressions = [
        ("parentheses", around("(", "1", ")", 20_000)),
        ("few parentheses", around("(", "true", ")", 30)),
        ("negations", around("!", "true", "", 20_000)),
        ("minus signs", around("-", "1", "", 20_000)),
        ("lists", around("[", "1", "]", 20_000)),
        ("maps", around("{1: ", "1", "}", 20_000)),
        ("ternaries", around("true ? 1 : ", "2", "", 20_000)),
        ("members", format!("R.attr{}", ".a".repeat(20_000))),
        ("indexes", format!("R.attr{}", "[0]".repeat(20_000))),
        ("sums", format!("1{} == 1", " + 1".repeat(20_000))),
        ("disjunctions", format!("true{}", " || R.attr.a == 1".repeat(20_000))),
        ("calls", around("size(", "'a'", ")", 20_000)),
        ("macros", around("[1].all(x, ", "true", ")", 200)),
        (
            "groups of a regular expression",
            format!("'a'.matches('{}')", around("(", "a", ")", 990)),
        ),
        ("repetitions", "'a'.matches('((a{1,100}){1,100}){1,100}')".to_owned()),
        ("a long string", format!("'{}' == R.id", "a".repeat(1_000_000))),
        ("a large number", "9".repeat(100_000)),
    ];
    all.extend(expressions.iter().map(|(name, text)| alone(name, &policy(&condition(text)))));
    all.push(alone("conditions", &policy(&nested_conditions(64))));
    all.push(alone("too many conditions", &policy(&nested_conditions(200))));
    all.push(alone("variables of variables", &variables(500)));
    all.push(sources("scopes", scopes(100)));
    all.push(sources("schemas", schemas(300)));
    all.push(sources("no files", Vec::new()));
    all
}

fn alone(name: &str, text: &str) -> Sources {
    sources(name, vec![("a.yaml".to_owned(), text.as_bytes().to_vec())])
}

fn sources(name: &str, files: Vec<(String, Vec<u8>)>) -> Sources {
    let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
    Sources { name: format!("hostile: {name}"), files, options }
}

/// Returns a policy with one rule. JSON is YAML too, and needs no indentation.
fn policy(condition: &str) -> String {
    let rule = format!(
        r#"{{"actions": ["x"], "roles": ["r"], "effect": "EFFECT_ALLOW", "condition": {{"match": {condition}}}}}"#
    );
    resource("", &format!(r#", "rules": [{rule}]"#))
}

fn resource(scope: &str, more: &str) -> String {
    format!(
        r#"{{"apiVersion": "api.cerbos.dev/v1", "resourcePolicy": {{"resource": "a", "version": "default", "scope": "{scope}"{more}}}}}"#
    )
}

fn condition(expression: &str) -> String {
    format!(r#"{{"expr": "{expression}"}}"#)
}

fn nested_conditions(depth: usize) -> String {
    (0..depth).fold(condition("true"), |inner, _| format!(r#"{{"all": {{"of": [{inner}]}}}}"#))
}

fn nested_maps(depth: usize) -> String {
    (0..depth).map(|level| format!("{}a:\n", " ".repeat(level))).collect()
}

fn aliases(depth: usize) -> String {
    let next = |level: usize| format!("a{}: &a{} [*a{level}, *a{level}]\n", level + 1, level + 1);
    format!("a0: &a0 [1, 2]\n{}", (0..depth).map(next).collect::<String>())
}

fn variables(count: usize) -> String {
    let next = |at: usize| format!(r#", "v{}": "V.v{at} + 1""#, at + 1);
    let local: String = (0..count).map(next).collect();
    resource("", &format!(r#", "variables": {{"local": {{"v0": "1"{local}}}}}"#))
}

fn scopes(depth: usize) -> Vec<(String, Vec<u8>)> {
    let file = |level: usize| {
        let scope = vec!["s"; level].join(".");
        (format!("{level}.yaml"), resource(&scope, "").into_bytes())
    };
    (0..depth).map(file).collect()
}

/// Returns a chain of schemas, each of which refers to the next.
fn schemas(count: usize) -> Vec<(String, Vec<u8>)> {
    let schema = |at: usize| {
        let text = format!(r#"{{"properties": {{"a": {{"$ref": "{}.json"}}}}}}"#, at + 1);
        (format!("_schemas/{at}.json"), text.into_bytes())
    };
    let named = r#", "schemas": {"resourceSchema": {"ref": "cerbos:///0.json"}}"#;
    let mut files: Vec<_> = (0..count).map(schema).collect();
    files.push((format!("_schemas/{count}.json"), b"{\"type\": \"string\"}".to_vec()));
    files.push(("a.yaml".to_owned(), resource("", named).into_bytes()));
    files
}

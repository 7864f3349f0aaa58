//! The schemas for editors: they accept all that the reader accepts, and refuse mistakes of shape.
//!
//! They are checked by the engine itself, as the schema of a resource whose attributes are the
//! file.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a schema that cannot be used fails the test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use wardgate_compiler::globals;
use wardgate_compiler::{Enforcement, Options, compile_files};
use wardgate_engine::attr::AttrMap;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::{Principal, Request, Resource};
use wardgate_engine::table::{PolicyTable, Section};
use wardgate_tests::cases;
use wardgate_tests::program::root;

#[test]
fn every_policy_of_the_cases_fits() {
    let schema = Schema::read("policy");
    let mut count = 0;
    for case in cases::all().unwrap() {
        for (path, bytes) in &case.files {
            let is_policy = !path.contains("_test.") && !path.contains("testdata/");
            let text = String::from_utf8_lossy(bytes);
            if is_policy && text.contains("apiVersion") && !path.starts_with("_schemas") {
                count += schema.fits(&format!("{}: {path}", case.name), &text);
            }
        }
    }
    assert!(count >= 100, "only {count} policies");
}

#[test]
fn every_policy_and_suite_of_the_corpus_fits() {
    let (policy, suite) = (Schema::read("policy"), Schema::read("test-suite"));
    for path in files(&root().join("../shared/corpora/cerbos/testdata/store")) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let shown = path.display().to_string();
        match text.contains("apiVersion") {
            _ if !shown.ends_with(".yaml") => {}
            true => drop(policy.fits(&shown, &text)),
            false if shown.ends_with("_test.yaml") => drop(suite.fits(&shown, &text)),
            false => {}
        }
    }
}

#[test]
fn suites_and_fixtures_fit() {
    let suites = files(&root().join("tests/suites/passing"));
    let mut count = 0;
    for path in suites.iter().filter(|path| path.extension().is_some_and(|it| it == "yaml")) {
        let shown = path.display().to_string();
        let name = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if stem.ends_with("_test") => "test-suite",
            Some("principals") => "principals",
            Some("resources") => "resources",
            Some("auxdata" | "auxData" | "aux_data") => "auxdata",
            _ => "policy",
        };
        count += Schema::read(name).fits(&shown, &fs::read_to_string(path).unwrap());
    }
    assert!(count >= 2, "only {count} files");
}

#[test]
fn mistakes_of_shape_are_refused() {
    let rule = "{actions: [view], roles: [r], effect: EFFECT_ALLOW}";
    let policy =
        |body: &str| format!("apiVersion: api.cerbos.dev/v1\nresourcePolicy: {{{body}}}\n");
    let sound = policy(&format!("resource: a, version: default, rules: [{rule}]"));
    let schema = Schema::read("policy");
    schema.fits("a sound policy", &sound);
    for (old, new) in [
        ("api.cerbos.dev/v1", "api.cerbos.dev/v2"),
        ("apiVersion: api.cerbos.dev/v1\n", ""),
        ("resourcePolicy", "resorcePolicy"),
        ("resource: a, ", ""),
        ("version: default, ", ""),
        ("version: default", "version: '1.0'"),
        ("version: default", "version: default, scope: 'a..b'"),
        ("resource: a", "resource: 'a*'"),
        ("EFFECT_ALLOW", "ALLOW"),
        ("actions: [view]", "actions: []"),
        ("actions: [view]", "actions: [view, view]"),
        ("actions: [view]", "actions: view"),
        ("actions: [view]", "action: [view]"),
        ("roles: [r]", "roles: r"),
        ("roles: [r]", "roles: [r], condition: {}"),
        ("roles: [r]", "roles: [r], condition: {match: {expr: a, all: {of: [{expr: b}]}}}"),
        ("roles: [r]", "roles: [r], condition: {match: {all: {of: []}}}"),
        ("roles: [r]", "roles: [r], name: 1a"),
        ("roles: [r]", "roles: [r], output: {then: a}"),
        ("roles: [r]", "roles: [r], derived_role: [a]"),
        ("roles: [r]", "roles: [r], derived_roles: a"),
        ("resource: a", "resource: a, import_derived_roles: {}"),
        ("resource: a", "resource: a, scope_permissions: NONE"),
    ] {
        let text = sound.replace(old, new);
        assert_ne!(text, sound);
        assert!(!schema.violations(&text).is_empty(), "{text}");
    }
    let snake = sound
        .replace("apiVersion", "api_version")
        .replace("resourcePolicy", "resource_policy")
        .replace("resource: a", "resource: a, import_derived_roles: [b], json_schema: x")
        .replace(
            "json_schema: x",
            "schemas: {resource_schema: {ref: 'cerbos:///x.json', ignore_when: {actions: [a]}}}",
        )
        .replace("roles: [r]", "derived_roles: [r]");
    schema.fits("a sound policy in snake case", &snake);
    let role = "api_version: api.cerbos.dev/v1\nrole_policy: {role: a, rules: [{resource: b, allow_actions: [view]}]}\n";
    schema.fits("a sound role policy in snake case", role);
    assert!(!schema.violations(&role.replace("allow_actions: [view]", "name: a")).is_empty());
    let suite = Schema::read("test-suite");
    let sound = "name: a\ntests:\n  - name: b\n    input: {principals: [p], resources: [r], actions: [view]}\n    \
        expected: [{principal: p, resource: r, actions: {view: EFFECT_ALLOW}}]\nprincipals: {p: {id: p, roles: [x]}}\n";
    suite.fits("a sound suite", sound);
    for (old, new) in [
        ("name: a\n", ""),
        ("actions: [view]", "actions: []"),
        ("EFFECT_ALLOW", "ALLOW"),
        ("roles: [x]", "role: x"),
        ("input:", "inputs:"),
    ] {
        assert!(!suite.violations(&sound.replace(old, new)).is_empty(), "{new}");
    }
}

/// A table without schemas has no cost for them: the section is empty, and only a flag shows if
/// they would count.
#[test]
fn a_table_without_schemas_has_nothing_of_them() {
    let compiled = |schemas: &str, schema_enforcement| {
        let policy = format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy: {{resource: file, version: default{schemas}, \
             rules: [{{actions: ['*'], roles: ['*'], effect: EFFECT_ALLOW}}]}}\n"
        );
        let files = [
            ("policy.yaml".to_owned(), policy.into()),
            ("_schemas/s.json".to_owned(), b"{}".to_vec()),
        ];
        compile_files(&files, &Options { schema_enforcement, ..Options::default() }).unwrap().parts
    };
    let named = ", schemas: {resourceSchema: {ref: 'cerbos:///s.json'}}";
    let plain = compiled("", Enforcement::None);
    assert_eq!(plain, compiled(named, Enforcement::None));
    let rejecting = compiled("", Enforcement::Reject);
    let differ = plain.words.iter().zip(&rejecting.words).filter(|(a, b)| a != b).count();
    assert_eq!((plain.words.len(), differ), (rejecting.words.len(), 1));
    let table = PolicyTable::from_parts(rejecting).unwrap();
    assert!(table.section(Section::Schemas).is_empty());
    assert_ne!(plain, compiled(named, Enforcement::Reject));
}

struct Schema(PolicyTable);

impl Schema {
    fn read(name: &str) -> Self {
        let path = root().join(format!("docs/schemas/{name}.schema.json"));
        let policy = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: file\n  version: default\n  \
            schemas: {resourceSchema: {ref: 'cerbos:///schema.json'}}\n  \
            rules: [{actions: ['*'], roles: ['*'], effect: EFFECT_ALLOW}]\n";
        let files = [
            ("policy.yaml".to_owned(), policy.into()),
            ("_schemas/schema.json".to_owned(), fs::read(path).unwrap()),
        ];
        let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
        let compiled = match compile_files(&files, &options) {
            Ok(compiled) => compiled,
            Err(errors) => panic!("{name}: {:?}", errors.first()),
        };
        Self(PolicyTable::from_parts(compiled.parts).unwrap())
    }

    /// Returns 1, so that calls can be counted.
    fn fits(&self, name: &str, text: &str) -> usize {
        for document in text.split("\n---") {
            if document.lines().all(|line| line.trim().is_empty() || line.starts_with(['#', '-'])) {
                continue;
            }
            assert_eq!(self.violations(document).join("; "), "", "{name}");
        }
        1
    }

    fn violations(&self, text: &str) -> Vec<String> {
        let attributes = match globals::read("file.yaml", text.as_bytes()) {
            Ok(values) => values,
            Err(error) => panic!("{error}"),
        };
        let attr = attributes.into_iter().map(|(name, value)| (name.into_boxed_str(), value));
        let request = Request {
            principal: Principal {
                id: "p".into(),
                roles: vec!["r".into()],
                ..Principal::default()
            },
            resource: Resource {
                kind: "file".into(),
                id: "f".into(),
                attr: attr.collect::<AttrMap>(),
                ..Resource::default()
            },
            actions: vec!["x".into()],
            ..Request::default()
        };
        let decision = self.0.check(&request, Timestamp::default());
        let found = decision.validation_errors.iter();
        found.map(|error| format!("{} {}", error.path, error.message)).collect()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let Ok(path) = entry.map(|entry| entry.path()) else { continue };
        let is_hidden = path.file_name().is_some_and(|it| it.to_string_lossy().starts_with('.'));
        match path.is_dir() {
            _ if is_hidden || path.ends_with("_schemas") => {}
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

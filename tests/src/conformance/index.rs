//! Suite `cerbos-index`: directories of policies, and the rules among their files.
//!
//! If a directory is in order, the corpus lists the dependencies of a policy: its ancestors and
//! its imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value as Json;
use wardgate_compiler::diagnostics::Code;
use wardgate_compiler::policy::model::{Body, Common, Named, Policy};
use wardgate_compiler::policy::name::{ancestors, policy_key, set_key};
use wardgate_compiler::repository::Repository;

use super::finding::{Finding, compare, list, unsound};
use super::vectors::{items, word};
use super::{Case, Failure, files, stem, yaml};

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not YAML.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in files(&corpora.join("cerbos/testdata/index"), "yaml")? {
        let test = yaml(&path)?;
        cases.push(Case::new(stem(&path), move || run(&test).into()));
    }
    Ok(cases)
}

fn run(test: &Json) -> Result<(), Failure> {
    let files = test.get("files").and_then(Json::as_object).into_iter().flatten();
    let files = files.filter_map(|(name, text)| Some((name.as_str(), text.as_str()?.as_bytes())));
    let repository = Repository::from_files(files);
    let Some(errors) = test.get("wantErrList") else { return sound(test, &repository) };
    compare(&wanted(errors), &repository.errors, kind)?;
    disabled(errors, &repository)
}

fn wanted(errors: &Json) -> Vec<Finding> {
    let mut wanted = list(errors, "loadFailures", |json| {
        let details = json.get("errorDetails").unwrap_or(&Json::Null);
        Finding::wanted("load failure", word(json, "file"), details)
    });
    wanted.extend(list(errors, "duplicateDefs", |json| {
        // The position is the first colon of the document here, and absent there.
        Finding { at: None, ..Finding::wanted("duplicate", word(json, "file"), json) }
            .naming(word(json, "policy"))
    }));
    wanted.extend(list(errors, "missingImports", |json| {
        Finding::wanted("missing import", word(json, "importingFile"), json)
            .naming(word(json, "importName"))
    }));
    wanted.extend(list(errors, "missingScopeDetails", |json| {
        let descendants = items(json, "descendants").iter().filter_map(Json::as_str);
        let missing = Finding::wanted("missing ancestor", "", json);
        descendants.fold(missing.naming(word(json, "missingPolicy")), Finding::naming)
    }));
    wanted.extend(list(errors, "scopePermissionsConflicts", |json| {
        Finding::wanted("scope permissions", "", json).naming(word(json, "scope"))
    }));
    wanted
}

fn kind(code: Code) -> &'static str {
    match code {
        Code::Unreadable
        | Code::Syntax
        | Code::Parse
        | Code::Validation
        | Code::DuplicateName
        | Code::SeveralPolicies => "load failure",
        Code::DuplicatePolicy => "duplicate",
        Code::MissingImport => "missing import",
        Code::MissingAncestor => "missing ancestor",
        Code::ScopePermissionsConflict => "scope permissions",
        other => other.name(),
    }
}

fn disabled(errors: &Json, repository: &Repository) -> Result<(), Failure> {
    let wanted = items(errors, "disabledDefs").iter();
    let wanted: BTreeSet<_> =
        wanted.map(|json| format!("{} in {}", word(json, "policy"), word(json, "file"))).collect();
    let found = repository.disabled.iter();
    let found = found.map(|one| format!("{} in {}", one.key, one.location.file.path)).collect();
    same(&wanted, &found)
}

fn sound(test: &Json, repository: &Repository) -> Result<(), Failure> {
    Failure::unless(repository.errors.is_empty(), || unsound(&repository.errors))?;
    let unit = |name: &str| name.strip_prefix("cerbos.").unwrap_or(name).to_owned();
    let names = |json: &Json, field: &str| -> BTreeSet<String> {
        items(json, field).iter().filter_map(Json::as_str).map(unit).collect()
    };
    let policies: BTreeMap<String, &Policy> =
        repository.policies.iter().map(|policy| (policy.key(), policy)).collect();
    for wanted in items(test, "wantCompilationUnits") {
        let main = unit(word(wanted, "mainFqn"));
        let Some(policy) = policies.get(&main) else {
            return Err(Failure::new(main, "no such policy"));
        };
        same(&names(wanted, "ancestorFqns"), &above(policy).collect())?;
        same(&names(wanted, "definitionFqns"), &compiled_with(policy, &policies))?;
    }
    Ok(())
}

fn same(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Result<(), Failure> {
    Failure::unless_equal(expected, found, |names| format!("{names:?}"))
}

/// Returns the policy, those above it, and everything that these import, as far as it is there.
#[must_use]
pub fn compiled_with(policy: &Policy, policies: &BTreeMap<String, &Policy>) -> BTreeSet<String> {
    let mut unit = BTreeSet::new();
    let mut pending = vec![policy.key()];
    while let Some(key) = pending.pop() {
        if let Some(policy) = policies.get(&key)
            && unit.insert(key)
        {
            pending.extend(above(policy));
            pending.extend(imports(&policy.body));
        }
    }
    unit
}

fn above(policy: &Policy) -> impl Iterator<Item = String> {
    let (kind, common) = match &policy.body {
        Body::Resource(body) => ("resource", Some(&body.common)),
        Body::Principal(body) => ("principal", Some(&body.common)),
        _ => ("", None),
    };
    let above = |common: &'_ Common| {
        let key = |scope| policy_key(kind, &common.name, &common.version, scope);
        ancestors(&common.scope).map(key).collect::<Vec<_>>()
    };
    common.map(above).unwrap_or_default().into_iter()
}

fn imports(body: &Body) -> Vec<String> {
    let of_common = |common: &Common| {
        let variables = keys("export_variables", &common.variables.imports);
        variables.chain(keys("export_constants", &common.constants.imports)).collect::<Vec<_>>()
    };
    match body {
        Body::Resource(body) => {
            let roles = keys("derived_roles", &body.import_derived_roles);
            roles.chain(of_common(&body.common)).collect()
        }
        Body::Principal(body) => of_common(&body.common),
        Body::Role(body) => of_common(&body.common),
        Body::DerivedRoles(body) => {
            let variables = keys("export_variables", &body.variables.imports);
            variables.chain(keys("export_constants", &body.constants.imports)).collect()
        }
        Body::ExportVariables(_) | Body::ExportConstants(_) | Body::Limit(_) => Vec::new(),
    }
}

fn keys(kind: &str, names: &[Named]) -> impl Iterator<Item = String> {
    names.iter().map(move |named| set_key(kind, &named.name))
}

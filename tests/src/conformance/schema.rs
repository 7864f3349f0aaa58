//! Suite `cerbos-schema`: attributes against schemas, with every kind of enforcement.
//!
//! Cerbos loads schemas when it decides, and reports in the decision that one cannot be loaded.
//! Here they are loaded when policies are compiled, so such a case must not compile, and the error
//! must name the reference; the schema that can be loaded is then checked without the other.

use std::path::Path;

use serde_json::{Value as Json, json};
use wardgate_compiler::diagnostics::{Code, Diagnostic};
use wardgate_compiler::{Enforcement, Options, compile_files};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::PolicyTable;
use wardgate_engine::wire::decision_json;

use super::compile::schemas;
use super::finding::shown;
use super::vectors::{items, word};
use super::{Case, Failure, Outcome, files, stem, yaml};
use crate::check;

/// Reads the cases.
///
/// # Errors
/// If a file is missing or is not YAML.
pub fn load(corpora: &Path) -> Result<Vec<Case>, String> {
    let folder = corpora.join("cerbos/testdata/schema");
    let schemas = schemas(&folder.join("fs"))?;
    let mut cases = Vec::new();
    for path in files(&folder.join("test_cases"), "yaml")? {
        let test = yaml(&path)?;
        for (enforcement, name) in ENFORCEMENTS {
            let test = Test { test: test.clone(), schemas: schemas.clone(), enforcement };
            cases.push(Case::new(format!("{} ({name})", stem(&path)), move || test.run()));
        }
    }
    Ok(cases)
}

struct Test {
    test: Json,
    schemas: Vec<(String, Vec<u8>)>,
    enforcement: Enforcement,
}

impl Test {
    fn run(&self) -> Outcome {
        if self.test.get("planResourcesInput").is_some() {
            return Outcome::Skipped("query plans are not part of this project yet".to_owned());
        }
        match self.absent() {
            Some(name) => Outcome::Skipped(format!("`{name}` is not in this part of the corpus")),
            None => self.judge().into(),
        }
    }

    /// Returns a schema that the case needs and that is not here, though the case does not call it
    /// missing.
    fn absent(&self) -> Option<String> {
        let errors = items(&self.test, "wantValidationErrors").iter();
        let messages: Vec<_> = errors.map(|error| word(error, "message")).collect();
        let refs = self.test.get("schemaRefs").and_then(Json::as_object)?;
        let named =
            refs.values().filter_map(|schema| word(schema, "ref").strip_prefix("cerbos:///"));
        let here =
            |name: &str| self.schemas.iter().any(|(path, _)| path.ends_with(&format!("/{name}")));
        let mut absent =
            named.filter(|name| !here(name) && !messages.iter().any(|text| text.contains(name)));
        absent.next().map(str::to_owned)
    }

    fn judge(&self) -> Result<(), Failure> {
        let (unloadable, wanted): (Vec<_>, Vec<_>) = items(&self.test, "wantValidationErrors")
            .iter()
            .partition(|error| word(error, "path").is_empty());
        let mut refs = self.test.get("schemaRefs").cloned().unwrap_or_default();
        if !unloadable.is_empty() && self.enforcement != Enforcement::None {
            let sources: Vec<_> = unloadable.iter().map(|error| source(error)).collect();
            let errors = self.compiled(&refs).err().unwrap_or_default();
            unloaded(&sources, &errors)?;
            let fields = refs.as_object_mut().into_iter();
            fields.for_each(|refs| {
                refs.retain(|field, _| {
                    !sources.iter().any(|source| field == &format!("{source}Schema"))
                })
            });
        }
        let table = self.compiled(&refs);
        let table =
            table.map_err(|errors| Failure::new("policies that compile", shown(&errors)))?;
        let expects = self.enforcement != Enforcement::None;
        let wanted = if expects { lines(&wanted) } else { Vec::new() };
        self.decides(&table, &wanted)
    }

    fn decides(&self, table: &PolicyTable, wanted: &[String]) -> Result<(), Failure> {
        let input = check::normalised(self.test.get("checkInput").unwrap_or(&Json::Null));
        let unreadable = |found: String| Failure::new("a request", found);
        let request = check::request(&input).map_err(unreadable)?;
        let decision = decision_json(&table.check(&request, Timestamp::default()));
        let decision: Json =
            serde_json::from_str(&decision).map_err(|error| unreadable(error.to_string()))?;
        let found: Vec<_> = items(&decision, "validationErrors").iter().collect();
        let found = lines(&found);
        Failure::unless_equal(wanted, &found, |lines| lines.join("\n"))?;
        let denies = self.enforcement == Enforcement::Reject && !wanted.is_empty();
        let effect = if denies { "deny" } else { "allow" };
        for (action, decided) in
            decision.get("actions").and_then(Json::as_object).into_iter().flatten()
        {
            if word(decided, "effect") != effect {
                return Err(Failure::new(format!("{effect} for `{action}`"), decided));
            }
        }
        Ok(())
    }

    /// Compiles a policy that allows everything, with the schemas that `refs` name.
    fn compiled(&self, refs: &Json) -> Result<PolicyTable, Vec<Diagnostic>> {
        let resource = self.test.pointer("/checkInput/resource").unwrap_or(&Json::Null);
        let policy = json!({
            "apiVersion": "api.cerbos.dev/v1",
            "resourcePolicy": {
                "resource": word(resource, "kind"),
                "version": word(resource, "policyVersion"),
                "schemas": refs,
                "rules": [{"actions": ["*"], "roles": ["*"], "effect": "EFFECT_ALLOW"}],
            },
        });
        let mut files = self.schemas.clone();
        files.push(("policy.json".to_owned(), policy.to_string().into_bytes()));
        let options = Options { schema_enforcement: self.enforcement, ..Options::default() };
        let compiled = compile_files(&files, &options)?;
        PolicyTable::from_parts(compiled.parts).map_err(|error| {
            vec![Diagnostic::in_file(Code::Limit, "policy.json", format!("{error:?}"))]
        })
    }
}

/// Compares the errors with the schemas that cannot be loaded: each must be named, and no other may
/// be.
fn unloaded(sources: &[&str], errors: &[Diagnostic]) -> Result<(), Failure> {
    for source in ["principal", "resource"] {
        let path = format!("$.resourcePolicy.schemas.{source}Schema.ref");
        let is_named =
            errors.iter().any(|error| error.code == Code::InvalidSchema && error.path == path);
        if is_named != sources.contains(&source) {
            let wanted = if is_named { "no error" } else { "an error" };
            return Err(Failure::new(format!("{wanted} at {path}"), shown(errors)));
        }
    }
    Ok(())
}

fn lines(errors: &[&Json]) -> Vec<String> {
    let line = |error: &&Json| {
        format!("{} {}: {}", source(error), word(error, "path"), word(error, "message"))
    };
    let mut lines: Vec<_> = errors.iter().map(line).collect();
    lines.sort();
    lines
}

fn source(error: &Json) -> &'static str {
    match word(error, "source").ends_with("PRINCIPAL") {
        true => "principal",
        false => "resource",
    }
}

const ENFORCEMENTS: [(Enforcement, &str); 3] =
    [(Enforcement::None, "none"), (Enforcement::Warn, "warn"), (Enforcement::Reject, "reject")];

//! Schemas that policies name and that do not exist.
//!
//! This is an error if schemas are enforced. Otherwise no other check reports that they never can
//! be enforced.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Lint};
use crate::policy::model::SchemaRef;
use crate::resolve::model::Resolved;
use crate::schema::{Load, Target, Unavailable};

/// Reports each reference to a schema that leads to no file.
pub fn missing_schemas(resolved: &Resolved, load: &Load<'_>) -> Vec<Diagnostic> {
    let mut known = BTreeMap::new();
    let named = resolved.resource.iter().map(|policy| &policy.schemas);
    let named = named.flat_map(|schemas| schemas.principal.iter().chain(&schemas.resource));
    named.filter_map(|schema| missing(schema, load, &mut known)).collect()
}

fn missing(
    schema: &SchemaRef,
    load: &Load<'_>,
    known: &mut BTreeMap<String, bool>,
) -> Option<Diagnostic> {
    let finding = |message| Diagnostic::lint(Lint::MissingSchema, &schema.location, message);
    let Ok(Target { file, .. }) = Target::of_policy(&schema.reference) else {
        let error = finding(format!("`{}` names no schema", schema.reference));
        return Some(error.expected("a file of `_schemas`, such as `cerbos:///album.json`"));
    };
    let is_missing = || matches!(load(&file), Err(Unavailable::Missing));
    let is_missing = *known.entry(file.clone()).or_insert_with(is_missing);
    is_missing.then(|| finding(format!("there is no file `_schemas/{file}`")))
}

//! `wardgate compile`: a directory of policies becomes a bundle.

use serde_json::Value as Json;
use wardgate_bundle::Label;
use wardgate_compiler::accessors;
use wardgate_compiler::diagnostics::{Diagnostic, Severity};
use wardgate_engine::table::PolicyTable;

use crate::arguments::Compile;
use crate::failure::{Failure, Status};
use crate::output::{Output, counted, shown};
use crate::{label, policies, replace, sign};

pub(crate) fn run(compile: &Compile, out: &mut Output) -> Result<Status, Failure> {
    let keys = sign::read_keys(&compile.sign)?;
    let label = label::changed(Label::default(), &compile.label)?;
    let label = if keys.is_empty() { label } else { label::dated(label) };
    label::check(&label)?;
    let compiled = policies::compile(&compile.directory, &compile.options, &label)?;
    // A bundle that could not be opened must not take the place of one that can.
    let table = policies::proved(&compile.directory, &compiled.bundle, &label)?.table;
    let bundle = match keys.as_slice() {
        [] => compiled.bundle,
        keys => sign::signed(&compile.output, compiled.bundle, keys, false)?,
    };
    replace::file(&compile.output, &bundle)?;
    emit(compile, &table, &bundle)?;
    let output = compile.output.display().to_string();
    let policies = compiled.policies;
    let rules = table.inspect().policies.into_iter().map(|policy| policy.rules);
    let rules: usize = rules.map(|rules| usize::try_from(rules).unwrap_or(usize::MAX)).sum();
    let bytes = bundle.len();
    let signers: Vec<String> = keys.iter().map(|key| key.public.id.to_string()).collect();
    if compile.json {
        out.line(serde_json::json!({
            "output": output, "policies": policies, "rules": rules,
            "rulesOfSpocp": compiled.rules_of_spocp,
            "bytes": bytes, "revision": label.revision, "signers": signers,
        }))?;
    } else {
        let policies = counted(policies, "policy", "policies");
        let rules = counted(rules, "rule", "rules");
        let spocp = match compiled.rules_of_spocp {
            0 => String::new(),
            of_spocp => format!(", {} of SPOCP", counted(of_spocp, "rule", "rules")),
        };
        let signed = match signers.join(" and ") {
            none if none.is_empty() => none,
            names => format!(", signed by {names}"),
        };
        out.line(format_args!(
            "{}: {policies}, {rules}{spocp}, {bytes} bytes{signed}",
            shown(&output)
        ))?;
    }
    Ok(Status::Done)
}

/// Writes the accessor module, if one is wanted. It names the bundle, so it is written after it: a
/// module without its bundle could not be used, and is refused beside another.
fn emit(compile: &Compile, table: &PolicyTable, bundle: &[u8]) -> Result<(), Failure> {
    let Some(path) = &compile.emit else { return Ok(()) };
    let digest = wardgate_bundle::digest(bundle)
        .ok_or_else(|| Failure::policies("the bundle has no digest"))?;
    replace::file(path, accessors::module(table, digest).as_bytes())
}

/// Returns diagnostics as a JSON array.
pub(crate) fn diagnostics_json(diagnostics: &[Diagnostic]) -> Json {
    diagnostics.iter().map(diagnostic_json).collect()
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Json {
    let mut json = serde_json::json!({
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": diagnostic.code.name(),
        "message": diagnostic.message,
        "file": diagnostic.file,
        "text": diagnostic.to_string(),
    });
    let mut add = |name: &str, value: Json| {
        if let Some(fields) = json.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    if let Some(position) = diagnostic.position {
        add("line", position.line.into());
        add("column", position.column.into());
    }
    if let Some(end) = diagnostic.end() {
        add("end", serde_json::json!({ "line": end.line, "column": end.column }));
    }
    if !diagnostic.path.is_empty() {
        add("path", diagnostic.path.as_str().into());
    }
    if let Some(found) = &diagnostic.found {
        add("found", found.as_str().into());
    }
    if let Some(expected) = &diagnostic.expected {
        add("expected", expected.as_str().into());
    }
    json
}
